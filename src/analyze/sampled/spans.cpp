#include "analyze/sampled/spans.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analyze/sampled/series.h"
#include "core/statistics.h"
#include "model/activity.h"
#include "model/metric_id.h"

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
    busy.assign(n_, 0);
    covered.assign(n_, 0);
    first.assign(n_, INT64_MAX);
    last.assign(n_, INT64_MIN);
  }
  void add(Nanos start, Nanos end, double value) {
    start = std::max(start, within_.start);
    end = std::min(end, within_.end);
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
      if (sum.ticks > 0) {
        first[i] = begin(i);
        last[i] = begin(i + 1);
      }
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
  Nanos begin(std::size_t index) const { return within_.start + static_cast<Nanos>(index) * cell_; }
  void piece(std::size_t index, Nanos start, Nanos end, double value) {
    busy[index] += value * static_cast<double>(end - start);
    covered[index] += static_cast<double>(end - start);
    if (value > kTickShare) {
      first[index] = std::min(first[index], start);
      last[index] = std::max(last[index], end);
    }
  }

  Interval within_;
  Nanos cell_;
  std::size_t n_;
  std::vector<Whole> whole_;  // by cell: what changes there
};

Interval working_span(const Cells& cells, Interval within) {
  auto works = [&](std::size_t index) {
    return cells.covered[index] > 0 && cells.busy[index] > kWorkShare * cells.covered[index] &&
           cells.first[index] < cells.last[index];
  };
  std::size_t from = 0, to = cells.busy.size();
  while (from < to && !works(from)) ++from;
  while (to > from && !works(to - 1)) --to;
  if (from == to) return {0, 0};
  return {std::max(cells.first[from], within.start), std::min(cells.last[to - 1], within.end)};
}

Interval settled_span(const Cells& cells, Interval working, Interval within, Nanos cell) {
  const Nanos wide = std::max({kLeastSettled, working.length() / 100, cell});
  const auto periods = static_cast<std::size_t>(working.length() / wide);
  if (periods < 4) return {0, 0};
  std::vector<double> busy(periods, 0), covered(periods, 0);
  for (std::size_t i = 0; i < cells.busy.size(); ++i) {
    const Nanos middle = within.start + static_cast<Nanos>(i) * cell + cell / 2;
    if (middle < working.start) continue;
    const auto at = static_cast<std::size_t>((middle - working.start) / wide);
    if (at < periods) {
      busy[at] += cells.busy[i];
      covered[at] += cells.covered[i];
    }
  }
  for (std::size_t i = 0; i < periods; ++i) {
    if (covered[i] > 0) {
      busy[i] = busy[i] / covered[i];
    } else {
      busy[i] = 0;
    }
  }
  const std::vector<double> half(busy.begin() + static_cast<std::ptrdiff_t>(periods / 2),
                                 busy.end());
  const double typical = median(half),
               room = std::max(kSteady, 3 * median_absolute_deviation(half));
  auto steady = [&](std::size_t i) { return std::abs(busy[i] - typical) <= room; };
  std::size_t from = 0, to = periods;
  while (from + 2 < periods && !(steady(from) && steady(from + 1) && steady(from + 2))) ++from;
  if (from + 2 >= periods) return {0, 0};
  while (to > from && !steady(to - 1)) --to;
  return {working.start + static_cast<Nanos>(from) * wide,
          working.start + static_cast<Nanos>(to) * wide};
}

}  // namespace

SampleOverview look_over_samples(const Capture& capture) {
  const Text busy = capture.strings.find("gpu.busy"_metric),
             utilization = capture.strings.find("monitor.gpu"_metric);
  SampleOverview overview;
  Interval extent{INT64_MAX, INT64_MIN};
  overview.work.assign(capture.devices.size(), Text::none);
  auto see = [&](std::uint32_t device, Text metric, Nanos start, Nanos end) {
    if (device >= overview.work.size()) return;
    extent = {std::min(extent.start, start), std::max(extent.end, end)};
    if (metric == busy && busy != Text::none)
      overview.work[device] = busy;
    else if (metric == utilization && overview.work[device] == Text::none)
      overview.work[device] = utilization;
  };
  const auto& counter_samples = capture.counter_samples;
  for (std::size_t i = 0; i < counter_samples.size(); ++i)
    see(counter_samples.device[i], counter_samples.metric[i], counter_samples.start_ns[i],
        end_of(counter_samples.start_ns[i], counter_samples.duration_ns[i]));
  for (const auto& block : capture.sample_blocks)  // what they hold is written on them
    for (const Text metric : block.metrics)
      see(block.device, metric, block.first_ns, block.last_ns);
  if (extent.end > extent.start) overview.extent = extent;
  return overview;
}

ActiveSpans active_spans(const Capture& capture, const std::vector<Text>& work, Interval within) {
  const Nanos cell = std::max(kWorkStretch, within.length() / kMostCells);
  std::vector<std::optional<Cells>> cells(work.size());
  CounterFilter wanted;
  for (const Text metric : work)
    if (metric != Text::none &&
        std::find(wanted.metrics.begin(), wanted.metrics.end(), metric) == wanted.metrics.end())
      wanted.metrics.push_back(metric);
  each_sample_span(capture, within, wanted,
                   [&](std::uint32_t device, Text metric, Nanos start, Nanos end, double value) {
                     if (device >= work.size() || metric != work[device] || metric == Text::none)
                       return;
                     if (!cells[device]) cells[device].emplace(within, cell);
                     cells[device]->add(start, end, value);
                   });
  ActiveSpans spans;
  for (auto& device_cells : cells) {
    if (device_cells) device_cells->finish();
    spans.working.push_back(device_cells ? working_span(*device_cells, within) : Interval{0, 0});
    spans.settled.push_back(spans.working.back().length() > 0
                                ? settled_span(*device_cells, spans.working.back(), within, cell)
                                : Interval{0, 0});
  }
  return spans;
}

Interval hull(const std::vector<Interval>& spans) {
  Interval all{INT64_MAX, INT64_MIN};
  for (const auto& span : spans)
    if (span.length() > 0) all = {std::min(all.start, span.start), std::max(all.end, span.end)};
  if (all.end > all.start) return all;
  return Interval{0, 0};
}

}  // namespace gf
