// How a text report may look where it goes.
#pragma once

namespace gf {

struct TextStyle {
  int width = 80;       // columns that a line may have
  bool colour = false;  // ANSI colours
  bool utf8 = false;    // block characters for bars; plain ASCII without
};

}  // namespace gf
