// The metric catalog as text, JSON and the page docs/metrics.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "model/metrics.h"
#include "report/text/format.h"

namespace gf {

/// Selects the metrics to show; empty members show all. An id ending in '.' or without a dot stands
/// for the group ("dram").
struct MetricFilter {
  std::vector<std::string> ids;
  std::string level;
  std::string chip;
};

struct MetricEntry {
  const Metric* metric;
  std::vector<const MetricInput*> inputs;  // those of the chip that is asked for
};

/// The metrics that pass the filter, in the catalog's order. Fails for an id, level or chip that
/// does not exist.
Result<std::vector<MetricEntry>> select_metrics(const MetricFilter& filter);

/// One line of definition a metric; with `details` how each source measures it as well.
std::string metrics_text(const std::vector<MetricEntry>& entries, const TextStyle& style,
                         bool details);
/// Schema gpufathom.metrics/1.
std::string metrics_json(const std::vector<MetricEntry>& entries);
/// The reference page: every metric, the tensor table, the chips.
std::string metrics_page();

/// "all chips", "TU102 and later", "all chips but GB202", "GA100, GH100".
std::string chips_text(ChipSet chips);

}  // namespace gf
