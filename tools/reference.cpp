// Prints a reference page that is made from the declarations: gpufathom-reference
// metrics|capture|analysis|levels|findings|names|schema|typescript|python|work-json|work-schema|
// nccl-dumps-schema|sweep-schema|reproduction-schema|ranks-json|ranks-schema.
// `./dev docs` writes them to docs/; a test checks that the committed pages are what this prints.
#include <cstdio>
#include <string>
#include <string_view>

#include "report/catalogue.h"
#include "report/query/query.h"
#include "report/reference/pages.h"

int main(int argc, char** argv) {
  const std::string_view page = argc == 2 ? argv[1] : "";
  std::string text;
  if (page == "metrics")
    text = gf::metrics_page();
  else if (page == "capture")
    text = gf::capture_page();
  else if (page == "analysis")
    text = gf::analysis_page();
  else if (page == "levels")
    text = gf::levels_page();
  else if (page == "schema")
    text = gf::analysis_schema();
  else if (page == "ranks-json")
    text = gf::ranks_page();
  else if (page == "ranks-schema")
    text = gf::ranks_schema();
  else if (page == "work-json")
    text = gf::work_page();
  else if (page == "work-schema")
    text = gf::work_schema();
  else if (page == "nccl-dumps-schema")
    text = gf::nccl_dumps_schema();
  else if (page == "sweep-schema")
    text = gf::sweep_schema();
  else if (page == "reproduction-schema")
    text = gf::reproduction_schema();
  else if (page == "findings")
    text = gf::findings_page();
  else if (page == "names")
    text = gf::names_page();
  else if (page == "typescript")
    text = gf::typescript_model();
  else if (page == "python")
    text = gf::python_results();
  if (text.empty()) {
    std::fputs(
        "usage: gpufathom-reference metrics|capture|analysis|levels|findings|names|schema|"
        "typescript|python|work-json|work-schema|nccl-dumps-schema|sweep-schema|reproduction-"
        "schema|ranks-json|ranks-schema\n",
        stderr);
    return 2;
  }
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
