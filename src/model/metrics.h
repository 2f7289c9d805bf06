// The metric catalog: every quantity that gpufathom names, declared once in metrics.def.
// `gpufathom metrics`, docs/metrics.md, the reports' definitions and the OpenMetrics names come
// from here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/chips.h"

namespace gf {

// Ids of the metric catalog in code: `"sm.active"_metric` does not compile when metrics.def does
// not declare it.

namespace detail {

constexpr bool is_metric(std::string_view id) {
#define GF_METRIC(name, ...) \
  if (id == name) return true;
#define GF_INPUT(metric, source, chips, expression)
#include "model/metrics.def"
#undef GF_INPUT
#undef GF_METRIC
  return false;
}

}  // namespace detail

/// The id as it stands.
consteval const char* operator""_metric(const char* id, std::size_t length) {
  if (!detail::is_metric({id, length})) throw "model/metrics.def declares no metric of this id";
  return id;
}

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

/// The source of values.
enum class MetricSource : std::uint8_t {
  trace,   // intervals of a trace; no counter
  report,  // per-kernel counters: Nsight Compute report, CUPTI range profiler
  pm,      // CUPTI PM sampling: whole device, every process
  gpm,     // NVML GPM metric id (Hopper and later), 100 ms and slower
  nvml,    // NVML call or field
  dcgm,    // DCGM field id and name
  solved,  // the counter of a report that PM samples stand for, once solved by kernel
  model    // worked out from other metrics
};
inline constexpr std::size_t kMetricSources = 8;
std::string_view name_of(MetricSource source);

struct Metric {
  std::string_view id;    // dotted, lower case
  std::string_view unit;  // ratio, ns, bytes, ...
  MetricLevel level;
  std::string_view openmetrics;  // name without the prefix gpufathom_; a counter ends in _total
  std::string_view label, short_label;  // as reports print it
  std::string_view definition;          // one sentence
};

/// One way to get a metric. `expression` names counters with their roll-up, ids or fields.
struct MetricInput {
  std::string_view metric;  // Metric::id
  MetricSource source;
  ChipSet chips;
  std::string_view expression;
  std::uint8_t pm_rank = 0, pm_sets = 0;  // of pm: those of lower rank are asked for first; PmSets
  std::string_view help = {};             // of dcgm: of fields that its exporter has by default
};

/// Sets of metrics that PM sampling can take together (record --metrics).
enum PmSets : std::uint8_t { kLevelSet = 1, kCacheSet = 2, kEnergySet = 4, kAllSets = 7 };

/// An expression of pm, gpm, dcgm or solved, as it is executed: the counter's value times the
/// factor, times the seconds of its span where it is a rate, times a second counter where there is
/// one.
struct MetricTerm {
  int number = -1;           // of gpm and dcgm
  std::string_view counter;  // its name
  double factor = 1;
  bool rate = false;
  std::string_view times;  // a ratio
};
/// The term of an input whose source is one of them (checked when the catalog is compiled).
MetricTerm term_of(const MetricInput& input);

std::span<const Metric> metrics();
std::span<const MetricInput> metric_inputs();

/// The first input of a metric from a source; nullptr when there is none.
const MetricInput* find_input(std::string_view metric, MetricSource source);

/// Logs whose columns are metrics.
enum class LogKind : std::uint8_t {
  smi_csv,   // nvidia-smi --query-gpu, its older names, and common logs made with NVML
  smi_dmon,  // nvidia-smi dmon
  dcgmi,     // dcgmi dmon
  nsys       // Nsight Systems --gpu-metrics-devices; names begin so
};
std::string_view name_of(LogKind log);
struct CatalogueColumn {
  std::string_view metric;
  LogKind log;
  double factor;           // value there times this = value in the metric's unit
  std::string_view names;  // joined by ", "
};
std::span<const CatalogueColumn> log_columns();

/// The column of a log for one of whose names `same` holds; nullptr when there is none.
template <class Same>
const CatalogueColumn* find_column(LogKind log, Same same) {
  for (const CatalogueColumn& column : log_columns())
    for (auto rest = column.names; column.log == log && !rest.empty();) {
      const auto end = std::min(rest.find(", "), rest.size());
      if (same(rest.substr(0, end))) return &column;
      rest.remove_prefix(std::min(end + 2, rest.size()));
    }
  return nullptr;
}

/// nullptr when the id is not in the catalog.
const Metric* find_metric(std::string_view id);

}  // namespace gf
