#include "import/telemetry/quantities.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "core/trim.h"
#include "model/metric_id.h"
#include "model/metrics.h"

namespace gf::telemetry {

namespace {

struct Unit {
  std::string_view name;
  double factor;  // to watts, joules, hertz, bytes, seconds, ratio, celsius
};

constexpr std::array<Unit, 18> kUnits{{{"w", 1},
                                       {"mw", 1e-3},
                                       {"j", 1},
                                       {"mj", 1e-3},
                                       {"hz", 1},
                                       {"khz", 1e3},
                                       {"mhz", 1e6},
                                       {"ghz", 1e9},
                                       {"b", 1},
                                       {"kib", 1024},
                                       {"mib", 1 << 20},
                                       {"gib", 1 << 30},
                                       {"mb", 1 << 20},
                                       {"pct", 0.01},
                                       {"%", 0.01},
                                       {"percent", 0.01},
                                       {"c", 1},
                                       {"ratio", 1}}};

struct Name {
  std::string_view column, metric;
  double factor;  // when the column names no unit
};

// Names of nvidia-smi --help-query-gpu (with its older aliases) and of common NVML logs, without
// their unit.
constexpr std::array<Name, 38> kNames{{
    {"power.draw.instant", "power.module"_metric, 1},
    {"power_instant", "power.module"_metric, 1},
    {"power.draw", "power.average"_metric, 1},
    {"power.draw.average", "power.average"_metric, 1},
    {"power_avg", "power.average"_metric, 1},
    {"power_average", "power.average"_metric, 1},
    {"power", "power.average"_metric, 1},
    {"enforced.power.limit", "power.limit"_metric, 1},
    {"power.limit"_metric, "power.limit"_metric, 1},
    {"power_memory", "power.memory"_metric, 1},
    {"energy", "energy.module"_metric, 1e-3},
    {"total_energy_consumption", "energy.module"_metric, 1e-3},
    {"clocks.sm", "clock.sm"_metric, 1e6},
    {"clocks.current.sm", "clock.sm"_metric, 1e6},
    {"sm_clock", "clock.sm"_metric, 1e6},
    {"clocks.mem", "clock.memory"_metric, 1e6},
    {"clocks.current.memory", "clock.memory"_metric, 1e6},
    {"mem_clock", "clock.memory"_metric, 1e6},
    {"memory_clock", "clock.memory"_metric, 1e6},
    {"temperature.gpu"_metric, "temperature.gpu"_metric, 1},
    {"temp", "temperature.gpu"_metric, 1},
    {"temperature", "temperature.gpu"_metric, 1},
    {"temperature.memory"_metric, "temperature.memory"_metric, 1},
    {"temp_mem", "temperature.memory"_metric, 1},
    {"utilization.gpu", "monitor.gpu"_metric, 0.01},
    {"util", "monitor.gpu"_metric, 0.01},
    {"gpu_util", "monitor.gpu"_metric, 0.01},
    {"utilization", "monitor.gpu"_metric, 0.01},
    {"utilization.memory", "monitor.memory"_metric, 0.01},
    {"mem_util", "monitor.memory"_metric, 0.01},
    {"memory.used"_metric, "memory.used"_metric, 1 << 20},
    {"mem_used", "memory.used"_metric, 1 << 20},
    {"memory.total"_metric, "memory.total"_metric, 1 << 20},
    {"mem_total", "memory.total"_metric, 1 << 20},
    {"clocks_throttle_reasons.active", "clock.limits"_metric, 1},
    {"clocks_event_reasons.active", "clock.limits"_metric, 1},
    {"throttle_reasons", "clock.limits"_metric, 1},
    {"clock_limits", "clock.limits"_metric, 1},
}};

// Column headings of dcgmi dmon, in the unit of the catalogue's DCGM field. Byte counters of links
// are rates there and stay under their own name.
struct DcgmColumn {
  std::string_view column, metric;
};
constexpr std::array<DcgmColumn, 25> kDcgm{{
    {"GRACT", "gpu.busy"_metric},           {"SMACT", "sm.active_any"_metric},
    {"SMOCC", "sm.occupancy"_metric},       {"TENSO", "tensor.active"_metric},
    {"DRAMA", "dram.active"_metric},        {"FP64A", "pipe.fp64"_metric},
    {"FP32A", "pipe.fma"_metric},           {"FP16A", "pipe.fp16"_metric},
    {"INTAC", "pipe.alu"_metric},           {"TIMMA", "tensor.imma_active"_metric},
    {"THMMA", "tensor.hmma_active"_metric}, {"TDFMA", "tensor.dmma_active"_metric},
    {"POWER", "power.average"_metric},      {"PWR", "power.average"_metric},
    {"POWIN", "power.module"_metric},       {"TOTEC", "energy.module"_metric},
    {"TMPTR", "temperature.gpu"_metric},    {"MMTMP", "temperature.memory"_metric},
    {"SMCLK", "clock.sm"_metric},           {"MMCLK", "clock.memory"_metric},
    {"GPUTL", "monitor.gpu"_metric},        {"MCUTL", "monitor.memory"_metric},
    {"FBUSD", "memory.used"_metric},        {"EPLMT", "power.limit"_metric},
    {"DVCCTR", "clock.limits"_metric},
}};

// Column headings of nvidia-smi dmon; from gract on those of --gpm-metrics. Throughputs of links
// are rates and keep their own names.
constexpr std::array<Name, 16> kSmiDmon{{
    {"pwr", "power.average"_metric, 1},
    {"gtemp", "temperature.gpu"_metric, 1},
    {"mtemp", "temperature.memory"_metric, 1},
    {"sm", "monitor.gpu"_metric, 0.01},
    {"mem", "monitor.memory"_metric, 0.01},
    {"mclk", "clock.memory"_metric, 1e6},
    {"pclk", "clock.sm"_metric, 1e6},
    {"fb", "memory.used"_metric, 1 << 20},
    {"gract", "gpu.busy"_metric, 0.01},
    {"smutil", "sm.active_any"_metric, 0.01},
    {"smocc", "sm.occupancy"_metric, 0.01},
    {"mmaact", "tensor.active"_metric, 0.01},
    {"dram", "dram.active"_metric, 0.01},
    {"fp64", "pipe.fp64"_metric, 0.01},
    {"fp32", "pipe.fma"_metric, 0.01},
    {"fp16", "pipe.fp16"_metric, 0.01},
}};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& letter : out)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return out;
}

const Unit* find_unit(std::string_view name) {
  for (const Unit& unit : kUnits)
    if (unit.name == name) return &unit;
  return nullptr;
}

struct Split {
  std::string name, unit;
};

/// "power.draw [W]" -> power.draw, w; "sm_clock_mhz" -> sm_clock, mhz.
Split split(std::string_view header) {
  std::string text = lower(header);
  if (const auto open = text.rfind('['); open != text.npos && text.ends_with(']')) {
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
  if (parts.unit.ends_with("/s")) {  // a rate of what the catalogue counts
    Quantity rate;
    rate.metric = header;
    return rate;
  }
  for (const Name& known : kNames)
    if (known.column == parts.name)
      return {std::string(known.metric), unit ? unit->factor : known.factor};
  return {parts.name, unit ? unit->factor : 1};
}

Quantity quantity_of_smi_dmon(std::string_view heading, std::string_view unit) {
  for (const Name& known : kSmiDmon)
    if (known.column == heading) return {std::string(known.metric), known.factor};
  return {std::string(heading), unit.ends_with('%') ? 0.01 : 1};
}

bool is_dcgm_blank(double value) {
  // 32-bit, 64-bit and floating-point blanks: not permitted, not supported, not found and a few
  // more in a row.
  auto among = [&](double first) { return value >= first && value < first + 16; };
  return among(2147483632.0) || among(140737488355328.0) || value >= 9223372036854774784.0;
}

Quantity quantity_of_dcgm(std::string_view heading) {
  for (const auto& [column, metric] : kDcgm) {
    if (column != heading) continue;
    const MetricInput* field = find_input(metric, MetricSource::dcgm);
    return {std::string(metric), field ? term_of(*field).factor : 1};
  }
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
