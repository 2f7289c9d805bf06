#include "analyze/sampled/spans.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analyze/sampled/series.h"
#include "core/statistics.h"
#include "model/activity.h"

namespace gf {

namespace {

constexpr double kSteady = 0.05;
constexpr Nanos kLeastSettled = 500 * kNsPerMs;
constexpr Nanos kMostCells = 1 << 20;

/// A device's busy time in equal cells.
class Cells {
 public:
  std::vector<double> busy, covered;  // ns
  std::vector<Nanos> first, last;     // of the samples in it that are more than a tick

  Cells(Interval within, Nanos cell)
      : within_(within), cell_(cell), n_(static_cast<std::size_t>(within.length() / cell + 1)) {
    busy.assign(n_, 0), covered.assign(n_, 0), first.assign(n_, INT64_MAX),
        last.assign(n_, INT64_MIN);
  }
  void add(Nanos start, Nanos end, double value) {
    start = std::max(start, within_.start), end = std::min(end, within_.end);
    if (start >= end) return;
    const std::size_t from = at(start), to = at(end - 1);
    piece(from, start, std::min(end, begin(from + 1)), value);
    if (to > from) piece(to, begin(to), end, value);
    if (to < from + 2) return;
    // A sample longer than some cells: noted where it begins and ends, so that many such samples
    // take no longer than short ones.
    if (whole_.empty()) whole_.assign(n_ + 1, {});
    whole_[from + 1] = {whole_[from + 1].value + value, whole_[from + 1].samples + 1,
                        whole_[from + 1].ticks + (value > kTickShare)};
    whole_[to] = {whole_[to].value - value, whole_[to].samples - 1,
                  whole_[to].ticks - (value > kTickShare)};
  }
  void finish() {
    Whole sum;
    for (std::size_t i = 0; i < n_ && !whole_.empty(); ++i) {
      sum = {sum.value + whole_[i].value, sum.samples + whole_[i].samples,
             sum.ticks + whole_[i].ticks};
      if (sum.samples == 0) continue;
      busy[i] += sum.value * static_cast<double>(cell_);
      covered[i] += static_cast<double>(sum.samples) * static_cast<double>(cell_);
      if (sum.ticks > 0) first[i] = begin(i), last[i] = begin(i + 1);
    }
  }

 private:
  struct Whole {
    double value = 0;
    std::int64_t samples = 0, ticks = 0;
  };
  std::size_t at(Nanos time) const {
    return static_cast<std::size_t>((time - within_.start) / cell_);
  }
  Nanos begin(std::size_t i) const { return within_.start + static_cast<Nanos>(i) * cell_; }
  void piece(std::size_t i, Nanos start, Nanos end, double value) {
    busy[i] += value * static_cast<double>(end - start);
    covered[i] += static_cast<double>(end - start);
    if (value > kTickShare) first[i] = std::min(first[i], start), last[i] = std::max(last[i], end);
  }

  Interval within_;
  Nanos cell_;
  std::size_t n_;
  std::vector<Whole> whole_;  // by cell: what changes there
};

Interval working_span(const Cells& cells, Interval within) {
  auto works = [&](std::size_t i) {
    return cells.covered[i] > 0 && cells.busy[i] > kWorkShare * cells.covered[i] &&
           cells.first[i] < cells.last[i];
  };
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
  const double typical = median(half),
               room = std::max(kSteady, 3 * median_absolute_deviation(half));
  auto steady = [&](std::size_t i) { return std::abs(busy[i] - typical) <= room; };
  std::size_t from = 0, to = n;
  while (from + 2 < n && !(steady(from) && steady(from + 1) && steady(from + 2))) ++from;
  if (from + 2 >= n) return {0, 0};
  while (to > from && !steady(to - 1)) --to;
  return {working.start + static_cast<Nanos>(from) * wide,
          working.start + static_cast<Nanos>(to) * wide};
}

}  // namespace

SampleOverview look_over_samples(const Capture& c) {
  const Text busy = c.strings.find("gpu.busy"), utilization = c.strings.find("monitor.gpu");
  SampleOverview o;
  Interval extent{INT64_MAX, INT64_MIN};
  o.work.assign(c.devices.size(), Text::none);
  auto see = [&](std::uint32_t device, Text metric, Nanos start, Nanos end) {
    if (device >= o.work.size()) return;
    extent = {std::min(extent.start, start), std::max(extent.end, end)};
    if (metric == busy && busy != Text::none)
      o.work[device] = busy;
    else if (metric == utilization && o.work[device] == Text::none)
      o.work[device] = utilization;
  };
  const auto& t = c.counter_samples;
  for (std::size_t i = 0; i < t.size(); ++i)
    see(t.device[i], t.metric[i], t.start_ns[i], end_of(t.start_ns[i], t.duration_ns[i]));
  for (const auto& block : c.sample_blocks)  // what they hold is written on them
    for (const Text metric : block.metrics)
      see(block.device, metric, block.first_ns, block.last_ns);
  if (extent.end > extent.start) o.extent = extent;
  return o;
}

ActiveSpans active_spans(const Capture& c, const std::vector<Text>& work, Interval within) {
  const Nanos cell = std::max(kWorkStretch, within.length() / kMostCells);
  std::vector<std::optional<Cells>> cells(work.size());
  CounterFilter wanted;
  for (const Text metric : work)
    if (metric != Text::none &&
        std::find(wanted.metrics.begin(), wanted.metrics.end(), metric) == wanted.metrics.end())
      wanted.metrics.push_back(metric);
  each_sample_span(c, within, wanted,
                   [&](std::uint32_t device, Text metric, Nanos start, Nanos end, double value) {
                     if (device >= work.size() || metric != work[device] || metric == Text::none)
                       return;
                     if (!cells[device]) cells[device].emplace(within, cell);
                     cells[device]->add(start, end, value);
                   });
  ActiveSpans spans;
  for (auto& d : cells) {
    if (d) d->finish();
    spans.working.push_back(d ? working_span(*d, within) : Interval{0, 0});
    spans.settled.push_back(spans.working.back().length() > 0
                                ? settled_span(*d, spans.working.back(), within, cell)
                                : Interval{0, 0});
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
