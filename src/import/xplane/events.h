// Second pass: a run of events of one line becomes rows. Chunks are independent of each other, so
// they decode in parallel.
#pragma once

#include <functional>
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

/// A kernel whose event names its program, and no operation of it.
struct Unplaced {
  std::uint32_t activity = 0;
  std::int64_t program = -1;
};

/// Errors: stopped by options.progress. `file` is the whole input, for byte offsets in quality
/// notes.
/// `unplaced` hears of such kernels.
Status assemble(Capture& capture, const std::vector<Chunk>& chunks, std::string_view file,
                const ImportOptions& options, const std::function<void(std::string_view)>& release,
                std::vector<Unplaced>& unplaced);

/// Fills an empty part.
void decode(std::string_view chunk, const LineContext& line, Part& part);

}  // namespace gf::xplane
