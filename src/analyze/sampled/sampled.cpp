#include "analyze/sampled/sampled.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/energy/attribute.h"
#include "analyze/sampled/levels.h"
#include "analyze/sampled/series.h"
#include "analyze/sampled/spans.h"
#include "analyze/source_sections.h"
#include "analyze/window.h"
#include "core/period.h"
#include "core/when.h"
#include "model/activity.h"
#include "model/formats.h"
#include "model/levels.h"
#include "model/metric_id.h"
#include "model/metrics.h"

namespace gf {

namespace {

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

/// What a reader wants to see first: levels, then these, then the rest as it came.
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
      reading.unit = std::string(known->unit) + when(count, "/s");
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
          float between = 0;
          if (!signal.empty()) between = (signal.back() + static_cast<float>(value)) / 2;
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
       fmt::format("no kernel was recorded in {} window{}: the answer is of the samples alone",
                   windows, when(windows != 1, "s"))});
}

}  // namespace

bool holds_only_samples(const Capture& capture) {
  // A recording whose windows caught no kernel has its marks, and its samples answer all the same.
  const bool host_known = !capture.host_ops.empty() && !says(capture.format, kOurRecorder);
  return capture.activities.empty() && capture.report_kernels.empty() && !host_known &&
         holds_counter_values(capture);
}

bool only_samples(const Analysis& analysis) {
  return analysis.kernels.empty() && !analysis.samples.devices.empty();
}

SampledUse samples_over_time(const Capture& capture, Interval within) {
  const auto [extent, work] = look_over_samples(capture);
  Interval window = within;
  if (within.start == kAllTime.start) window = extent;
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
                "record for longer");
  if (const Nanos length = length_of(extent.start, extent.end); length < 0 || length > kLongestRun)
    return fail("the samples' times lie more than a century apart: they cannot be right",
                capture.path, -1, "look for a damaged line or a wrong unit of time");
  return {};
}

/// What of a capture is analysed, and each device's own part of it.
struct WindowOfSamples {
  WindowKind kind = WindowKind::all;
  Interval window;
  std::vector<Interval> spans;  // by row of devices; empty ones did nothing
};

Result<WindowOfSamples> range_of_samples(const Capture& capture, const std::string& wanted,
                                         Interval extent, std::vector<Interval> spans) {
  if (wanted.find(':') == std::string::npos || wanted.starts_with("step:"))
    return fail("--window " + wanted + ": the capture holds no kernels and so no steps",
                capture.path, -1, "use all, stable or START:END, or record with --kernels");
  const auto asked = parse_span(capture.path, wanted, extent);
  if (!asked) return tl::unexpected(asked.error());
  const Interval window{std::max(asked->start, extent.start), std::min(asked->end, extent.end)};
  for (auto& span : spans)
    if (span.length() > 0) span = window;  // the span asked for counts whole, idle ends included
  return WindowOfSamples{WindowKind::range, window, std::move(spans)};
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
    return fail("--window stable: the GPU's activity never settles", capture.path, -1,
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
  const auto series = collect_series(capture, window, bucket);
  analysis.samples = over_time(capture, work, chosen->spans, active, window, series, bucket);
  for (std::uint32_t device = 0; device < chosen->spans.size(); ++device)
    if (chosen->spans[device].length() != 0 && !series[device].empty())
      analysis.devices.push_back(sampled_use(capture, device, *chosen, series[device], bucket));
  if (!analysis.devices.empty()) analysis.levels = join_ladders(analysis.devices);
  analysis.match.verdict = MatchVerdict::no_report;
  analysis.energy = measure_energy(capture, powered(capture, window), options.energy_model);
  return SampledAnalysis{std::move(analysis), hull(active.settled)};
}

}  // namespace gf
