// Colour by meaning, so that every report paints the same thing the same way.
#pragma once

#include <string>
#include <string_view>

#include "report/text/style.h"

namespace gf {

enum class Paint { plain, title, strong, dim, good, warn, bad, used, unknown };

/// `text` in the colour of its meaning; unchanged when the style has no colour.
std::string paint(const TextStyle& style, Paint how, std::string_view text);

}  // namespace gf
