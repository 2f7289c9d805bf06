// gpufathom's own capture file (.gpf), read as it is. The format itself is in model/file.h.
#pragma once

#include "import/importer.h"

namespace gf::capture_file {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

}  // namespace gf::capture_file
