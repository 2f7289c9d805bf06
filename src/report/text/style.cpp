#include "report/text/style.h"

namespace gf {

std::string paint(const TextStyle& style, Paint how, std::string_view text) {
  if (!style.colour || how == Paint::plain || text.empty()) return std::string(text);
  constexpr std::string_view codes[] = {"", "1;36", "1", "2", "32", "33", "31", "36", "2"};
  return "\033[" + std::string(codes[static_cast<int>(how)]) + "m" + std::string(text) + "\033[0m";
}

}  // namespace gf
