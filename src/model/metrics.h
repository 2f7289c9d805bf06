// The metric catalogue: every quantity that gpufathom names, declared once in metrics.def.
// `gpufathom metrics`, docs/metrics.md, the reports' definitions and the OpenMetrics names come
// from here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/chips.h"

namespace gf {

enum class MetricLevel : std::uint8_t {
  gpu,
  sm,
  issue,
  tensor,
  pipe,
  memory,
  link,
  runtime,
  energy,
  monitor
};
inline constexpr std::size_t kMetricLevels = 10;
std::string_view name_of(MetricLevel level);

/// Where values come from.
enum class MetricSource : std::uint8_t {
  trace,   // intervals of a trace; no counter
  report,  // per-kernel counters: Nsight Compute report, CUPTI range profiler
  pm,      // CUPTI PM sampling: whole device, every process
  gpm,     // NVML GPM metric id (Hopper and later), 100 ms and slower
  nvml,    // NVML call or field
  dcgm,    // DCGM field id and name
  model    // worked out from other metrics
};
inline constexpr std::size_t kMetricSources = 7;
std::string_view name_of(MetricSource source);

struct Metric {
  std::string_view id;    // dotted, lower case
  std::string_view unit;  // ratio, ns, bytes, ...
  MetricLevel level;
  std::string_view openmetrics;  // name without the prefix gpufathom_; a counter ends in _total
  std::string_view definition;   // one sentence
};

/// One way to get a metric. `expression` names counters with their roll-up, ids or fields.
struct MetricInput {
  std::string_view metric;  // Metric::id
  MetricSource source;
  ChipSet chips;
  std::string_view expression;
  std::uint8_t pm_rank = 0, pm_sets = 0;  // of pm: those of lower rank are asked for first; PmSets
};

/// What PM sampling can be asked for together (record --metrics).
enum PmSets : std::uint8_t { kLevelSet = 1, kCacheSet = 2, kEnergySet = 4, kAllSets = 7 };

/// An expression of pm, gpm or dcgm, as it is executed: the counter's value times the factor, times
/// the seconds of its span where it is a rate, times a second counter where there is one.
struct MetricTerm {
  int number = -1;           // of gpm and dcgm
  std::string_view counter;  // its name
  double factor = 1;
  bool rate = false;
  std::string_view times;  // a ratio
};
/// Of any input whose source is pm, gpm or dcgm (checked when the catalogue is compiled).
MetricTerm term_of(const MetricInput& input);

std::span<const Metric> metrics();
std::span<const MetricInput> metric_inputs();

/// The first input of a metric from a source; nullptr when there is none.
const MetricInput* find_input(std::string_view metric, MetricSource source);

/// nullptr when the id is not in the catalogue.
const Metric* find_metric(std::string_view id);

}  // namespace gf
