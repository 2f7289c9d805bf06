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

}  // namespace gf::xplane
