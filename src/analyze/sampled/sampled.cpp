#include "analyze/sampled/sampled.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "analyze/chosen_devices.h"
#include "analyze/context.h"
#include "analyze/energy/attribute.h"
#include "analyze/sampled/levels.h"
#include "analyze/window.h"
#include "core/intervals.h"
#include "core/statistics.h"
#include "model/capture.h"
#include "model/formats.h"
#include "model/levels.h"
#include "model/metrics.h"

namespace gf {

namespace {

struct SampleOverview {
  Interval extent{0, 0};  // from the first to the last sample of a device; empty when there is none
  std::vector<Text> work;  // by device: what says whether it works, of kWorkSigns; none without any
};

/// Metrics that say that a device works, best first: a log need not have the first.
constexpr std::string_view kWorkSigns[] = {
    "gpu.busy"_metric,     "monitor.gpu"_metric,   "sm.active"_metric,   "sm.active_any"_metric,
    "issue.active"_metric, "tensor.active"_metric, "dram.active"_metric, "sm.occupancy"_metric};

struct ActiveSpans {
  std::vector<Interval>
      working;  // by device: from its first to its last stretch of work; empty when it never worked
  std::vector<Interval> settled;  // by device: what is left without the beginning and the end that
                                  // differ from the rest; empty when nothing settles
};

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
    busy[i] = covered[i] > 0 ? busy[i] / covered[i] : 0;
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

SampleOverview look_over_samples(const Capture& capture) {
  std::vector<std::uint8_t> rank(capture.strings.size(), std::size(kWorkSigns));
  for (std::uint8_t sign = 0; sign < std::size(kWorkSigns); ++sign)
    if (const Text text = capture.strings.find(kWorkSigns[sign]); text != Text::none)
      rank[static_cast<std::size_t>(text)] = sign;
  const auto rank_of = [&](Text metric) {
    return metric == Text::none ? std::uint8_t{std::size(kWorkSigns)}
                                : rank[static_cast<std::size_t>(metric)];
  };
  SampleOverview overview;
  Interval extent{INT64_MAX, INT64_MIN};
  overview.work.assign(capture.devices.size(), Text::none);
  auto see = [&](std::uint32_t device, Text metric, Nanos start, Nanos end) {
    if (device >= overview.work.size()) return;
    extent = {std::min(extent.start, start), std::max(extent.end, end)};
    if (rank_of(metric) < rank_of(overview.work[device])) overview.work[device] = metric;
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

/// Work is a tenth of a second (or one sample, when longer) that is busy for over 2 %: drivers and
/// monitors tick. Settled, after the rule for stable steps: from the first of three cells in a row
/// that lie within 3 median absolute deviations (at least 5 points) of the median of the last half,
/// to the last one that does; a cell is a hundredth of the span, at least half a second.
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

/// From the first start to the last end of those that are not empty.
Interval hull(const std::vector<Interval>& spans) {
  Interval all{INT64_MAX, INT64_MIN};
  for (const auto& span : spans)
    if (span.length() > 0) all = {std::min(all.start, span.start), std::max(all.end, span.end)};
  if (all.end > all.start) return all;
  return Interval{0, 0};
}

constexpr std::int64_t kBuckets = 240;
constexpr Nanos kLongestRun = 100 * 366 * Nanos(86400) * kNsPerSecond;
constexpr Nanos kFine = 10 * kNsPerMs;  // longer samples show no steps

SampleSource source_of(const Capture& capture, std::uint32_t device,
                       const std::vector<SampledSeries>& series) {
  if (const auto said =
          capture.metadata_value(fmt::format("record.source.{}", capture.devices.id[device]));
      !said.empty())
    return enum_from<SampleSource>(said).value_or(SampleSource::nvml);
  const auto source = enum_from<SampleSource>(format_facts(capture.format).samples_from);
  const bool levels = std::ranges::any_of(series, [&](const SampledSeries& one) {
    return capture.text(one.metric) == "gpu.busy"_metric;
  });
  return levels || source == SampleSource::dcgm ? *source : SampleSource::nvml;
}

/// The order of readings: levels, then these, then the rest as it came.
constexpr std::string_view kAfterLevels[] = {
    "dram.read"_metric,    "dram.write"_metric, "pcie.rx"_metric,      "pcie.tx"_metric,
    "nvlink.rx"_metric,    "nvlink.tx"_metric,  "power.module"_metric, "power.average"_metric,
    "power.memory"_metric, "clock.sm"_metric,   "clock.memory"_metric, "temperature.gpu"_metric,
    "memory.used"_metric,  "host.cpu"_metric,   "host.memory"_metric};

std::size_t place_of(std::string_view id) {
  const auto level = std::ranges::find_if(
      kLevelRows, [&](const LevelRow& row) { return row.id == id || row.stand_in == id; });
  if (level != std::end(kLevelRows))
    return 2 * static_cast<std::size_t>(level - kLevelRows) + (level->stand_in == id ? 1 : 0);
  return 2 * std::size(kLevelRows) +
         static_cast<std::size_t>(std::ranges::find(kAfterLevels, id) - kAfterLevels);
}

std::vector<SampledReading> readings_of(const Capture& capture,
                                        const std::vector<SampledSeries>& series) {
  std::vector<std::pair<std::size_t, SampledReading>> ranked;
  for (const auto& one : series) {
    const auto id = capture.text(one.metric);
    // A counter of joules only grows, limits are bits, and memory of single processes has no place
    // in a table of the whole.
    if (one.covered <= 0 || id == "energy.module"_metric || id == "clock.limits"_metric ||
        id.starts_with("memory.process"_metric))
      continue;
    const bool count = is_count(id);
    const Metric* known = find_metric(id);
    SampledReading reading;
    reading.id = id;
    if (known) {
      reading.unit = std::string(known->unit) + (count ? "/s" : "");
    } else {
      reading.unit = "";
    }
    reading.mean = one.mean(count);
    reading.low = one.low;
    reading.high = one.high;
    if (count) reading.total = one.integral;
    for (std::size_t bucket = 0; bucket < one.sum.size(); ++bucket)
      reading.values.push_back(
          one.time[bucket] > 0 ? one.sum[bucket] / one.time[bucket] * (count ? 1e9 : 1) : NAN);
    ranked.emplace_back(place_of(id), std::move(reading));
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  std::vector<SampledReading> out;
  for (auto& [rank, result] : ranked) out.push_back(std::move(result));
  return out;
}

/// The period of a device's activity, from the middle of the window.
void find_step(const Capture& capture, std::uint32_t row, Interval window, SampledDevice& out) {
  if (out.sample_ns <= 0 || out.sample_ns > kFine) return;
  const Nanos half =
                  std::min(window.length(), static_cast<Nanos>(kStepSamples) * out.sample_ns) / 2,
              middle = window.start + window.length() / 2;
  for (const LevelRow& level : levels_shown(kForSteps)) {
    const Text metric = capture.strings.find(level.id);
    if (metric == Text::none) continue;
    std::vector<float> signal;
    Nanos last = 0;
    each_counter_value(
        capture, {middle - half, middle + half}, CounterFilter{row, {metric}},
        [&](std::uint32_t, Text, Nanos start, Nanos duration, double value) {
          if (duration <= 0) return;
          // Even steps of time: samples that never arrived are filled in.
          float between = signal.empty() ? 0 : (signal.back() + static_cast<float>(value)) / 2;
          for (Nanos gap = last > 0 ? (start - last + out.sample_ns / 2) / out.sample_ns : 0;
               gap > 0 && signal.size() < kStepSamples; --gap)
            signal.push_back(between);
          if (signal.size() < kStepSamples) signal.push_back(static_cast<float>(value));
          last = start + duration;
        });
    const auto period = find_period(signal);
    if (!period || period->confidence <= out.step_confidence.value_or(0)) continue;
    out.step_ns = period->samples * static_cast<double>(out.sample_ns);
    out.step_confidence = period->confidence;
  }
}

SampledUse over_time(const Capture& capture, const std::vector<Text>& work,
                     const std::vector<Interval>& spans, const ActiveSpans& active, Interval window,
                     const std::vector<std::vector<SampledSeries>>& series, Nanos bucket) {
  SampledUse use;
  use.start_ns = window.start;
  use.bucket_ns = bucket;
  for (std::uint32_t device = 0; device < capture.devices.size(); ++device) {
    if (series[device].empty()) continue;
    if (spans[device].length() == 0) {
      ++use.idle_devices;
      continue;
    }
    SampledDevice out;
    out.id = capture.devices.id[device];
    out.name = capture.text(capture.devices.name[device]);
    out.source = source_of(capture, device, series[device]);
    for (const auto& one : series[device])
      if (one.metric == work[device] && one.samples > 0) {
        out.samples = one.samples;
        out.covered_ns = one.covered;
        out.sample_ns = one.covered / one.samples;
      }
    out.readings = readings_of(capture, series[device]);
    // Start-up has another rhythm than the steps after it, and a GPU without work that of its
    // driver.
    Interval within = active.settled[device];
    if (within.length() == 0) within = active.working[device];
    if (within.length() > 0)
      find_step(capture, device,
                {std::max(within.start, window.start), std::min(within.end, window.end)}, out);
    use.devices.push_back(std::move(out));
  }
  use.host = readings_of(capture, series.back());
  return use;
}

/// The part of the window in which power is known: a killed recorder's last reading can lie a
/// second before its last sample.
Interval powered(const Capture& capture, Interval window) {
  const auto known = sampled_span(capture);
  if (!known || known->start >= window.end || known->end <= window.start) return window;
  return {std::max(window.start, known->start), std::min(window.end, known->end)};
}

Nanos bucket_of(Interval window) {
  return std::max<Nanos>(1, (window.length() + kBuckets - 1) / kBuckets);
}

/// Kernels were asked for, and the levels of the samples are all that there is.
void note_missing_kernels(const Capture& capture, Analysis& analysis) {
  const auto windows = static_cast<std::int64_t>(capture.recording_windows.size());
  if (windows == 0) return;
  analysis.quality.push_back(
      {"no_events", windows,
       fmt::format("no kernel was recorded in {} window{}: the result is based on samples alone",
                   windows, windows != 1 ? "s" : "")});
}

}  // namespace

bool holds_only_samples(const Capture& capture) {
  // A recording whose windows caught no kernel has its marks, and its samples answer all the same.
  const bool host_known = !capture.host_ops.empty() && !says(capture.format, kOurRecorder);
  return capture.activities.empty() && capture.report_kernels.empty() && !host_known &&
         holds_counter_values(capture);
}

bool only_samples(const Analysis& analysis) {
  return analysis.layer_types.empty() && !analysis.samples.devices.empty();
}

SampledUse samples_over_time(const Capture& capture, Interval within) {
  const auto [extent, work] = look_over_samples(capture);
  Interval window = within.start == kAllTime.start ? extent : within;
  if (window.length() <= 0 || window.length() > kLongestRun ||
      std::all_of(work.begin(), work.end(), [](Text metric) { return metric == Text::none; }))
    return {};
  const Nanos bucket = bucket_of(window);
  const auto active = active_spans(capture, work, window);
  return over_time(capture, work, active.working, active, window,
                   collect_series(capture, window, bucket), bucket);
}

namespace {

Status check_extent(const Capture& capture, Interval extent) {
  if (extent.start >= extent.end)
    return fail("no span of time in which a GPU was sampled", capture.path, -1,
                capture.format == "prometheus"
                    ? "a scrape is one instant: give a folder of scrapes, or a range of Prometheus"
                    : "record for longer");
  if (const Nanos length = length_of(extent.start, extent.end); length < 0 || length > kLongestRun)
    return fail("the samples' times are more than a century apart: they cannot be correct",
                capture.path, -1, "look for a damaged line or a wrong unit of time");
  return {};
}

/// The analyzed part of a capture, and each device's own part of it.
struct WindowOfSamples {
  WindowKind kind = WindowKind::all;
  Interval window;
  std::vector<Interval> spans;  // by row of devices; empty ones did nothing
};

Result<WindowOfSamples> range_of_samples(const Capture& capture, const std::string& wanted,
                                         Interval extent, std::vector<Interval> spans) {
  if (wanted.find(':') == std::string::npos || wanted.starts_with("step:"))
    return fail("--window " + wanted + ": the capture has no kernels and therefore no steps",
                capture.path, -1, "use all, stable or START:END, or record with --kernels");
  const auto window = parse_span(capture.path, wanted, extent, extent);
  if (!window) return tl::unexpected(window.error());
  for (auto& span : spans)
    if (span.length() > 0) span = *window;  // the span asked for counts whole, idle ends included
  return WindowOfSamples{WindowKind::range, *window, std::move(spans)};
}

Result<WindowOfSamples> window_of_samples(const Capture& capture, const std::string& wanted,
                                          Interval extent, const ActiveSpans& active) {
  const bool stable = wanted == "stable";
  if (!stable && wanted != "auto" && wanted != "all")
    return range_of_samples(capture, wanted, extent, active.working);
  WindowOfSamples out{WindowKind::all, extent, active.working};
  if (stable) {
    out.kind = WindowKind::stable;
    out.spans = active.settled;
  }
  if (const Interval whole = hull(out.spans); whole.length() > 0) {
    out.window = whole;
  } else if (stable) {
    return fail("--window stable: the GPU's activity never becomes steady", capture.path, -1,
                "use all or START:END, or record for longer");
  }
  return out;
}

/// Where no device did anything, all that were sampled count whole.
void count_idle_devices(const std::vector<Text>& work, WindowOfSamples& chosen) {
  if (std::any_of(chosen.spans.begin(), chosen.spans.end(),
                  [](const Interval& span) { return span.length() != 0; }))
    return;
  for (std::uint32_t device = 0; device < chosen.spans.size(); ++device)
    if (work[device] != Text::none) chosen.spans[device] = chosen.window;
}

/// Applies --devices: of the others nothing is said, and those that were asked for count whole
/// though they did nothing.
Status take_devices(const Capture& capture, const std::string& wanted,
                    const std::vector<Text>& work, WindowOfSamples& chosen,
                    std::vector<std::vector<SampledSeries>>& series) {
  if (wanted.empty()) return {};
  const auto devices = choose_devices(capture, wanted);
  if (!devices) return tl::unexpected(devices.error());
  for (std::uint32_t device = 0; device < chosen.spans.size(); ++device) {
    if (!devices->has(device)) {
      chosen.spans[device] = {0, 0};
      series[device].clear();
    } else if (work[device] != Text::none && chosen.spans[device].length() == 0) {
      chosen.spans[device] = chosen.window;
    }
  }
  return {};
}

DeviceUse sampled_use(const Capture& capture, std::uint32_t device, const WindowOfSamples& chosen,
                      const std::vector<SampledSeries>& series, Nanos bucket) {
  const Interval& span = chosen.spans[device];
  DeviceUse use;
  use.id = capture.devices.id[device];
  use.name = capture.text(capture.devices.name[device]);
  use.start_ns = span.start;
  use.span_ns = span.length();
  const SampleSource source = source_of(capture, device, series);
  if (span == chosen.window) {
    measure_sampled_levels(capture, series, source, use);
  } else {
    const auto own = collect_series(capture, span, bucket, CounterFilter{device, {}});
    measure_sampled_levels(capture, own[device], source, use);
  }
  return use;
}

WindowInfo window_info(const WindowOfSamples& chosen) {
  WindowInfo info;
  info.kind = chosen.kind;
  info.start_ns = chosen.window.start;
  info.end_ns = chosen.window.end;
  info.duration_ns = chosen.window.length();
  info.step_source = "none";
  return info;
}

}  // namespace

Result<SampledAnalysis> analyze_samples(const Capture& capture, const AnalyzeOptions& options) {
  const auto [extent, work] = look_over_samples(capture);
  if (const Status right = check_extent(capture, extent); !right)
    return tl::unexpected(right.error());
  const auto active = active_spans(capture, work, extent);
  auto chosen = window_of_samples(capture, options.window, extent, active);
  if (!chosen) return tl::unexpected(chosen.error());
  count_idle_devices(work, *chosen);
  Analysis analysis;
  analysis.source = source_of(capture);
  analysis.quality = quality_of(capture);
  note_missing_kernels(capture, analysis);
  analysis.window = window_info(*chosen);
  const Interval window = chosen->window;
  const Nanos bucket = bucket_of(window);
  auto series = collect_series(capture, window, bucket);
  if (const Status known = take_devices(capture, options.devices, work, *chosen, series); !known)
    return tl::unexpected(known.error());
  analysis.samples = over_time(capture, work, chosen->spans, active, window, series, bucket);
  for (std::uint32_t device = 0; device < chosen->spans.size(); ++device)
    if (chosen->spans[device].length() != 0 && !series[device].empty())
      analysis.devices.push_back(sampled_use(capture, device, *chosen, series[device], bucket));
  if (!analysis.devices.empty()) analysis.levels = join_ladders(analysis.devices);
  analysis.match.verdict = MatchVerdict::no_report;
  analysis.energy = measure_energy(capture, powered(capture, window), options.energy_model);
  if (!options.devices.empty())
    std::erase_if(analysis.energy.devices, [&](const auto& energy) {
      return std::ranges::none_of(analysis.devices,
                                  [&](const DeviceUse& use) { return use.id == energy.device; });
    });
  return SampledAnalysis{std::move(analysis), hull(active.settled)};
}

}  // namespace gf
