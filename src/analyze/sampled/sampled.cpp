#include "analyze/sampled/sampled.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/describe_source.h"
#include "analyze/energy/attribute.h"
#include "analyze/sampled/levels.h"
#include "analyze/sampled/series.h"
#include "analyze/sampled/spans.h"
#include "analyze/window.h"
#include "core/period.h"
#include "model/activity.h"
#include "model/metrics.h"

namespace gf {

namespace {

constexpr std::int64_t kBuckets = 240;
constexpr Nanos kLongestRun = 100 * 366 * Nanos(86400) * kNsPerSecond;
constexpr Nanos kFine = 10 * kNsPerMs;  // longer samples show no steps

SampleSource source_of(const Capture& c, std::uint32_t device,
                       const std::vector<SampledSeries>& series) {
  if (const auto said = c.metadata_value(fmt::format("record.source.{}", c.devices.id[device]));
      !said.empty())
    return enum_from<SampleSource>(said).value_or(SampleSource::nvml);
  if (c.format == "dcgm_dmon") return SampleSource::dcgm;
  for (const auto& s : series)
    if (c.text(s.metric) == "gpu.busy")
      return c.format == "nsight_systems" ? SampleSource::pm_sampling : SampleSource::gpm;
  return SampleSource::nvml;
}

/// What a reader wants to see first, then the rest as it came.
constexpr std::string_view kOrder[] = {
    "gpu.busy",      "monitor.gpu",  "sm.active",   "sm.active_any", "issue.active",
    "tensor.active", "sm.occupancy", "dram.active", "dram.read",     "dram.write",
    "pcie.rx",       "pcie.tx",      "nvlink.rx",   "nvlink.tx",     "power.module",
    "power.average", "power.memory", "clock.sm",    "clock.memory",  "temperature.gpu",
    "memory.used",   "host.cpu",     "host.memory"};

std::vector<SampledReading> readings_of(const Capture& c,
                                        const std::vector<SampledSeries>& series) {
  std::vector<std::pair<std::size_t, SampledReading>> ranked;
  for (const auto& s : series) {
    const auto id = c.text(s.metric);
    // A counter of joules only grows, limits are bits, and memory of single processes has no place
    // in a table of the whole.
    if (s.covered <= 0 || id == "energy.module" || id == "clock.limits" ||
        id.starts_with("memory.process"))
      continue;
    const bool count = is_count(id);
    const Metric* known = find_metric(id);
    SampledReading r;
    r.id = id;
    r.unit = known ? std::string(known->unit) + (count ? "/s" : "") : "";
    r.mean = s.mean(count), r.low = s.low, r.high = s.high;
    if (count) r.total = s.integral;
    for (std::size_t b = 0; b < s.sum.size(); ++b)
      r.values.push_back(s.time[b] > 0 ? s.sum[b] / s.time[b] * (count ? 1e9 : 1) : NAN);
    ranked.emplace_back(
        static_cast<std::size_t>(std::find(std::begin(kOrder), std::end(kOrder), id) -
                                 std::begin(kOrder)),
        std::move(r));
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<SampledReading> out;
  for (auto& [rank, r] : ranked) out.push_back(std::move(r));
  return out;
}

/// The period of a device's activity, from the middle of the window.
void find_step(const Capture& c, std::uint32_t row, Interval window, SampledDevice& out) {
  if (out.sample_ns <= 0 || out.sample_ns > kFine) return;
  const Nanos half =
                  std::min(window.length(), static_cast<Nanos>(kStepSamples) * out.sample_ns) / 2,
              middle = window.start + window.length() / 2;
  for (const auto id : kStepSignals) {
    const Text metric = c.strings.find(id);
    if (metric == Text::none) continue;
    std::vector<float> signal;
    Nanos last = 0;
    each_counter_value(
        c, {middle - half, middle + half}, CounterFilter{row, {metric}},
        [&](std::uint32_t, Text, Nanos start, Nanos duration, double value) {
          if (duration <= 0) return;
          // Even steps of time: samples that never arrived are filled in.
          const float between =
              signal.empty() ? 0 : (signal.back() + static_cast<float>(value)) / 2;
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

SampledUse over_time(const Capture& c, const std::vector<Text>& work,
                     const std::vector<Interval>& spans, Interval window,
                     const std::vector<std::vector<SampledSeries>>& series, Nanos bucket) {
  SampledUse use;
  use.start_ns = window.start, use.bucket_ns = bucket;
  for (std::uint32_t d = 0; d < c.devices.size(); ++d) {
    if (series[d].empty()) continue;
    if (spans[d].length() == 0) {
      ++use.idle_devices;
      continue;
    }
    SampledDevice out;
    out.id = c.devices.id[d];
    out.name = c.text(c.devices.name[d]);
    out.source = source_of(c, d, series[d]);
    for (const auto& s : series[d])
      if (s.metric == work[d] && s.samples > 0)
        out.samples = s.samples, out.covered_ns = s.covered, out.sample_ns = s.covered / s.samples;
    out.readings = readings_of(c, series[d]);
    find_step(c, d, {std::max(spans[d].start, window.start), std::min(spans[d].end, window.end)},
              out);
    use.devices.push_back(std::move(out));
  }
  use.host = readings_of(c, series.back());
  return use;
}

/// The part of the window in which power is known: a killed recorder's last reading can lie a
/// second before its last sample.
Interval powered(const Capture& c, Interval window) {
  const auto known = sampled_span(c);
  if (!known || known->start >= window.end || known->end <= window.start) return window;
  return {std::max(window.start, known->start), std::min(window.end, known->end)};
}

Nanos bucket_of(Interval window) {
  return std::max<Nanos>(1, (window.length() + kBuckets - 1) / kBuckets);
}

}  // namespace

bool holds_only_samples(const Capture& c) {
  return c.activities.empty() && c.report_kernels.empty() && c.host_ops.empty() &&
         holds_counter_values(c);
}

bool only_samples(const Analysis& a) { return a.kernels.empty() && !a.samples.devices.empty(); }

SampledUse samples_over_time(const Capture& c, Interval within) {
  const auto [extent, work] = look_over_samples(c);
  const Interval window = within.start == kAllTime.start ? extent : within;
  if (window.length() <= 0 || window.length() > kLongestRun ||
      std::all_of(work.begin(), work.end(), [](Text t) { return t == Text::none; }))
    return {};
  const Nanos bucket = bucket_of(window);
  return over_time(c, work, active_spans(c, work, window).working, window,
                   collect_series(c, window, bucket), bucket);
}

Result<SampledAnalysis> analyze_samples(const Capture& c, const AnalyzeOptions& options) {
  const auto [extent, work] = look_over_samples(c);
  if (extent.start >= extent.end)
    return fail("no span of time in which a GPU was sampled", c.path, -1, "record for longer");
  if (const Nanos length = length_of(extent.start, extent.end); length < 0 || length > kLongestRun)
    return fail("the samples' times lie more than a century apart: they cannot be right", c.path,
                -1, "look for a damaged line or a wrong unit of time");
  const auto active = active_spans(c, work, extent);
  auto spans = active.working;
  Interval window = extent;
  Analysis a;
  describe_source(c, a);
  if (options.window == "all" || options.window == "stable") {
    a.window.kind = options.window == "all" ? WindowKind::all : WindowKind::stable;
    if (options.window == "stable") spans = active.settled;
    const Interval all = hull(spans);
    if (all.length() > 0)
      window = all;
    else if (options.window == "stable")
      return fail("--window stable: the GPU's activity never settles", c.path, -1,
                  "use all or START:END, or record for longer");
  } else {
    if (options.window.find(':') == std::string::npos || options.window.starts_with("step:"))
      return fail("--window " + options.window + ": the capture holds no kernels and so no steps",
                  c.path, -1, "use all, stable or START:END, or record with --kernels");
    const auto asked = parse_span(c.path, options.window, extent);
    if (!asked) return tl::unexpected(asked.error());
    a.window.kind = WindowKind::range;
    window = {std::max(asked->start, extent.start), std::min(asked->end, extent.end)};
    for (auto& s : spans)
      if (s.length() > 0) s = window;  // the span asked for counts whole, idle ends included
  }
  const bool nothing_worked =
      std::all_of(spans.begin(), spans.end(), [](const Interval& s) { return s.length() == 0; });
  a.window.start_ns = window.start, a.window.end_ns = window.end,
  a.window.duration_ns = window.length();
  a.window.step_source = "none";
  for (std::uint32_t d = 0; nothing_worked && d < spans.size(); ++d)
    if (work[d] != Text::none) spans[d] = window;
  const Nanos bucket = bucket_of(window);
  const auto series = collect_series(c, window, bucket);
  a.samples = over_time(c, work, spans, window, series, bucket);
  for (std::uint32_t d = 0; d < spans.size(); ++d) {
    if (spans[d].length() == 0 || series[d].empty()) continue;
    DeviceUse use;
    use.id = c.devices.id[d];
    use.name = c.text(c.devices.name[d]);
    use.start_ns = spans[d].start, use.span_ns = spans[d].length();
    const bool own = spans[d].start != window.start || spans[d].end != window.end;
    measure_sampled_levels(
        c, own ? collect_series(c, spans[d], bucket, CounterFilter{d, {}})[d] : series[d],
        source_of(c, d, series[d]), use);
    a.devices.push_back(std::move(use));
  }
  if (!a.devices.empty()) a.levels = join_ladders(a.devices);
  a.match.verdict = MatchVerdict::no_report;
  a.energy = measure_energy(c, powered(c, window), options.energy_model);
  return SampledAnalysis{std::move(a), hull(active.settled)};
}

}  // namespace gf
