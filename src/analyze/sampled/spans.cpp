#include "analyze/sampled/spans.h"

#include <algorithm>
#include <cmath>

#include "analyze/sampled/series.h"
#include "core/statistics.h"

namespace gf {

namespace {

constexpr double kTick = 0.01, kWork = 0.02, kSteady = 0.05;
constexpr Nanos kCell = 100 * kNsPerMs, kLeastSettled = 500 * kNsPerMs;
constexpr Nanos kMostCells = 1 << 20;

/// A device's busy time in equal cells.
struct Cells {
  std::vector<double> busy, covered;       // ns
  std::vector<Nanos> first, last;          // of the samples in it that are more than a tick
};

Interval working_span(const Cells& cells, Interval within) {
  auto works = [&](std::size_t i) { return cells.covered[i] > 0 && cells.busy[i] > kWork * cells.covered[i] && cells.first[i] < cells.last[i]; };
  std::size_t from = 0, to = cells.busy.size();
  while (from < to && !works(from)) ++from;
  while (to > from && !works(to - 1)) --to;
  if (from == to) return {0, 0};
  return {std::max(cells.first[from], within.start), std::min(cells.last[to - 1], within.end)};
}

Interval settled_span(const Cells& cells, Interval working, Interval within, Nanos cell) {
  const Nanos wide = std::max({kLeastSettled, working.length() / 100, cell});
  const auto n = static_cast<std::size_t>(working.length() / wide);
  if (n < 4) return {0, 0};
  std::vector<double> busy(n, 0), covered(n, 0);
  for (std::size_t i = 0; i < cells.busy.size(); ++i) {
    const Nanos middle = within.start + static_cast<Nanos>(i) * cell + cell / 2;
    if (middle < working.start) continue;
    const auto at = static_cast<std::size_t>((middle - working.start) / wide);
    if (at < n) busy[at] += cells.busy[i], covered[at] += cells.covered[i];
  }
  for (std::size_t i = 0; i < n; ++i) busy[i] = covered[i] > 0 ? busy[i] / covered[i] : 0;
  const std::vector<double> half(busy.begin() + static_cast<std::ptrdiff_t>(n / 2), busy.end());
  const double typical = median(half), room = std::max(kSteady, 3 * median_absolute_deviation(half));
  auto steady = [&](std::size_t i) { return std::abs(busy[i] - typical) <= room; };
  std::size_t from = 0, to = n;
  while (from + 2 < n && !(steady(from) && steady(from + 1) && steady(from + 2))) ++from;
  if (from + 2 >= n) return {0, 0};
  while (to > from && !steady(to - 1)) --to;
  return {working.start + static_cast<Nanos>(from) * wide, working.start + static_cast<Nanos>(to) * wide};
}

}  // namespace

SampleOverview look_over_samples(const Capture& c) {
  const Text busy = c.strings.find("gpu.busy"), utilization = c.strings.find("monitor.gpu");
  SampleOverview o;
  Interval extent{INT64_MAX, INT64_MIN};
  o.work.assign(c.devices.size(), Text::none);
  each_counter_value(c, kAllTime, [&](std::uint32_t device, Text metric, Nanos start, Nanos duration, double) {
    if (device >= o.work.size()) return;
    extent = {std::min(extent.start, start), std::max(extent.end, end_of(start, duration))};
    if (metric == busy && busy != Text::none) o.work[device] = busy;
    else if (metric == utilization && o.work[device] == Text::none) o.work[device] = utilization;
  });
  if (extent.end > extent.start) o.extent = extent;
  return o;
}

ActiveSpans active_spans(const Capture& c, const std::vector<Text>& work, Interval within) {
  const Nanos cell = std::max(kCell, within.length() / kMostCells);
  const auto n = static_cast<std::size_t>(within.length() / cell + 1);
  std::vector<Cells> cells(work.size());
  each_sample_span(c, within, [&](std::uint32_t device, Text metric, Nanos start, Nanos end, double value) {
    if (device >= work.size() || metric != work[device] || metric == Text::none) return;
    auto& d = cells[device];
    if (d.busy.empty()) d = {std::vector<double>(n, 0), std::vector<double>(n, 0), std::vector<Nanos>(n, INT64_MAX), std::vector<Nanos>(n, INT64_MIN)};
    // A sample longer than a cell fills several.
    for (Nanos at = std::max(start, within.start), stop = std::min(end, within.end); at < stop;) {
      const auto i = static_cast<std::size_t>((at - within.start) / cell);
      const Nanos until = std::min(stop, within.start + static_cast<Nanos>(i + 1) * cell);
      d.busy[i] += value * static_cast<double>(until - at);
      d.covered[i] += static_cast<double>(until - at);
      if (value > kTick) d.first[i] = std::min(d.first[i], at), d.last[i] = std::max(d.last[i], until);
      at = until;
    }
  });
  ActiveSpans spans;
  for (const auto& d : cells) {
    spans.working.push_back(d.busy.empty() ? Interval{0, 0} : working_span(d, within));
    spans.settled.push_back(spans.working.back().length() > 0 ? settled_span(d, spans.working.back(), within, cell) : Interval{0, 0});
  }
  return spans;
}

Interval hull(const std::vector<Interval>& spans) {
  Interval all{INT64_MAX, INT64_MIN};
  for (const auto& s : spans)
    if (s.length() > 0) all = {std::min(all.start, s.start), std::max(all.end, s.end)};
  return all.end > all.start ? all : Interval{0, 0};
}

}  // namespace gf
