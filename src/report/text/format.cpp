#include "report/text/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace gf {

std::string paint(const TextStyle& style, Paint how, std::string_view text) {
  if (!style.colour || how == Paint::plain || text.empty()) return std::string(text);
  constexpr std::string_view codes[] = {"", "1;36", "1", "2", "32", "33", "31", "36", "2"};
  return "\033[" + std::string(codes[static_cast<int>(how)]) + "m" + std::string(text) + "\033[0m";
}

namespace {

/// Byte offset of each code point of `text`, and the end.
std::vector<std::size_t> code_points(std::string_view text) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0u) != 0x80u) at.push_back(i);
  at.push_back(text.size());
  return at;
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

std::size_t columns_of(std::string_view utf8) { return code_points(utf8).size() - 1; }

std::string shorten_middle(std::string_view raw, std::size_t width) {
  const std::string clean = printable(raw);
  const std::string_view text = clean;
  const auto at = code_points(text);
  const std::size_t count = at.size() - 1;
  if (count <= width) return std::string(text);
  if (width <= 4) return std::string(text.substr(0, at[width]));
  const std::size_t head = (width - 2 + 1) / 2, tail = width - 2 - head;
  return std::string(text.substr(0, at[head])) + ".." + std::string(text.substr(at[count - tail]));
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
