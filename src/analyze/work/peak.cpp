#include "analyze/work/peak.h"

namespace gf::work {

std::string_view peak_type(const gf::Product& product, std::span<const KernelWork> kernels) {
  std::string_view best = "bf16";
  if (!tensor_path(product.chip, TensorType::bf16)) best = "fp16";
  double most = stated_peak(product, best).value_or(0);
  StatedPeaks peaks(product);
  for (const auto& kernel : kernels) {
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
