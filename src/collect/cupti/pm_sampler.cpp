#include "collect/cupti/pm_sampler.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <deque>

#include "core/time.h"

namespace gf {

namespace {

class ClockMap {
 public:
  /// A sample that ended at `gpu_ns` was in hand at `host_ns`.
  void observe(std::int64_t gpu_ns, Nanos host_ns) {
    const std::int64_t bound = host_ns - gpu_ns;
    while (!bounds_.empty() && bounds_.back().bound >= bound) bounds_.pop_back();
    bounds_.push_back({host_ns, bound});
    while (bounds_.front().at < host_ns - kMemory) bounds_.pop_front();
  }
  bool known() const { return !bounds_.empty(); }
  std::int64_t offset() const { return bounds_.empty() ? 0 : bounds_.front().bound; }
  Nanos host(std::int64_t gpu_ns) const { return gpu_ns + offset(); }

 private:
  static constexpr Nanos kMemory = 60 * kNsPerSecond;
  struct Bound {
    Nanos at;
    std::int64_t bound;
  };
  std::deque<Bound> bounds_;  // bounds rise, so the front is the least of the window
};

double thread_cpu_seconds() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

constexpr std::int64_t kMostImageSamples = 4096, kSpare = 4;  // samples that one image may hold

}  // namespace

struct PmSampler::State {
  std::shared_ptr<Cupti> cupti;
  std::string chip;
  PmOptions options;
  std::vector<PmMetric> wanted;
  PmChoice choice;
  std::vector<std::uint8_t> availability;
  struct Image {
    std::vector<std::uint8_t> bytes;
    std::int64_t samples = 0;
  };
  Image usual;
  Image large;
  Nanos drained = 0;  // when, or when sampling started
  CUpti_Profiler_Host_Object* host = nullptr;
  CUpti_PmSampling_Object* object = nullptr;
  std::size_t device = 0;  // CUDA's number
  bool by_time = true;
  std::size_t hardware_bytes = 0;
  std::int64_t samples_at_overflow = -1;
  bool enabled = false, started = false;
  ClockMap clock;
  std::int64_t samples = 0, overflows = 0;
  PmGaps gaps;
  Cost cost;
  struct Row {
    std::uint64_t start, end;
  };
  std::vector<Row> rows;
  std::vector<double> values;

  const CuptiFunctions& functions() const { return cupti->functions(); }
  /// An empty image for so many samples.
  CUptiResult make(Image& image, std::int64_t most) {
    GF_CUPTI_PARAMS(CUpti_PmSampling_GetCounterDataSize, size);
    size.pPmSamplingObject = object;
    size.pMetricNames = choice.counters.data();
    size.numMetrics = choice.counters.size();
    size.maxSamples = static_cast<std::uint32_t>(most);
    if (const auto code = cupti->functions().cuptiPmSamplingGetCounterDataSize(&size);
        code != CUPTI_SUCCESS)
      return code;
    image.bytes.resize(size.counterDataSize);
    image.samples = most;
    return empty(image);
  }
  std::int64_t between() const {
    return options.decode_every_ns / options.interval_ns;
  }  // samples from one drain to the next

  CUptiResult enable() {
    GF_CUPTI_PARAMS(CUpti_PmSampling_Enable, params);
    params.deviceIndex = device;
    if (const auto code = cupti->functions().cuptiPmSamplingEnable(&params); code != CUPTI_SUCCESS)
      return code;
    object = params.pPmSamplingObject;
    enabled = true;
    return CUPTI_SUCCESS;
  }
  /// Sets the counters up and starts them. `step` says what was tried last.
  CUptiResult begin(const char*& step) {
    GF_CUPTI_PARAMS(CUpti_PmSampling_SetConfig, config);
    config.pPmSamplingObject = object;
    config.configSize = choice.config.size();
    config.pConfig =
        choice.config.data();  // CUPTI keeps the pointer: it lives as long as the session
    config.hardwareBufferSize = hardware_bytes;
    config.samplingInterval = by_time ? static_cast<std::uint64_t>(options.interval_ns)
                                      : static_cast<std::uint64_t>(options.interval_ns) * 14 / 10;
    config.triggerMode = by_time ? CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL
                                 : CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL;
    config.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
    step = "the counters cannot be set up";
    if (const auto code = cupti->functions().cuptiPmSamplingSetConfig(&config);
        code != CUPTI_SUCCESS)
      return code;
    // Room for what arrives between two decodes and little more: emptying an image costs time for
    // every sample that it could hold (38 KB each on H200).
    step = "the sample buffer cannot be set up";
    if (const auto code = make(usual, between() * 5 / 4 + 8); code != CUPTI_SUCCESS) return code;
    GF_CUPTI_PARAMS(CUpti_PmSampling_Start, params);
    params.pPmSamplingObject = object;
    step = "PM sampling does not start";
    if (const auto code = cupti->functions().cuptiPmSamplingStart(&params); code != CUPTI_SUCCESS)
      return code;
    started = true;
    gaps.begin_session();
    drained = host_now();
    return CUPTI_SUCCESS;
  }
  void stop() {
    if (!started) return;
    GF_CUPTI_PARAMS(CUpti_PmSampling_Stop, params);
    params.pPmSamplingObject = object;
    cupti->functions().cuptiPmSamplingStop(&params);
    started = false;
  }
  void disable() {
    if (!enabled) return;
    GF_CUPTI_PARAMS(CUpti_PmSampling_Disable, params);
    params.pPmSamplingObject = object;
    cupti->functions().cuptiPmSamplingDisable(&params);
    enabled = false;
  }
  /// A GPU buffer that was full ends a session: CUPTI gives out nothing of it and decodes no more.
  /// Starts anew with twice the room, and a new object: the old one tells the overflow again, and
  /// then starts no more (H100, driver 580).
  Status begin_again() {
    ++overflows;
    if (hardware_bytes >= kPmMostBuffer && samples == samples_at_overflow)
      return fail("the GPU's sample buffer overflows again and again", {}, -1,
                  "sample less often: --rate");
    samples_at_overflow = samples;
    hardware_bytes = std::min<std::size_t>(2 * hardware_bytes, kPmMostBuffer);
    const char* step = "";
    stop();
    disable();
    step = "PM sampling cannot be enabled";
    auto code = enable();
    if (code == CUPTI_SUCCESS) code = begin(step);
    if (code != CUPTI_SUCCESS)
      return fail(fmt::format("the GPU's sample buffer overflowed, then {}: {}", step,
                              cupti->functions().text(code)));
    return {};
  }
  CUptiResult empty(Image& image) {
    GF_CUPTI_PARAMS(CUpti_PmSampling_CounterDataImage_Initialize, params);
    params.pPmSamplingObject = object;
    params.counterDataSize = image.bytes.size();
    params.pCounterData = image.bytes.data();
    return cupti->functions().cuptiPmSamplingCounterDataImageInitialize(&params);
  }
  /// The error of a call that refuses the session, for people; `why` gets its kind.
  tl::unexpected<Error> refused(const char* step, CUptiResult code, PmRefusal& why) const {
    why = refusal_of(code);
    if (const int cuda = cupti->driver_cuda_version();
        cuda > 0 && cuda < 12060 && (why == PmRefusal::unsupported || why == PmRefusal::other))
      why = PmRefusal::driver;
    return fail(fmt::format("{}: {}", step, functions().text(code)), {}, -1, advice_for(why));
  }
  Status find_chip(PmRefusal& why) {
    GF_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported, supported);
    supported.cuDevice = static_cast<CUdevice>(device);
    supported.api = CUPTI_PROFILER_PM_SAMPLING;
    if (const auto code = functions().cuptiProfilerDeviceSupported(&supported);
        code != CUPTI_SUCCESS)
      return refused("PM sampling cannot be queried", code, why);
    if (supported.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
      return refused("PM sampling is not offered", CUPTI_ERROR_NOT_SUPPORTED, why);
    GF_CUPTI_PARAMS(CUpti_Device_GetChipName, name);
    name.deviceIndex = device;
    if (const auto code = functions().cuptiDeviceGetChipName(&name); code != CUPTI_SUCCESS)
      return refused("the chip has no name", code, why);
    chip = name.pChipName;
    return {};
  }
  /// Lists the chip's counters that may be used here: how large the answer is, then the answer.
  Status list_counters(PmRefusal& why) {
    GF_CUPTI_PARAMS(CUpti_PmSampling_GetCounterAvailability, available);
    available.deviceIndex = device;
    if (const auto code = functions().cuptiPmSamplingGetCounterAvailability(&available);
        code != CUPTI_SUCCESS)
      return refused("counters cannot be listed", code, why);
    availability.resize(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = availability.data();
    if (const auto code = functions().cuptiPmSamplingGetCounterAvailability(&available);
        code != CUPTI_SUCCESS)
      return refused("counters cannot be listed", code, why);
    return {};
  }
  Status choose_counters(PmRefusal& why) {
    for (const auto& metric : options.wanted)
      if (options.metrics.empty() || std::find(options.metrics.begin(), options.metrics.end(),
                                               metric.id) != options.metrics.end())
        wanted.push_back(metric);
    auto chosen = choose_pm_metrics(functions(), chip, availability, wanted);
    if (!chosen) return tl::unexpected(chosen.error());
    choice = std::move(*chosen);
    values.resize(choice.counters.size());
    GF_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize, evaluator);
    evaluator.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
    evaluator.pChipName = chip.c_str();
    evaluator.pCounterAvailabilityImage = availability.data();
    if (const auto code = functions().cuptiProfilerHostInitialize(&evaluator);
        code != CUPTI_SUCCESS)
      return refused("the evaluator does not start", code, why);
    host = evaluator.pHostObject;
    return {};
  }
  Status begin_session(PmRefusal& why) {
    if (const auto code = enable(); code != CUPTI_SUCCESS) {
      auto error = refused("PM sampling cannot be enabled", code, why);
      if (why == PmRefusal::other)
        why = PmRefusal::in_use;  // one session a device: CUPTI has no code of its own for it
      return error;
    }
    hardware_bytes = options.hardware_buffer_bytes;
    if (hardware_bytes == 0) hardware_bytes = static_cast<std::size_t>(pm_buffer_bytes(options));
    const char* step = "";
    if (const auto code = begin(step); code != CUPTI_SUCCESS) return refused(step, code, why);
    return {};
  }
  /// The image to decode into: what does not fit is lost, so a late call gets a larger one, for
  /// this once. Null: no memory.
  Image* image_for(Nanos now) {
    const std::int64_t arrived = (now - drained) / options.interval_ns;
    if (arrived + kSpare <= usual.samples) return &usual;
    if (make(large, std::min(arrived * 11 / 10 + kSpare,
                             std::max(kMostImageSamples, usual.samples))) == CUPTI_SUCCESS)
      return &large;
    return &usual;
  }
  /// The samples of a decoded image into `rows`.
  CUptiResult list_rows(Image& image) {
    rows.clear();
    GF_CUPTI_PARAMS(CUpti_PmSampling_GetCounterDataInfo, info);
    info.pCounterDataImage = image.bytes.data();
    info.counterDataImageSize = image.bytes.size();
    if (const auto code = functions().cuptiPmSamplingGetCounterDataInfo(&info);
        code != CUPTI_SUCCESS)
      return code;
    for (std::size_t i = 0; i < info.numCompletedSamples; ++i) {
      GF_CUPTI_PARAMS(CUpti_PmSampling_CounterData_GetSampleInfo, sample);
      sample.pPmSamplingObject = object;
      sample.pCounterDataImage = image.bytes.data();
      sample.counterDataImageSize = image.bytes.size();
      sample.sampleIndex = i;
      if (functions().cuptiPmSamplingCounterDataGetSampleInfo(&sample) != CUPTI_SUCCESS) break;
      rows.push_back({sample.startTimestamp, sample.endTimestamp});
    }
    return CUPTI_SUCCESS;
  }
  /// The metrics of a sample of a decoded image into `values`.
  bool evaluate(Image& image, std::size_t row) {
    GF_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, params);
    params.pHostObject = host;
    params.pCounterDataImage = image.bytes.data();
    params.counterDataImageSize = image.bytes.size();
    params.rangeIndex = row;
    params.ppMetricNames = choice.counters.data();
    params.numMetrics = choice.counters.size();
    params.pMetricValues = values.data();
    if (functions().cuptiProfilerHostEvaluateToGpuValues(&params) != CUPTI_SUCCESS) return false;
    for (std::size_t metric = 0; metric < choice.metrics.size(); ++metric) {
      double& value = values[metric];
      value *= choice.metrics[metric]->scale;
      const auto share = choice.share_of[metric];
      if (!share) continue;
      if (value > 0 && std::isfinite(values[share]))
        value *= values[share];
      else
        value = 0;
    }
    return true;
  }
  /// Makes room for the next samples. The large image, and what CUPTI needed to fill it, goes back
  /// to the system: tens of MB that may never be needed again.
  CUptiResult clear(Image& used) {
    if (&used == &large) {
      large = {};
      malloc_trim(0);
    } else if (rows.empty()) {
      return CUPTI_SUCCESS;
    } else if (empty(usual) == CUPTI_SUCCESS) {
      return CUPTI_SUCCESS;
    }
    // CUPTI initializes images of the size that it was last asked for only: after another size, or
    // when it refuses, the usual one is made anew.
    return make(usual, usual.samples);
  }
};

PmSampler::PmSampler() : state_(std::make_unique<State>()) {}

Result<std::unique_ptr<PmSampler>> PmSampler::start(std::shared_ptr<Cupti> cupti,
                                                    const GpuInfo& gpu, const PmOptions& options,
                                                    PmRefusal& why) {
  why = PmRefusal::other;
  auto index = cupti->cuda_index(gpu);
  if (!index) return tl::unexpected(index.error());
  std::unique_ptr<PmSampler> sampler(new PmSampler);
  auto& state = *sampler->state_;
  state.cupti = std::move(cupti);
  state.options = options;
  state.gaps = PmGaps(options.interval_ns);
  state.device = static_cast<std::size_t>(*index);
  // Turing and GA100 count cycles of the system clock instead of time; about 1.4 GHz.
  state.by_time = !(gpu.compute_major == 7 || (gpu.compute_major == 8 && gpu.compute_minor == 0));
  using Step = Status (State::*)(PmRefusal&);
  for (Step step :
       {&State::find_chip, &State::list_counters, &State::choose_counters, &State::begin_session})
    if (const Status done = (state.*step)(why); !done) return tl::unexpected(done.error());
  why = PmRefusal::none;
  return sampler;
}

PmSampler::~PmSampler() {
  auto& state = *state_;
  if (!state.cupti) return;
  state.stop();
  state.disable();
  if (state.host) {
    GF_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize, params);
    params.pHostObject = state.host;
    state.cupti->functions().cuptiProfilerHostDeinitialize(&params);
  }
}

Status PmSampler::drain(const std::function<void(const PmSample&)>& take) {
  auto& state = *state_;
  const double cpu0 = thread_cpu_seconds();
  const Nanos asked = host_now();
  auto* image = state.image_for(asked);
  state.drained = asked;
  GF_CUPTI_PARAMS(CUpti_PmSampling_DecodeData, decode);
  decode.pPmSamplingObject = state.object;
  decode.pCounterDataImage = image->bytes.data();
  decode.counterDataImageSize = image->bytes.size();
  const auto decoded = state.functions().cuptiPmSamplingDecodeData(&decode);
  // Samples in the GPU's buffer, and those that it had no room for, show as a gap.
  if (decoded == CUPTI_ERROR_OUT_OF_MEMORY) return state.begin_again();
  if (decoded != CUPTI_SUCCESS)
    return fail("PM samples cannot be decoded: " + state.functions().text(decoded));
  const Nanos now = host_now();
  if (decode.overflow) ++state.overflows;
  if (const auto code = state.list_rows(*image); code != CUPTI_SUCCESS)
    return fail("PM samples cannot be counted: " + state.functions().text(code));
  const double cpu1 = thread_cpu_seconds();
  state.cost.decode_s += cpu1 - cpu0;
  if (!state.rows.empty())
    state.clock.observe(static_cast<std::int64_t>(state.rows.back().end), now);
  for (std::size_t i = 0; i < state.rows.size(); ++i) {
    const auto start = static_cast<std::int64_t>(state.rows[i].start);
    const auto end = static_cast<std::int64_t>(state.rows[i].end);
    if (!state.gaps.follows(start, end)) continue;
    if (!state.evaluate(*image, i)) {
      state.gaps.lose();
      continue;
    }
    ++state.samples;
    take({state.clock.host(start), state.clock.host(end), start, end, state.values.data()});
  }
  const double cpu2 = thread_cpu_seconds();
  state.cost.evaluate_s += cpu2 - cpu1;
  if (const auto code = state.clear(*image); code != CUPTI_SUCCESS)
    return fail("the sample buffer cannot be emptied: " + state.functions().text(code));
  state.cost.reset_s += thread_cpu_seconds() - cpu2;
  return {};
}

const PmChoice& PmSampler::choice() const { return state_->choice; }
const std::string& PmSampler::chip() const { return state_->chip; }
std::int64_t PmSampler::samples() const { return state_->samples; }
std::int64_t PmSampler::lost() const { return state_->gaps.lost(); }
std::int64_t PmSampler::overflows() const { return state_->overflows; }
std::int64_t PmSampler::clock_offset_ns() const { return state_->clock.offset(); }
PmSampler::Cost PmSampler::cost() const { return state_->cost; }
std::size_t PmSampler::hardware_bytes() const { return state_->hardware_bytes; }
std::size_t PmSampler::image_bytes() const { return state_->usual.bytes.size(); }
std::size_t PmSampler::image_samples() const {
  return static_cast<std::size_t>(state_->usual.samples);
}

}  // namespace gf
