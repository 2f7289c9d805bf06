// The comparison of what tools cost: as JSON, as a table with bars, as a picture.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/describe.h"
#include "report/text/format.h"

namespace gf::cli {

struct OverheadRow {
  std::string name;
  std::vector<double> seconds, measured;
  std::optional<double> median_seconds, slow_down, measured_median, measured_slow_down, low, high,
      noise, cpu_seconds, tool_cpu_seconds;
  std::int64_t memory_bytes = 0, tool_memory_bytes = 0, disk_bytes = 0;
  std::optional<std::int64_t> gpu_memory_bytes;
  std::optional<double> gpu_utilization, convert_seconds, analyse_seconds;
  std::int64_t kernels = 0;
  std::optional<double> seconds_a_kernel;
  std::string failed;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("name", &OverheadRow::name, "what watched the program");
    visit("seconds", &OverheadRow::seconds, "wall time of each run");
    visit("median_seconds", &OverheadRow::median_seconds, "their median");
    visit("slow_down", &OverheadRow::slow_down,
          "mean ratio of the wall time to that of none in the same round, less 1");
    visit("measured", &OverheadRow::measured, "the number that each run of the program printed");
    visit("measured_median", &OverheadRow::measured_median, "their median");
    visit("measured_slow_down", &OverheadRow::measured_slow_down,
          "mean ratio of that number to that of none in the same round, less 1");
    visit("low", &OverheadRow::low,
          "with 95 % confidence the mean over all such pairs is at least so (of the printed number "
          "where there is one); null: under two rounds");
    visit("high", &OverheadRow::high, "and at most so");
    visit("noise", &OverheadRow::noise,
          "standard error of those ratios (of wall time without a printed number); for none, "
          "of its runs");
    visit("cpu_seconds", &OverheadRow::cpu_seconds,
          "CPU of the program and the tool in front of it, median");
    visit("tool_cpu_seconds", &OverheadRow::tool_cpu_seconds,
          "CPU of the tool's own processes, median; null: it works inside the program");
    visit("memory_bytes", &OverheadRow::memory_bytes,
          "most resident memory of one process of the run");
    visit("tool_memory_bytes", &OverheadRow::tool_memory_bytes, "resident memory of the tool");
    visit("gpu_memory_bytes", &OverheadRow::gpu_memory_bytes,
          "most GPU memory in use, over what was in use before");
    visit("gpu_utilization", &OverheadRow::gpu_utilization,
          "the driver's utilization of the GPU that was used most, 0..1, mean over the run");
    visit("convert_seconds", &OverheadRow::convert_seconds,
          "time that the tool needs to turn what it left into what others read, median");
    visit("analyse_seconds", &OverheadRow::analyse_seconds,
          "time that gpufathom analyze needs for what it left, median");
    visit("disk_bytes", &OverheadRow::disk_bytes, "files that a run left");
    visit("kernels", &OverheadRow::kernels, "kernels that the tool was bounded to, 0: all");
    visit("seconds_a_kernel", &OverheadRow::seconds_a_kernel, "time that it took for each of them");
    visit("failed", &OverheadRow::failed, "why there are no numbers");
  }
};

struct OverheadReport {
  std::string schema = "gpufathom.overhead/2";
  std::string command, measure;
  std::string shared;  // who else used the GPUs
  std::string note;    // what to doubt
  std::vector<OverheadRow> rows;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("schema", &OverheadReport::schema, "name and version of this layout");
    visit("command", &OverheadReport::command, "the program");
    visit("measure", &OverheadReport::measure, "the number of the program that was compared");
    visit("shared", &OverheadReport::shared,
          "who else used the measured GPUs before the first run; empty: nobody that is known");
    visit("note", &OverheadReport::note, "what to doubt; empty: nothing");
    visit("rows", &OverheadReport::rows, "one a way to watch");
  }
};

std::string overhead_text(const OverheadReport& report, const TextStyle& style);
std::string overhead_svg(const OverheadReport& report);

}  // namespace gf::cli
