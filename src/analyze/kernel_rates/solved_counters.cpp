#include <fmt/format.h>

#include <algorithm>

#include "analyze/kernel_rates/kernel_rates.h"
#include "model/counter_values.h"

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
    {"sm.active_any", "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", 100, "%"},
    {"issue.active", "sm__inst_executed.avg.per_cycle_elapsed", 4,
     "inst/cycle"},  // four issue slots an SM
    {"tensor.active", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 100, "%"},
    {"sm.occupancy", "sm__warps_active.avg.pct_of_peak_sustained_elapsed", 100, "%"},
    {"dram.active", "dram__throughput.avg.pct_of_peak_sustained_elapsed", 100, "%"},
};

}  // namespace

bool add_solved_counters(Capture& c) {
  if (!c.report_kernels.empty() || c.activities.empty() || !holds_counter_values(c)) return false;
  bool any = false;
  for (std::uint32_t device = 0; device < c.devices.size(); ++device) {
    const KernelRates solved = solve_kernel_rates(c, device);
    if (solved.metrics.empty()) continue;
    std::int64_t resolved = 0, total = 0;
    Nanos resolved_ns = 0, ns = 0;
    std::vector<std::uint32_t> rows;
    // One step from the middle stands for all; every instance when there are no steps.
    Interval span{INT64_MIN, INT64_MAX};
    if (!c.steps.empty()) {
      const auto middle = c.steps.size() / 2;
      span = {c.steps.start_ns[middle], c.steps.start_ns[middle] + c.steps.duration_ns[middle]};
    }
    for (std::uint32_t row = 0; row < c.activities.size(); ++row)
      if (solved.group_of[row] != kNoRow && c.activities.start_ns[row] >= span.start &&
          c.activities.start_ns[row] < span.end)
        rows.push_back(row);
    std::sort(rows.begin(), rows.end(),
              [&](auto x, auto y) { return c.activities.start_ns[x] < c.activities.start_ns[y]; });
    for (const auto row : rows) {
      const auto group = solved.group_of[row];
      const auto& a = c.activities;
      auto& r = c.report_kernels;
      const auto k = r.add();
      r.id[k] = k;
      r.name[k] = a.name[row];
      r.pid[k] = a.pid[row];
      r.device[k] = c.devices.id[device];
      r.context[k] = a.context[row];
      r.stream[k] = a.stream[row];
      r.grid_x[k] = a.grid_x[row], r.grid_y[k] = a.grid_y[row], r.grid_z[k] = a.grid_z[row];
      r.block_x[k] = a.block_x[row], r.block_y[k] = a.block_y[row], r.block_z[k] = a.block_z[row];
      r.registers[k] = a.registers[row];
      r.shared_bytes[k] = a.shared_bytes[row];
      r.duration_ns[k] = static_cast<double>(a.duration_ns[row]);
      for (std::size_t m = 0; m < solved.metrics.size(); ++m)
        for (const auto& stand : kStands) {
          if (c.text(solved.metrics[m]) != stand.metric || !solved.rates[m][group].resolvable)
            continue;
          const auto v = c.kernel_counters.add();
          c.kernel_counters.kernel[v] = k;
          c.kernel_counters.metric[v] = c.strings.intern(stand.counter);
          c.kernel_counters.value[v] = solved.rates[m][group].value * stand.factor;
          c.kernel_counters.unit[v] = c.strings.intern(stand.unit);
        }
      any = true;
    }
    for (std::size_t g = 0; g < solved.groups.size(); ++g) {
      bool all = true;
      for (const auto& rates : solved.rates) all &= rates[g].resolvable;
      ++total;
      ns += solved.groups[g].ns;
      if (all) ++resolved, resolved_ns += solved.groups[g].ns;
    }
    c.set_metadata(
        fmt::format("solved.{}", c.devices.id[device]),
        fmt::format(
            "{} of {} kernels ({:.1f} % of kernel time) resolved in every metric from {} samples; "
            "clocks shifted by {} ns, correlation {:.3f}",
            resolved, total,
            ns > 0 ? 100.0 * static_cast<double>(resolved_ns) / static_cast<double>(ns) : 0.0,
            solved.samples, solved.shift_ns, solved.fit_of_shift));
  }
  if (any) c.set_metadata("counters.source", "samples");
  return any;
}

bool has_solved_counters(const Capture& capture) {
  return capture.metadata_value("counters.source") == "samples";
}

}  // namespace gf
