#pragma once

#include <string>

#include "report/json.h"

namespace gf::cli {

/// An answer as JSON: the object, and the end of its line.
template <class T>
std::string json_line(const T& value) {
  std::string line;
  to_json(line, value);
  line += '\n';
  return line;
}

}  // namespace gf::cli
