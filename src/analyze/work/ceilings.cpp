#include "analyze/work/ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/energy/json_fields.h"
#include "analyze/work/kernel_traits.h"

namespace gf {
namespace {

/// FP32 operations of an SM in a cycle, by chip: a multiply-add is two. Of AMD's the rate of the
/// matrix cores, which take FP32 as it is.
double fp32_ops(ChipId chip) {
  const bool one_path = chip == ChipId::GV100 || chip == ChipId::TU102 || chip == ChipId::GA100;
  return one_path ? 128 : 256;
}

/// A product's share of its chip's rate: GeForce boards add up in FP32 at a lower one.
double rate_of(const Product& product, TensorType type) {
  switch (type) {
    case TensorType::fp16:
    case TensorType::bf16:
    case TensorType::tf32:
    case TensorType::fp8:
      return product.fp32_accumulate_rate;
    case TensorType::int8:
    case TensorType::int4:
      return product.integer_rate;
    default:
      return 1;
  }
}

}  // namespace

std::optional<double> stated_peak(const Product& product, std::string_view number_type) {
  const double cycles = product.clock_hz * product.sm_count;
  const double fp32 = fp32_ops(product.chip) * cycles;
  if (number_type == "fp32") return fp32;
  const auto type = work::tensor_type(number_type);
  const TensorPath* path = type ? tensor_path(product.chip, *type) : nullptr;
  // A type without a path of its own runs on the ordinary pipes; of FP64 the rate is not listed.
  if (!path && (number_type == "tf32" || number_type == "bf16")) return fp32;
  if (!path) return std::nullopt;
  return path->dense_ops * cycles * rate_of(product, *type);
}

std::vector<Ceiling> stated_ceilings(const Product& product) {
  std::vector<Ceiling> all;
  for (std::size_t at = 0; at < kTensorTypes; ++at) {
    const auto type = static_cast<TensorType>(at);
    if (!tensor_path(product.chip, type)) continue;
    if (const auto peak = stated_peak(product, name_of(type)))
      all.push_back({fmt::format("tensor.{}", name_of(type)), "FLOP/s", *peak, WorkSource::model});
  }
  all.push_back({"fma.fp32", "FLOP/s", *stated_peak(product, "fp32"), WorkSource::model});
  if (product.dram_bytes_per_s > 0)
    all.push_back(
        {"dram", "B/s", static_cast<double>(product.dram_bytes_per_s), WorkSource::model});
  return all;
}

std::vector<Ceiling> ceilings_of(const Product* product, const CeilingsFile* measured) {
  std::vector<Ceiling> all;
  if (measured)
    for (const auto& one : measured->ceilings)
      all.push_back({one.id, one.unit, one.value, WorkSource::measured});
  if (product)
    for (auto& one : stated_ceilings(*product))
      if (!ceiling(all, one.id)) all.push_back(std::move(one));
  return all;
}

std::optional<double> ceiling(const std::vector<Ceiling>& ceilings, std::string_view id) {
  const auto at = std::ranges::find(ceilings, id, &Ceiling::id);
  if (at == ceilings.end()) return std::nullopt;
  return at->value;
}

std::string ceilings_name(std::string_view product) {
  std::string name(product);
  std::ranges::replace_if(
      name,
      [](char letter) {
        return !(letter >= '0' && letter <= '9') && !(letter >= 'A' && letter <= 'Z') &&
               !(letter >= 'a' && letter <= 'z');
      },
      '-');
  return name + ".ceilings.json";
}

Result<CeilingsFile> parse_ceilings(std::string_view text, const std::string& path) {
  constexpr const char* kMeasure = "write one with `gpufathom ceilings -o FILE` on a GPU machine";
  JsonReader reader;
  const auto json = reader.parse(text);
  if (!json || json_text(*json, "schema") != CeilingsFile::kSchema)
    return fail(fmt::format("is not a ceilings file ({})", CeilingsFile::kSchema), path, -1,
                kMeasure);
  CeilingsFile file;
  file.gpu = json_text(*json, "gpu");
  file.driver = json_text(*json, "driver");
  file.date = json_text(*json, "date");
  for (const auto& item : json_items(*json, "ceilings")) {
    MeasuredCeiling one{json_text(item, "id"), json_text(item, "unit"), json_number(item, "value"),
                        json_text(item, "bench")};
    if (one.id.empty() || !std::isfinite(one.value) || one.value <= 0)
      return fail(fmt::format("its ceiling of {} is not valid", one.id.empty() ? "?" : one.id),
                  path, -1, kMeasure);
    file.ceilings.push_back(std::move(one));
  }
  if (file.ceilings.empty()) return fail("contains no ceilings", path, -1, kMeasure);
  return file;
}

}  // namespace gf

namespace gf::work {

std::string_view peak_type(const gf::Product& product, const WorkList& kernels, std::size_t first,
                           std::size_t last) {
  std::string_view best = "bf16";
  if (!tensor_path(product.chip, TensorType::bf16)) best = "fp16";
  double most = stated_peak(product, best).value_or(0);
  StatedPeaks peaks(product);
  for (std::size_t i = first; i < last; ++i) {
    const KernelWork& kernel = kernels[i];
    if (kernel.flops <= 0) continue;
    const double peak = peaks.of(kernel.type).value_or(0);
    if (peak <= most) continue;
    most = peak;
    best = name_of(kernel.type);
  }
  return best;
}

const gf::Product* product_of(const Context& context, std::size_t number) {
  const std::uint32_t device = context.devices[number].device;
  if (device == kNoRow) return nullptr;
  const auto& devices = context.capture.devices;
  return find_product(context.capture.text(devices.name[device]), devices.sm_count[device]);
}

bool is_possible(double flops, double peak, double kernel_ns) {
  constexpr double kHighestClock = 1.1;  // of the clock that a data sheet's peak is stated for
  return flops <= kHighestClock * peak * kernel_ns * 1e-9;
}

}  // namespace gf::work
