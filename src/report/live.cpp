#include "report/live.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <ctime>
#include <optional>
#include <set>

#include "model/levels.h"
#include "model/metrics.h"
#include "report/json.h"
#include "report/labels.h"
#include "report/text/format.h"

namespace gf {

namespace {

std::optional<double> value_of(const std::map<std::string, double>& values, const char* id) {
  const auto it = values.find(id);
  if (it == values.end()) return {};
  return it->second;
}

std::string percent(const LiveGpu& gpu, const char* id) {
  const auto value = value_of(gpu.values, id);
  if (!value) return "-";
  if (*value < 0.0995 && *value >= 0.0005) return fmt::format("{:.1f}", *value * 100);
  return fmt::format("{:.0f}", *value * 100);
}

std::string scaled(const LiveGpu& gpu, const char* id, double scale) {
  const auto value = value_of(gpu.values, id);
  if (value) return fmt::format("{:.0f}", *value * scale);
  return "-";
}

std::string memory(const LiveGpu& gpu) {
  const auto used = value_of(gpu.values, "memory.used"_metric),
             total = value_of(gpu.values, "memory.total"_metric);
  if (!used) return "-";
  constexpr double gib = 1ull << 30;
  if (total) return fmt::format("{:.1f}/{:.0f}G", *used / gib, *total / gib);
  return fmt::format("{:.1f}G", *used / gib);
}

std::string short_name(const LiveGpu& gpu) {
  std::string name;
  name = gpu.name.rfind("NVIDIA ", 0) == 0 ? gpu.name.substr(7) : gpu.name;
  if (!gpu.instance.empty())
    if (const auto at = name.find("MIG "); at != std::string::npos) name = name.substr(at);
  return shorten_middle(name, 13);
}

struct LiveColumn {
  const char* id;
  const char* unit;  // where the catalog's own would mislead: rates of what it counts, bytes
                     // where other logs have MiB
};
constexpr LiveColumn kBehindLevels[] = {{"monitor.gpu"_metric, ""},
                                        {"power.module"_metric, ""},
                                        {"power.average"_metric, ""},
                                        {"power.memory"_metric, ""},
                                        {"energy.module"_metric, ""},
                                        {"clock.sm"_metric, ""},
                                        {"clock.memory"_metric, ""},
                                        {"clock.limits"_metric, ""},
                                        {"temperature.gpu"_metric, ""},
                                        {"memory.used"_metric, " [B]"},
                                        {"memory.total"_metric, " [B]"},
                                        {"pcie.tx"_metric, " [B/s]"},
                                        {"pcie.rx"_metric, " [B/s]"},
                                        {"nvlink.tx"_metric, " [B/s]"},
                                        {"nvlink.rx"_metric, " [B/s]"},
                                        {"temperature.memory"_metric, ""},
                                        {"monitor.encoder"_metric, ""},
                                        {"monitor.decoder"_metric, ""},
                                        {"xid.last"_metric, ""},
                                        {"xid.errors"_metric, ""},
                                        {"pcie.replays"_metric, ""},
                                        {"rows.remapped_correctable"_metric, ""},
                                        {"rows.remapped_uncorrectable"_metric, ""},
                                        {"rows.remap_pending"_metric, ""},
                                        {"rows.remap_failed"_metric, ""}};

std::vector<LiveColumn> csv_columns() {
  std::vector<LiveColumn> columns;
  for (const char* id : live_levels()) columns.push_back({id, ""});
  columns.insert(columns.end(), std::begin(kBehindLevels), std::end(kBehindLevels));
  return columns;
}

/// Columns of counters, which are no rates.
bool counts_up(std::string_view id) {
  return id == "energy.module"_metric || id == "xid.errors"_metric || id == "pcie.replays"_metric ||
         id.starts_with("rows.remapped_");
}

std::string xid_note(const std::string& label, const LiveXid& xid) {
  std::string note = fmt::format("GPU {}: XID {}", label, xid.code);
  if (const auto words = xid_words(xid.code); !words.empty()) note += fmt::format(" ({})", words);
  const std::time_t seconds = static_cast<std::time_t>(xid.time_ns / kNsPerSecond);
  return note + fmt::format(", {}, last at {:%H:%M:%S} UTC", plural(xid.count, "time"),
                            fmt::gmtime(seconds));
}

std::string label_of(const LiveGpu& gpu) {
  if (gpu.instance.empty()) return fmt::format("{}", gpu.index);
  return fmt::format(" {}:{}", gpu.index, gpu.instance);
}

std::size_t level_width(const char* id) {
  return std::max<std::size_t>(5, label_of_metric(id).short_text.size() + 1);
}

std::string gpu_line(const LiveGpu& gpu) {
  const char* power = "power.average"_metric;
  if (gpu.values.count("power.module"_metric)) power = "power.module"_metric;
  std::string line = fmt::format("{:<7}{:<14}", label_of(gpu), short_name(gpu));
  for (const char* id : live_levels())
    line += fmt::format("{:>{}}", percent(gpu, id), level_width(id));
  line += fmt::format("{:>6}{:>5}  {}", scaled(gpu, power, 1),
                      scaled(gpu, "temperature.gpu"_metric, 1), memory(gpu));
  while (line.back() == ' ') line.pop_back();
  return line + "\n";
}

std::string process_line(const LiveProcess& process, std::size_t width) {
  std::string name, memory;
  append_utf8(name, process.name.empty() ? "(out of sight)" : process.name);
  if (process.memory_bytes >= 0) memory = "  " + format_bytes(process.memory_bytes);
  return shorten_middle(fmt::format("        {} {}{}", process.pid, name, memory), width) + "\n";
}

std::string gpu_notes(const LiveGpu& gpu, std::size_t width) {
  const std::string label = label_of(gpu);
  std::string notes, held;
  for (const auto& word : gpu.throttle) held += (!held.empty() ? ", " : "") + word;
  if (!held.empty())
    notes += wrap(fmt::format("GPU {}: clocks throttled by {}", label, held), width, 2);
  for (const auto& xid : gpu.xids) notes += wrap(xid_note(label, xid), width, 2);
  if (!gpu.missing.empty())
    notes += wrap(fmt::format("GPU {}: no levels: {}", label, gpu.missing), width, 2);
  return notes;
}

/// A legend: the meaning of the columns, and the source of the levels.
std::string table_legend(const LiveTable& table, std::size_t width) {
  bool mig = false;
  std::set<std::string> sources;
  for (const auto& gpu : table.gpus) {
    mig |= !gpu.instance.empty();
    if (gpu.values.contains("gpu.busy"_metric)) sources.insert(gpu.source);
  }
  std::string levels;
  if (!sources.empty()) levels = fmt::format("; levels from {}", fmt::join(sources, ", "));
  return wrap(fmt::format("%, averages since the last reading{}.{}", levels,
                          mig ? " Instances: GPU:GPU instance/compute instance." : ""),
              width, 2);
}

}  // namespace

std::vector<const char*> live_levels() {
  std::vector<const char*> ids;
  for (const LevelRow& row : levels_shown(kLive))
    ids.push_back(find_input(row.id, MetricSource::pm) ? row.id.data() : row.stand_in.data());
  return ids;
}

std::string live_text(const LiveTable& table, const TextStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  const std::time_t seconds = static_cast<std::time_t>(table.time_ns / kNsPerSecond);
  std::string out = shorten_middle(fmt::format("{}  driver {}  {:%Y-%m-%d %H:%M:%S} UTC",
                                               table.host.empty() ? "this host" : table.host,
                                               table.driver, fmt::gmtime(seconds)),
                                   width) +
                    "\n";
  out += fmt::format("{:<7}{:<14}", "GPU", "name");
  for (const char* id : live_levels())
    out += fmt::format("{:>{}}", label_of_metric(id).short_text, level_width(id));
  out += fmt::format("{:>6}{:>5}  {}\n", "W", "C", "memory");
  if (table.gpus.empty()) return out;
  std::string notes;
  for (const auto& gpu : table.gpus) {
    out += gpu_line(gpu);
    for (const auto& process : gpu.processes) out += process_line(process, width);
    notes += gpu_notes(gpu, width);
  }
  return out + notes + table_legend(table, width);
}

std::string live_csv_header() {
  std::string out = "time_ns,host,gpu,uuid,instance,source";
  for (const auto& column : csv_columns()) out += fmt::format(",{}{}", column.id, column.unit);
  return out + "\n";
}

std::string live_csv(const LiveTable& table) {
  std::string out;
  for (const auto& gpu : table.gpus) {
    out += fmt::format("{},{},{},{},{},{}", table.time_ns, table.host, gpu.index, gpu.uuid,
                       gpu.instance, gpu.source);
    for (const auto& column : csv_columns()) {
      auto value = value_of(gpu.values, column.id);
      if (!value && counts_up(column.id)) value = value_of(gpu.totals, column.id);
      if (value) {
        out += fmt::format(",{:.9g}", *value);
      } else {
        out += ",";
      }
    }
    out += '\n';
  }
  return out;
}

namespace {

struct Xid {
  std::int64_t code;
  std::string_view words;
};
// From NVIDIA's list "XID Errors" (docs.nvidia.com/deploy/xid-errors).
constexpr Xid kXids[] = {
    {13, "a program's kernel failed"},
    {31, "a program touched memory that is not its own"},
    {43, "a program's work was stopped"},
    {45, "work was ended early, as a program was killed"},
    {48, "memory error that cannot be corrected"},
    {62, "the GPU's own controller halted"},
    {63, "a row of memory will be replaced"},
    {64, "a row of memory could not be replaced"},
    {74, "NVLink error"},
    {79, "the GPU fell off the bus"},
    {92, "many memory errors that were corrected"},
    {94, "memory error, one program was ended"},
    {95, "memory error, every program is touched: reset the GPU"},
    {109, "switching between programs took too long"},
    {119, "the GPU's system processor does not answer"},
    {120, "the GPU's system processor failed"},
    {140, "memory error that was not recovered from"},
};

}  // namespace

std::string_view xid_words(std::int64_t code) {
  for (const auto& xid : kXids)
    if (xid.code == code) return xid.words;
  return {};
}

}  // namespace gf
