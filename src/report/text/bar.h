// Bars of characters.
#pragma once

#include <string>

#include "report/text/paint.h"

namespace gf {

/// What a bar shows on a track of 0..1: nothing up to `from`, filled up to `to`, perhaps filled up
/// to `unsure`.
struct Span01 {
  double from = 0, to = 0, unsure = 0;
};

/// A bar of exactly `width` columns. A part that is not empty shows at least a sliver.
std::string bar(const TextStyle& style, Span01 span, int width, Paint how = Paint::used);

}  // namespace gf
