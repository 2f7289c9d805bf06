// The comparison of what tools cost: as JSON, as a table with bars, as a picture.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/describe.h"
#include "report/text/style.h"

namespace gf::cli {

struct OverheadRow {
  std::string name;
  std::vector<double> seconds, measured;
  std::optional<double> median_seconds, slow_down, measured_median, measured_slow_down, noise,
      cpu_seconds, tool_cpu_seconds;
  std::int64_t memory_bytes = 0, tool_memory_bytes = 0, disk_bytes = 0;
  std::optional<std::int64_t> gpu_memory_bytes;
  std::int64_t kernels = 0;
  std::optional<double> seconds_a_kernel;
  std::string failed;
  static constexpr auto fields() {
    using R = OverheadRow;
    return std::tuple{
        field("name", &R::name, "what watched the program"),
        field("seconds", &R::seconds, "wall time of each run"),
        field("median_seconds", &R::median_seconds, "their median"),
        field("slow_down", &R::slow_down, "median over the median of none, less 1"),
        field("measured", &R::measured, "the number that each run of the program printed"),
        field("measured_median", &R::measured_median, "their median"),
        field("measured_slow_down", &R::measured_slow_down,
              "median of its ratios to none of the same round, less 1"),
        field("noise", &R::noise,
              "standard error of those ratios (of wall time without a printed number); for none, "
              "of its runs"),
        field("cpu_seconds", &R::cpu_seconds,
              "CPU of the program and the tool in front of it, median"),
        field("tool_cpu_seconds", &R::tool_cpu_seconds, "CPU of the tool alone, median"),
        field("memory_bytes", &R::memory_bytes, "most resident memory of one process of the run"),
        field("tool_memory_bytes", &R::tool_memory_bytes, "resident memory of the tool"),
        field("gpu_memory_bytes", &R::gpu_memory_bytes,
              "most GPU memory in use, over what was in use before"),
        field("disk_bytes", &R::disk_bytes, "files that a run left"),
        field("kernels", &R::kernels, "kernels that the tool was bounded to, 0: all"),
        field("seconds_a_kernel", &R::seconds_a_kernel, "time that it took for each of them"),
        field("failed", &R::failed, "why there are no numbers")};
  }
};

struct OverheadReport {
  std::string schema = "gpufathom.overhead/2";
  std::string command, measure;
  std::vector<OverheadRow> rows;
  static constexpr auto fields() {
    using R = OverheadReport;
    return std::tuple{field("schema", &R::schema, "name and version of this layout"),
                      field("command", &R::command, "the program"),
                      field("measure", &R::measure, "the number of the program that was compared"),
                      field("rows", &R::rows, "one a way to watch")};
  }
};

std::string overhead_text(const OverheadReport& report, const TextStyle& style);
std::string overhead_svg(const OverheadReport& report);

}  // namespace gf::cli
