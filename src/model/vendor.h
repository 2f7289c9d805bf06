// The maker of a capture's GPU, and that maker's terms in advice.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/capture.h"

namespace gf {

enum class Vendor : std::uint8_t { unknown, nvidia, amd, intel, huawei, google, apple, other };

/// "nvidia", as devices.vendor has it; empty for unknown.
std::string_view id_of(Vendor vendor);
/// By a product's name: "NVIDIA H100 80GB HBM3", "AMD Instinct MI300X", "gfx942".
Vendor vendor_of_device(std::string_view name);
/// By a call of a runtime or driver: cudaLaunchKernel, hipLaunchKernel, urEnqueueKernelLaunch.
Vendor vendor_of_call(std::string_view name);

/// By what the devices say of themselves, then their names, the calls of the host, and the names of
/// processes. One that shows none of these is unknown.
Vendor vendor_of(const Capture& capture);

/// Terms for advice. Empty: the maker has nothing of the kind, or nothing that is known here.
struct VendorTerms {
  Vendor vendor;
  std::string_view graph;      // captured launches: "CUDA graph"
  std::string_view pool_call;  // allocates from a pool
  std::string_view units;      // that multiply matrices
  std::string_view activity;   // of torch.profiler, which records the device
  std::string_view inside;     // command that measures inside kernels; NVIDIA's is worked out
};
/// For an unknown maker those of NVIDIA: traces without any sign of another are theirs.
const VendorTerms& terms_of(Vendor vendor);

}  // namespace gf
