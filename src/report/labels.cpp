#include "report/labels.h"

#include "model/metrics.h"

namespace gf {

namespace {

constexpr Label kCauses[] = {
#define GF_CAUSE(id, label, short_label, colour, meaning) \
  {#id, label, short_label, meaning, colour},
#include "analyze/names/causes.def"
#undef GF_CAUSE
};

constexpr Label kEnergy[] = {
    {"static", "static power", "static",
     "Power of the idle board with a context, over the whole time."},
    {"active", "active SMs", "active",
     "Power of SMs with a resident block, in addition to their instructions."},
    {"instructions", "instruction issue", "issue",
     "Fetch, decode and issue of warp instructions, in addition to their operation."},
    {"pipe.fma", "multiply-add", "fma", "FP32, packed 16-bit and integer multiply-adds."},
    {"pipe.alu", "integer and logic", "alu", "Integer, logic, comparison and conversion."},
    {"pipe.fp64", "FP64 pipe", "fp64", "Double-precision operations outside the tensor cores."},
    {"pipe.xu", "special functions", "xu", "Special functions and wide conversions."},
    {"tensor", "tensor cores", "tensor", "Matrix operations; samples do not show the data type."},
    {"tensor.bf16", "tensor cores, bf16", "bf16", "Matrix operations on bf16."},
    {"tensor.fp16", "tensor cores, fp16", "fp16", "Matrix operations on fp16."},
    {"tensor.tf32", "tensor cores, tf32", "tf32", "Matrix operations on tf32."},
    {"tensor.fp8", "tensor cores, fp8", "fp8", "Matrix operations on fp8."},
    {"shared", "shared memory", "shared",
     "Reads and writes of shared memory by load-store instructions."},
    {"l1", "L1", "L1", "Global accesses looked up in L1."},
    {"tma", "TMA copies", "TMA", "Bulk copies into shared memory."},
    {"l2", "L2", "L2", "Accesses looked up in L2, in addition to L1."},
    {"dram", "DRAM", "DRAM", "Accesses of device memory, in addition to L2."},
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

constexpr Label kPhases[] = {
#define GF_PHASE(id, short_label, colour, meaning) {#id, #id, short_label, meaning, colour},
#include "analyze/names/phases.def"
#undef GF_PHASE
};

}  // namespace

std::span<const Label> cause_labels() { return kCauses; }
std::span<const Label> bar_labels() { return kBars; }
std::span<const Label> phase_labels() { return kPhases; }
std::span<const Label> energy_labels() { return kEnergy; }

Label label_of_metric(std::string_view id) {
  if (const Metric* metric = find_metric(id))
    return {metric->id, metric->label, metric->short_label, metric->definition};
  return {id, id, id, ""};
}

Label label_of(std::span<const Label> labels, std::string_view id) {
  for (const auto& label : labels)
    if (label.id == id) return label;
  return {id, id, id, ""};
}

}  // namespace gf
