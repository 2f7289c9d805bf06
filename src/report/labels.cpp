#include "report/labels.h"

#include "model/metric_id.h"

namespace gf {

namespace {

constexpr Label kLevels[] = {
    {"gpu.busy"_metric, "GPU active", "GPU",
     "Share of the window in which at least one kernel runs (union of kernel intervals)."},
    {"gpu.kernel_time"_metric, "kernel time, summed", "sum",
     "Sum of kernel durations over the window: overlapping kernels count twice, as in the "
     "published ratio."},
    {"sm.active"_metric, "SM active", "SM",
     "Share of SM time with at least one warp resident: cycles active / cycles elapsed."},
    {"sm.occupancy"_metric, "achieved occupancy", "occup.",
     "Resident warps over the warps that fit."},
    {"issue.active"_metric, "issue slot utilization", "issue",
     "Share of issue slots in which a warp scheduler issues an instruction."},
    {"tensor.active"_metric, "tensor pipe active", "TC",
     "Share of cycles in which the tensor pipes work."},
    {"tensor.issue"_metric, "tensor instr. issued", "TC iss",
     "Tensor instructions issued over the issue slots there were."},
    {"tensor.flops"_metric, "tensor FLOP/s of peak", "FLOP/s",
     "Tensor operations achieved over the peak of their data type."},
    {"dram.active"_metric, "DRAM throughput", "DRAM",
     "DRAM bytes moved over what the device could move in the time."},
    {"l2.hit_rate"_metric, "L2 hit rate", "L2 hit",
     "Share of L2 accesses found in L2, averaged over kernel time."},
    {"l1.hit_rate"_metric, "L1 hit rate", "L1 hit",
     "Share of L1 accesses found in L1, averaged over kernel time."},
};

constexpr Label kCauses[] = {
#define GF_CAUSE(id, label, short_label, colour, meaning) \
  {#id, label, short_label, meaning, colour},
#include "analyze/names/causes.def"
#undef GF_CAUSE
};

constexpr Label kEnergy[] = {
    {"static", "static power", "static",
     "What the board draws with a context and nothing to do, over the whole time."},
    {"active", "SMs with work", "active",
     "What SMs with a block on them draw beside what their work costs."},
    {"instructions", "instruction issue", "issue",
     "Fetch, decode and issue of warp instructions, beside their operation."},
    {"pipe.fma", "multiply-add", "fma", "FP32, packed 16-bit and integer multiply-adds."},
    {"pipe.alu", "integer and logic", "alu", "Integer, logic, comparison and conversion."},
    {"pipe.fp64", "FP64 pipe", "fp64", "Double-precision operations outside the tensor cores."},
    {"pipe.xu", "special functions", "xu", "Special functions and wide conversions."},
    {"tensor", "tensor cores", "tensor", "Matrix operations; samples do not tell the data type."},
    {"tensor.bf16", "tensor cores, bf16", "bf16", "Matrix operations on bf16."},
    {"tensor.fp16", "tensor cores, fp16", "fp16", "Matrix operations on fp16."},
    {"tensor.tf32", "tensor cores, tf32", "tf32", "Matrix operations on tf32."},
    {"tensor.fp8", "tensor cores, fp8", "fp8", "Matrix operations on fp8."},
    {"shared", "shared memory", "shared",
     "Reads and writes of shared memory by load-store instructions."},
    {"l1", "L1", "L1", "Global accesses looked up in L1."},
    {"tma", "TMA copies", "TMA", "Bulk copies into shared memory."},
    {"l2", "L2", "L2", "Accesses looked up in L2, beside what L1 costs."},
    {"dram", "DRAM", "DRAM", "Accesses of device memory, beside what L2 costs."},
    {"rest", "not explained", "rest",
     "Measured energy less all of the model's parts; below zero where the model explains more than "
     "was measured."},
};

constexpr Label kBars[] = {
#define GF_BAR(id, label, short_label, long_label, colour, meaning) \
  {#id, label, short_label, meaning, colour},
#include "analyze/names/bars.def"
#undef GF_BAR
};

constexpr Label kReadings[] = {
    {"gpu.busy"_metric, "GPU active", "GPU", "Share of time in which a kernel runs."},
    {"monitor.gpu"_metric, "NVML utilization", "NVML",
     "What nvidia-smi shows: share of its last period in which some kernel ran."},
    {"monitor.memory"_metric, "NVML memory use", "NVML",
     "Share of NVML's last period in which device memory was read or written."},
    {"sm.active"_metric, "SM active", "SM",
     "Share of SM time with at least one warp in the sub-partition."},
    {"sm.active_any"_metric, "SM active", "SM", "Share of SM time with at least one warp."},
    {"issue.active"_metric, "issue slot util.", "issue", "Share of issue slots used."},
    {"tensor.active"_metric, "tensor pipe active", "TC",
     "Share of cycles in which the tensor pipes work."},
    {"sm.occupancy"_metric, "achieved occupancy", "occup.",
     "Resident warps over the warps that fit."},
    {"dram.active"_metric, "DRAM throughput", "DRAM",
     "DRAM bytes moved over what the device could move in the time."},
    {"dram.read"_metric, "DRAM read", "DRAM", "Bytes read from device memory."},
    {"dram.write"_metric, "DRAM written", "DRAM", "Bytes written to device memory."},
    {"l1.sectors"_metric, "L1 accesses", "L1", "32-byte sectors looked up in L1."},
    {"l1.hits"_metric, "L1 hits", "L1", "Sectors found in L1."},
    {"l2.sectors"_metric, "L2 accesses", "L2", "32-byte sectors looked up in L2."},
    {"pcie.rx"_metric, "PCIe to GPU", "PCIe", "Bytes that the GPU received."},
    {"pcie.tx"_metric, "PCIe from GPU", "PCIe", "Bytes that the GPU sent."},
    {"nvlink.rx"_metric, "NVLink to GPU", "NVLink", "Bytes that the GPU received."},
    {"nvlink.tx"_metric, "NVLink from GPU", "NVLink", "Bytes that the GPU sent."},
    {"power.module"_metric, "power", "power", "Power of the board, instant."},
    {"power.average"_metric, "power, 1 s average", "power",
     "Power of the board as NVML averages it."},
    {"power.memory"_metric, "power of the memory", "memory", "Power of the device memory."},
    {"power.limit"_metric, "power limit", "limit", "Power that the board may draw."},
    {"clock.sm"_metric, "SM clock", "clock", "Clock of the SMs."},
    {"clock.memory"_metric, "memory clock", "clock", "Clock of the device memory."},
    {"temperature.gpu"_metric, "temperature", "temp.", "Temperature of the GPU."},
    {"temperature.memory"_metric, "memory temperature", "temp.",
     "Temperature of the device memory."},
    {"memory.used"_metric, "GPU memory used", "memory", "Device memory in use by all programs."},
    {"memory.total"_metric, "GPU memory", "memory", "Device memory that there is."},
    {"host.cpu"_metric, "program's CPU", "CPU", "CPU cores that the program's processes use."},
    {"host.memory"_metric, "program's memory", "memory",
     "Resident memory of the program's processes."},
};

constexpr Label kPhases[] = {
#define GF_PHASE(id, short_label, colour, meaning) {#id, #id, short_label, meaning, colour},
#include "analyze/names/phases.def"
#undef GF_PHASE
};

}  // namespace

std::span<const Label> level_labels() { return kLevels; }
std::span<const Label> cause_labels() { return kCauses; }
std::span<const Label> bar_labels() { return kBars; }
std::span<const Label> phase_labels() { return kPhases; }
std::span<const Label> energy_labels() { return kEnergy; }
std::span<const Label> reading_labels() { return kReadings; }

Label label_of(std::span<const Label> labels, std::string_view id) {
  for (const auto& label : labels)
    if (label.id == id) return label;
  return {id, id, id, ""};
}

}  // namespace gf
