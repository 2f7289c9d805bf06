// The reader's error about a file.
#pragma once

#include <string>

#include "import/importer.h"

namespace gf::test {

/// Empty when the file can be read.
inline std::string import_error(const std::string& path) {
  const auto read = import_file(path);
  if (read) return {};
  return read.error().message();
}

}  // namespace gf::test
