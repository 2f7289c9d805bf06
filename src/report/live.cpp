#include "report/live.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <ctime>
#include <optional>
#include <set>

#include "report/json.h"
#include "report/text/format.h"

namespace gf {

namespace {

std::optional<double> value_of(const std::map<std::string, double>& values, const char* id) {
  const auto it = values.find(id);
  if (it == values.end()) return {};
  return it->second;
}

std::string percent(const LiveGpu& g, const char* id) {
  const auto v = value_of(g.values, id);
  if (!v) return "-";
  return *v < 0.0995 && *v >= 0.0005 ? fmt::format("{:.1f}", *v * 100)
                                     : fmt::format("{:.0f}", *v * 100);
}

std::string scaled(const LiveGpu& g, const char* id, double scale) {
  const auto v = value_of(g.values, id);
  return v ? fmt::format("{:.0f}", *v * scale) : "-";
}

std::string memory(const LiveGpu& g) {
  const auto used = value_of(g.values, "memory.used"), total = value_of(g.values, "memory.total");
  if (!used) return "-";
  constexpr double gib = 1ull << 30;
  return total ? fmt::format("{:.1f}/{:.0f}G", *used / gib, *total / gib)
               : fmt::format("{:.1f}G", *used / gib);
}

std::string short_name(const LiveGpu& g) {
  std::string name = g.name.rfind("NVIDIA ", 0) == 0 ? g.name.substr(7) : g.name;
  if (!g.instance.empty())
    if (const auto at = name.find("MIG "); at != std::string::npos) name = name.substr(at);
  return shorten_middle(name, 13);
}

struct Column {
  const char* id;
  const char* unit;  // where the catalogue's own would mislead: rates of what it counts, bytes
                     // where other logs have MiB
};
constexpr std::array kColumns = {
    Column{"gpu.busy", ""},        Column{"sm.active_any", ""},    Column{"sm.occupancy", ""},
    Column{"issue.active", ""},    Column{"tensor.active", ""},    Column{"dram.active", ""},
    Column{"monitor.gpu", ""},     Column{"power.module", ""},     Column{"power.average", ""},
    Column{"power.memory", ""},    Column{"energy.module", ""},    Column{"clock.sm", ""},
    Column{"clock.memory", ""},    Column{"clock.limits", ""},     Column{"temperature.gpu", ""},
    Column{"memory.used", " [B]"}, Column{"memory.total", " [B]"}, Column{"pcie.tx", " [B/s]"},
    Column{"pcie.rx", " [B/s]"},   Column{"nvlink.tx", " [B/s]"},  Column{"nvlink.rx", " [B/s]"}};

}  // namespace

std::string live_text(const LiveTable& t, const TextStyle& style) {
  const std::time_t seconds = static_cast<std::time_t>(t.time_ns / kNsPerSecond);
  std::string out = shorten_middle(fmt::format("{}  driver {}  {:%Y-%m-%d %H:%M:%S} UTC",
                                               t.host.empty() ? "this host" : t.host, t.driver,
                                               fmt::gmtime(seconds)),
                                   style.width) +
                    "\n";
  out += fmt::format("{:<7}{:<14}{:>5}{:>5}{:>6}{:>7}{:>5}{:>6}{:>6}{:>5}  {}\n", "GPU", "name",
                     "busy", "SM", "issue", "tensor", "occ", "DRAM", "W", "C", "memory");
  std::string notes;
  for (const auto& g : t.gpus) {
    const std::string label = g.instance.empty() ? fmt::format("{}", g.index)
                                                 : fmt::format(" {}:{}", g.index, g.instance);
    const char* power = g.values.count("power.module") ? "power.module" : "power.average";
    std::string line = fmt::format(
        "{:<7}{:<14}{:>5}{:>5}{:>6}{:>7}{:>5}{:>6}{:>6}{:>5}  {}", label, short_name(g),
        percent(g, "gpu.busy"), percent(g, "sm.active_any"), percent(g, "issue.active"),
        percent(g, "tensor.active"), percent(g, "sm.occupancy"), percent(g, "dram.active"),
        scaled(g, power, 1), scaled(g, "temperature.gpu", 1), memory(g));
    while (line.back() == ' ') line.pop_back();
    out += line + "\n";
    for (const auto& p : g.processes) {
      std::string name;
      append_utf8(name, p.name.empty() ? "(out of sight)" : p.name);
      out += shorten_middle(
                 fmt::format("        {} {}{}", p.pid, name,
                             p.memory_bytes >= 0 ? "  " + format_bytes(p.memory_bytes) : ""),
                 style.width) +
             "\n";
    }
    std::string held;
    for (const auto& word : g.throttle) held += (held.empty() ? "" : ", ") + word;
    if (!held.empty())
      notes += wrap(fmt::format("GPU {}: clocks held down by {}", label, held), style.width, 2);
    if (!g.missing.empty())
      notes += wrap(fmt::format("GPU {}: no levels: {}", label, g.missing), style.width, 2);
  }
  if (!t.gpus.empty()) {
    bool mig = false;
    for (const auto& g : t.gpus) mig |= !g.instance.empty();
    out += notes;
    std::set<std::string> sources;
    for (const auto& g : t.gpus)
      if (g.values.contains("gpu.busy")) sources.insert(g.source);
    std::string levels;
    if (!sources.empty()) levels = fmt::format("; levels from {}", fmt::join(sources, ", "));
    out += wrap(fmt::format("%, averages since the last reading{}.{}", levels,
                            mig ? " Instances: GPU:GPU instance/compute instance." : ""),
                style.width, 2);
  }
  return out;
}

std::string live_csv_header() {
  std::string out = "time_ns,host,gpu,uuid,instance,source";
  for (const auto& column : kColumns) out += fmt::format(",{}{}", column.id, column.unit);
  return out + "\n";
}

std::string live_csv(const LiveTable& t) {
  std::string out;
  for (const auto& g : t.gpus) {
    out +=
        fmt::format("{},{},{},{},{},{}", t.time_ns, t.host, g.index, g.uuid, g.instance, g.source);
    for (const auto& column : kColumns) {
      auto v = value_of(g.values, column.id);
      if (!v && std::string_view(column.id) == "energy.module") v = value_of(g.totals, column.id);
      out += v ? fmt::format(",{:.9g}", *v) : ",";
    }
    out += '\n';
  }
  return out;
}

}  // namespace gf
