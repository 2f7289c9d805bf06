// Everything after import: what any importer accepts is analyzed, and the answer is drawn as text
// and JSON.
#include <cstdlib>

#include "analyze/analyze.h"
#include "import/importer.h"
#include "memory_file.h"
#include "report/json.h"
#include "report/text/analysis.h"

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
    const auto analysis = gf::analyze(*capture, options);
    if (!analysis) {
      if (analysis.error().what.empty()) std::abort();
      continue;
    }
    std::string json;
    gf::to_json(json, *analysis);
    gf::analysis_text(*analysis, {});
  }
  return 0;
}
