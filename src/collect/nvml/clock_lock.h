// Holds a GPU's SM clock at one frequency for as long as it lives, for those who may: needs root or
// the driver's leave. Nothing else in the program changes a clock.
#pragma once

#include "collect/nvml/nvml.h"

namespace gf {

class ClockLock {
 public:
  /// Errors: no permission, a clock that the board does not have.
  static Result<ClockLock> hold(const Nvml& nvml, const GpuInfo& gpu, unsigned mhz);
  ClockLock(ClockLock&& other) noexcept : nvml_(other.nvml_), gpu_(other.gpu_) {
    other.nvml_ = nullptr;
  }
  ClockLock& operator=(ClockLock&&) = delete;
  ~ClockLock();  // gives the clock back to the driver

 private:
  ClockLock(const Nvml& nvml, nvmlDevice_st* gpu) : nvml_(&nvml), gpu_(gpu) {}
  const Nvml* nvml_;
  nvmlDevice_st* gpu_;
};

}  // namespace gf
