# Bundles web/ into report_page.cpp. Without Node or its packages the program still builds, and --format html says what to run.
find_program(NODE node)
set(page_source ${CMAKE_BINARY_DIR}/web/report_page.cpp)
if(NODE AND EXISTS ${CMAKE_SOURCE_DIR}/web/node_modules/esbuild/package.json)
  set(GPUFATHOM_PAGE ON)
  file(GLOB_RECURSE page_inputs CONFIGURE_DEPENDS web/src/*)
  add_custom_command(OUTPUT ${page_source}
    COMMAND ${NODE} ${CMAKE_SOURCE_DIR}/web/build.mjs ${CMAKE_BINARY_DIR}/web
    DEPENDS ${page_inputs} web/build.mjs web/package-lock.json
    COMMENT "Bundling the report page" VERBATIM)
else()
  set(GPUFATHOM_PAGE OFF)
  message(WARNING "web/node_modules is missing, so that this build has no HTML report. ./dev setup installs it; then configure again.")
  file(CONFIGURE OUTPUT ${page_source} @ONLY CONTENT [[
#include "report/html/page.h"
namespace gf {
extern const std::string_view kPageBefore = "", kPageBetween = "", kPageAfter = "";
}
]])
endif()
target_sources(gf_report PRIVATE ${page_source})
