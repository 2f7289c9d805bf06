#include "report/labels.h"

namespace gf {

namespace {

constexpr Label kLevels[] = {
    {"gpu.busy", "GPU runs a kernel", "GPU", "Share of the window in which at least one kernel runs (union of kernel intervals)."},
    {"gpu.kernel_time", "kernel time, summed", "sum", "Sum of kernel durations over the window: overlapping kernels count twice, as in the published ratio."},
    {"sm.active", "SM has work", "SM", "Share of SM time with at least one warp resident: cycles active / cycles elapsed."},
    {"sm.occupancy", "warp slots filled", "occup.", "Resident warps over the warps that fit."},
    {"issue.active", "issue slots used", "issue", "Share of issue slots in which a warp scheduler issues an instruction."},
    {"tensor.active", "tensor cores work", "TC", "Share of cycles in which the tensor pipes work."},
    {"tensor.issue", "tensor issue slots", "TC iss", "Tensor instructions issued over the issue slots there were."},
    {"tensor.flops", "tensor FLOP/s of peak", "FLOP/s", "Tensor operations achieved over the peak of their data type."},
    {"dram.active", "memory bandwidth", "DRAM", "DRAM bytes moved over what the device could move in the time."},
    {"l2.hit_rate", "L2 hit rate", "L2 hit", "Share of L2 accesses found in L2, averaged over kernel time."},
    {"l1.hit_rate", "L1 hit rate", "L1 hit", "Share of L1 accesses found in L1, averaged over kernel time."},
};

constexpr Label kCauses[] = {
    {"launch_bound", "launch too late", "launch", "The launch call of the next kernel had not returned: the host is the bottleneck."},
    {"sync", "host waits in a sync", "sync", "The host sat in a synchronising call, so nothing new was launched."},
    {"memcpy", "blocking copy", "copy", "The host sat in a copy call."},
    {"input", "waits for input", "input", "The data loader or the copy of the next batch held the step up."},
    {"communication", "communication", "comm.", "The device waited for another rank."},
    {"dependency", "waits for another stream", "depend.", "Work was launched, and waited for another stream or event."},
    {"kernel_gap", "gap between kernels", "gap", "Work was queued; this is the latency from one kernel to the next."},
    {"host_other", "host busy elsewhere", "host", "The host did something else than launching work."},
    {"no_launch_record", "no launch record", "unknown", "The capture does not say who launched the next work."},
};

constexpr Label kEnergy[] = {
    {"static", "static power", "static", "What the board draws with a context and nothing to do, over the whole time."},
    {"active", "SMs with work", "active", "What SMs with a block on them draw beside what their work costs."},
    {"instructions", "instruction issue", "issue", "Fetch, decode and issue of warp instructions, beside their operation."},
    {"pipe.fma", "multiply-add", "fma", "FP32, packed 16-bit and integer multiply-adds."},
    {"pipe.alu", "integer and logic", "alu", "Integer, logic, comparison and conversion."},
    {"pipe.fp64", "FP64 pipe", "fp64", "Double-precision operations outside the tensor cores."},
    {"pipe.xu", "special functions", "xu", "Special functions and wide conversions."},
    {"tensor", "tensor cores", "tensor", "Matrix operations; samples do not tell the data type."},
    {"tensor.bf16", "tensor cores, bf16", "bf16", "Matrix operations on bf16."},
    {"tensor.fp16", "tensor cores, fp16", "fp16", "Matrix operations on fp16."},
    {"tensor.tf32", "tensor cores, tf32", "tf32", "Matrix operations on tf32."},
    {"tensor.fp8", "tensor cores, fp8", "fp8", "Matrix operations on fp8."},
    {"shared", "shared memory", "shared", "Reads and writes of shared memory by load-store instructions."},
    {"l1", "L1", "L1", "Global accesses looked up in L1."},
    {"tma", "TMA copies", "TMA", "Bulk copies into shared memory."},
    {"l2", "L2", "L2", "Accesses looked up in L2, beside what L1 costs."},
    {"dram", "DRAM", "DRAM", "Accesses of device memory, beside what L2 costs."},
    {"rest", "not explained", "rest", "Measured energy less all of the model's parts; below zero where the model explains more than was measured."},
};

constexpr Label kBars[] = {
    {"idle", "GPU idle", "idle", "Nothing runs on the device."},
    {"copy", "only copies", "copy", "Copies or sets run, and no kernel."},
    {"sm_inactive", "SMs without work", "SM idle", "A kernel runs; this share of the SMs has no warp (tails, small grids)."},
    {"stalled", "stalled", "stalled", "Warps are resident, nothing is issued and the tensor pipes are empty: they wait for memory, barriers or dependencies. A lower bound."},
    {"other_instructions", "other instructions", "other", "Issue slots used by other instructions while the tensor pipes are empty. An upper bound."},
    {"tensor", "tensor cores working", "tensor", "Cycles in which the tensor pipes work: tensor.active of the ladder."},
    {"unknown", "kernels without counters", "unknown", "Kernel time that no counter report covers; it is not guessed."},
};

constexpr Label kPhases[] = {
    {"gpu_kernel", "gpu_kernel", "GPU", "The device runs a kernel."},
    {"cpu_kernel", "cpu_kernel", "CPU", "The host computes the operation."},
    {"dequeue", "dequeue", "dequeue", "The runtime takes the operation from its queue and prepares its kernel."},
    {"memcpy", "memcpy", "memcpy", "Data moves between host and device."},
    {"wait", "wait", "wait", "The host waits for a value or for the device."},
    {"launch", "launch", "launch", "A call of the GPU runtime starts device work."},
    {"enqueue", "enqueue", "enqueue", "The framework takes the call and hands it to its runtime."},
    {"queued", "queued", "queued", "An operation waits in the framework's queue, or its launch has returned and its kernel has not started."},
    {"other", "other", "other", "None of these: the program's own code, or nothing."},
};

}  // namespace

std::span<const Label> level_labels() { return kLevels; }
std::span<const Label> cause_labels() { return kCauses; }
std::span<const Label> bar_labels() { return kBars; }
std::span<const Label> phase_labels() { return kPhases; }
std::span<const Label> energy_labels() { return kEnergy; }

Label label_of(std::span<const Label> labels, std::string_view id) {
  for (const auto& label : labels)
    if (label.id == id) return label;
  return {id, id, id, ""};
}

}  // namespace gf
