#include "model/metrics.h"

#include <array>

namespace gf {

namespace {

using enum ChipId;

constexpr ChipSet kAll = kEveryChip;
constexpr ChipSet kTuring = since(TU102);  // and later
constexpr ChipSet kAmpere = since(GA100);
constexpr ChipSet kHopper = since(GH100);
constexpr ChipSet kBlackwell = since(GB100);
constexpr ChipSet kDataCentreBlackwell = bit(GB100) | bit(GB110);
constexpr ChipSet kTwoPartitions = bit(GA100) | bit(GH100) | kDataCentreBlackwell;
constexpr ChipSet without(ChipSet set, ChipSet less) { return static_cast<ChipSet>(set & ~less); }

#define GF_METRIC(id, unit, level, openmetrics, definition) \
  {id, unit, MetricLevel::level, openmetrics, definition},
#define GF_INPUT(metric, source, chips, expression)
constexpr Metric kMetrics[] = {
#include "model/metrics.def"
};
#undef GF_METRIC
#undef GF_INPUT

#define GF_METRIC(id, unit, level, openmetrics, definition)
#define GF_INPUT(metric, source, chips, expression) \
  {metric, MetricSource::source, chips, expression},
constexpr MetricInput kInputs[] = {
#include "model/metrics.def"
};
#undef GF_METRIC
#undef GF_INPUT

}  // namespace

std::string_view name_of(MetricLevel level) {
  static constexpr std::array<std::string_view, kMetricLevels> names{
      "gpu", "sm", "issue", "tensor", "pipe", "memory", "link", "runtime", "energy", "monitor"};
  return names[static_cast<std::size_t>(level)];
}

std::string_view name_of(MetricSource source) {
  static constexpr std::array<std::string_view, kMetricSources> names{
      "trace", "report", "pm", "gpm", "nvml", "dcgm", "model"};
  return names[static_cast<std::size_t>(source)];
}

std::span<const Metric> metrics() { return kMetrics; }
std::span<const MetricInput> metric_inputs() { return kInputs; }

const Metric* find_metric(std::string_view id) {
  for (const Metric& metric : kMetrics)
    if (metric.id == id) return &metric;
  return nullptr;
}

}  // namespace gf
