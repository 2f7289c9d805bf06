// CUPTI and the CUDA driver, found and started at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "collect/cupti/functions.h"
#include "collect/nvml/nvml.h"

namespace gf {

/// CUPTI and the CUDA driver, started once a process.
class Cupti {
 public:
  /// Errors: no driver, no libcupti, one too old for PM sampling (CUDA 12.6 is the first).
  static Result<std::shared_ptr<Cupti>> open();
  const CuptiFunctions& functions() const { return cupti_; }
  const DriverFunctions& driver() const { return driver_; }
  std::uint32_t version() const { return version_; }         // such as 130001
  int driver_cuda_version() const { return cuda_version_; }  // such as 13000
  const std::string& path() const { return path_; }
  /// CUDA's number of the GPU with this PCI address, or an error.
  Result<int> cuda_index(const GpuInfo& gpu) const;

 private:
  CuptiFunctions cupti_;
  DriverFunctions driver_;
  std::uint32_t version_ = 0;
  int cuda_version_ = 0;
  std::string path_;
};

}  // namespace gf
