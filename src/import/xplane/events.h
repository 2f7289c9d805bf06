// Second pass: a run of events of one line becomes rows. Chunks are independent of each other, so
// they decode in parallel.
#pragma once

#include <string_view>
#include <vector>

#include "import/importer.h"
#include "import/xplane/rows.h"

namespace gf::xplane {

// Decodes chunks on several threads and joins their rows in file order, so that the result does not
// depend on timing.

struct Chunk {
  std::string_view bytes;
  LineContext line;
};

/// Errors: stopped by options.progress. `file` is the whole input, for byte offsets in quality
/// notes. Chunks are released once they are read. `unplaced` hears of the capture's activities.
Status assemble(Capture& capture, const std::vector<Chunk>& chunks, std::string_view file,
                const ImportOptions& options, const Release& release,
                std::vector<Unplaced>& unplaced);

/// Fills an empty part.
void decode(std::string_view chunk, const LineContext& line, Part& part);

}  // namespace gf::xplane
