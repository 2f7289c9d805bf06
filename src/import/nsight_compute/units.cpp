#include "import/nsight_compute/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "core/text.h"

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
  std::size_t first = cell[0] == '-' || cell[0] == '+' ? 1 : 0;
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

namespace {

struct Scaled {
  std::string_view printed, base;
  int exponent;
  double factor = 1;
};

// Spellings of the tool from 2019 to 2025 (older versions write "usecond", "Ghz", "cycle/nsecond").
constexpr std::array<Scaled, 25> kScaled{{
    {"ns", "ns", 0},
    {"nsecond", "ns", 0},
    {"us", "ns", 3},
    {"usecond", "ns", 3},
    {"ms", "ns", 6},
    {"msecond", "ns", 6},
    {"s", "ns", 9},
    {"second", "ns", 9},
    {"byte", "byte", 0},
    {"Kbyte", "byte", 3},
    {"Mbyte", "byte", 6},
    {"Gbyte", "byte", 9},
    {"Tbyte", "byte", 12},
    {"hz", "hz", 0},
    {"Hz", "hz", 0},
    {"Khz", "hz", 3},
    {"Mhz", "hz", 6},
    {"MHz", "hz", 6},
    {"Ghz", "hz", 9},
    {"GHz", "hz", 9},
    {"Thz", "hz", 12},
    {"B", "byte", 0},
    {"KiB", "byte", 0, 1024},
    {"MiB", "byte", 0, 1 << 20},
    {"GiB", "byte", 0, 1 << 30},
}};

const Scaled* find(std::string_view printed) {
  for (const Scaled& scaled : kScaled)
    if (scaled.printed == printed) return &scaled;
  return nullptr;
}

constexpr std::array<std::pair<char, int>, 5> kPrefixes{
    {{'K', 3}, {'M', 6}, {'G', 9}, {'T', 12}, {'P', 15}}};

// Numerators other than the above scale with the same prefixes ("Ksector", "Minst"): the rest is
// the base.
Unit plain(std::string_view printed) {
  if (const Scaled* scaled = find(printed))
    return {std::string(scaled->base), scaled->exponent, scaled->factor};
  static constexpr std::array<std::string_view, 12> counted{
      "sector", "inst",        "cycle",     "warp", "thread", "request",
      "block",  "transaction", "wavefront", "tag",  "pass",   "fragment"};
  if (printed.size() > 2)
    for (auto [letter, exponent] : kPrefixes)
      if (printed[0] == letter)
        for (auto unit : counted)
          if (printed.substr(1) == unit) return {std::string(unit), exponent};
  return {std::string(printed)};
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

struct Rule {
  std::string_view part;  // occurs in the metric's name before the roll-up
  std::string_view unit;
};

// Order matters: the first part found decides.
constexpr std::array<Rule, 39> kRules{{
    {"device__attribute_", ""},
    {"launch__block_dim_", "block"},
    {"launch__cluster_max_active", "cluster"},
    {"launch__cluster_max_potential_size", "block"},
    {"launch__occupancy_cluster", "%"},
    {"launch__occupancy_limit_", "block"},
    {"launch__persisting_l2_cache_size", "byte"},
    {"launch__registers_per_thread", "register/thread"},
    {"launch__shared_mem_config_size", "byte"},
    {"launch__shared_mem_per_block", "byte/block"},
    {"launch__sm_count", "SM"},
    {"launch__thread_count", "thread"},
    {"launch__", ""},
    {"numa__", ""},
    {"nvlink__", ""},
    {"c2clink__", ""},
    {"profiler__replayer_bytes", "byte"},
    {"profiler__replayer_passes", "pass"},
    {"profiler__", ""},
    {"maximum_warps_avg_per_active_cycle", "warp"},
    {"maximum_warps_per_active_cycle_pct", "%"},
    {"time_duration", "ns"},
    {"time_start", "ns"},
    {"time_end", "ns"},
    {"throughput", "%"},
    {"hit_rate", "%"},
    {"_bytes", "byte"},
    {"dram__sectors", "sector"},
    {"t_sectors", "sector"},
    {"sectors", "sector"},
    {"requests", "request"},
    {"issue_active", "cycle"},
    {"cycles_", "cycle"},
    {"thread_inst", "inst"},
    {"inst_", "inst"},
    {"warps_", "warp"},
    {"threads_launched", "thread"},
    {"ctas_launched", "block"},
    {"dram__bytes", "byte"},
}};

}  // namespace

Unit parse_unit(std::string_view printed) {
  const auto slash = printed.find('/');
  if (slash == printed.npos) return plain(printed);
  const Unit top = plain(printed.substr(0, slash)), bottom = plain(printed.substr(slash + 1));
  // Rates are per second, however long the second was written: "byte/s", "byte/second",
  // "cycle/nsecond".
  if (bottom.base == "ns") return {top.base + "/s", top.exponent + 9 - bottom.exponent, top.factor};
  return {top.base + "/" + bottom.base, top.exponent - bottom.exponent, top.factor / bottom.factor};
}

std::string metric_unit(std::string_view metric) {
  if (has(metric, "pct_of_peak") || metric.ends_with(".pct") || metric.ends_with("_pct"))
    return "%";
  if (metric.ends_with(".ratio") || metric.ends_with(".max_rate")) return "";
  std::string_view rollup;
  std::string_view name = metric;
  if (const auto dot = metric.find('.'); dot != metric.npos) {
    name = metric.substr(0, dot);
    rollup = metric.substr(dot);
  }
  std::string unit;
  for (const Rule& rule : kRules)
    if (has(name, rule.part)) {
      unit = rule.unit;
      break;
    }
  if (has(rollup, ".per_second")) {
    if (has(name, "cycles_")) return "hz";
    return unit.empty() ? "1/s" : unit + "/s";
  }
  if (has(rollup, ".per_cycle") || has(rollup, ".peak_sustained")) {
    if (unit.empty() || unit == "cycle") {
      if (unit.empty()) return "1/cycle";
      return "";
    }
    return unit + "/cycle";
  }
  return unit;
}

}  // namespace gf::ncu
