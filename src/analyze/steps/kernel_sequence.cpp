#include "analyze/steps/kernel_sequence.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "core/order.h"

namespace gf {

namespace {

std::uint64_t mix(std::uint64_t left, std::uint64_t right) {
  left ^= right + 0x9e3779b97f4a7c15u + (left << 6) + (left >> 2);
  return left * 0xff51afd7ed558ccdu;
}

}  // namespace

KernelSequence kernel_sequence(const Capture& capture) {
  const auto& activities = capture.activities;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::size_t> count;  // by device and stream
  for (std::uint32_t i = 0; i < activities.size(); ++i)
    if (activities.kind[i] == ActivityKind::kernel)
      ++count[{activities.device[i], activities.stream[i]}];
  KernelSequence sequence;
  if (count.empty()) return sequence;
  const auto busiest =
      std::max_element(count.begin(), count.end(), [](const auto& left, const auto& right) {
        return left.second < right.second;
      })->first;
  sequence.device = busiest.first;
  for (std::uint32_t i = 0; i < activities.size(); ++i)
    if (activities.kind[i] == ActivityKind::kernel && activities.device[i] == busiest.first &&
        activities.stream[i] == busiest.second)
      sequence.rows.push_back(i);
  auto before = [&](std::uint32_t left, std::uint32_t right) {
    return std::tuple(activities.start_ns[left], left) <
           std::tuple(activities.start_ns[right], right);
  };
  sort_nearly_ordered(sequence.rows.begin(), sequence.rows.end(), before);
  std::unordered_map<std::uint64_t, std::uint32_t> number;
  sequence.ids.reserve(sequence.rows.size());
  for (auto row : sequence.rows) {
    const std::uint64_t key = mix(mix(mix(static_cast<std::uint32_t>(activities.name[row]),
                                          static_cast<std::uint32_t>(activities.grid_x[row])),
                                      static_cast<std::uint32_t>(activities.grid_y[row])),
                                  static_cast<std::uint32_t>(activities.grid_z[row]));
    sequence.ids.push_back(
        number.emplace(key, static_cast<std::uint32_t>(number.size())).first->second);
  }
  sequence.distinct = static_cast<std::uint32_t>(number.size());
  return sequence;
}

TokenPositions::TokenPositions(const KernelSequence& sequence, std::size_t length) : begin_(1, 0) {
  const auto& ids = sequence.ids;
  if (ids.size() < length) return;
  const std::size_t count = ids.size() - length + 1;
  std::vector<std::uint32_t> token(count);
  std::unordered_map<std::uint64_t, std::uint32_t> number;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t key = length;
    for (std::size_t at = 0; at < length; ++at) key = mix(key, ids[i + at]);
    token[i] = number.emplace(key, static_cast<std::uint32_t>(number.size())).first->second;
  }
  begin_.assign(number.size() + 1, 0);
  for (auto mark : token) ++begin_[mark + 1];
  for (std::size_t index = 0; index + 1 < begin_.size(); ++index)
    begin_[index + 1] += begin_[index];
  positions_.resize(count);
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t i = 0; i < count; ++i)
    positions_[next[token[i]]++] = static_cast<std::uint32_t>(i);
}

}  // namespace gf
