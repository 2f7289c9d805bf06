#include "report/html/sweep_page.h"

#include <fmt/format.h>

#include "core/version.h"
#include "report/html/embed.h"
#include "report/html/page.h"
#include "report/html/page_labels.h"
#include "report/json.h"

namespace gf {

Result<std::string> sweep_html(const Sweep& sweep) {
  if (kPageBefore.empty())
    return fail("this build has no HTML report: it was built without Node", {}, -1,
                "run ./dev setup, then ./dev build");
  PageLabels labels;
  labels.levels = page_labels(level_labels());
  std::string json = fmt::format(R"({{"page":"sweep","version":"{}","labels":)", kVersion);
  to_json(json, labels);
  json += ",\"sweep\":";
  to_json(json, sweep);
  json += '}';
  std::string page(kPageBefore);
  page += base64(gzipped(json));
  page += kPageBetween;
  return page += kPageAfter;
}

}  // namespace gf
