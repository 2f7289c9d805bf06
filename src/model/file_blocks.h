// Packed samples of a capture file.
#pragma once

#include <string>

#include "core/error.h"
#include "core/progress.h"
#include "model/capture.h"
#include "model/file_strings.h"
#include "model/sqlite.h"

namespace gf {

/// Reads the blocks, whose devices must have been read. Looks at every byte of every one, so that
/// nobody finds damage later: a damaged block costs that block and is counted.
Status read_blocks(sqlite3* db, Capture& capture, const FileStrings& strings,
                   std::uint64_t max_bytes, const std::string& file, const Progress& progress);

}  // namespace gf
