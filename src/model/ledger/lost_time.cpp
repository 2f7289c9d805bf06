#include "model/ledger/lost_time.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "model/check.h"

namespace gf {

namespace {

/// So many launches to either side are asked for one of the same stream.
constexpr std::size_t kNeighbours = 64;

class LostTime {
 public:
  LostTime(const Capture& capture, const std::vector<std::uint32_t>& launches)
      : calls_(capture.api_calls), rows_(capture.activities), ran_(calls_.size()) {
    for (std::uint32_t row = 0; row < rows_.size(); ++row) {
      const Nanos end = std::min(rows_.start_ns[row] + rows_.duration_ns[row], kFarthestTime);
      end_ = std::max(end_, end);
      if (rows_.kind[row] == ActivityKind::kernel)
        longest_[rows_.name[row]] =
            std::max<Nanos>(longest_[rows_.name[row]], rows_.duration_ns[row]);
      const auto call = launches[row];
      if (call == kNoRow) continue;
      auto& ran = ran_[call];
      if (!ran.known) ran = {true, stream_of(row), rows_.start_ns[row], end};
      ran.start = std::min<Nanos>(ran.start, rows_.start_ns[row]);
      ran.end = std::max(ran.end, end);
    }
    for (std::uint32_t call = 0; call < calls_.size(); ++call)
      end_ =
          std::max(end_, std::min(calls_.start_ns[call] + calls_.duration_ns[call], kFarthestTime));
  }

  Nanos of(std::span<const std::uint32_t> lone) {
    std::vector<bool> is_lone(calls_.size(), false);
    for (const auto call : lone) is_lone[call] = true;
    std::vector<std::uint32_t> order;  // lone launches and those that ran
    for (std::uint32_t call = 0; call < calls_.size(); ++call)
      if (is_lone[call] || (ran_[call].known && (calls_.kind[call] == ApiKind::launch ||
                                                 calls_.kind[call] == ApiKind::graph_launch)))
        order.push_back(call);
    std::sort(order.begin(), order.end(), [&](auto left, auto right) {
      return std::tuple(calls_.thread[left], calls_.start_ns[left], left) <
             std::tuple(calls_.thread[right], calls_.start_ns[right], right);
    });
    Nanos time = 0;
    for (std::size_t from = 0, to = 0; from < order.size(); from = to) {
      to = from + 1;
      if (!is_lone[order[from]]) continue;
      while (to < order.size() && is_lone[order[to]] && same_thread(order, from, to)) ++to;
      const Nanos most = std::min(room(order, from, to), by_name(order, from, to));
      time = std::min(checked_add(time, most).value_or(kLongestTotal), kLongestTotal);
    }
    return time;
  }

 private:
  using Stream = std::tuple<std::uint32_t, std::int64_t, std::int64_t>;
  struct Ran {
    bool known = false;
    Stream stream;
    Nanos start = 0, end = 0;
  };
  using Order = std::vector<std::uint32_t>;

  Stream stream_of(std::uint32_t row) const {
    return {rows_.device[row], rows_.context[row], rows_.stream[row]};
  }
  bool same_thread(const Order& order, std::size_t left, std::size_t right) const {
    return calls_.thread[order[left]] == calls_.thread[order[right]];
  }

  /// The nearest launch that ran, of this stream where one is given: before `from`, or from `to`
  /// on.
  std::optional<Ran> before(const Order& order, std::size_t from, const Stream* stream) const {
    for (std::size_t i = from, left = kNeighbours; i-- > 0 && left > 0; --left) {
      if (!same_thread(order, i, from)) break;
      const Ran& ran = ran_[order[i]];
      if (ran.known && (!stream || ran.stream == *stream)) return ran;
    }
    return std::nullopt;
  }
  std::optional<Ran> after(const Order& order, std::size_t from, std::size_t to,
                           const Stream* stream) const {
    for (std::size_t i = to; i < order.size() && i < to + kNeighbours; ++i) {
      if (!same_thread(order, i, from)) break;
      const Ran& ran = ran_[order[i]];
      if (ran.known && (!stream || ran.stream == *stream)) return ran;
    }
    return std::nullopt;
  }

  Nanos room(const Order& order, std::size_t from, std::size_t to) const {
    const Nanos launched = calls_.start_ns[order[from]];
    Nanos most = 0;
    bool known = false;
    for (const auto& neighbour : {before(order, from, nullptr), after(order, from, to, nullptr)}) {
      if (!neighbour) continue;
      known = true;
      const auto last = before(order, from, &neighbour->stream),
                 next = after(order, from, to, &neighbour->stream);
      const Nanos begin = last ? std::max(last->end, launched) : launched;
      most = std::max(most, (next ? next->start : end_) - begin);
    }
    return known ? most : std::max<Nanos>(0, end_ - launched);
  }

  Nanos by_name(const Order& order, std::size_t from, std::size_t to) const {
    Nanos time = 0;
    for (std::size_t i = from; i < to; ++i) {
      const auto found = longest_.find(calls_.kernel[order[i]]);
      if (calls_.kernel[order[i]] == Text::none || found == longest_.end()) return kLongestTotal;
      time = std::min(time + found->second, kLongestTotal);
    }
    return time;
  }

  const api_calls_table& calls_;
  const activities_table& rows_;
  std::vector<Ran> ran_;                     // by row of api_calls: what it started
  std::unordered_map<Text, Nanos> longest_;  // of a kernel's name
  Nanos end_ = -kFarthestTime;
};

}  // namespace

Nanos lost_time(const Capture& capture, const std::vector<std::uint32_t>& launches,
                std::span<const std::uint32_t> lone) {
  if (lone.empty()) return 0;
  return LostTime(capture, launches).of(lone);
}

}  // namespace gf
