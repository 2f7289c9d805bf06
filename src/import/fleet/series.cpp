#include "import/fleet/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/text.h"
#include "import/telemetry/quantities.h"
#include "model/check.h"
#include "model/counter_values.h"
#include "model/metrics.h"

namespace gf::fleet {

namespace {

constexpr double kByValue = 0;

struct Series {
  std::string_view name, metric;
  double factor;
};
constexpr Series kSeries[] = {
#define GF_SERIES(name, metric, factor) {name, metric, factor},
#include "import/fleet/series.def"
#undef GF_SERIES
};

bool is_ratio(std::string_view metric) {
  const Metric* known = find_metric(metric);
  return known && known->unit == "ratio";
}

/// True for DCGM's profiling counters.
bool is_profiled(std::string_view metric) {
  return is_ratio(metric) && !metric.starts_with("monitor.");
}

}  // namespace

Measured measured_by(std::string_view series) {
  const std::string name = lower_case(series);
  for (const auto& known : kSeries)
    if (known.name == name)
      return {std::string(known.metric), known.factor == kByValue ? 1 : known.factor,
              known.factor == kByValue, true};
  for (const MetricInput& input : metric_inputs()) {
    if (input.source != MetricSource::dcgm) continue;
    const MetricTerm term = term_of(input);
    if (term.counter == series && !term.rate && term.times.empty())
      return {std::string(input.metric), term.factor, false, true};
  }
  return {std::string(series)};
}

std::uint32_t Readings::device(const Labels& labels) {
  const telemetry::DeviceCells cells{labels.index,    labels.uuid, labels.bus,
                                     labels.instance, labels.name, labels.host};
  const auto row = devices_.row(cells);
  auto& devices = c_.devices;
  const bool part = !labels.instance.empty();
  if (!part && !labels.uuid.empty()) devices.uuid[row] = c_.strings.intern(labels.uuid);
  if (!part && !labels.name.empty()) devices.name[row] = c_.strings.intern(labels.name);
  auto& gpus = part ? parts_ : wholes_;
  if (!gpus.contains(row))
    gpus[row] =
        fmt::format("{}\n{}", labels.host, labels.uuid.empty() ? labels.index : labels.uuid);
  if (seen_.insert(row).second) devices.vendor[row] = c_.strings.intern(labels.vendor);
  if (!labels.pod.empty() && pods_.insert(row).second)
    c_.set_metadata(fmt::format("pod.{}", devices.id[row]), labels.pod);
  if (!labels.job.empty() && jobs_.insert(row).second)
    c_.set_metadata(fmt::format("job.{}", devices.id[row]), labels.job);
  return row;
}

void Readings::add(std::string_view series, const Labels& labels, Nanos time, double value) {
  auto [at, fresh] = known_.try_emplace(std::string(series));
  if (fresh) at->second = measured_by(series);
  const Measured& measured = at->second;
  ++c_.events;
  if (!in_reach(time)) {
    c_.note_quality(QualityCode::impossible_time, "readings of impossible times are left out");
    return;
  }
  if (!std::isfinite(value)) {
    c_.note_quality(QualityCode::no_reading, "readings without a number, such as NaN: no data");
    return;
  }
  Labels of = labels;
  if (!told_of_instance(of, measured.metric)) return;
  const auto row = device(of);
  const Text metric = c_.strings.intern(measured.metric);
  if (measured.by_value) by_value_.emplace(row, metric);
  readings_.push_back({time, row, metric, value * measured.factor});
}

/// Gives what only a whole GPU has to it. False where nothing was measured: of MIG instances DCGM
/// tells a utilization of 0.
bool Readings::told_of_instance(Labels& labels, std::string_view metric) {
  if (labels.instance.empty() || !telemetry::is_of_whole_gpu(metric)) return true;
  if (metric.starts_with("monitor.")) {
    ++unmeasured_;
    return false;
  }
  ++of_whole_;
  labels.instance.clear();
  labels.pod.clear();
  labels.job.clear();
  return true;
}

/// The usual time between two readings of a series.
Nanos Readings::interval() const {
  std::vector<Nanos> apart;
  for (std::size_t i = 1; i < readings_.size(); ++i)
    if (readings_[i].device == readings_[i - 1].device &&
        readings_[i].metric == readings_[i - 1].metric)
      apart.push_back(readings_[i].time - readings_[i - 1].time);
  if (apart.empty()) return 0;
  const auto middle = apart.begin() + static_cast<std::ptrdiff_t>(apart.size() / 2);
  std::nth_element(apart.begin(), middle, apart.end());
  return *middle;
}

/// Drops readings of instances where their whole GPU has such, too: they repeat the same work.
void Readings::drop_parts() {
  if (of_whole_ > 0)
    c_.note_quality(QualityCode::line_not_read,
                    "power, energy, clocks and temperatures told of MIG instances are those of "
                    "their whole GPUs: they count once, for the GPU",
                    of_whole_);
  if (unmeasured_ > 0)
    c_.note_quality(QualityCode::no_reading,
                    "DCGM does not measure GPU_UTIL and MEM_COPY_UTIL of MIG instances: no data",
                    unmeasured_);
  // Levels come together: some of a GPU and others of its parts would not fit each other.
  const auto kind = [&](const Reading& one) {
    const auto metric = c_.text(one.metric);
    return is_profiled(metric) ? std::string_view("levels") : metric;
  };
  std::set<std::pair<std::string_view, std::string_view>> told;  // GPUs, kinds of readings
  for (const auto& one : readings_)
    if (const auto whole = wholes_.find(one.device); whole != wholes_.end())
      told.emplace(whole->second, kind(one));
  const auto dropped = std::erase_if(readings_, [&](const auto& one) {
    const auto part = parts_.find(one.device);
    return part != parts_.end() && told.contains({part->second, kind(one)});
  });
  if (dropped > 0)
    c_.note_quality(QualityCode::line_not_read,
                    "readings of MIG instances are ignored: those of their GPUs contain the same "
                    "work and power",
                    static_cast<std::int64_t>(dropped));
}

void Readings::settle_scales() {
  std::set<std::pair<std::uint32_t, Text>> percent;
  for (const auto& one : readings_)
    if (one.value > 1 && by_value_.contains({one.device, one.metric}))
      percent.emplace(one.device, one.metric);
  for (auto& one : readings_)
    if (percent.contains({one.device, one.metric})) one.value /= 100;
}

/// Profiling counters that another profiler holds read as 0 while the GPU works.
void Readings::drop_unmeasured() {
  constexpr double kFull = 0.99;
  const Text monitor = c_.strings.intern("monitor.gpu"_metric);
  const Text busy = c_.strings.intern("gpu.busy"_metric);
  std::map<std::pair<std::uint32_t, Nanos>, int> seen;  // 1: full, 2: counters say 0
  for (const auto& one : readings_) {
    auto& signs = seen[{one.device, one.time}];
    if (one.metric == monitor && one.value >= kFull) signs |= 1;
    if (one.metric == busy && one.value == 0) signs |= 2;
  }
  const auto dropped = std::erase_if(readings_, [&](const auto& one) {
    return one.value == 0 && seen[{one.device, one.time}] == 3 && is_profiled(c_.text(one.metric));
  });
  if (dropped > 0)
    c_.note_quality(QualityCode::no_reading,
                    "profiling counters of 0 while the GPU was used at 100 % were not measured "
                    "(another profiler held them): no data",
                    static_cast<std::int64_t>(dropped));
}

/// A mean over a second is an instant where readings are many seconds apart: power is interpolated
/// between them, where a mean would be held until the next.
void Readings::take_means_as_instants(Nanos interval) {
  const Text mean = c_.strings.intern("power.average"_metric);
  const Text instant = c_.strings.intern("power.module"_metric);
  if (interval < 5 * kNsPerSecond ||
      std::ranges::any_of(readings_, [&](const auto& one) { return one.metric == instant; }))
    return;
  for (auto& one : readings_)
    if (one.metric == mean) one.metric = instant;
}

void Readings::finish() {
  drop_parts();
  settle_scales();
  drop_unmeasured();
  std::ranges::stable_sort(readings_, {}, [](const Reading& one) {
    return std::tuple(one.device, one.metric, one.time);
  });
  const auto repeated = std::ranges::unique(readings_, [](const auto& left, const auto& right) {
    return left.device == right.device && left.metric == right.metric && left.time == right.time;
  });
  readings_.erase(repeated.begin(), repeated.end());
  const Nanos length = interval();
  take_means_as_instants(length);
  for (const auto& one : readings_) {
    const bool mean = length > 0 && is_ratio(c_.text(one.metric));
    add_row(c_.counter_samples, {mean ? one.time - length : one.time, mean ? length : 0, one.device,
                                 one.metric, one.value});
  }
  if (readings_.empty())
    c_.note_quality(QualityCode::no_events, "the file contains no readings of a GPU");
}

}  // namespace gf::fleet
