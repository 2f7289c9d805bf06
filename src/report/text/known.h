// Cells of values that may have no data.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "report/text/format.h"

namespace gf {

/// format(value) of a value that is known, else `missing`.
template <class Value, class Format>
std::string known_or(std::string_view missing, const std::optional<Value>& value, Format&& format) {
  if (!value) return std::string(missing);
  return format(*value);
}

/// format_time() of a mean, which is no whole number.
inline std::string format_mean_time(double ns) { return format_time(std::llround(ns)); }

}  // namespace gf
