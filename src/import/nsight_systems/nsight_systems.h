// SQLite exports of Nsight Systems (docs/formats/nsight-systems.md).
#pragma once

#include <string>
#include <string_view>

#include "import/importer.h"

namespace gf::nsys {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

}  // namespace gf::nsys
