// pmc_perf.csv of rocprof-compute (Omniperf): a row for each dispatch with its counters, joined
// from several passes in which kernels ran one by one. Their times are means over the passes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "import/csv_table.h"
#include "import/formats.h"
#include "import/importer.h"
#include "import/trace_rows.h"

namespace gf::rocprof_compute {

namespace {

/// Columns that are no counters: of the dispatch, and what joining the passes left behind.
bool is_counter(std::string_view name) {
  static constexpr std::array<std::string_view, 17> kOthers{"Dispatch_ID",
                                                            "GPU_ID",
                                                            "Grid_Size",
                                                            "Workgroup_Size",
                                                            "LDS_Per_Workgroup",
                                                            "Scratch_Per_Workitem",
                                                            "Arch_VGPR",
                                                            "Accum_VGPR",
                                                            "SGPR",
                                                            "Wave_Size",
                                                            "Kernel_Name",
                                                            "Start_Timestamp",
                                                            "End_Timestamp",
                                                            "PID",
                                                            "Node_ID",
                                                            "Queue_ID",
                                                            "Device_ID"};
  return !name.empty() && std::ranges::find(kOthers, name) == kOthers.end() &&
         !name.starts_with("Correlation_ID") && !name.starts_with("Kernel_ID");
}

I32 small(std::int64_t value) {
  return static_cast<I32>(std::clamp<std::int64_t>(value, -1, INT32_MAX));
}

/// The time between two texts, which are too long for a double.
double between(std::string_view start, std::string_view end) {
  const auto from = parse_decimal(start, 2), to = parse_decimal(end, 2);
  return from && to && *to >= *from ? static_cast<double>(*to - *from) / 100 : NAN;
}

Result<Capture> parse(std::string_view content, const std::string& path) {
  Capture capture;
  capture.path = path;
  capture.format = "rocprof_compute";
  capture.bytes = static_cast<std::int64_t>(content.size());
  CsvTable table(content);
  const auto id = table.column("Dispatch_ID"), name = table.column("Kernel_Name"),
             grid = table.column("Grid_Size"), block = table.column("Workgroup_Size"),
             shared = table.column("LDS_Per_Workgroup"), registers = table.column("Arch_VGPR"),
             gpu = table.column("GPU_ID"), start = table.column("Start_Timestamp"),
             end = table.column("End_Timestamp");
  std::vector<std::pair<std::size_t, Text>> counters;
  for (std::size_t at = 0; at < table.heading().size(); ++at)
    if (is_counter(table.heading()[at]))
      counters.emplace_back(at, capture.strings.intern(table.heading()[at]));
  TraceRows devices(capture);
  auto& kernels = capture.report_kernels;
  auto& values = capture.kernel_counters;
  while (table.next()) {
    if (!table.whole()) {
      capture.note_quality(QualityCode::bad_row, "rows with another number of cells");
      continue;
    }
    ++capture.events;
    const auto row = kernels.add();
    kernels.id[row] = table.known(id);
    auto text = table.text(name);
    if (text.ends_with(" (.kd)")) text.remove_suffix(6);
    kernels.name[row] = capture.strings.intern(text);
    kernels.device[row] = table.known(gpu);
    devices.device(kernels.device[row], "amd");
    // One product of all dimensions, in work-items.
    kernels.block_x[row] = small(table.known(block));
    kernels.grid_x[row] =
        small(blocks_of({table.known(grid), -1, -1}, {table.known(block), -1, -1})[0]);
    kernels.registers[row] = small(table.known(registers));
    kernels.shared_bytes[row] = table.known(shared);
    kernels.duration_ns[row] = between(table.text(start), table.text(end));
    for (const auto& [column, counter] : counters)
      if (const auto value = table.real(column)) {
        const auto at = values.add();
        values.kernel[at] = row;
        values.metric[at] = counter;
        values.value[at] = *value;
      }
  }
  return capture;
}

}  // namespace

int sniff(std::string_view, std::string_view head) {
  constexpr std::size_t kMostHeading = 128 << 10;  // of two thousand counters
  head = head.substr(0, std::min(head.find('\n'), kMostHeading));
  if (head.find("Dispatch_ID") == head.npos) return 0;
  const auto table = table_heading(head);
  return table.has("Dispatch_ID") && table.has("GPU_ID") && table.has("Kernel_Name") &&
                 table.has("Start_Timestamp")
             ? 92
             : 0;
}

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  return load_text(path, options, parse);
}

}  // namespace gf::rocprof_compute
