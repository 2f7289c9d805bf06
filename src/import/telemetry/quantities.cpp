#include "import/telemetry/quantities.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "core/text.h"
#include "model/metrics.h"

namespace gf::telemetry {

namespace {

struct Unit {
  std::string_view name;
  double factor;  // to watts, joules, hertz, bytes, seconds, ratio, celsius
};

constexpr auto kUnits = std::to_array<Unit>({
    {"w", 1},         {"mw", 1e-3},      {"uw", 1e-6},       {"kw", 1e3},    {"j", 1},
    {"mj", 1e-3},     {"kj", 1e3},       {"wh", 3600},       {"kwh", 3.6e6}, {"hz", 1},
    {"khz", 1e3},     {"mhz", 1e6},      {"ghz", 1e9},       {"b", 1},       {"kib", 1024},
    {"mib", 1 << 20}, {"gib", 1 << 30},  {"tib", 1ll << 40}, {"kb", 1024},   {"mb", 1 << 20},
    {"gb", 1 << 30},  {"tb", 1ll << 40}, {"pct", 0.01},      {"%", 0.01},    {"percent", 0.01},
    {"c", 1},         {"ratio", 1},
});

const Unit* find_unit(std::string_view name) {
  for (const Unit& unit : kUnits)
    if (unit.name == name) return &unit;
  return nullptr;
}

const CatalogueColumn* column_of(LogKind log, std::string_view name) {
  return find_column(log, [&](std::string_view known) { return known == name; });
}

/// power.draw, power_draw and "power draw" are one name.
const CatalogueColumn* smi_column(std::string_view name) {
  auto plain = [](char letter) { return letter == '_' || letter == ' ' ? '.' : letter; };
  return find_column(LogKind::smi_csv, [&](std::string_view known) {
    return std::ranges::equal(known, name, {}, plain, plain);
  });
}

struct Split {
  std::string name, unit;
};

/// "power.draw [W]" and "power.draw (W)" -> power.draw, w; "sm_clock_mhz" -> sm_clock, mhz.
Split split(std::string_view header) {
  std::string text = lower_case(header);
  if (const auto open = text.find_last_of("[(");
      open != text.npos && text.ends_with(text[open] == '[' ? ']' : ')')) {
    Split split{text.substr(0, open), text.substr(open + 1, text.size() - open - 2)};
    while (!split.name.empty() && split.name.back() == ' ') split.name.pop_back();
    return split;
  }
  if (const auto last = text.rfind('_');
      last != text.npos && find_unit(std::string_view(text).substr(last + 1)))
    return {text.substr(0, last), text.substr(last + 1)};
  return {text, ""};
}

}  // namespace

Quantity quantity_of_column(std::string_view header) {
  const Split parts = split(header);
  const Unit* unit = find_unit(parts.unit);
  if (parts.unit.ends_with("/s")) {  // a rate of what the catalog counts
    Quantity rate;
    rate.metric = header;
    return rate;
  }
  if (const CatalogueColumn* known = smi_column(parts.name))
    return {std::string(known->metric), unit ? unit->factor : known->factor};
  return {parts.name, unit ? unit->factor : 1};
}

Quantity quantity_of_smi_dmon(std::string_view heading, std::string_view unit) {
  if (const CatalogueColumn* known = column_of(LogKind::smi_dmon, heading))
    return {std::string(known->metric), known->factor};
  return {std::string(heading), unit.ends_with('%') ? 0.01 : 1};
}

bool is_of_whole_gpu(std::string_view metric) {
  constexpr std::array kKinds{"power.", "energy.", "clock.", "temperature.", "monitor."};
  return std::ranges::any_of(kKinds, [&](const char* kind) { return metric.starts_with(kind); });
}

bool is_dcgm_blank(double value) {
  // 32-bit, 64-bit and floating-point blanks: not permitted, not supported, not found and a few
  // more in a row.
  auto among = [&](double first) { return value >= first && value < first + 16; };
  return among(2147483632.0) || among(140737488355328.0) || value >= 9223372036854774784.0;
}

Quantity quantity_of_dcgm(std::string_view heading) {
  if (const CatalogueColumn* known = column_of(LogKind::dcgmi, heading))
    return {std::string(known->metric), known->factor};
  return {std::string(heading), 1};
}

std::optional<double> parse_reading(std::string_view cell) {
  cell = trimmed(cell, " \r");
  if (cell.starts_with("0x") || cell.starts_with("0X")) {
    std::uint64_t bits = 0;
    const auto [end, error] = std::from_chars(cell.data() + 2, cell.data() + cell.size(), bits, 16);
    if (error == std::errc() && end == cell.data() + cell.size())
      return std::optional(static_cast<double>(bits));
    return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  // Behind the number only its unit may stand.
  std::string_view rest(end, static_cast<std::size_t>(cell.data() + cell.size() - end));
  if (!rest.empty() && (rest.front() != ' ' || rest.size() > 8)) return std::nullopt;
  return value;
}

}  // namespace gf::telemetry
