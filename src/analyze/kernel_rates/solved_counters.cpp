#include <fmt/format.h>

#include <algorithm>

#include "analyze/kernel_rates/kernel_rates.h"
#include "model/counter_values.h"
#include "model/metric_id.h"

namespace gf {

namespace {

/// Counters of a report that the solved metrics stand for.
struct Stand {
  const char* metric;
  const char* counter;
  double factor;
  const char* unit;
};
constexpr Stand kStands[] = {
    {"sm.active_any"_metric, "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", 100, "%"},
    {"issue.active"_metric, "sm__inst_executed.avg.per_cycle_elapsed", 4,
     "inst/cycle"},  // four issue slots an SM
    {"tensor.active"_metric, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 100,
     "%"},
    {"sm.occupancy"_metric, "sm__warps_active.avg.pct_of_peak_sustained_elapsed", 100, "%"},
    {"dram.active"_metric, "dram__throughput.avg.pct_of_peak_sustained_elapsed", 100, "%"},
};

}  // namespace

bool add_solved_counters(Capture& capture) {
  if (!capture.report_kernels.empty() || capture.activities.empty() ||
      !holds_counter_values(capture))
    return false;
  bool any = false;
  for (std::uint32_t device = 0; device < capture.devices.size(); ++device) {
    const KernelRates solved = solve_kernel_rates(capture, device);
    if (solved.metrics.empty()) continue;
    std::int64_t resolved = 0, total = 0;
    Nanos resolved_ns = 0, ns = 0;
    std::vector<std::uint32_t> rows;
    // One step from the middle stands for all; every instance when there are no steps.
    Interval span{INT64_MIN, INT64_MAX};
    if (!capture.steps.empty()) {
      const auto middle = capture.steps.size() / 2;
      span = {capture.steps.start_ns[middle],
              capture.steps.start_ns[middle] + capture.steps.duration_ns[middle]};
    }
    for (std::uint32_t row = 0; row < capture.activities.size(); ++row)
      if (solved.group_of[row] != kNoRow && capture.activities.start_ns[row] >= span.start &&
          capture.activities.start_ns[row] < span.end)
        rows.push_back(row);
    std::sort(rows.begin(), rows.end(), [&](auto left, auto right) {
      return capture.activities.start_ns[left] < capture.activities.start_ns[right];
    });
    for (const auto row : rows) {
      const auto group = solved.group_of[row];
      const auto& activities = capture.activities;
      auto& report_kernels = capture.report_kernels;
      const auto add = report_kernels.add();
      report_kernels.id[add] = add;
      report_kernels.name[add] = activities.name[row];
      report_kernels.pid[add] = activities.pid[row];
      report_kernels.device[add] = capture.devices.id[device];
      report_kernels.context[add] = activities.context[row];
      report_kernels.stream[add] = activities.stream[row];
      report_kernels.grid_x[add] = activities.grid_x[row];
      report_kernels.grid_y[add] = activities.grid_y[row];
      report_kernels.grid_z[add] = activities.grid_z[row];
      report_kernels.block_x[add] = activities.block_x[row];
      report_kernels.block_y[add] = activities.block_y[row];
      report_kernels.block_z[add] = activities.block_z[row];
      report_kernels.registers[add] = activities.registers[row];
      report_kernels.shared_bytes[add] = activities.shared_bytes[row];
      report_kernels.duration_ns[add] = static_cast<double>(activities.duration_ns[row]);
      for (std::size_t metric = 0; metric < solved.metrics.size(); ++metric)
        for (const auto& stand : kStands) {
          if (capture.text(solved.metrics[metric]) != stand.metric ||
              !solved.rates[metric][group].resolvable)
            continue;
          const auto counter = capture.kernel_counters.add();
          capture.kernel_counters.kernel[counter] = add;
          capture.kernel_counters.metric[counter] = capture.strings.intern(stand.counter);
          capture.kernel_counters.value[counter] = solved.rates[metric][group].value * stand.factor;
          capture.kernel_counters.unit[counter] = capture.strings.intern(stand.unit);
        }
      any = true;
    }
    for (std::size_t group = 0; group < solved.groups.size(); ++group) {
      bool all = true;
      for (const auto& rates : solved.rates) all &= rates[group].resolvable;
      ++total;
      ns += solved.groups[group].ns;
      if (all) {
        ++resolved;
        resolved_ns += solved.groups[group].ns;
      }
    }
    capture.set_metadata(
        fmt::format("solved.{}", capture.devices.id[device]),
        fmt::format(
            "{} of {} kernels ({:.1f} % of kernel time) resolved in every metric from {} samples; "
            "clocks shifted by {} ns, correlation {:.3f}",
            resolved, total,
            ns > 0 ? 100.0 * static_cast<double>(resolved_ns) / static_cast<double>(ns) : 0.0,
            solved.samples, solved.shift_ns, solved.fit_of_shift));
  }
  if (any) capture.set_metadata("counters.source", "samples");
  return any;
}

bool has_solved_counters(const Capture& capture) {
  return capture.metadata_value("counters.source") == "samples";
}

}  // namespace gf
