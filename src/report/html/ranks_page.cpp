#include "report/html/ranks_page.h"

#include <fmt/format.h>

#include "core/version.h"
#include "report/html/embed.h"
#include "report/html/page.h"
#include "report/html/page_labels.h"
#include "report/json.h"

namespace gf {

Result<std::string> ranks_html(const JobRanks& job) {
  PageLabels labels;
  labels.causes = page_labels(cause_labels());
  std::string json = fmt::format(R"({{"page":"ranks","version":"{}","labels":)", kVersion);
  to_json(json, labels);
  json += ",\"job\":";
  to_json(json, job);
  json += '}';
  return filled_page(json);
}

}  // namespace gf
