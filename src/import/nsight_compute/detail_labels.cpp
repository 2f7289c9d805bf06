#include "import/nsight_compute/detail_labels.h"

#include <array>

namespace gf::ncu {

namespace {

struct Label {
  std::string_view label, metric, unit;  // unit empty: any
};

// From the section files that ship with the tool (SpeedOfLight, ComputeWorkloadAnalysis,
// MemoryWorkloadAnalysis, LaunchStatistics, Occupancy), versions 2020 to 2025.
constexpr std::array<Label, 30> kLabels{{
    {"Duration", "gpu__time_duration.sum", "ns"},
    {"Elapsed Cycles", "sm__cycles_elapsed.max", "cycle"},
    {"SM Active Cycles", "sm__cycles_active.avg", "cycle"},
    {"SM Frequency", "smsp__cycles_elapsed.avg.per_second", ""},
    {"DRAM Frequency", "dram__cycles_elapsed.avg.per_second", ""},
    {"Memory Throughput", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    {"Memory Throughput", "dram__bytes.sum.per_second", "byte/s"},
    {"DRAM Throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    {"L1/TEX Cache Throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active", "%"},
    {"L2 Cache Throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    {"Compute (SM) Throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    {"Compute (SM) [%]", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    {"Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active", ""},
    {"Executed Ipc Elapsed", "sm__inst_executed.avg.per_cycle_elapsed", ""},
    {"Issued Ipc Active", "sm__inst_issued.avg.per_cycle_active", ""},
    {"Issue Slots Busy", "sm__inst_issued.avg.pct_of_peak_sustained_active", "%"},
    {"SM Busy", "sm__instruction_throughput.avg.pct_of_peak_sustained_active", "%"},
    {"L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct", "%"},
    {"L2 Hit Rate", "lts__t_sector_hit_rate.pct", "%"},
    {"Registers Per Thread", "launch__registers_per_thread", ""},
    {"Static Shared Memory Per Block", "launch__shared_mem_per_block_static", ""},
    {"Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic", ""},
    {"Driver Shared Memory Per Block", "launch__shared_mem_per_block_driver", ""},
    {"Shared Memory Configuration Size", "launch__shared_mem_config_size", ""},
    {"Threads", "launch__thread_count", ""},
    {"Waves Per SM", "launch__waves_per_multiprocessor", ""},
    {"Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct", "%"},
    {"Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", "%"},
    {"Theoretical Active Warps per SM", "sm__maximum_warps_avg_per_active_cycle", ""},
    {"# SMs", "launch__sm_count", ""},
}};

}  // namespace

std::string_view metric_of_label(std::string_view label, std::string_view base_unit) {
  for (const Label& known : kLabels)
    if (known.label == label && (known.unit.empty() || known.unit == base_unit))
      return known.metric;
  return label;
}

}  // namespace gf::ncu
