#include "collect/cupti/pm_sampler.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <ctime>

#include "collect/cupti/clock_map.h"
#include "collect/cupti/find.h"

namespace gf {

namespace {

double thread_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// The PCI address without its domain's leading zeros: NVML writes eight digits, CUDA four.
std::string bus_key(const std::string& pci) {
  const auto colon = pci.find(':');
  if (colon == std::string::npos) return pci;
  std::string domain = pci.substr(0, colon);
  domain.erase(0, std::min(domain.find_first_not_of('0'), domain.size()));
  return domain + pci.substr(colon);
}

PmRefusal refusal_of(CUptiResult code) {
  switch (code) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES: return PmRefusal::permission;
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED: return PmRefusal::in_use;
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_INVALID_DEVICE:
    case CUPTI_ERROR_CDP_TRACING_NOT_SUPPORTED: return PmRefusal::unsupported;
    default: return PmRefusal::other;
  }
}

}  // namespace

const char* advice_for(PmRefusal why) {
  switch (why) {
    case PmRefusal::permission:
      return "run as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0 (options nvidia in /etc/modprobe.d)";
    case PmRefusal::in_use: return "another profiler holds this GPU's counters: end it, or wait";
    case PmRefusal::unsupported: return "PM sampling needs Turing or newer, without vGPU, MIG or confidential computing";
    case PmRefusal::driver: return "PM sampling needs a driver for CUDA 12.6 or newer and a libcupti of the same generation";
    default: return "";
  }
}

Result<std::shared_ptr<Cupti>> Cupti::open() {
  auto out = std::make_shared<Cupti>();
  auto driver = Library::open({"libcuda.so.1"});
  if (!driver) return fail("libcuda.so.1 cannot be loaded", {}, -1, "install the NVIDIA driver, or give the container its compute capability");
  if (const char* missing = out->driver_.load(*driver)) return fail(fmt::format("libcuda.so.1 lacks {}", missing));
  // All GPUs are wanted here, in NVML's order; what CUDA_VISIBLE_DEVICES hides from the program is the program's matter.
  unsetenv("CUDA_VISIBLE_DEVICES");
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
  if (const auto code = out->driver_.cuInit(0); code != CUDA_SUCCESS)
    return fail(fmt::format("the CUDA driver does not start: error {}", static_cast<int>(code)), {}, -1,
                code == CUDA_ERROR_NO_DEVICE ? "no CUDA device is visible" : code == CUDA_ERROR_UNKNOWN ? "are /dev/nvidia-uvm and the nvidia_uvm module there?" : "see what nvidia-smi says");
  out->driver_.cuDriverGetVersion(&out->cuda_version_);
  auto library = open_cupti();
  if (!library) return tl::unexpected(library.error());
  out->path_ = library->path();
  const char* missing = out->cupti_.load(*library);
  if (out->cupti_.cuptiGetVersion) out->cupti_.cuptiGetVersion(&out->version_);
  if (missing) return fail(fmt::format("{} (CUPTI {}) lacks {}", out->path_, out->version_, missing), {}, -1, "PM sampling came with CUDA 12.6: use a newer libcupti");
  GF_CUPTI_PARAMS(CUpti_Profiler_Initialize, p);
  if (const auto code = out->cupti_.cuptiProfilerInitialize(&p); code != CUPTI_SUCCESS)
    return fail("CUPTI's profiler does not start: " + out->cupti_.text(code), {}, -1, advice_for(refusal_of(code)));
  return out;
}

Result<int> Cupti::cuda_index(const GpuInfo& gpu) const {
  int count = 0;
  driver_.cuDeviceGetCount(&count);
  for (int i = 0; i < count; ++i) {
    CUdevice device = 0;
    char bus[64] = {};
    if (driver_.cuDeviceGet(&device, i) == CUDA_SUCCESS && driver_.cuDeviceGetPCIBusId(bus, sizeof bus, device) == CUDA_SUCCESS &&
        strcasecmp(bus_key(bus).c_str(), bus_key(gpu.pci_bus).c_str()) == 0)
      return i;
  }
  return fail(fmt::format("CUDA does not see GPU {} ({})", gpu.index, gpu.pci_bus));
}

struct PmSampler::State {
  std::shared_ptr<Cupti> cupti;
  std::string chip;
  PmOptions options;
  PmChoice choice;
  std::vector<std::uint8_t> availability, image;
  CUpti_Profiler_Host_Object* host = nullptr;
  CUpti_PmSampling_Object* object = nullptr;
  bool enabled = false, started = false, first = true;
  ClockMap clock;
  std::int64_t last_end = 0, samples = 0, lost = 0, overflows = 0;
  double decode_cpu = 0, evaluate_cpu = 0;
  struct Row {
    std::uint64_t start, end;
  };
  std::vector<Row> rows;
  std::vector<double> values;

  CUptiResult initialize_image() {
    GF_CUPTI_PARAMS(CUpti_PmSampling_CounterDataImage_Initialize, p);
    p.pPmSamplingObject = object;
    p.counterDataSize = image.size();
    p.pCounterData = image.data();
    return cupti->functions().cuptiPmSamplingCounterDataImageInitialize(&p);
  }
};

PmSampler::PmSampler() : state_(std::make_unique<State>()) {}

Result<std::unique_ptr<PmSampler>> PmSampler::start(std::shared_ptr<Cupti> cupti, const GpuInfo& gpu, const PmOptions& options, PmRefusal& why) {
  why = PmRefusal::other;
  auto index = cupti->cuda_index(gpu);
  if (!index) return tl::unexpected(index.error());
  const auto& f = cupti->functions();
  auto refused = [&](const char* step, CUptiResult code) {
    why = refusal_of(code);
    return fail(fmt::format("GPU {}: {}: {}", gpu.index, step, f.text(code)), {}, -1, advice_for(why));
  };
  std::unique_ptr<PmSampler> sampler(new PmSampler);
  auto& s = *sampler->state_;
  s.cupti = cupti;
  s.options = options;
  const auto device = static_cast<std::size_t>(*index);

  GF_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported, supported);
  supported.cuDevice = *index;
  supported.api = CUPTI_PROFILER_PM_SAMPLING;
  if (const auto code = f.cuptiProfilerDeviceSupported(&supported); code != CUPTI_SUCCESS) return refused("PM sampling cannot be queried", code);
  if (supported.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return refused("PM sampling is not offered", CUPTI_ERROR_NOT_SUPPORTED);
  GF_CUPTI_PARAMS(CUpti_Device_GetChipName, name);
  name.deviceIndex = device;
  if (const auto code = f.cuptiDeviceGetChipName(&name); code != CUPTI_SUCCESS) return refused("the chip has no name", code);
  s.chip = name.pChipName;

  GF_CUPTI_PARAMS(CUpti_PmSampling_GetCounterAvailability, available);
  available.deviceIndex = device;
  if (const auto code = f.cuptiPmSamplingGetCounterAvailability(&available); code != CUPTI_SUCCESS) return refused("counters cannot be listed", code);
  s.availability.resize(available.counterAvailabilityImageSize);
  available.pCounterAvailabilityImage = s.availability.data();
  if (const auto code = f.cuptiPmSamplingGetCounterAvailability(&available); code != CUPTI_SUCCESS) return refused("counters cannot be listed", code);

  auto choice = choose_pm_metrics(f, s.chip, s.availability);
  if (!choice) return tl::unexpected(choice.error());
  s.choice = std::move(*choice);
  GF_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize, host);
  host.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
  host.pChipName = s.chip.c_str();
  host.pCounterAvailabilityImage = s.availability.data();
  if (const auto code = f.cuptiProfilerHostInitialize(&host); code != CUPTI_SUCCESS) return refused("the evaluator does not start", code);
  s.host = host.pHostObject;

  GF_CUPTI_PARAMS(CUpti_PmSampling_Enable, enable);
  enable.deviceIndex = device;
  if (const auto code = f.cuptiPmSamplingEnable(&enable); code != CUPTI_SUCCESS) {
    auto error = refused("PM sampling cannot be enabled", code);
    if (why == PmRefusal::other) why = PmRefusal::in_use;  // one session a device: CUPTI has no code of its own for it
    return error;
  }
  s.object = enable.pPmSamplingObject;
  s.enabled = true;
  GF_CUPTI_PARAMS(CUpti_PmSampling_SetConfig, config);
  config.pPmSamplingObject = s.object;
  config.configSize = s.choice.config.size();
  config.pConfig = s.choice.config.data();  // CUPTI keeps the pointer: it lives as long as the session
  config.hardwareBufferSize = options.hardware_buffer_bytes;
  // Turing and GA100 count cycles of the system clock instead of time; about 1.4 GHz.
  const bool by_time = !(gpu.compute_major == 7 || (gpu.compute_major == 8 && gpu.compute_minor == 0));
  config.samplingInterval = by_time ? static_cast<std::uint64_t>(options.interval_ns) : static_cast<std::uint64_t>(options.interval_ns) * 14 / 10;
  config.triggerMode = by_time ? CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL : CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL;
  config.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
  if (const auto code = f.cuptiPmSamplingSetConfig(&config); code != CUPTI_SUCCESS) return refused("the counters cannot be set up", code);

  GF_CUPTI_PARAMS(CUpti_PmSampling_GetCounterDataSize, size);
  size.pPmSamplingObject = s.object;
  size.pMetricNames = s.choice.counters.data();
  size.numMetrics = s.choice.counters.size();
  // Room for what arrives between two decodes and little more: emptying an image costs time for every sample that it could
  // hold (35 KB each on H100). drain() goes on while images come back full.
  size.maxSamples = static_cast<std::uint32_t>(std::clamp<std::int64_t>(options.decode_every_ns / options.interval_ns * 11 / 10 + 4, 16, 1024));
  if (const auto code = f.cuptiPmSamplingGetCounterDataSize(&size); code != CUPTI_SUCCESS) return refused("the size of samples is unknown", code);
  s.image.resize(size.counterDataSize);
  s.values.resize(s.choice.counters.size());
  if (const auto code = s.initialize_image(); code != CUPTI_SUCCESS) return refused("the sample buffer cannot be set up", code);
  GF_CUPTI_PARAMS(CUpti_PmSampling_Start, start);
  start.pPmSamplingObject = s.object;
  if (const auto code = f.cuptiPmSamplingStart(&start); code != CUPTI_SUCCESS) return refused("PM sampling does not start", code);
  s.started = true;
  why = PmRefusal::none;
  return sampler;
}

PmSampler::~PmSampler() {
  auto& s = *state_;
  if (!s.cupti) return;
  const auto& f = s.cupti->functions();
  if (s.started) {
    GF_CUPTI_PARAMS(CUpti_PmSampling_Stop, p);
    p.pPmSamplingObject = s.object;
    f.cuptiPmSamplingStop(&p);
  }
  if (s.enabled) {
    GF_CUPTI_PARAMS(CUpti_PmSampling_Disable, p);
    p.pPmSamplingObject = s.object;
    f.cuptiPmSamplingDisable(&p);
  }
  if (s.host) {
    GF_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize, p);
    p.pHostObject = s.host;
    f.cuptiProfilerHostDeinitialize(&p);
  }
}

Status PmSampler::drain(const std::function<void(const PmSample&)>& take) {
  auto& s = *state_;
  const auto& f = s.cupti->functions();
  // A decoder that never reports the end must not hold the caller: at most as many images as a full hardware buffer needs.
  for (int round = 0; round < 256; ++round) {
    const double cpu0 = thread_cpu_seconds();
    GF_CUPTI_PARAMS(CUpti_PmSampling_DecodeData, decode);
    decode.pPmSamplingObject = s.object;
    decode.pCounterDataImage = s.image.data();
    decode.counterDataImageSize = s.image.size();
    if (const auto code = f.cuptiPmSamplingDecodeData(&decode); code != CUPTI_SUCCESS) return fail("PM samples cannot be decoded: " + f.text(code));
    const Nanos now = host_now();
    if (decode.overflow) ++s.overflows;
    GF_CUPTI_PARAMS(CUpti_PmSampling_GetCounterDataInfo, info);
    info.pCounterDataImage = s.image.data();
    info.counterDataImageSize = s.image.size();
    if (const auto code = f.cuptiPmSamplingGetCounterDataInfo(&info); code != CUPTI_SUCCESS) return fail("PM samples cannot be counted: " + f.text(code));
    s.rows.clear();
    for (std::size_t i = 0; i < info.numCompletedSamples; ++i) {
      GF_CUPTI_PARAMS(CUpti_PmSampling_CounterData_GetSampleInfo, sample);
      sample.pPmSamplingObject = s.object;
      sample.pCounterDataImage = s.image.data();
      sample.counterDataImageSize = s.image.size();
      sample.sampleIndex = i;
      if (f.cuptiPmSamplingCounterDataGetSampleInfo(&sample) != CUPTI_SUCCESS) break;
      s.rows.push_back({sample.startTimestamp, sample.endTimestamp});
    }
    const double cpu1 = thread_cpu_seconds();
    s.decode_cpu += cpu1 - cpu0;
    if (!s.rows.empty()) s.clock.observe(static_cast<std::int64_t>(s.rows.back().end), now);
    for (std::size_t i = 0; i < s.rows.size(); ++i) {
      const auto start = static_cast<std::int64_t>(s.rows[i].start), end = static_cast<std::int64_t>(s.rows[i].end);
      if (s.first) {
        s.first = false;
        s.last_end = end;
        continue;
      }
      if (end <= start || end <= s.last_end) continue;  // decoders re-read the ring after a full image
      // A sample spans from its predecessor's end; a longer gap is samples that never arrived.
      if (const auto gap = start - s.last_end; gap > s.options.interval_ns / 2) s.lost += (gap + s.options.interval_ns / 2) / s.options.interval_ns;
      s.last_end = end;
      GF_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, evaluate);
      evaluate.pHostObject = s.host;
      evaluate.pCounterDataImage = s.image.data();
      evaluate.counterDataImageSize = s.image.size();
      evaluate.rangeIndex = i;
      evaluate.ppMetricNames = s.choice.counters.data();
      evaluate.numMetrics = s.choice.counters.size();
      evaluate.pMetricValues = s.values.data();
      if (const auto code = f.cuptiProfilerHostEvaluateToGpuValues(&evaluate); code != CUPTI_SUCCESS) {
        ++s.lost;
        continue;
      }
      for (std::size_t m = 0; m < s.values.size(); ++m) s.values[m] *= s.choice.metrics[m]->scale;
      ++s.samples;
      take({s.clock.host(start), s.clock.host(end), start, end, s.values.data()});
    }
    s.evaluate_cpu += thread_cpu_seconds() - cpu1;
    if (s.rows.empty()) return {};
    if (const auto code = s.initialize_image(); code != CUPTI_SUCCESS) return fail("the sample buffer cannot be emptied: " + f.text(code));
    // Anything but a full image means that the hardware buffer holds no more yet.
    if (decode.decodeStopReason != CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL) return {};
  }
  return {};
}

const PmChoice& PmSampler::choice() const { return state_->choice; }
const std::string& PmSampler::chip() const { return state_->chip; }
std::int64_t PmSampler::interval_ns() const { return state_->options.interval_ns; }
std::int64_t PmSampler::samples() const { return state_->samples; }
std::int64_t PmSampler::lost() const { return state_->lost; }
std::int64_t PmSampler::overflows() const { return state_->overflows; }
std::int64_t PmSampler::clock_offset_ns() const { return state_->clock.offset(); }
double PmSampler::decode_cpu_seconds() const { return state_->decode_cpu; }
double PmSampler::evaluate_cpu_seconds() const { return state_->evaluate_cpu; }

}  // namespace gf
