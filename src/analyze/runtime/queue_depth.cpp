#include <algorithm>
#include <functional>

#include "analyze/runtime/trace.h"
#include "core/order.h"

namespace gf {

std::vector<DepthStep> depth_curve(std::span<const QueueItem> items, Interval window) {
  if (window.end <= window.start) return {};
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
  std::vector<DepthStep> curve;
  curve.reserve(enters.size() + leaves.size() + 1);
  curve.push_back({window.start, depth});
  for (auto in = enters.begin(), out = leaves.begin(); in != enters.end() || out != leaves.end();) {
    Nanos at = 0;
    if (out == leaves.end() || (in != enters.end() && *in < *out)) {
      at = *in;
    } else {
      at = *out;
    }
    for (; in != enters.end() && *in == at; ++in) ++depth;
    for (; out != leaves.end() && *out == at; ++out) --depth;
    if (depth != curve.back().depth) curve.push_back({at, depth});
  }
  return curve;
}

DepthSummary summarise(std::span<const DepthStep> curve, Interval window) {
  DepthSummary summary;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    Nanos end = 0;
    if (i + 1 < curve.size()) {
      end = curve[i + 1].at;
    } else {
      end = window.end;
    }
    const Nanos length = end - curve[i].at;
    summary.max = std::max(summary.max, curve[i].depth);
    summary.integral += static_cast<Int128>(curve[i].depth) * length;
    if (curve[i].depth != 0) continue;
    summary.empty_ns += length;
    summary.empty.push_back({curve[i].at, end});
  }
  return summary;
}

std::vector<DepthPart> thin(std::span<const DepthStep> curve, Interval window, std::size_t parts) {
  std::vector<DepthPart> out;
  if (curve.empty() || parts == 0) return out;
  const auto length = static_cast<Int128>(window.length());
  std::size_t at = 0;
  for (std::size_t index = 0; index < parts; ++index) {
    const Nanos start = window.start + static_cast<Nanos>(length * static_cast<Int128>(index) /
                                                          static_cast<Int128>(parts));
    const Nanos end = window.start + static_cast<Nanos>(length * static_cast<Int128>(index + 1) /
                                                        static_cast<Int128>(parts));
    if (end == start) continue;  // a window shorter than the parts
    DepthPart part{start, end - start, INT64_MAX, 0, 0};
    Int128 integral = 0;
    for (Nanos time = start; time < end;) {
      while (at + 1 < curve.size() && curve[at + 1].at <= time) ++at;
      const Nanos until = std::min(end, at + 1 < curve.size() ? curve[at + 1].at : end);
      part.min = std::min(part.min, curve[at].depth);
      part.max = std::max(part.max, curve[at].depth);
      integral += static_cast<Int128>(curve[at].depth) * (until - time);
      time = until;
    }
    part.mean = static_cast<double>(integral) / static_cast<double>(part.duration_ns);
    out.push_back(part);
  }
  return out;
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
