#include "collect/cupti/pm_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "collect/cupti/pm_sampler.h"
#include "model/metrics.h"

namespace gf {

namespace {

/// The rows of the catalog that are asked for in one of the sets, by rank.
std::vector<PmMetric> metrics_of(PmSets set) {
  std::vector<MetricInput> rows;
  for (const MetricInput& input : metric_inputs())
    if (input.source == MetricSource::pm && (input.pm_sets & set)) rows.push_back(input);
  std::ranges::stable_sort(rows, {}, &MetricInput::pm_rank);
  std::vector<PmMetric> out;
  for (const MetricInput& row : rows) {
    const MetricTerm term = term_of(row);
    if (out.empty() || out.back().id != row.metric)
      out.push_back({row.metric.data(),
                     {},
                     term.factor,
                     find_metric(row.metric)->unit != "ratio",
                     std::string(term.times)});
    out.back().counters.emplace_back(term.counter);
  }
  return out;
}

}  // namespace

std::span<const PmMetric> pm_metrics() {
  static const auto all = metrics_of(kLevelSet);
  return all;
}

std::span<const PmMetric> pm_cache_metrics() {
  static const auto all = metrics_of(kCacheSet);
  return all;
}

std::span<const PmMetric> pm_energy_metrics() {
  static const auto all = metrics_of(kEnergySet);
  return all;
}

PmSet pm_set(std::string_view name) {
  if (name == "energy") return {pm_energy_metrics(), kPmEnergySampleBytes};
  if (name == "caches") return {pm_cache_metrics(), kPmSampleBytes};
  return {pm_metrics(), kPmSampleBytes};
}

namespace {

/// Puts the ratios of a choice behind its counters, each once.
void add_shares(PmChoice& choice) {
  choice.share_of.assign(choice.metrics.size(), 0);
  for (std::size_t index = 0; index < choice.metrics.size(); ++index) {
    const std::string& share = choice.metrics[index]->share;
    if (share.empty()) continue;
    auto at =
        std::find(choice.counters.begin() + static_cast<std::ptrdiff_t>(choice.metrics.size()),
                  choice.counters.end(), share);
    choice.share_of[index] = static_cast<std::size_t>(at - choice.counters.begin());
    if (at == choice.counters.end()) choice.counters.push_back(share.c_str());
  }
}

/// A configuration under construction; every trial needs a fresh one, because each call of
/// ConfigAddMetrics opens a pass.
class HostConfig {
 public:
  HostConfig(const CuptiFunctions& cupti, const std::string& chip,
             std::vector<std::uint8_t>& availability)
      : cupti_(cupti) {
    GF_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize, params);
    params.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
    params.pChipName = chip.c_str();
    params.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
    code_ = cupti_.cuptiProfilerHostInitialize(&params);
    host_ = params.pHostObject;
  }
  ~HostConfig() {
    if (code_ != CUPTI_SUCCESS) return;
    GF_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize, params);
    params.pHostObject = host_;
    cupti_.cuptiProfilerHostDeinitialize(&params);
  }
  CUptiResult code() const { return code_; }
  bool knows(const char* counter) {
    GF_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties, params);
    params.pHostObject = host_;
    params.pMetricName = counter;
    return cupti_.cuptiProfilerHostGetMetricProperties(&params) == CUPTI_SUCCESS;
  }

  /// Passes that the counters need together, 0 when one of them is unknown to the chip. All go into
  /// one call.
  std::size_t passes(std::vector<const char*>& counters,
                     std::vector<std::uint8_t>* config = nullptr) {
    GF_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, add);
    add.pHostObject = host_;
    add.ppMetricNames = counters.data();
    add.numMetrics = counters.size();
    if (cupti_.cuptiProfilerHostConfigAddMetrics(&add) != CUPTI_SUCCESS) return 0;
    GF_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size);
    size.pHostObject = host_;
    if (cupti_.cuptiProfilerHostGetConfigImageSize(&size) != CUPTI_SUCCESS) return 0;
    std::vector<std::uint8_t> image(size.configImageSize);
    GF_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage, get);
    get.pHostObject = host_;
    get.pConfigImage = image.data();
    get.configImageSize = image.size();
    if (cupti_.cuptiProfilerHostGetConfigImage(&get) != CUPTI_SUCCESS) return 0;
    GF_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses, params);
    params.configImageSize = image.size();
    params.pConfigImage = image.data();
    if (cupti_.cuptiProfilerHostGetNumOfPasses(&params) != CUPTI_SUCCESS) return 0;
    if (config) *config = std::move(image);
    return params.numOfPasses;
  }

 private:
  const CuptiFunctions& cupti_;
  CUptiResult code_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
};

}  // namespace

Result<PmChoice> choose_pm_metrics(const CuptiFunctions& cupti, const std::string& chip,
                                   std::vector<std::uint8_t>& availability,
                                   std::span<const PmMetric> wanted) {
  PmChoice choice;
  {
    // Most chips take everything they know at once: one trial instead of one a metric.
    HostConfig all(cupti, chip, availability);
    if (all.code() != CUPTI_SUCCESS)
      return fail(fmt::format("CUPTI does not know the chip {}: {}", chip, cupti.text(all.code())),
                  {}, -1, "use a newer libcupti");
    PmChoice whole;
    for (const auto& metric : wanted) {
      const auto known =
          std::find_if(metric.counters.begin(), metric.counters.end(),
                       [&](const auto& counter) { return all.knows(counter.c_str()); });
      if (known == metric.counters.end() ||
          (!metric.share.empty() && !all.knows(metric.share.c_str()))) {
        whole.left_out.emplace_back(metric.id);
        continue;
      }
      whole.metrics.push_back(&metric);
      whole.counters.push_back(known->c_str());
    }
    add_shares(whole);
    if (!whole.metrics.empty() && all.passes(whole.counters, &whole.config) == 1) return whole;
  }
  for (const auto& metric : wanted) {
    bool taken = false;
    for (const auto& counter : metric.counters) {
      PmChoice trial;
      trial.metrics = choice.metrics;
      trial.counters.assign(
          choice.counters.begin(),
          choice.counters.begin() + static_cast<std::ptrdiff_t>(choice.metrics.size()));
      trial.metrics.push_back(&metric);
      trial.counters.push_back(counter.c_str());
      add_shares(trial);
      HostConfig config(cupti, chip, availability);
      if (config.passes(trial.counters, &trial.config) != 1) continue;
      trial.left_out = std::move(choice.left_out);
      choice = std::move(trial);
      taken = true;
      break;
    }
    if (!taken) choice.left_out.emplace_back(metric.id);
  }
  if (choice.metrics.empty())
    return fail(fmt::format("CUPTI offers none of the counters on the chip {}", chip));
  return choice;
}

PmRefusal refusal_of(CUptiResult code) {
  switch (code) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return PmRefusal::permission;
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return PmRefusal::in_use;
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_INVALID_DEVICE:
    case CUPTI_ERROR_CDP_TRACING_NOT_SUPPORTED:
      return PmRefusal::unsupported;
    default:
      return PmRefusal::other;
  }
}

const char* advice_for(PmRefusal why) {
  switch (why) {
    case PmRefusal::permission:
      return "run as root or with CAP_SYS_ADMIN, or load the driver with "
             "NVreg_RestrictProfilingToAdminUsers=0 (options nvidia in /etc/modprobe.d)";
    case PmRefusal::in_use:
      return "another profiler uses this GPU's counters: stop it, or wait";
    case PmRefusal::unsupported:
      return "PM sampling needs Turing or newer, without vGPU, MIG or confidential computing";
    case PmRefusal::driver:
      return "PM sampling needs a driver for CUDA 12.6 or newer and a libcupti of the same "
             "generation";
    default:
      return "";
  }
}

namespace {

// The samples and bytes that a drain should find. Fewer cost more each, more take room.
constexpr std::int64_t kSamplesOfADrain = 250, kBytesOfADrain = 24 << 20;
constexpr Nanos kShortestPeriod = 50 * kNsPerMs, kLongestPeriod = 250 * kNsPerMs;
constexpr std::int64_t kLeastBuffer = 2 << 20;
// A host without time for us for so long must not cost samples, where that takes no more than this.
constexpr Nanos kStall = kNsPerSecond / 2;
constexpr std::int64_t kStallBuffer = 128 << 20;
// Energy's samples take up to 2.9 ms each to decode while the GPU is busy, and what is decoded is
// free again only when all of it is: half a second of room overflowed (H100, driver 580).
constexpr std::int64_t kLargeSample = 100 << 10, kLargeSampleBuffer = 256 << 20;

}  // namespace

Nanos pm_decode_period(std::int64_t interval_ns, std::int64_t sample_bytes) {
  const std::int64_t samples = std::min(kSamplesOfADrain, kBytesOfADrain / sample_bytes);
  return std::clamp(samples * interval_ns, kShortestPeriod, kLongestPeriod);
}

std::int64_t pm_buffer_bytes(const PmOptions& options) {
  const auto arrives_in = [&](Nanos time) {
    return time / options.interval_ns * options.sample_bytes;
  };
  const std::int64_t stall = options.sample_bytes < kLargeSample
                                 ? std::min(arrives_in(kStall), kStallBuffer)
                                 : kLargeSampleBuffer;
  const std::int64_t held = std::max(2 * arrives_in(options.decode_every_ns), stall);
  return std::clamp(held + arrives_in(options.first_drain_ns), kLeastBuffer, kPmMostBuffer);
}

}  // namespace gf
