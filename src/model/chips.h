// The chips and products that analyses know: what a cycle of an SM can do at most, and which
// counters exist. A chip here stands for its family where counters and rates are equal (TU104 and
// TU106 count as TU102).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gf {

/// Families in order of appearance; a bit each in ChipSet. AMD's, behind kChips, have rates and no
/// counters.
enum class ChipId : std::uint8_t {
  GV100,
  TU102,
  GA100,
  GA102,
  AD102,
  GH100,
  GB100,
  GB110,
  GB202,
  CDNA2,
  CDNA3,
  CDNA4
};
inline constexpr std::size_t kChips = 9;

using ChipSet = std::uint16_t;
constexpr ChipSet bit(ChipId id) { return static_cast<ChipSet>(1u << static_cast<unsigned>(id)); }
inline constexpr ChipSet kEveryChip = (1u << kChips) - 1;
/// Chips from `first` on.
constexpr ChipSet since(ChipId first) {
  return static_cast<ChipSet>(kEveryChip & ~(bit(first) - 1u));
}

/// Sets that tables name.
namespace chip_sets {
using enum ChipId;
inline constexpr ChipSet kAll = kEveryChip;
inline constexpr ChipSet kTuring = since(TU102);  // and later
inline constexpr ChipSet kAmpere = since(GA100);
inline constexpr ChipSet kHopper = since(GH100);
inline constexpr ChipSet kBlackwell = since(GB100);
inline constexpr ChipSet kDataCentreBlackwell = bit(GB100) | bit(GB110);
inline constexpr ChipSet kTriage =
    bit(GH100) | kDataCentreBlackwell;  // counters laid out to be sampled
inline constexpr ChipSet kTwoPartitions = bit(GA100) | bit(GH100) | kDataCentreBlackwell;  // of L2
constexpr ChipSet without(ChipSet set, ChipSet less) { return static_cast<ChipSet>(set & ~less); }
}  // namespace chip_sets

/// Input types of the tensor cores.
enum class TensorType : std::uint8_t { fp64, tf32, fp16, bf16, fp8, fp6, fp4, int8, int4, int1 };
inline constexpr std::size_t kTensorTypes = 10;
std::string_view name_of(TensorType type);

struct Chip {
  ChipId id;
  std::string_view name;          // as ncu --chips and CUPTI spell it, upper case
  std::string_view architecture;  // Volta, Turing, ...
  std::string_view family;        // chips that share this row
  int major, minor;               // compute capability
  int warps_per_sm;               // resident warps an SM can hold
  int issue_per_sm;        // warp instructions an SM can issue a cycle: one for each sub-partition
  bool two_l2_partitions;  // a far access is looked up twice (lts__t_sectors counts both)
  bool pm_sampling;        // CUPTI PM sampling exists
  bool pm_time_trigger;    // ... with a trigger in nanoseconds, not only in cycles
};

/// Tensor core rate of a chip for one input type, and the counter of it.
struct TensorPath {
  ChipId chip;
  TensorType type;
  /// Operations (multiply and add count as two) of one SM in one cycle for dense operands. ncu's
  /// own sm__ops_path_tensor_src_*.peak_sustained is the sparse rate, twice this: never divide by
  /// it for dense work.
  int dense_ops;
  /// Counters whose .sum add up to the operations executed; joined by " + ".
  std::string_view counters;
};

/// A product by its marketing name.
struct Product {
  std::string_view pattern;  // found as whole words in the device name, case-insensitive
  ChipId chip;
  int sm_count;                   // AMD: compute units of what a profiler shows as one device
  double clock_hz;                // of the SMs, that the data sheet states its peaks for
  std::int64_t l2_bytes;          // -1: not known
  std::int64_t dram_bytes_per_s;  // data-sheet peak
  /// Rate of fp16, bf16 and fp8 with fp32 accumulation relative to the chip's full rate: 0.5 on
  /// GeForce boards.
  double fp32_accumulate_rate = 1;
  double integer_rate = 1;  // the same of int8 and int4
};

std::span<const Chip> chips();
/// The tensor paths of chips with counters.
std::span<const TensorPath> tensor_paths();
std::span<const Product> products();

const Chip& chip(ChipId id);
/// By name ("GH100", "gh100"; members of a family too: "TU104"); nullptr when unknown.
const Chip* find_chip(std::string_view name);
/// By compute capability; nullptr when unknown.
const Chip* find_chip(int major, int minor);
/// By device name ("NVIDIA H100 80GB HBM3"); nullptr when unknown. A name that fits several
/// products
/// ("AMD Instinct MI250X / MI250") means the one with `sm_count` SMs, where one has (-1: unknown).
const Product* find_product(std::string_view device_name, int sm_count = -1);
/// SMs of a device: as the source says (-1: it does not), else of the product of its name, which a
/// part of a GPU (MIG) has not all of; -1 where neither is known.
int sms_of(std::string_view device_name, int sm_count);
/// The rate of a device's links in one direction, by the vendor's data sheets, in bytes a second;
/// 0: not known, or none.
double link_bytes_per_s(std::string_view device_name);
/// The same of a link by name ("NVLink4", "PCIe5"), of a GPU's, or of a number ("50GB/s"); 0: none.
double find_link(std::string_view name);
std::vector<std::string> link_names();
/// The chip of a device, from its compute capability or, failing that (-1), its name; nullptr when
/// neither tells.
const Chip* find_chip(std::string_view device_name, int major, int minor);
/// nullptr when the chip has no such path.
const TensorPath* tensor_path(ChipId chip, TensorType type);

}  // namespace gf
