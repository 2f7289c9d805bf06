#include "collect/nvml/clock_lock.h"

#include <fmt/format.h>

#include "collect/nvml/functions.h"

namespace gf {

Result<ClockLock> ClockLock::hold(const Nvml& nvml, const GpuInfo& gpu, unsigned mhz) {
  const auto& functions = nvml.functions();
  const auto code = nvml_call(functions.nvmlDeviceSetGpuLockedClocks, gpu.handle, mhz, mhz);
  if (code == NVML_SUCCESS) return ClockLock(nvml, gpu.handle);
  const char* advice = "run it without --clock: the fit carries a clock term";
  if (code == NVML_ERROR_NO_PERMISSION) {
    advice = "run it as root, or without --clock: the fit carries a clock term";
  } else if (code == NVML_ERROR_INVALID_ARGUMENT) {
    advice = "nvidia-smi -q -d SUPPORTED_CLOCKS lists the clocks of the board";
  }
  return fail(fmt::format("the SM clock of {} cannot be held at {} MHz: {}", gpu.name, mhz,
                          functions.nvmlErrorString ? functions.nvmlErrorString(code) : "error"),
              {}, -1, advice);
}

ClockLock::~ClockLock() {
  if (nvml_) nvml_call(nvml_->functions().nvmlDeviceResetGpuLockedClocks, gpu_);
}

}  // namespace gf
