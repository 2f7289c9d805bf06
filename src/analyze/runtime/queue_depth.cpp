#include "analyze/runtime/queue_depth.h"

#include <algorithm>

namespace gf {

std::vector<DepthStep> depth_curve(std::span<const QueueItem> items, Interval window) {
  if (window.end <= window.start) return {};
  std::vector<std::pair<Nanos, std::int64_t>> changes;
  changes.reserve(items.size() * 2);
  std::int64_t depth = 0;
  for (const auto& item : items) {
    if (item.leave <= item.enter || item.leave <= window.start || item.enter >= window.end) continue;
    if (item.enter <= window.start) ++depth;
    else changes.emplace_back(item.enter, +1);
    if (item.leave < window.end) changes.emplace_back(item.leave, -1);
  }
  std::sort(changes.begin(), changes.end());
  std::vector<DepthStep> curve{{window.start, depth}};
  for (std::size_t i = 0; i < changes.size();) {
    const Nanos at = changes[i].first;
    for (; i < changes.size() && changes[i].first == at; ++i) depth += changes[i].second;
    if (depth != curve.back().depth) curve.push_back({at, depth});
  }
  return curve;
}

DepthSummary summarise(std::span<const DepthStep> curve, Interval window) {
  DepthSummary s;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const Nanos end = i + 1 < curve.size() ? curve[i + 1].at : window.end;
    const Nanos length = end - curve[i].at;
    s.max = std::max(s.max, curve[i].depth);
    s.integral += static_cast<__int128>(curve[i].depth) * length;
    if (curve[i].depth != 0) continue;
    s.empty_ns += length;
    s.empty.push_back({curve[i].at, end});
  }
  return s;
}

std::vector<DepthPart> thin(std::span<const DepthStep> curve, Interval window, std::size_t parts) {
  std::vector<DepthPart> out;
  if (curve.empty() || parts == 0) return out;
  const auto length = static_cast<__int128>(window.length());
  std::size_t at = 0;
  for (std::size_t p = 0; p < parts; ++p) {
    const Nanos start = window.start + static_cast<Nanos>(length * static_cast<__int128>(p) / static_cast<__int128>(parts));
    const Nanos end = window.start + static_cast<Nanos>(length * static_cast<__int128>(p + 1) / static_cast<__int128>(parts));
    if (end == start) continue;  // a window shorter than the parts
    DepthPart part{start, end - start, INT64_MAX, 0, 0};
    __int128 integral = 0;
    for (Nanos t = start; t < end;) {
      while (at + 1 < curve.size() && curve[at + 1].at <= t) ++at;
      const Nanos until = std::min(end, at + 1 < curve.size() ? curve[at + 1].at : end);
      part.min = std::min(part.min, curve[at].depth);
      part.max = std::max(part.max, curve[at].depth);
      integral += static_cast<__int128>(curve[at].depth) * (until - t);
      t = until;
    }
    part.mean = static_cast<double>(integral) / static_cast<double>(part.duration_ns);
    out.push_back(part);
  }
  return out;
}

std::vector<QueueItem> pair_in_order(std::span<const Interval> entered, std::span<const Nanos> left, Nanos end, std::int64_t& before) {
  // The k-th item taken is the (k - before)-th one put there, and nothing can be taken before its put began: `before` is the
  // smallest number for which that holds for all.
  before = 0;
  std::size_t put = 0;
  for (std::size_t taken = 0; taken < left.size(); ++taken) {
    while (put < entered.size() && entered[put].start <= left[taken]) ++put;
    before = std::max(before, static_cast<std::int64_t>(taken + 1) - static_cast<std::int64_t>(put));
  }
  std::vector<QueueItem> items;
  items.reserve(entered.size());
  for (std::size_t i = 0; i < entered.size(); ++i) {
    const std::size_t k = i + static_cast<std::size_t>(before);
    // The event that puts an item there ends a little after it did: a taker may be quicker.
    if (k < left.size()) items.push_back({std::min(entered[i].end, left[k]), left[k]});
    else items.push_back({entered[i].end, std::max(end, entered[i].end)});
  }
  return items;
}

}  // namespace gf
