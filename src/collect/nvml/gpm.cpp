#include "collect/nvml/gpm.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "collect/nvml/nvml.h"
#include "core/time.h"
#include "model/metrics.h"

namespace gf {

namespace {

/// A metric of the catalog that GPM gives, and its conversion.
struct GpmMetric {
  const char* id;
  MetricTerm term;
};
std::span<const GpmMetric> gpm_metrics() {
  static const std::vector<GpmMetric> all = [] {
    std::vector<GpmMetric> out;
    for (const MetricInput& input : metric_inputs())
      if (input.source == MetricSource::gpm) out.push_back({input.metric.data(), term_of(input)});
    return out;
  }();
  return all;
}

constexpr Nanos kJitter = 10 * kNsPerMs;

// nvmlGpmMetricsGet_t ends in an array whose length grows with the driver's headers while its
// version stays 1: a newer driver may write past an older header's struct. This is its beginning,
// with room for far more metrics than any has.
struct MetricsGet {
  unsigned version;
  unsigned count;
  nvmlGpmSample_t sample1, sample2;
  nvmlGpmMetric_t metrics[1024];
};
static_assert(offsetof(MetricsGet, metrics) == offsetof(nvmlGpmMetricsGet_t, metrics));
static_assert(sizeof(MetricsGet) > 2 * sizeof(nvmlGpmMetricsGet_t));

// NVML may be called from any thread, GPM may not: with a thread for each of two GPUs the driver's
// library crashed in nvmlGpmMetricsGet (docs/results/monitor_two_gpus_h200.json). A GPU whose call
// never returns keeps the others out; they go without levels then, as they would without GPM.
std::timed_mutex one_at_a_time;
constexpr std::chrono::milliseconds kTurn{500};

}  // namespace

struct Gpm::State {
  const NvmlFunctions* f;
  nvmlDevice_t device;
  std::optional<unsigned> gpu_instance;
  nvmlGpmSample_t older = nullptr, newer = nullptr;
  Nanos older_ns = 0;
  Nanos older_done_ns = 0;  // when the driver had given it: it may be as young as that
  std::unique_ptr<MetricsGet> request = std::make_unique<MetricsGet>();

  bool take(nvmlGpmSample_t sample) {
    const auto code = gpu_instance
                          ? nvml_call(f->nvmlGpmMigSampleGet, device, *gpu_instance, sample)
                          : nvml_call(f->nvmlGpmSampleGet, device, sample);
    return code == NVML_SUCCESS;
  }
};

Gpm::Gpm(const Nvml& nvml, const GpuInfo& gpu, std::optional<unsigned> gpu_instance)
    : state_(std::make_unique<State>()) {
  state_->f = &nvml.functions();
  state_->device = gpu.handle;
  state_->gpu_instance = gpu_instance;
  const std::unique_lock alone(one_at_a_time, kTurn);
  if (!alone) return;
  if (nvml_call(state_->f->nvmlGpmSampleAlloc, &state_->older) != NVML_SUCCESS)
    state_->older = nullptr;
  if (nvml_call(state_->f->nvmlGpmSampleAlloc, &state_->newer) != NVML_SUCCESS)
    state_->newer = nullptr;
}
Gpm::Gpm(Gpm&&) noexcept = default;
Gpm::~Gpm() {
  if (!state_) return;
  const std::unique_lock alone(one_at_a_time, kTurn);
  if (!alone) return;  // the samples are small, and the program is about to end
  for (auto sample : {state_->older, state_->newer})
    if (sample) nvml_call(state_->f->nvmlGpmSampleFree, sample);
}

std::optional<Gpm::Window> Gpm::read() {
  auto& state = *state_;
  if (!state.older || !state.newer) return {};
  Nanos now = host_now();
  if (const Nanos left = state.older_ns ? state.older_done_ns + kShortest - now : 0; left > 0) {
    if (left > kJitter) return {};
    std::this_thread::sleep_for(
        std::chrono::nanoseconds(left));  // a timer of 100 ms comes now a little early, now late
  }
  const std::unique_lock alone(one_at_a_time, kTurn);
  if (!alone) return {};
  now = host_now();
  const bool first = state.older_ns == 0;
  if (!state.take(first ? state.older : state.newer)) return {};
  const Nanos done = host_now();
  if (first) {
    state.older_ns = now;
    state.older_done_ns = done;
    return {};
  }
  auto& request = *state.request;
  std::memset(&request, 0, sizeof request);
  request.version = NVML_GPM_METRICS_GET_VERSION;
  request.sample1 = state.older;
  request.sample2 = state.newer;
  for (const auto& metric : gpm_metrics())
    request.metrics[request.count++].metricId = static_cast<unsigned>(metric.term.number);
  Window window{state.older_ns, now, {}};
  const auto code =
      nvml_call(state.f->nvmlGpmMetricsGet, reinterpret_cast<nvmlGpmMetricsGet_t*>(&request));
  std::swap(state.older, state.newer);
  state.older_ns = now;
  state.older_done_ns = done;
  if (code != NVML_SUCCESS) return {};
  const double seconds = static_cast<double>(window.end_ns - window.start_ns) * 1e-9;
  for (std::size_t i = 0; i < gpm_metrics().size(); ++i) {
    const auto& [id, term] = gpm_metrics()[i];
    if (request.metrics[i].nvmlReturn != NVML_SUCCESS || !std::isfinite(request.metrics[i].value))
      continue;
    window.values.emplace_back(
        id, request.metrics[i].value * term.factor * (term.rate ? seconds : 1.0));
  }
  return window;
}

}  // namespace gf
