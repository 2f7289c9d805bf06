#include <queue>
#include <utility>

#include "analyze/timeline.h"

namespace gf {

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

/// The spans that cover the present instant, in the order in which they began. A doubly linked list
/// through indices: both ends and any member are reached in constant time, so that hundreds of
/// overlapping streams stay O(n log n).
class Covering {
 public:
  explicit Covering(std::size_t count) : next_(count, kNone), previous_(count, kNone) {}
  std::uint32_t first() const { return first_; }
  Nanos count() const { return count_; }
  void add(std::uint32_t index) {
    previous_[index] = last_;
    next_[index] = kNone;
    (last_ == kNone ? first_ : next_[last_]) = index;
    last_ = index;
    ++count_;
  }
  void remove(std::uint32_t index) {
    (previous_[index] == kNone ? first_ : next_[previous_[index]]) = next_[index];
    (next_[index] == kNone ? last_ : previous_[next_[index]]) = previous_[index];
    --count_;
  }

 private:
  std::vector<std::uint32_t> next_, previous_;
  std::uint32_t first_ = kNone, last_ = kNone;
  Nanos count_ = 0;
};

/// One run of spans [from, to) that overlap each other, directly or through others.
void split_run(std::span<const Interval> spans, std::size_t from, std::size_t to,
               std::vector<Nanos>& share) {
  using End = std::pair<Nanos, std::uint32_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  Covering covering(to - from);
  Nanos now = spans[from].start;
  Nanos each = 0;  // what a span that covered everything so far would have got
  auto advance = [&](Nanos until) {
    if (covering.count() > 0 && until > now) {
      each += (until - now) / covering.count();
      share[from + covering.first()] += (until - now) % covering.count();
    }
    now = until;
  };
  auto finish_until = [&](Nanos until) {
    for (; !ends.empty() && ends.top().first <= until; ends.pop()) {
      const auto [end, row] = ends.top();
      advance(end);
      share[from + row] += each;
      covering.remove(row);
    }
  };
  for (std::size_t i = from; i < to; ++i) {
    if (spans[i].length() <= 0) continue;
    finish_until(spans[i].start);
    advance(spans[i].start);
    const auto at = static_cast<std::uint32_t>(i - from);
    share[i] -= each;
    covering.add(at);
    ends.push({spans[i].end, at});
  }
  finish_until(INT64_MAX);
}

}  // namespace

std::vector<Nanos> exclusive_times(std::span<const Interval> spans) {
  std::vector<Nanos> share(spans.size(), 0);
  for (std::size_t from = 0; from < spans.size();) {
    // Nearly all kernels overlap nothing: a run of one span takes it all.
    Nanos end = spans[from].end;
    std::size_t to = from + 1;
    for (; to < spans.size() && spans[to].start < end; ++to) end = std::max(end, spans[to].end);
    if (to == from + 1)
      share[from] = spans[from].length();
    else
      split_run(spans, from, to, share);
    from = to;
  }
  return share;
}

}  // namespace gf
