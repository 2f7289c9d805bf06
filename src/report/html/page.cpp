#include "report/html/page.h"

#include <optional>

#include "model/metrics.h"
#include "report/events/timeline_data.h"
#include "report/html/embed.h"
#include "report/json.h"
#include "report/labels.h"
#include "report/summary.h"
#include "report/wholeness.h"

namespace gf {

namespace {

struct PageLabel {
  std::string id, text, short_text, meaning;
  static constexpr auto fields() {
    using P = PageLabel;
    return std::tuple{field("id", &P::id, "id"), field("text", &P::text, "for people"), field("short_text", &P::short_text, "for a column"), field("meaning", &P::meaning, "one sentence")};
  }
};

struct PageLabels {
  std::vector<PageLabel> levels, causes, bars, phases, energy;
  static constexpr auto fields() {
    using P = PageLabels;
    return std::tuple{field("levels", &P::levels, "levels of the ladder"), field("causes", &P::causes, "idle causes"), field("bars", &P::bars, "bars of the waterfall"),
                      field("phases", &P::phases, "runtime phases"), field("energy", &P::energy, "components of energy")};
  }
};

std::vector<PageLabel> page_labels(std::span<const Label> labels) {
  std::vector<PageLabel> out;
  for (const auto& l : labels) {
    const Metric* metric = find_metric(l.id);
    out.push_back({std::string(l.id), std::string(l.text), std::string(l.short_text), std::string(metric ? metric->definition : l.meaning)});
  }
  return out;
}

/// Labels of the levels, those that only the catalogue knows included.
std::vector<PageLabel> level_page_labels(const Analysis& a) {
  auto labels = page_labels(level_labels());
  for (const auto& level : a.levels) {
    const Metric* metric = find_metric(level.id);
    if (metric && label_of(level_labels(), level.id).meaning.empty()) labels.push_back({level.id, level.id, level.id, std::string(metric->definition)});
  }
  return labels;
}

}  // namespace

Result<std::string> analysis_html(const Analysis& a, const Context* context) {
  if (kPageBefore.empty()) return fail("this build has no HTML report: it was built without Node", {}, -1, "run ./dev setup, then ./dev build");
  std::string json = R"({"version":"0.1.0","headline":)";
  json_string(json, headline(a));
  json += ",\"subject\":";
  json_string(json, subject(a));
  json += ",\"shortcomings\":";
  to_json(json, shortcomings(a));
  json += ",\"labels\":";
  to_json(json, PageLabels{level_page_labels(a), page_labels(cause_labels()), page_labels(bar_labels()), page_labels(phase_labels()), page_labels(energy_labels())});
  json += ",\"timeline\":";
  to_json(json, context ? std::optional(timeline_data(*context)) : std::nullopt);
  json += ",\"analysis\":";
  to_json(json, a);
  json += '}';
  return std::string(kPageBefore) + base64(gzipped(json)) + std::string(kPageAfter);
}

}  // namespace gf
