#include "model/chips.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <system_error>

#include "core/text.h"

namespace gf {

namespace {

using enum ChipId;

// Sources. Architecture facts: NVIDIA architecture white papers (Volta V100, Turing, A100, GA102,
// Ada, H100, Blackwell) and the "Technical Specifications per Compute Capability" table of the CUDA
// C++ Programming Guide (resident warps). Names, PM sampling: CUPTI 13.0 profiler host API
// (cuptiProfilerHostGetSupportedChips, ...Initialize); trigger: CUpti_PmSampling_SetConfig_Params.
constexpr std::array<Chip, kChips> kChipTable{{
    //  id     name     architecture  family                                       cc      warps
    //  issue 2xL2  PM     ns
    {GV100, "GV100", "Volta", "GV100 GV11B", 7, 0, 64, 4, false, false, false},
    {TU102, "TU102", "Turing", "TU102 TU104 TU106 TU116 TU117", 7, 5, 32, 4, false, true, false},
    {GA100, "GA100", "Ampere", "GA100", 8, 0, 64, 4, true, true, false},
    {GA102, "GA102", "Ampere", "GA102 GA103 GA104 GA106 GA107 GA10B", 8, 6, 48, 4, false, true,
     true},
    {AD102, "AD102", "Ada", "AD102 AD103 AD104 AD106 AD107", 8, 9, 48, 4, false, true, true},
    {GH100, "GH100", "Hopper", "GH100", 9, 0, 64, 4, true, true, true},
    {GB100, "GB100", "Blackwell", "GB100 GB102", 10, 0, 64, 4, true, true, true},
    {GB110, "GB110", "Blackwell", "GB110", 10, 3, 64, 4, true, true, true},
    {GB202, "GB202", "Blackwell", "GB202 GB203 GB205 GB206 GB207", 12, 0, 48, 4, false, true, true},
}};

// Dense rates: data-sheet peak / (SMs x boost clock), a power of two in every case; for example
// H100 SXM5 bf16: 989.4e12 / (132 x 1.830e9) = 4096. GH100 bf16 also measured: .peak_sustained of
// ..._op_hgmma_..._sparsity_off is 4096. Where the data sheet gives no dense figure for a type that
// the chip executes, the type has no row. Counter names: CUPTI 13.0 host API.
#define GF_OPS "sm__ops_path_tensor_src_"
constexpr TensorPath kPaths[] = {
    // V100 data sheet: 125 TFLOP/s fp16 at 80 SM, 1.530 GHz.
    {GV100, TensorType::fp16, 1024, GF_OPS "fp16_dst_fp16 + " GF_OPS "fp16_dst_fp32"},
    // Turing white paper, Quadro RTX 6000: 130.5 TFLOP/s fp16, 261 TOP/s int8, 522 int4 at 72
    // SM, 1.770 GHz.
    {TU102, TensorType::fp16, 1024, GF_OPS "fp16_dst_fp16 + " GF_OPS "fp16_bf16_tf32_dst_fp32"},
    {TU102, TensorType::int8, 2048, GF_OPS "int8"},
    {TU102, TensorType::int4, 4096, GF_OPS "int4"},
    // A100 white paper: 19.5 fp64, 156 tf32, 312 fp16/bf16, 624 int8, 1248 int4, 4992 int1 at 108
    // SM, 1.410 GHz.
    {GA100, TensorType::fp64, 128, GF_OPS "fp64"},
    {GA100, TensorType::tf32, 1024, GF_OPS "tf32_dst_fp32"},
    {GA100, TensorType::fp16, 2048, GF_OPS "fp16_dst_fp16 + " GF_OPS "fp16_dst_fp32"},
    {GA100, TensorType::bf16, 2048, GF_OPS "bf16_dst_fp32"},
    {GA100, TensorType::int8, 4096, GF_OPS "int8"},
    {GA100, TensorType::int4, 8192, GF_OPS "int4"},
    {GA100, TensorType::int1, 32768, GF_OPS "int1"},
    // A40 data sheet: 74.8 tf32, 149.7 fp16/bf16, 299.3 int8, 598.7 int4 at 84 SM, 1.740 GHz.
    {GA102, TensorType::tf32, 512, GF_OPS "tf32_dst_fp32"},
    {GA102, TensorType::fp16, 1024, GF_OPS "fp16_dst_fp16 + " GF_OPS "fp16_dst_fp32"},
    {GA102, TensorType::bf16, 1024, GF_OPS "bf16_dst_fp32"},
    {GA102, TensorType::int8, 2048, GF_OPS "int8"},
    {GA102, TensorType::int4, 4096, GF_OPS "int4"},
    // Ada white paper, RTX 4090: 330.3 fp16, 660.6 fp8, 660.6 int8, 1321.2 int4, 82.6 tf32 (GeForce
    // half rate) at 128 SM, 2.520 GHz;
    // L40S data sheet: 183 tf32.
    {AD102, TensorType::tf32, 512, GF_OPS "tf32_dst_fp32"},
    {AD102, TensorType::fp16, 1024, GF_OPS "fp16_dst_fp16 + " GF_OPS "fp16_dst_fp32"},
    {AD102, TensorType::bf16, 1024, GF_OPS "bf16_dst_fp32"},
    {AD102, TensorType::fp8, 2048, GF_OPS "fp8"},
    {AD102, TensorType::int8, 2048, GF_OPS "int8"},
    {AD102, TensorType::int4, 4096, GF_OPS "int4"},
    // H100 SXM5 white paper: 66.9 fp64 (at 1.980 GHz), 494.7 tf32, 989.4 fp16/bf16, 1978.9 fp8 and
    // int8 at 132 SM, 1.830 GHz.
    {GH100, TensorType::fp64, 256, GF_OPS "fp64"},
    {GH100, TensorType::tf32, 2048, GF_OPS "tf32_dst_fp32"},
    {GH100, TensorType::fp16, 4096, GF_OPS "fp16"},
    {GH100, TensorType::bf16, 4096, GF_OPS "bf16_dst_fp32"},
    {GH100, TensorType::fp8, 8192, GF_OPS "fp8"},
    {GH100, TensorType::int8, 8192, GF_OPS "int8"},
    // B200 data sheet: 1.125 PFLOP/s tf32, 2.25 fp16/bf16, 4.5 fp8/fp6/int8, 9 fp4 (dense), 0.037
    // fp64 at 148 SM, about 1.85 GHz.
    {GB100, TensorType::fp64, 128, GF_OPS "fp64"},
    {GB100, TensorType::tf32, 4096, GF_OPS "tf32_dst_fp32"},
    {GB100, TensorType::fp16, 8192, GF_OPS "fp16_dst_fp16 + " GF_OPS "fp16_dst_fp32"},
    {GB100, TensorType::bf16, 8192, GF_OPS "bf16_dst_fp32"},
    // One counter for fp8, fp6 and narrower inputs of the mixed path; fp4 of the block-scaled path
    // has its own.
    {GB100, TensorType::fp8, 16384, GF_OPS "fp4_fp6_fp8_dst_fp16 + " GF_OPS "fp4_fp6_fp8_dst_fp32"},
    {GB100, TensorType::fp4, 32768, GF_OPS "fp4_dst_fp32"},
    {GB100, TensorType::int8, 16384, GF_OPS "int8"},
    // B300 data sheet: 2.25 fp16/bf16, 4.5 fp8/fp6, 13.5 to 14 fp4 (dense) at 148 SM. fp64 and int8
    // are cut down; no dense figure.
    {GB110, TensorType::tf32, 4096, GF_OPS "tf32_dst_fp32"},
    {GB110, TensorType::fp16, 8192, GF_OPS "fp16_dst_fp16 + " GF_OPS "fp16_dst_fp32"},
    {GB110, TensorType::bf16, 8192, GF_OPS "bf16_dst_fp32"},
    {GB110, TensorType::fp8, 16384, GF_OPS "fp8_dst_fp16 + " GF_OPS "fp8_dst_fp32"},
    {GB110, TensorType::fp6, 16384, GF_OPS "fp4_fp6_dst_fp16 + " GF_OPS "fp4_fp6_dst_fp32"},
    {GB110, TensorType::fp4, 49152, GF_OPS "fp4_dst_fp32"},
    // RTX Blackwell white paper, RTX 5090: 419 fp16 (fp16 accumulate), 838 fp8 and int8, 1676 fp4,
    // 104.8 tf32 (half rate) at 170 SM, 2.407 GHz.
    {GB202, TensorType::tf32, 512, GF_OPS "tf32_dst_fp32"},
    {GB202, TensorType::fp16, 1024, GF_OPS "fp16_dst_fp16 + " GF_OPS "fp16_dst_fp32"},
    {GB202, TensorType::bf16, 1024, GF_OPS "bf16_dst_fp32"},
    {GB202, TensorType::fp8, 2048, GF_OPS "fp8_dst_fp16 + " GF_OPS "fp8_dst_fp32"},
    {GB202, TensorType::fp6, 2048, GF_OPS "fp4_fp6_dst_fp16 + " GF_OPS "fp4_fp6_dst_fp32"},
    {GB202, TensorType::fp4, 4096, GF_OPS "fp4_dst_fp32"},
    {GB202, TensorType::int8, 2048, GF_OPS "int8"},
};
#undef GF_OPS

// Matrix cores, whose counters are not read; a compute unit counts as an SM. Products' pages,
// dense: MI250X 383 TFLOP/s fp16 and bf16, 383 int8, 95.7 fp64 at 220 CU, 1.700 GHz
// (https://www.amd.com/en/products/accelerators/instinct/mi200/mi250x.html); MI300X 163.4 fp64,
// 653.7 tf32, 1307.4 fp16 and bf16, 2614.9 fp8 and int8 at 304 CU, 2.100 GHz
// (https://www.amd.com/en/products/accelerators/instinct/mi300/mi300x.html), MI325X the same,
// MI300A 980.6 fp16 at 228 CU (.../mi300/mi300a.html); MI355X 78.6 fp64, 2516.6 fp16 and bf16,
// 5033.2 fp8 and int8, 10066.3 fp6 and fp4 at 256 CU, 2.400 GHz
// (https://www.amd.com/en/products/accelerators/instinct/mi350/mi355x.html), MI350X at 2.200 GHz.
constexpr TensorPath kMatrixCores[] = {
    {CDNA2, TensorType::fp64, 256, {}},  {CDNA2, TensorType::fp16, 1024, {}},
    {CDNA2, TensorType::bf16, 1024, {}}, {CDNA2, TensorType::int8, 1024, {}},
    {CDNA3, TensorType::fp64, 256, {}},  {CDNA3, TensorType::tf32, 1024, {}},
    {CDNA3, TensorType::fp16, 2048, {}}, {CDNA3, TensorType::bf16, 2048, {}},
    {CDNA3, TensorType::fp8, 4096, {}},  {CDNA3, TensorType::int8, 4096, {}},
    {CDNA4, TensorType::fp64, 128, {}},  {CDNA4, TensorType::fp16, 4096, {}},
    {CDNA4, TensorType::bf16, 4096, {}}, {CDNA4, TensorType::fp8, 8192, {}},
    {CDNA4, TensorType::fp6, 16384, {}}, {CDNA4, TensorType::fp4, 16384, {}},
    {CDNA4, TensorType::int8, 8192, {}},
};

constexpr std::int64_t MiB = 1 << 20;
constexpr std::int64_t GB = 1'000'000'000;

// From the product data sheets; L2 of the H200 as the device reports it. The clock is the one at
// which a sheet's dense peaks come out, its boost clock but for boards that are held back by their
// power (L40S, H100 PCIe, the NVL boards). The first pattern that fits wins: longer names first.
constexpr Product kProducts[] = {
    {"V100S-PCIE", GV100, 80, 1.597e9, 6 * MiB, 1134 * GB},
    {"V100-PCIE", GV100, 80, 1.380e9, 6 * MiB, 900 * GB},
    {"V100", GV100, 80, 1.530e9, 6 * MiB, 900 * GB},
    {"T4", TU102, 40, 1.590e9, 4 * MiB, 320 * GB},
    {"Quadro RTX 8000", TU102, 72, 1.770e9, 6 * MiB, 672 * GB},
    {"Quadro RTX 6000", TU102, 72, 1.770e9, 6 * MiB, 672 * GB},
    {"TITAN RTX", TU102, 72, 1.770e9, 6 * MiB, 672 * GB},
    {"RTX 2080 Ti", TU102, 68, 1.545e9, 5632 * 1024, 616 * GB, 0.5},
    {"A100 80GB PCIe", GA100, 108, 1.410e9, 40 * MiB, 1935 * GB},
    {"A100-SXM4-80GB", GA100, 108, 1.410e9, 40 * MiB, 2039 * GB},
    {"A100", GA100, 108, 1.410e9, 40 * MiB, 1555 * GB},
    {"A30", GA100, 56, 1.440e9, 24 * MiB, 933 * GB},
    {"A40", GA102, 84, 1.740e9, 6 * MiB, 696 * GB},
    // d1.awsstatic.com/product-marketing/ec2/NVIDIA_AWS_A10G_DataSheet_FINAL_02_17_2022.pdf
    {"A10G", GA102, 80, 1.710e9, 6 * MiB, 600 * GB, 0.5, 0.5},
    {"A10", GA102, 72, 1.695e9, 6 * MiB, 600 * GB},
    {"RTX A6000", GA102, 84, 1.800e9, 6 * MiB, 768 * GB},
    {"RTX 3090 Ti", GA102, 84, 1.860e9, 6 * MiB, 1008 * GB, 0.5},
    {"RTX 3090", GA102, 82, 1.695e9, 6 * MiB, 936 * GB, 0.5},
    {"RTX 3080 Ti", GA102, 80, 1.665e9, 6 * MiB, 912 * GB, 0.5},
    {"RTX 3080", GA102, 68, 1.710e9, 5 * MiB, 760 * GB, 0.5},
    {"L40S", AD102, 142, 2.490e9, 96 * MiB, 864 * GB},
    {"L40", AD102, 142, 2.490e9, 96 * MiB, 864 * GB, 0.5},
    {"L4", AD102, 58, 2.040e9, 48 * MiB, 300 * GB},
    {"RTX 6000 Ada", AD102, 142, 2.505e9, 96 * MiB, 960 * GB},
    {"RTX 4090", AD102, 128, 2.520e9, 72 * MiB, 1008 * GB, 0.5},
    {"RTX 4080", AD102, 76, 2.505e9, 64 * MiB, 717 * GB, 0.5},
    {"H100 PCIe", GH100, 114, 1.620e9, 50 * MiB, 2039 * GB},
    {"H100 NVL", GH100, 132, 1.545e9, 50 * MiB, 3938 * GB},
    {"H100", GH100, 132, 1.830e9, 50 * MiB, 3352 * GB},
    {"H800", GH100, 132, 1.830e9, 50 * MiB, 3352 * GB},
    {"H200 NVL", GH100, 132, 1.545e9, 60 * MiB, 4800 * GB},
    {"H200", GH100, 132, 1.830e9, 60 * MiB, 4800 * GB},
    {"GH200", GH100, 132, 1.830e9, 50 * MiB, 4000 * GB},
    {"B200", GB100, 148, 1.850e9, -1, 8000 * GB},
    {"GB200", GB100, 148, 2.062e9, -1, 8000 * GB},
    {"B300", GB110, 148, 1.850e9, -1, 8000 * GB},
    {"GB300", GB110, 148, 2.062e9, -1, 8000 * GB},
    {"RTX PRO 6000", GB202, 188, 2.617e9, 128 * MiB, 1792 * GB},
    {"RTX 5090", GB202, 170, 2.407e9, 96 * MiB, 1792 * GB, 0.5},
    {"RTX 5080", GB202, 84, 2.617e9, 64 * MiB, 960 * GB, 0.5},
    // MI250 and MI250X show each of their two dies as a device.
    {"MI210", CDNA2, 104, 1.700e9, 8 * MiB, 1638 * GB},
    {"MI250X", CDNA2, 110, 1.700e9, 8 * MiB, 1638 * GB},
    {"MI250", CDNA2, 104, 1.700e9, 8 * MiB, 1638 * GB},
    {"MI300X", CDNA3, 304, 2.100e9, 32 * MiB, 5300 * GB},
    {"MI300A", CDNA3, 228, 2.100e9, 24 * MiB, 5300 * GB},
    {"MI325X", CDNA3, 304, 2.100e9, 32 * MiB, 6000 * GB},
    {"MI350X", CDNA4, 256, 2.200e9, 32 * MiB, 8000 * GB},
    {"MI355X", CDNA4, 256, 2.400e9, 32 * MiB, 8000 * GB},
};

bool same_letter(char left, char right) {
  return std::tolower(static_cast<unsigned char>(left)) ==
         std::tolower(static_cast<unsigned char>(right));
}
bool is_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; }

/// `pattern` as whole words in `text`: "A10" is in "NVIDIA A10", not in "NVIDIA A100" or "RTX
/// A1000".
bool has_words(std::string_view text, std::string_view pattern) {
  for (auto from = text.begin();;) {
    const auto at = std::search(from, text.end(), pattern.begin(), pattern.end(), same_letter);
    if (at == text.end()) return false;
    const auto end = at + static_cast<std::ptrdiff_t>(pattern.size());
    if ((at == text.begin() || !is_word(at[-1])) && (end == text.end() || !is_word(*end)))
      return true;
    from = at + 1;
  }
}

}  // namespace

std::string_view name_of(TensorType type) {
  static constexpr std::array<std::string_view, kTensorTypes> names{
      "fp64", "tf32", "fp16", "bf16", "fp8", "fp6", "fp4", "int8", "int4", "int1"};
  return names[static_cast<std::size_t>(type)];
}

std::span<const Chip> chips() { return kChipTable; }
std::span<const TensorPath> tensor_paths() { return kPaths; }
std::span<const Product> products() { return kProducts; }

const Chip& chip(ChipId id) { return kChipTable[static_cast<std::size_t>(id)]; }

const Chip* find_chip(std::string_view name) {
  for (const Chip& chip : kChipTable)
    if (!name.empty() && has_words(chip.family, name)) return &chip;
  return nullptr;
}

const Chip* find_chip(int major, int minor) {
  // Minor versions without a row of their own (7.2, 8.7, 12.1) count as the nearest lower one of
  // their major version.
  const Chip* best = nullptr;
  for (const Chip& chip : kChipTable)
    if (chip.major == major && chip.minor <= minor) best = &chip;
  return best;
}

const Product* find_product(std::string_view device_name, int sm_count) {
  constexpr std::size_t kLongestName = 256;  // NVML's own names have less than 96 letters
  device_name = device_name.substr(0, kLongestName);
  const Product* first = nullptr;
  for (const Product& product : kProducts) {
    if (!has_words(device_name, product.pattern)) continue;
    if (!first) first = &product;
    // Only a name that lists boards has a second one: "A100" in "A100 80GB PCIe" is the same board.
    const bool lists = device_name.find('/') != std::string_view::npos;
    if (!lists || sm_count < 0 || product.sm_count == sm_count) return &product;
  }
  return first;
}

int sms_of(std::string_view device_name, int sm_count) {
  if (sm_count > 0) return sm_count;
  const Product* product = has_words(device_name, "MIG") ? nullptr : find_product(device_name);
  return product ? product->sm_count : -1;
}

double link_bytes_per_s(std::string_view device_name) {
  const Product* product = find_product(device_name);
  if (!product || device_name.find("PCIe") != device_name.npos ||
      device_name.find("PCIE") != device_name.npos)
    return 0;
  switch (product->chip) {
    case ChipId::GV100:
      return find_link("NVLink2");
    case ChipId::GA100:
      return find_link("NVLink3");
    case ChipId::GH100:
      return find_link("NVLink4");
    case ChipId::GB100:
      return find_link("NVLink5");
    default:
      return 0;
  }
}

namespace {
struct Link {
  std::string_view name;
  double bytes_per_s;  // of one direction: all links of a GPU, or 16 lanes
};
constexpr std::array kLinks{Link{"NVLink2", 150e9}, Link{"NVLink3", 300e9}, Link{"NVLink4", 450e9},
                            Link{"NVLink5", 900e9}, Link{"PCIe3", 15.75e9}, Link{"PCIe4", 31.5e9},
                            Link{"PCIe5", 63e9},    Link{"PCIe6", 121e9}};
}  // namespace

std::vector<std::string> link_names() {
  std::vector<std::string> names;
  for (const auto& link : kLinks) names.emplace_back(link.name);
  return names;
}

double find_link(std::string_view name) {
  constexpr double kSlowestLink = 0.001, kFastestLink = 1e6;  // GB/s, of what anyone may ask for
  for (const auto& link : kLinks)
    if (lower_case(link.name) == lower_case(name)) return link.bytes_per_s;
  double number = 0;
  const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (wrong == std::errc() && std::string_view(end, name.data() + name.size()) == "GB/s")
    return number >= kSlowestLink && number <= kFastestLink ? number * 1e9 : 0;
  return link_bytes_per_s(name);
}

const Chip* find_chip(std::string_view device_name, int major, int minor) {
  const Product* product = find_product(device_name);
  // ROCm numbers the generations of AMD's chips as compute capabilities, too: MI300X is 9.4.
  if (product && static_cast<std::size_t>(product->chip) >= kChips) return nullptr;
  if (const Chip* chip = find_chip(major, minor)) return chip;
  if (product) return &chip(product->chip);
  return nullptr;
}

const TensorPath* tensor_path(ChipId chip, TensorType type) {
  const auto fits = [&](const TensorPath& path) { return path.chip == chip && path.type == type; };
  if (const auto path = std::ranges::find_if(kPaths, fits); path != std::end(kPaths)) return path;
  const auto path = std::ranges::find_if(kMatrixCores, fits);
  return path != std::end(kMatrixCores) ? path : nullptr;
}

}  // namespace gf
