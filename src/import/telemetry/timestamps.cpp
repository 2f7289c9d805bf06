#include "import/telemetry/timestamps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "core/text.h"

namespace gf::telemetry {

namespace {

/// Takes a zone off the end of a time: Z, UTC, +01:00, -0500, +01. What UTC lies behind it; empty
/// without one.
std::optional<Nanos> take_zone(std::string_view& text) {
  for (std::string_view utc : {"Z", "UTC", "GMT"})
    if (text.ends_with(utc)) {
      text.remove_suffix(utc.size());
      return 0;
    }
  const auto sign = text.find_last_of("+-");
  if (sign == text.npos || sign < 19) return std::nullopt;  // the date has dashes too
  std::string digits;
  for (const char letter : text.substr(sign + 1))
    if (letter != ':') digits += letter;
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() ||
      (digits.size() != 2 && digits.size() != 4))
    return std::nullopt;
  int minutes = digits.size() == 2 ? number * 60 : number / 100 * 60 + number % 100;
  const Nanos zone = (text[sign] == '-' ? -1 : 1) * minutes * 60 * kNsPerSecond;
  text = text.substr(0, sign);
  return zone;
}

}  // namespace

std::optional<Nanos> parse_calendar(std::string_view text, bool* zoned) {
  text = trimmed(text, " ");
  const auto zone = take_zone(text);
  if (zoned) *zoned = zone.has_value();
  text = trimmed(text, " ");
  if (text.size() < 19 || (text[4] != '/' && text[4] != '-') || text[7] != text[4] ||
      (text[10] != ' ' && text[10] != 'T') || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  std::array<int, 6> part{};
  constexpr std::array<std::array<std::size_t, 2>, 6> where{
      {{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}}};
  for (std::size_t i = 0; i < part.size(); ++i) {
    const char *begin = text.data() + where[i][0], *end = begin + where[i][1];
    if (const auto [at, error] = std::from_chars(begin, end, part[i]);
        error != std::errc() || at != end)
      return std::nullopt;
  }
  using namespace std::chrono;
  const year_month_day day{year(part[0]), month(static_cast<unsigned>(part[1])),
                           std::chrono::day(static_cast<unsigned>(part[2]))};
  if (!day.ok() || part[0] < 1971 || part[0] > 2200 || part[3] > 23 || part[4] > 59 || part[5] > 60)
    return std::nullopt;
  Nanos ns = duration_cast<nanoseconds>(sys_days(day).time_since_epoch()).count() +
             ((part[3] * 60LL + part[4]) * 60LL + part[5]) * kNsPerSecond;
  if (text.size() > 19) {
    if (text[19] != '.' && text[19] != ',') return std::nullopt;
    const auto fraction = parse_decimal(std::string("0.").append(text.substr(20)), 9);
    if (!fraction) return std::nullopt;
    ns += *fraction;
  }
  return ns - zone.value_or(0);
}

std::optional<WrittenDate> split_date(std::string_view text) {
  std::array<int, 3> part{};
  std::array<std::size_t, 3> digits{};
  std::size_t at = 0;
  char between = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), part[i]);
    if (error != std::errc() || part[i] < 0) return std::nullopt;
    digits[i] = static_cast<std::size_t>(end - text.data()) - at;
    at += digits[i];
    if (i == 2) break;
    if (at >= text.size() || std::string_view("-/.").find(text[at]) == std::string_view::npos ||
        (i == 1 && text[at] != between))
      return std::nullopt;
    between = text[at++];
  }
  const bool year_first = digits[0] == 4;
  if (digits[1] > 2 || digits[year_first ? 2 : 0] > 2 || digits[year_first ? 0 : 2] != 4)
    return std::nullopt;
  return WrittenDate{part[0], part[1], part[2], year_first, at};
}

std::optional<Nanos> parse_date_and_time(std::string_view text, bool month_first, bool* zoned) {
  if (const auto time = parse_calendar(text, zoned)) return time;
  const auto date = split_date(text);
  if (!date) return std::nullopt;
  int year = date->third, month = date->second, day = date->first;
  if (date->year_first) std::swap(year, day);
  if (!date->year_first && month_first) std::swap(month, day);
  return parse_calendar(
      fmt::format("{:04}-{:02}-{:02}{}", year, month, day, text.substr(date->end)), zoned);
}

std::optional<Nanos> parse_zone(std::string_view text) {
  // Behind a time that is long enough; one digit is the hour.
  std::string time = "2000/01/01 00:00:00";
  const bool one_digit = text.size() == 2;
  if (one_digit) {
    time += fmt::format("{}0{}", text[0], text[1]);
  } else {
    time += std::string(text);
  }
  bool zoned = false;
  const auto at = parse_calendar(time, &zoned), utc = parse_calendar("2000/01/01 00:00:00");
  constexpr Nanos kFurthest = 18 * 3600 * kNsPerSecond;
  if (!at || !zoned || *utc - *at > kFurthest || *at - *utc > kFurthest) return std::nullopt;
  return *utc - *at;
}

void leave_local_time(Capture& capture, Nanos zone) {
  const Text local = capture.strings.find("local_time");
  const auto& notes = capture.quality;
  if (local == Text::none ||
      std::find(notes.code.begin(), notes.code.end(), local) == notes.code.end())
    return;
  for (auto& start : capture.counter_samples.start_ns) start -= zone;
  auto others = notes;
  others.clear();
  for (std::uint32_t row = 0; row < notes.size(); ++row) {
    if (notes.code[row] == local) continue;
    const auto kept = others.add();
    others.code[kept] = notes.code[row];
    others.count[kept] = notes.count[row];
    others.detail[kept] = notes.detail[row];
  }
  capture.quality = std::move(others);
}

std::optional<int> time_column_exponent(std::string_view header) {
  struct Known {
    std::string_view name;
    int exponent;
  };
  static constexpr Known known[] = {{"unix_time_s", 9},  {"time_s", 9},       {"timestamp_s", 9},
                                    {"unix_s", 9},       {"unix_time_ms", 6}, {"time_ms", 6},
                                    {"timestamp_ms", 6}, {"unix_time_us", 3}, {"time_us", 3},
                                    {"timestamp_us", 3}, {"unix_time_ns", 0}, {"time_ns", 0},
                                    {"timestamp_ns", 0}, {"unix_time", 9}};
  const auto found = std::ranges::find(known, header, &Known::name);
  if (found == std::end(known)) return std::nullopt;
  return std::optional(found->exponent);
}

}  // namespace gf::telemetry
