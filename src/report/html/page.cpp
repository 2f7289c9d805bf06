#include "report/html/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyze/work/work.h"
#include "core/version.h"
#include "model/metrics.h"
#include "report/events/timeline_data.h"
#include "report/html/embed.h"
#include "report/html/page_labels.h"
#include "report/json.h"
#include "report/summary.h"
#include "report/wholeness.h"

namespace gf {

std::vector<PageLabel> page_labels(std::span<const Label> labels) {
  std::vector<PageLabel> out;
  for (const auto& label : labels) {
    const Metric* metric = find_metric(label.id);
    out.push_back({std::string(label.id), std::string(label.text), std::string(label.short_text),
                   std::string(metric ? metric->definition : label.meaning)});
  }
  return out;
}

namespace {

/// Adds what the catalogue says of items whose id has no label yet.
template <class T>
void add_from_catalogue(std::vector<PageLabel>& labels, const std::vector<T>& items) {
  for (const auto& item : items) {
    const Metric* metric = find_metric(item.id);
    if (metric && std::none_of(labels.begin(), labels.end(),
                               [&](const PageLabel& label) { return label.id == item.id; }))
      labels.push_back({item.id, item.id, item.id, std::string(metric->definition)});
  }
}

std::vector<PageLabel> level_page_labels(const Analysis& analysis) {
  auto labels = page_labels(level_labels());
  add_from_catalogue(labels, analysis.levels);
  return labels;
}

std::vector<PageLabel> reading_page_labels(const Analysis& analysis) {
  if (analysis.samples.devices.empty()) return {};
  auto labels = page_labels(reading_labels());
  for (const auto& device : analysis.samples.devices) add_from_catalogue(labels, device.readings);
  add_from_catalogue(labels, analysis.samples.host);
  return labels;
}

}  // namespace

Result<std::string> analysis_html(const Analysis& analysis, const Context* context,
                                  PageOrder order) {
  std::string json = fmt::format(R"({{"page":"{}","version":"{}","headline":)",
                                 order == PageOrder::energy ? "energy" : "analysis", kVersion);
  json_string(json, headline(analysis));
  json += ",\"subject\":";
  json_string(json, subject(analysis));
  json += ",\"shortcomings\":";
  to_json(json, shortcomings(analysis));
  json += ",\"labels\":";
  to_json(json, PageLabels{level_page_labels(analysis), page_labels(cause_labels()),
                           page_labels(bar_labels()), page_labels(phase_labels()),
                           page_labels(energy_labels()), reading_page_labels(analysis)});
  json += ",\"hasTimeline\":";
  std::optional<TimelineData> timeline;
  if (context) timeline = timeline_data(*context);
  const bool has_timeline = timeline && timeline->duration_ns > 0 && !timeline->lanes.empty();
  to_json(json, has_timeline);
  json += ",\"work\":";
  std::optional<WorkUse> work;
  if (context && !context->devices.empty()) work = measure_work(*context, analysis);
  to_json(json, work);
  json += ",\"analysis\":";
  to_json(json, analysis);
  json += '}';
  return filled_page(json, has_timeline ? packed_timeline(*timeline) : std::string());
}

}  // namespace gf
