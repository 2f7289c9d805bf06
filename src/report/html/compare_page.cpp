#include <fmt/format.h>

#include <algorithm>

#include "core/version.h"
#include "report/compare/compare.h"
#include "report/html/embed.h"
#include "report/html/page.h"
#include "report/html/page_labels.h"
#include "report/json.h"

namespace gf {

Result<std::string> comparison_html(const Comparison& comparison, std::size_t rows) {
  std::vector<std::string> sentences;
  for (std::size_t run = 1; run < comparison.runs.size(); ++run)
    sentences.push_back(comparison_headline(comparison, run));
  std::string json = fmt::format(R"({{"page":"compare","version":"{}","rows":{},"sentences":)",
                                 kVersion, std::min<std::size_t>(rows, 1'000'000));
  to_json(json, sentences);
  json += ",\"differs\":";
  to_json(json, difference_sentence(comparison));
  PageLabels labels;
  labels.levels = level_page_labels();
  labels.causes = page_labels(cause_labels());
  labels.bars = page_labels(bar_labels());
  labels.phases = page_labels(phase_labels());
  json += ",\"labels\":";
  to_json(json, labels);
  json += ",\"comparison\":";
  to_json(json, comparison);
  json += '}';
  return filled_page(json);
}

}  // namespace gf
