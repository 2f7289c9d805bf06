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

}  // namespace gf::work
