#include "collect/nvml/clock_lock.h"

#include <fmt/format.h>

#include "collect/nvml/functions.h"

namespace gf {

Result<ClockLock> ClockLock::hold(const Nvml& nvml, const GpuInfo& gpu, unsigned mhz) {
  const auto& f = nvml.functions();
  const auto code = nvml_call(f.nvmlDeviceSetGpuLockedClocks, gpu.handle, mhz, mhz);
  if (code == NVML_SUCCESS) return ClockLock(nvml, gpu.handle);
  const char* advice = code == NVML_ERROR_NO_PERMISSION
                           ? "run it as root, or without --clock: the fit carries a clock term"
                       : code == NVML_ERROR_INVALID_ARGUMENT
                           ? "nvidia-smi -q -d SUPPORTED_CLOCKS lists the clocks of the board"
                           : "run it without --clock: the fit carries a clock term";
  return fail(fmt::format("the SM clock of {} cannot be held at {} MHz: {}", gpu.name, mhz,
                          f.nvmlErrorString ? f.nvmlErrorString(code) : "error"),
              {}, -1, advice);
}

ClockLock::~ClockLock() {
  if (nvml_) nvml_call(nvml_->functions().nvmlDeviceResetGpuLockedClocks, gpu_);
}

}  // namespace gf
