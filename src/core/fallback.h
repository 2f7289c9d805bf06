// What stands where something is missing.
#pragma once

#include <string_view>

namespace gf {

/// `text`, or `fallback` when it is empty.
constexpr std::string_view text_or(std::string_view text, std::string_view fallback) {
  if (text.empty()) return fallback;
  return text;
}

/// How much more `all` is than `part`; 0 when it is not.
template <class Number>
constexpr Number excess(Number all, Number part) {
  if (all > part) return all - part;
  return Number{};
}

}  // namespace gf
