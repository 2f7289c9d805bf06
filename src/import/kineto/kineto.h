// PyTorch profiler traces: Kineto's JSON in all its variants. docs/formats/kineto.md has the rules.
#pragma once

#include "import/importer.h"

namespace gf::kineto {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

}  // namespace gf::kineto
