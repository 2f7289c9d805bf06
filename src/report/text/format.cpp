#include "report/text/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace gf {

std::string paint(const TextStyle& style, Paint how, std::string_view text) {
  if (!style.colour || how == Paint::plain || text.empty()) return std::string(text);
  constexpr std::string_view codes[] = {"", "1;36", "1", "2", "32", "33", "31", "36", "2"};
  return "\033[" + std::string(codes[static_cast<int>(how)]) + "m" + std::string(text) + "\033[0m";
}

namespace {

/// The letters that a terminal shows in two columns, or in none, by UAX 11: names of modules and
/// marks are in any language.
struct LetterRange {
  char32_t first, last;
  std::uint8_t columns;
};
constexpr auto kLetterRanges = std::to_array<LetterRange>({
    {0x300, 0x36F, 0},
    {0x1100, 0x115F, 2},
    {0x200B, 0x200F, 0},
    {0x2E80, 0x303E, 2},
    {0x3041, 0xA4CF, 2},
    {0xA960, 0xA97F, 2},
    {0xAC00, 0xD7A3, 2},
    {0xF900, 0xFAFF, 2},
    {0xFE00, 0xFE0F, 0},
    {0xFE30, 0xFE6F, 2},
    {0xFF01, 0xFF60, 2},
    {0xFFE0, 0xFFE6, 2},
    {0x1F300, 0x1F64F, 2},
    {0x1F680, 0x1F6FF, 2},
    {0x1F900, 0x1FAFF, 2},
    {0x20000, 0x3FFFD, 2},
});

/// A code point of a text: its first byte, and the columns that it takes.
struct Letter {
  std::size_t at, columns;
};

/// Each code point of `text`, and the end.
std::vector<Letter> letters_of(std::string_view text) {
  std::vector<Letter> letters;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    std::size_t end = i + 1;
    char32_t letter = lead < 0x80    ? lead
                      : lead >= 0xF0 ? lead & 0x7u
                                     : lead & 0x1Fu >> (lead >= 0xE0);
    for (; end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u; ++end)
      letter = letter << 6 | (static_cast<unsigned char>(text[end]) & 0x3Fu);
    const auto range = std::ranges::lower_bound(kLetterRanges, letter, {}, &LetterRange::last);
    const bool special = range != kLetterRanges.end() && range->first <= letter;
    letters.push_back({i, special ? range->columns : std::size_t{1}});
    i = end;
  }
  letters.push_back({text.size(), 0});
  return letters;
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char letter) { return letter < 0x80; });
}

std::size_t sum_of_columns(const std::vector<Letter>& letters) {
  std::size_t columns = 0;
  for (const auto& letter : letters) columns += letter.columns;
  return columns;
}

}  // namespace

std::string format_level(const Level& level) {
  if (level.estimated && level.low && level.high) {
    const auto low = fmt::format("{:.0f}", *level.low * 100);
    const auto high = fmt::format("{:.0f}", *level.high * 100);
    return low == high ? fmt::format("~{} %", low) : fmt::format("~{}-{} %", low, high);
  }
  const bool wide = level.low && level.high && std::abs(*level.high - *level.low) >= 0.0005;
  if (!wide) return level.value ? format_share(level.value) : "no data";
  return fmt::format("{:.1f}-{:.1f} %", *level.low * 100, *level.high * 100);
}

std::string format_rate(double rate, std::string_view unit) {
  struct Prefix {
    double factor;
    const char* name;
  };
  for (const auto& [factor, name] :
       {Prefix{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}})
    if (rate >= factor) return fmt::format("{:.4g} {}{}", rate / factor, name, unit);
  return fmt::format("{:.4g} {}", rate, unit);
}

std::string format_per_second(double rate) {
  constexpr double kWholeFrom = 100;
  if (rate < kWholeFrom) return fmt::format("{:.3g}", rate);
  return format_count(std::llround(std::min(rate, 1e18)));
}

std::string format_reading(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "no data";
  if (unit == "ratio") return format_share(value);
  if (unit == "watts") return fmt::format("{:.0f} W", value);
  if (unit == "hertz") return fmt::format("{:.0f} MHz", value * 1e-6);
  if (unit == "celsius") return fmt::format("{:.0f} C", value);
  if (unit == "cores") return fmt::format("{:.2f} cores", value);
  if (unit == "bytes") return format_bytes(std::llround(value));
  if (unit == "bytes/s") return format_bytes(std::llround(value)) + "/s";
  static constexpr std::pair<double, std::string_view> kScales[] = {
      {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [scale, letter] : kScales)
    if (std::abs(value) >= scale)
      return fmt::format("{:.3g} {}{}", value / scale, letter, unit.ends_with("/s") ? "/s" : "");
  return fmt::format("{:.3g}{}", value, unit.ends_with("/s") ? " /s" : "");
}

std::size_t columns_of(std::string_view utf8) {
  return is_ascii(utf8) ? utf8.size() : sum_of_columns(letters_of(utf8));
}

std::string shorten_middle(std::string_view raw, std::size_t width) {
  const std::string clean = printable(raw);
  const std::string_view text = clean;
  if (text.size() <= width && is_ascii(text)) return clean;
  const auto letters = letters_of(text);
  if (sum_of_columns(letters) <= width) return std::string(text);
  const bool cut = width > 4;  // else there is no room for what says so
  const std::size_t head = cut ? (width - 2 + 1) / 2 : width, tail = cut ? width - 2 - head : 0;
  std::size_t first = 0, last = letters.size() - 1, used = 0;
  while (used + letters[first].columns <= head) used += letters[first++].columns;
  used = 0;
  while (cut && used + letters[last - 1].columns <= tail) used += letters[--last].columns;
  return std::string(text.substr(0, letters[first].at)) + (cut ? ".." : "") +
         std::string(cut ? text.substr(letters[last].at) : std::string_view());
}

namespace {

/// True if a space and a unit follow: a number keeps its unit on its line.
bool starts_with_unit(std::string_view rest) {
  static constexpr std::string_view kUnits[] = {"%", "ns",   "us",    "ms",  "s",   "min", "h",
                                                "B", "kB",   "MB",    "GB",  "J",   "kJ",  "mJ",
                                                "W", "byte", "bytes", "gap", "gaps"};
  if (!rest.starts_with(' ')) return false;
  rest.remove_prefix(1);
  rest = rest.substr(0, rest.find_first_of(" ,;.)]"));
  return std::find(std::begin(kUnits), std::end(kUnits), rest) != std::end(kUnits);
}

}  // namespace

std::string wrap(std::string_view raw, std::size_t width, std::size_t indent) {
  const std::string clean = printable(raw);
  std::string_view text = clean;
  const std::string margin(indent, ' ');
  std::string out, line;
  while (!text.empty()) {
    auto end = std::min(text.find(' '), text.size());
    if (end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9' &&
        starts_with_unit(text.substr(end)))
      end = std::min(text.find(' ', end + 1), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && columns_of(line) + 1 + columns_of(word) + indent > width) {
      out += margin + line + "\n";
      line.clear();
    }
    if (!line.empty()) line += ' ';
    if (indent + columns_of(word) > width) {
      line += shorten_middle(word, width - indent);
    } else {
      line += std::string(word);
    }
  }
  if (!line.empty()) out += margin + line + "\n";
  return out;
}

std::string wrap_command(std::string_view command, std::size_t width) {
  std::string out, line;
  while (!command.empty()) {
    const auto end = std::min(command.find_first_of(" ,"), command.size() - 1) + 1;
    const auto piece = command.substr(0, end);
    command.remove_prefix(end);
    if (!line.empty() && columns_of(line) + columns_of(piece) + (command.empty() ? 0 : 1) > width) {
      out += line + "\\\n";
      line.clear();
    }
    line += piece;
  }
  return out + line + "\n";
}

std::string wrap_with_command(std::string_view text, std::size_t width, std::size_t indent) {
  const auto command = text.find("ncu --");
  if (command == std::string_view::npos) return wrap(text, width, indent);
  return wrap(text.substr(0, command), width, indent) + wrap_command(text.substr(command), width);
}

}  // namespace gf
