// How a text report may look where it goes.
// Color by meaning, so that every report paints the same thing the same way.
#pragma once

#include <string>
#include <string_view>

namespace gf {

struct TextStyle {
  int width = 80;       // columns that a line may have
  bool colour = false;  // ANSI colors
  bool utf8 = false;    // block characters for bars; plain ASCII without
};

enum class Paint { plain, title, strong, dim, good, warn, bad, used, unknown };

/// `text` in the color of its meaning; unchanged when the style has no color.
std::string paint(const TextStyle& style, Paint how, std::string_view text);

}  // namespace gf
