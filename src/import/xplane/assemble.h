// Decodes chunks on several threads and joins their rows in file order, so that the result does not
// depend on timing.
#pragma once

#include <functional>
#include <vector>

#include "import/importer.h"
#include "import/xplane/events.h"

namespace gf::xplane {

struct Chunk {
  std::string_view bytes;
  LineContext line;
};

/// Errors: stopped by options.progress. `file` is the whole input, for byte offsets in quality
/// notes.
Status assemble(Capture& capture, const std::vector<Chunk>& chunks, std::string_view file,
                const ImportOptions& options, const std::function<void(std::string_view)>& release);

}  // namespace gf::xplane
