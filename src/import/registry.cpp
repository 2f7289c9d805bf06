#include "import/importer.h"

#include <fstream>

namespace gf {

std::span<const Importer> importers() {
  static constexpr Importer table[] = {
      // one line a format
      {"none", "no importer yet", [](std::string_view, std::string_view) { return 0; },
       [](const std::string& path, const ImportOptions&) -> Result<Capture> { return fail("cannot be read", path); }},
  };
  return table;
}

Result<Capture> import_file(const std::string& path, const ImportOptions& options) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail("cannot be opened", path);
  std::string head(4096, '\0');
  head.resize(static_cast<std::size_t>(file.read(head.data(), 4096).gcount()));
  const Importer* best = nullptr;
  int best_score = 0;
  for (const auto& importer : importers())
    if (const int score = importer.sniff(path, head); score > best_score) best = &importer, best_score = score;
  if (!best) return fail("is of no known format", path);
  return best->load(path, options);
}

}  // namespace gf
