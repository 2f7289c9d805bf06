#include "core/error.h"

namespace gf {

std::string Error::message() const {
  std::string text;
  if (!file.empty()) text += file + ": ";
  if (offset >= 0) text += "byte " + std::to_string(offset) + ": ";
  text += what;
  if (!advice.empty()) text += " (" + advice + ")";
  return text;
}

}  // namespace gf
