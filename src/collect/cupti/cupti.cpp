#include "collect/cupti/cupti.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <cstdlib>

#include "collect/cupti/pm_metrics.h"
#include "collect/library.h"

namespace gf {

const char* CuptiFunctions::load(const Library& library) {
  const char* missing = nullptr;
#define X(entry)                                                        \
  entry = reinterpret_cast<decltype(&::entry)>(library.symbol(#entry)); \
  if (!entry && !missing) missing = #entry;
  GF_CUPTI_FUNCTIONS(X)
#undef X
  cuptiGetVersion = library.function<CUptiResult(std::uint32_t*)>("cuptiGetVersion");
  cuptiGetResultString =
      library.function<CUptiResult(CUptiResult, const char**)>("cuptiGetResultString");
  return missing;
}

std::string CuptiFunctions::text(CUptiResult code) const {
  const char* words = nullptr;
  if (cuptiGetResultString) cuptiGetResultString(code, &words);
  if (words) return fmt::format("{} ({})", words, static_cast<int>(code));
  return fmt::format("CUPTI error {}", static_cast<int>(code));
}

const char* DriverFunctions::load(const Library& library) {
  const char* missing = nullptr;
#define X(entry)                                                        \
  entry = reinterpret_cast<decltype(&::entry)>(library.symbol(#entry)); \
  if (!entry && !missing) missing = #entry;
  GF_DRIVER_FUNCTIONS(X)
#undef X
  return missing;
}

namespace {

/// The PCI address without its domain's leading zeros: NVML writes eight digits, CUDA four.
std::string bus_key(const std::string& pci) {
  const auto colon = pci.find(':');
  if (colon == std::string::npos) return pci;
  std::string domain = pci.substr(0, colon);
  domain.erase(0, std::min(domain.find_first_not_of('0'), domain.size()));
  return domain + pci.substr(colon);
}

const char* start_advice(CUresult code) {
  if (code == CUDA_ERROR_NO_DEVICE)
    return "no CUDA device is visible: give the container its compute capability "
           "(NVIDIA_DRIVER_CAPABILITIES=compute,utility)";
  if (code == CUDA_ERROR_UNKNOWN) return "are /dev/nvidia-uvm and the nvidia_uvm module there?";
  return "check nvidia-smi";
}

}  // namespace

Result<std::shared_ptr<Cupti>> Cupti::open() {
  auto out = std::make_shared<Cupti>();
  auto driver = Library::open({"libcuda.so.1"});
  if (!driver)
    return fail("libcuda.so.1 cannot be loaded", {}, -1,
                "install the NVIDIA driver, or give the container its compute capability");
  if (const char* missing = out->driver_.load(*driver))
    return fail(fmt::format("libcuda.so.1 lacks {}", missing));
  // All GPUs are wanted here, in NVML's order; what CUDA_VISIBLE_DEVICES hides from the program is
  // the program's matter.
  unsetenv("CUDA_VISIBLE_DEVICES");
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
  if (const auto code = out->driver_.cuInit(0); code != CUDA_SUCCESS)
    return fail(fmt::format("the CUDA driver does not start: error {}", static_cast<int>(code)), {},
                -1, start_advice(code));
  out->driver_.cuDriverGetVersion(&out->cuda_version_);
  auto library = open_cupti();
  if (!library) return tl::unexpected(library.error());
  out->path_ = library->path();
  const char* missing = out->cupti_.load(*library);
  if (out->cupti_.cuptiGetVersion) out->cupti_.cuptiGetVersion(&out->version_);
  if (missing)
    return fail(fmt::format("{} (CUPTI {}) lacks {}", out->path_, out->version_, missing), {}, -1,
                "PM sampling came with CUDA 12.6: use a newer libcupti");
  GF_CUPTI_PARAMS(CUpti_Profiler_Initialize, params);
  if (const auto code = out->cupti_.cuptiProfilerInitialize(&params); code != CUPTI_SUCCESS)
    return fail("CUPTI's profiler does not start: " + out->cupti_.text(code), {}, -1,
                advice_for(refusal_of(code)));
  return out;
}

Result<int> Cupti::cuda_index(const GpuInfo& gpu) const {
  int count = 0;
  driver_.cuDeviceGetCount(&count);
  for (int i = 0; i < count; ++i) {
    CUdevice device = 0;
    char bus[64] = {};
    if (driver_.cuDeviceGet(&device, i) == CUDA_SUCCESS &&
        driver_.cuDeviceGetPCIBusId(bus, sizeof bus, device) == CUDA_SUCCESS &&
        strcasecmp(bus_key(bus).c_str(), bus_key(gpu.pci_bus).c_str()) == 0)
      return i;
  }
  return fail(fmt::format("CUDA does not see GPU {} ({})", gpu.index, gpu.pci_bus));
}

}  // namespace gf
