#include "analyze/steps/kernel_sequence.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "core/order.h"

namespace gf {

namespace {

std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdu;
}

}  // namespace

KernelSequence kernel_sequence(const Capture& capture) {
  const auto& a = capture.activities;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::size_t> count;  // by device and stream
  for (std::uint32_t i = 0; i < a.size(); ++i)
    if (a.kind[i] == ActivityKind::kernel) ++count[{a.device[i], a.stream[i]}];
  KernelSequence sequence;
  if (count.empty()) return sequence;
  const auto busiest =
      std::max_element(count.begin(), count.end(), [](const auto& x, const auto& y) {
        return x.second < y.second;
      })->first;
  sequence.device = busiest.first;
  for (std::uint32_t i = 0; i < a.size(); ++i)
    if (a.kind[i] == ActivityKind::kernel && a.device[i] == busiest.first &&
        a.stream[i] == busiest.second)
      sequence.rows.push_back(i);
  auto before = [&](std::uint32_t x, std::uint32_t y) {
    return std::tuple(a.start_ns[x], x) < std::tuple(a.start_ns[y], y);
  };
  sort_nearly_ordered(sequence.rows.begin(), sequence.rows.end(), before);
  std::unordered_map<std::uint64_t, std::uint32_t> number;
  sequence.ids.reserve(sequence.rows.size());
  for (auto row : sequence.rows) {
    const std::uint64_t key = mix(
        mix(mix(static_cast<std::uint32_t>(a.name[row]), static_cast<std::uint32_t>(a.grid_x[row])),
            static_cast<std::uint32_t>(a.grid_y[row])),
        static_cast<std::uint32_t>(a.grid_z[row]));
    sequence.ids.push_back(
        number.emplace(key, static_cast<std::uint32_t>(number.size())).first->second);
  }
  sequence.distinct = static_cast<std::uint32_t>(number.size());
  return sequence;
}

TokenPositions::TokenPositions(const KernelSequence& sequence, std::size_t length) : begin_(1, 0) {
  const auto& ids = sequence.ids;
  if (ids.size() < length) return;
  const std::size_t n = ids.size() - length + 1;
  std::vector<std::uint32_t> token(n);
  std::unordered_map<std::uint64_t, std::uint32_t> number;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t key = length;
    for (std::size_t k = 0; k < length; ++k) key = mix(key, ids[i + k]);
    token[i] = number.emplace(key, static_cast<std::uint32_t>(number.size())).first->second;
  }
  begin_.assign(number.size() + 1, 0);
  for (auto t : token) ++begin_[t + 1];
  for (std::size_t t = 0; t + 1 < begin_.size(); ++t) begin_[t + 1] += begin_[t];
  positions_.resize(n);
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t i = 0; i < n; ++i) positions_[next[token[i]]++] = static_cast<std::uint32_t>(i);
}

}  // namespace gf
