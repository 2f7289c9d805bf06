// Small parts of sentences that are there or not: a separator, a plural's s, a remark.
#pragma once

namespace gf {

/// `text` when the condition holds, else nothing.
constexpr const char* when(bool condition, const char* text) {
  if (condition) return text;
  return "";
}

}  // namespace gf
