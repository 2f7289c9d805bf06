// Everything after import: what any importer accepts is analyzed, and the answer is drawn as text
// and JSON, and its graph of what waited for what runs again.
#include <cstdlib>
#include <optional>

#include "analyze/analyze.h"
#include "analyze/ranks/measure_rank.h"
#include "analyze/ranks/ranks.h"
#include "analyze/replay/graph.h"
#include "analyze/replay/what_if.h"
#include "import/importer.h"
#include "memory_file.h"
#include "report/json.h"
#include "report/text/reports.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static gf::fuzz::MemoryFile file;
  file.fill(data, size);
  gf::ImportOptions import;
  import.max_bytes = 16 << 20;
  import.threads = 1;
  const auto capture = gf::import_file(file.path(), import);
  if (!capture) return 0;
  for (const char* window : {"all", "stable"}) {
    gf::AnalyzeOptions options;
    options.window = window;
    std::optional<gf::Context> context;
    const auto analysis = gf::analyze(*capture, options, &context);
    if (!analysis) {
      if (analysis.error().what.empty()) std::abort();
      continue;
    }
    std::string json;
    gf::to_json(json, *analysis);
    (void)gf::short_text(*analysis, {});
    (void)gf::full_text(*analysis, {});
    if (context) (void)gf::what_if(*context, {});
  }
  if (auto parts = gf::measure_ranks(*capture)) {
    for (const auto& part : *parts)
      if (!gf::unpack(part.graph.nodes, part.graph.names)) std::abort();
    (void)gf::analyze_ranks(std::move(*parts));
  }
  return 0;
}
