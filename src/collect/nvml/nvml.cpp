#include "collect/nvml/nvml.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <ctime>

#include "collect/watched_call.h"

namespace gf {

namespace {

template <class F, class... A>
std::string text_of(F* apply, A... before) {
  char buffer[128] = {};
  if (nvml_call(apply, before..., buffer, static_cast<unsigned>(sizeof buffer)) == NVML_SUCCESS)
    return buffer;
  return "";
}

}  // namespace

Nvml::Nvml(Nvml&&) noexcept = default;
Nvml& Nvml::operator=(Nvml&& other) noexcept {
  std::swap(functions_, other.functions_);
  driver_version_ = std::move(other.driver_version_);
  cuda_version_ = std::move(other.cuda_version_);
  gpus_ = std::move(other.gpus_);
  pcie_ = std::move(other.pcie_);
  return *this;
}
Nvml::~Nvml() {
  if (functions_) nvml_call(functions_->nvmlShutdown);
}

Result<Nvml> Nvml::open() {
  auto library = Library::open({"libnvidia-ml.so.1", "libnvidia-ml.so"});
  if (!library)
    return fail("no NVIDIA driver on this machine: libnvidia-ml.so.1 cannot be loaded", {}, -1,
                "install the driver, or give a container access to the GPU");
  Nvml nvml;
  nvml.functions_ = std::make_unique<NvmlFunctions>(*library);
  const auto& calls = *nvml.functions_;
  if (const auto code = nvml_call(calls.nvmlInit_v2); code != NVML_SUCCESS) {
    std::string why;
    if (calls.nvmlErrorString) {
      why = calls.nvmlErrorString(code);
    } else {
      why = fmt::format("error {}", static_cast<int>(code));
    }
    nvml.functions_.reset();
    const char* advice = "check nvidia-smi";
    if (code == NVML_ERROR_DRIVER_NOT_LOADED) {
      advice = "load the nvidia kernel module";
    } else if (code == NVML_ERROR_LIB_RM_VERSION_MISMATCH) {
      advice =
          "reboot, or reload the nvidia kernel module: library and module are "
          "of different versions";
    } else if (code == NVML_ERROR_NO_PERMISSION) {
      advice = "give this user access to /dev/nvidia*";
    }
    return fail("the NVIDIA driver does not answer: " + why, {}, -1, advice);
  }
  nvml.driver_version_ = text_of(calls.nvmlSystemGetDriverVersion);
  if (int version = 0; nvml_call(calls.nvmlSystemGetCudaDriverVersion_v2, &version) == NVML_SUCCESS)
    nvml.cuda_version_ = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  nvml.list_gpus();
  return nvml;
}

void Nvml::list_gpus() {
  const auto& calls = *functions_;
  unsigned count = 0;
  nvml_call(calls.nvmlDeviceGetCount_v2, &count);
  pcie_.resize(2 * std::size_t{count});
  for (unsigned i = 0; i < count; ++i) {
    GpuInfo gpu;
    gpu.index = i;
    if (nvml_call(calls.nvmlDeviceGetHandleByIndex_v2, i, &gpu.handle) != NVML_SUCCESS) continue;
    gpu.name = text_of(calls.nvmlDeviceGetName, gpu.handle);
    gpu.uuid = text_of(calls.nvmlDeviceGetUUID, gpu.handle);
    if (nvmlPciInfo_t pci{};
        nvml_call(calls.nvmlDeviceGetPciInfo_v3, gpu.handle, &pci) == NVML_SUCCESS)
      gpu.pci_bus = pci.busId;
    nvml_call(calls.nvmlDeviceGetCudaComputeCapability, gpu.handle, &gpu.compute_major,
              &gpu.compute_minor);
    unsigned value = 0;
    if (nvml_call(calls.nvmlDeviceGetMaxClockInfo, gpu.handle, NVML_CLOCK_SM, &value) ==
        NVML_SUCCESS)
      gpu.max_sm_clock_mhz = value;
    if (nvml_call(calls.nvmlDeviceGetMaxClockInfo, gpu.handle, NVML_CLOCK_MEM, &value) ==
        NVML_SUCCESS)
      gpu.max_memory_clock_mhz = value;
    if (nvml_call(calls.nvmlDeviceGetEnforcedPowerLimit, gpu.handle, &value) == NVML_SUCCESS)
      gpu.power_limit_watts = value / 1e3;
    if (auto reading = read(gpu, {false, false, true, false}); reading.memory_total_bytes)
      gpu.memory_bytes = *reading.memory_total_bytes;
    nvmlGpmSupport_t gpm{NVML_GPM_SUPPORT_VERSION, 0};
    gpu.gpm = nvml_call(calls.nvmlGpmQueryDeviceSupport, gpu.handle, &gpm) == NVML_SUCCESS &&
              gpm.isSupportedDevice;
    unsigned mode = 0, pending = 0;
    gpu.mig = nvml_call(calls.nvmlDeviceGetMigMode, gpu.handle, &mode, &pending) == NVML_SUCCESS &&
              mode == NVML_DEVICE_MIG_ENABLE;
    unsigned instances = 0;
    if (gpu.mig) nvml_call(calls.nvmlDeviceGetMaxMigDeviceCount, gpu.handle, &instances);
    for (unsigned instance = 0; instance < instances; ++instance) {
      MigInstance mig;
      if (nvml_call(calls.nvmlDeviceGetMigDeviceHandleByIndex, gpu.handle, instance, &mig.handle) !=
          NVML_SUCCESS)
        continue;
      nvml_call(calls.nvmlDeviceGetGpuInstanceId, mig.handle, &mig.gpu_instance);
      nvml_call(calls.nvmlDeviceGetComputeInstanceId, mig.handle, &mig.compute_instance);
      mig.name = text_of(calls.nvmlDeviceGetName, mig.handle);
      mig.uuid = text_of(calls.nvmlDeviceGetUUID, mig.handle);
      if (nvmlDeviceAttributes_t attributes{};
          nvml_call(calls.nvmlDeviceGetAttributes_v2, mig.handle, &attributes) == NVML_SUCCESS) {
        mig.memory_bytes = static_cast<std::int64_t>(attributes.memorySizeMB) << 20;
        mig.sm_count = static_cast<int>(attributes.multiprocessorCount);
      }
      gpu.instances.push_back(std::move(mig));
    }
    gpus_.push_back(std::move(gpu));
  }
}

std::vector<std::string> throttle_words(std::uint64_t mask) {
  static constexpr std::array<std::pair<std::uint64_t, const char*>, 8> words{
      {{nvmlClocksEventReasonApplicationsClocksSetting, "application_clocks"},
       {nvmlClocksEventReasonSwPowerCap, "sw_power_cap"},
       {nvmlClocksThrottleReasonHwSlowdown, "hw_slowdown"},
       {nvmlClocksEventReasonSyncBoost, "sync_boost"},
       {nvmlClocksEventReasonSwThermalSlowdown, "sw_thermal"},
       {nvmlClocksThrottleReasonHwThermalSlowdown, "hw_thermal"},
       {nvmlClocksThrottleReasonHwPowerBrakeSlowdown, "hw_power_brake"},
       {nvmlClocksEventReasonDisplayClockSetting, "display_clocks"}}};
  std::vector<std::string> out;
  for (const auto& [bit, word] : words)
    if (mask & bit) out.emplace_back(word);
  return out;
}

Error no_answer(Nanos limit, const std::string& what) {
  return {fmt::format("the NVIDIA driver has not answered for {} s, asked for {}",
                      limit / kNsPerSecond, what),
          {},
          -1,
          "does nvidia-smi answer? see dmesg for Xid errors"};
}

Result<std::shared_ptr<Nvml>> open_nvml(int wake_fd) {
  constexpr Nanos kPatience = 30 * kNsPerSecond;
  using Opened = Result<std::shared_ptr<Nvml>>;
  WatchedThread thread;
  const auto answer = std::make_shared<std::optional<Opened>>();
  const auto end = thread.run(
      [answer] {
        auto nvml = Nvml::open();
        if (nvml)
          answer->emplace(std::make_shared<Nvml>(std::move(*nvml)));
        else
          answer->emplace(tl::unexpected(nvml.error()));
      },
      kPatience, wake_fd);
  if (end == CallEnd::returned) return std::move(**answer);
  if (end == CallEnd::interrupted) return fail("interrupted before the NVIDIA driver answered");
  return tl::unexpected(no_answer(kPatience, "its GPUs"));
}

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
