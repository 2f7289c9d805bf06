#include <algorithm>
#include <functional>
#include <utility>

#include "analyze/runtime/trace.h"
#include "core/order.h"

namespace gf {

namespace {

/// apply(span, depth) for each stretch of one depth inside the window, in order.
template <class F>
void each_depth(std::span<const QueueItem> items, Interval window, F&& apply) {
  if (window.end <= window.start) return;
  std::vector<Nanos> enters, leaves;
  enters.reserve(items.size());
  leaves.reserve(items.size());
  std::int64_t depth = 0;
  for (const auto& item : items) {
    if (item.leave <= item.enter || item.leave <= window.start || item.enter >= window.end)
      continue;
    if (item.enter <= window.start)
      ++depth;
    else
      enters.push_back(item.enter);
    if (item.leave < window.end) leaves.push_back(item.leave);
  }
  sort_nearly_ordered(enters.begin(), enters.end(), std::less<>());
  sort_nearly_ordered(leaves.begin(), leaves.end(), std::less<>());
  Nanos since = window.start;
  for (auto in = enters.begin(), out = leaves.begin(); in != enters.end() || out != leaves.end();) {
    Nanos at = 0;
    if (out == leaves.end() || (in != enters.end() && *in < *out)) {
      at = *in;
    } else {
      at = *out;
    }
    const std::int64_t before = depth;
    for (; in != enters.end() && *in == at; ++in) ++depth;
    for (; out != leaves.end() && *out == at; ++out) --depth;
    if (depth == before) continue;
    apply(Interval{since, at}, before);
    since = at;
  }
  apply(Interval{since, window.end}, depth);
}

/// The curve over equal parts of a window, from its stretches.
class Thinning {
 public:
  Thinning(Interval window, std::size_t parts) : window_(window), parts_(parts) { begin(0); }

  void add(Interval span, std::int64_t depth) {
    while (at_ < parts_) {
      const Nanos end = part_.start_ns + part_.duration_ns, until = std::min(span.end, end);
      if (until > span.start) {
        part_.min = std::min(part_.min, depth);
        part_.max = std::max(part_.max, depth);
        integral_ += static_cast<Int128>(depth) * (until - span.start);
        span.start = until;
      }
      if (until < end) return;
      if (part_.duration_ns > 0) {  // else the window is shorter than the parts
        part_.mean = static_cast<double>(integral_) / static_cast<double>(part_.duration_ns);
        done_.push_back(part_);
      }
      begin(at_ + 1);
    }
  }
  std::vector<DepthPart> take() && { return std::move(done_); }

 private:
  void begin(std::size_t part) {
    at_ = part;
    const Nanos start = bound(part);
    part_ = {start, bound(part + 1) - start, INT64_MAX, 0, 0};
    integral_ = 0;
  }
  Nanos bound(std::size_t part) const {
    if (parts_ == 0) return window_.end;
    return window_.start +
           static_cast<Nanos>(static_cast<Int128>(window_.length()) * static_cast<Int128>(part) /
                              static_cast<Int128>(parts_));
  }

  Interval window_;
  std::size_t parts_, at_ = 0;
  DepthPart part_;
  Int128 integral_ = 0;
  std::vector<DepthPart> done_;
};

}  // namespace

std::vector<DepthStep> depth_curve(std::span<const QueueItem> items, Interval window) {
  std::vector<DepthStep> curve;
  curve.reserve(2 * items.size() + 1);
  each_depth(items, window,
             [&](Interval span, std::int64_t depth) { curve.push_back({span.start, depth}); });
  return curve;
}

DepthSummary summarise(std::span<const QueueItem> items, Interval window, std::size_t parts) {
  DepthSummary summary;
  Thinning thinning(window, parts);
  each_depth(items, window, [&](Interval span, std::int64_t depth) {
    summary.max = std::max(summary.max, depth);
    summary.integral += static_cast<Int128>(depth) * span.length();
    thinning.add(span, depth);
    if (depth != 0) return;
    summary.empty_ns += span.length();
    summary.empty.push_back(span);
  });
  summary.parts = std::move(thinning).take();
  return summary;
}

std::vector<QueueItem> pair_in_order(std::span<const Interval> entered, std::span<const Nanos> left,
                                     Nanos end, std::int64_t& before) {
  // The k-th item taken is the (k - before)-th one put there, and nothing can be taken before its
  // put began: `before` is the smallest number for which that holds for all.
  before = 0;
  std::size_t put = 0;
  for (std::size_t taken = 0; taken < left.size(); ++taken) {
    while (put < entered.size() && entered[put].start <= left[taken]) ++put;
    before =
        std::max(before, static_cast<std::int64_t>(taken + 1) - static_cast<std::int64_t>(put));
  }
  std::vector<QueueItem> items;
  items.reserve(entered.size());
  for (std::size_t i = 0; i < entered.size(); ++i) {
    const std::size_t enter = i + static_cast<std::size_t>(before);
    // The event that puts an item there ends a little after it did: a taker may be quicker.
    if (enter < left.size())
      items.push_back({std::min(entered[i].end, left[enter]), left[enter]});
    else
      items.push_back({entered[i].end, std::max(end, entered[i].end)});
  }
  return items;
}

}  // namespace gf
