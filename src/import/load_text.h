// Loading of small text formats: the whole content in one piece, parsed by a function of the
// content alone.
#pragma once

#include <string>
#include <string_view>

#include "import/importer.h"
#include "import/input.h"

namespace gf {

/// Reads a file, decompressed, and parses it; damage of the compression is noted in the capture
/// beside the parser's own.
inline Result<Capture> load_text(const std::string& path, const ImportOptions& options,
                                 Result<Capture> (*parse)(std::string_view content,
                                                          const std::string& path)) {
  Capture damage;
  const auto content = read_whole(path, options.max_bytes, &damage);
  if (!content) return tl::unexpected(content.error());
  auto capture = parse(*content, path);
  if (capture) capture->add_quality(damage);
  return capture;
}

}  // namespace gf
