#include "import/nsight_compute/numbers.h"

#include <charconv>
#include <cmath>
#include <string>

#include "core/trim.h"

namespace gf::ncu {

namespace {

bool digit(char letter) { return letter >= '0' && letter <= '9'; }

// Blanks, no-break blanks (UTF-8 C2 A0, E2 80 AF) and apostrophes group digits in some locales.
std::string without_grouping_blanks(std::string_view cell) {
  std::string out;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] == ' ' || cell[i] == '\'') continue;
    if (cell.substr(i, 2) == "\xC2\xA0") {
      i += 1;
      continue;
    }
    if (cell.substr(i, 3) == "\xE2\x80\xAF" || cell.substr(i, 3) == "\xE2\x80\x99") {
      i += 2;
      continue;
    }
    out += cell[i];
  }
  return out;
}

}  // namespace

void NumberStyleVote::add(std::string_view cell) {
  int dots = 0, commas = 0;
  std::size_t last = cell.npos;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] == '.') {
      ++dots;
      last = i;
    } else if (cell[i] == ',') {
      ++commas;
      last = i;
    } else if (!digit(cell[i]) && cell[i] != '-')
      return;
  }
  if (last == cell.npos) return;
  const std::size_t after = cell.size() - last - 1;
  if (dots && commas)
    ++(cell[last] == '.' ? english_ : european_);
  else if (dots > 1)
    ++european_;
  else if (commas > 1)
    ++english_;
  else if (after != 3)
    ++(dots ? english_ : european_);
  // One separator with three digits behind it says nothing.
}

std::optional<Number> parse_number(std::string_view cell, NumberStyle style, int exponent) {
  cell = trimmed(cell, " \t");
  if (cell.empty() || cell.size() > 64) return std::nullopt;
  std::size_t first = 0;
  if (cell[0] == '-' || cell[0] == '+') first = 1;
  if (first == cell.size() || !(digit(cell[first]) || cell[first] == style.decimal))
    return std::nullopt;
  char group = '.';
  if (style.decimal == '.') group = ',';
  std::string plain;
  int decimals = -1;
  bool fraction = false;
  for (char letter : without_grouping_blanks(cell)) {
    if (letter == group && decimals < 0) continue;
    if (letter == style.decimal) {
      if (decimals >= 0) return std::nullopt;
      decimals = 0;
      plain += '.';
      continue;
    }
    if (decimals >= 0 && digit(letter)) {
      ++decimals;
      fraction |= letter != '0';
    }
    if (letter != '+' || !plain.empty()) plain += letter;
  }
  if (exponent != 0 && plain.find_first_of("eE") == plain.npos)
    (plain += 'e') += std::to_string(exponent);
  Number number;
  const auto [end, error] =
      std::from_chars(plain.data(), plain.data() + plain.size(), number.value);
  if (error != std::errc() || end != plain.data() + plain.size() || !std::isfinite(number.value))
    return std::nullopt;
  if (fraction) number.resolution = 0.5 * std::pow(10.0, exponent - decimals);
  return number;
}

}  // namespace gf::ncu
