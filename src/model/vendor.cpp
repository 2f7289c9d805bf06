#include "model/vendor.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace gf {

namespace {

struct VendorName {
  Vendor vendor;
  std::string_view id;
  std::array<std::string_view, 10> parts;  // of product names
};

constexpr VendorName kVendors[] = {
    {Vendor::nvidia,
     "nvidia",
     {"NVIDIA", "Tesla", "Quadro", "GeForce", "TITAN", "RTX ", "GTX ", "A100-", "H100-", "GRID "}},
    {Vendor::amd, "amd", {"AMD", "Radeon", "Instinct", "gfx"}},
    {Vendor::intel, "intel", {"Intel"}},
    {Vendor::huawei, "huawei", {"Ascend"}},
    {Vendor::google, "google", {"TPU"}},
    {Vendor::apple, "apple", {"Apple"}},
};

bool is_call_of(std::string_view name, std::string_view prefix) {
  return name.size() > prefix.size() && name.starts_with(prefix) && name[prefix.size()] >= 'A' &&
         name[prefix.size()] <= 'Z';
}

Vendor vendor_of_id(std::string_view id) {
  if (id.empty()) return Vendor::unknown;
  for (const auto& row : kVendors)
    if (row.id == id) return row.vendor;
  return Vendor::other;
}

template <class Texts>
Vendor first_known(const Capture& capture, const Texts& texts, std::size_t most,
                   Vendor (*of)(std::string_view)) {
  for (std::size_t row = 0; row < std::min(most, texts.size()); ++row)
    if (const Vendor vendor = of(capture.text(texts[row])); vendor != Vendor::unknown)
      return vendor;
  return Vendor::unknown;
}

/// Names that torch_npu gives to the rows of an NPU and of its driver.
Vendor vendor_of_process(std::string_view name) {
  return name == "Ascend Hardware" || name == "CANN" ? Vendor::huawei : Vendor::unknown;
}

}  // namespace

std::string_view id_of(Vendor vendor) {
  for (const auto& row : kVendors)
    if (row.vendor == vendor) return row.id;
  return {};
}

Vendor vendor_of_device(std::string_view name) {
  for (const auto& row : kVendors)
    for (const auto part : row.parts)
      if (!part.empty() && name.find(part) != name.npos) return row.vendor;
  return Vendor::unknown;
}

Vendor vendor_of_call(std::string_view name) {
  struct Prefix {
    std::string_view text;
    Vendor vendor;
  };
  for (const auto& [prefix, vendor] :
       {Prefix{"cuda", Vendor::nvidia}, Prefix{"cu", Vendor::nvidia}, Prefix{"hip", Vendor::amd},
        Prefix{"ur", Vendor::intel}, Prefix{"pi", Vendor::intel}, Prefix{"ze", Vendor::intel},
        Prefix{"aclrt", Vendor::huawei}, Prefix{"aclnn", Vendor::huawei},
        Prefix{"musa", Vendor::other}, Prefix{"cnrt", Vendor::other}})
    if (is_call_of(name, prefix)) return vendor;
  return Vendor::unknown;
}

Vendor vendor_of(const Capture& capture) {
  constexpr std::size_t kLookedAt = 2000;
  const auto& devices = capture.devices;
  for (const Vendor found :
       {first_known(capture, devices.vendor, devices.size(), vendor_of_id),
        first_known(capture, devices.name, devices.size(), vendor_of_device),
        first_known(capture, capture.api_calls.name, kLookedAt, vendor_of_call),
        first_known(capture, capture.threads.process_name, kLookedAt, vendor_of_process)})
    if (found != Vendor::unknown) return found;
  return Vendor::unknown;
}

const VendorTerms& terms_of(Vendor vendor) {
  static constexpr VendorTerms kTerms[] = {
      {Vendor::nvidia,
       "CUDA graph",
       "cudaMallocAsync",
       "tensor cores",
       "ProfilerActivity.CUDA",
       {}},
      {Vendor::amd, "HIP graph", "hipMallocAsync", "matrix cores", "ProfilerActivity.CUDA",
       "rocprof-compute profile -n run -- python train.py"},
      {Vendor::intel, {}, {}, "matrix engines", "ProfilerActivity.XPU", {}},
      {Vendor::other, {}, {}, "matrix units", {}, {}},
  };
  if (vendor == Vendor::unknown) return kTerms[0];
  for (const auto& terms : kTerms)
    if (terms.vendor == vendor) return terms;
  return std::end(kTerms)[-1];
}

}  // namespace gf
