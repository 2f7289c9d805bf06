#include "report/html/sweep_page.h"

#include <fmt/format.h>

#include "core/version.h"
#include "report/html/embed.h"
#include "report/html/page.h"
#include "report/html/page_labels.h"
#include "report/json.h"

namespace gf {

Result<std::string> sweep_html(const Sweep& sweep) {
  PageLabels labels;
  labels.levels = level_page_labels();
  std::string json = fmt::format(R"({{"page":"sweep","version":"{}","labels":)", kVersion);
  to_json(json, labels);
  json += ",\"sweep\":";
  to_json(json, sweep);
  json += '}';
  return filled_page(json);
}

}  // namespace gf
