#include "collect/nvml/gpm.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "collect/nvml/functions.h"
#include "core/host_clock.h"
#include "model/metric_id.h"

namespace gf {

namespace {

/// One metric of the catalogue and where GPM keeps it.
struct GpmMetric {
  const char* id;   // metric id of the catalogue
  unsigned gpm_id;  // nvmlGpmMetricId_t
  double scale;     // from GPM's unit (percent, MiB/s) to the catalogue's
  bool per_second;  // GPM gives a rate, the catalogue a count over the span
};

constexpr double kPercent = 0.01, kMebibyte = 1 << 20;
constexpr Nanos kJitter = 10 * kNsPerMs;
constexpr GpmMetric kGpmMetrics[] = {
    {"gpu.busy"_metric, 1, kPercent, false},
    {"sm.active_any"_metric, 2, kPercent, false},
    {"sm.occupancy"_metric, 3, kPercent, false},
    {"tensor.active"_metric, 5, kPercent, false},
    {"tensor.hmma_active"_metric, 7, kPercent, false},
    {"tensor.dmma_active"_metric, 8, kPercent, false},
    {"tensor.imma_active"_metric, 9, kPercent, false},
    {"pipe.alu"_metric, 4, kPercent, false},
    {"pipe.fp64"_metric, 11, kPercent, false},
    {"pipe.fma"_metric, 12, kPercent, false},
    {"pipe.fp16"_metric, 13, kPercent, false},
    {"dram.active"_metric, 10, kPercent, false},
    {"pcie.tx"_metric, 20, kMebibyte, true},
    {"pcie.rx"_metric, 21, kMebibyte, true},
    {"nvlink.rx"_metric, 60, kMebibyte, true},
    {"nvlink.tx"_metric, 61, kMebibyte, true},
};

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

}  // namespace

struct Gpm::State {
  const NvmlFunctions* f;
  nvmlDevice_t device;
  std::optional<unsigned> gpu_instance;
  nvmlGpmSample_t older = nullptr, newer = nullptr;
  Nanos older_ns = 0;
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
  if (nvml_call(state_->f->nvmlGpmSampleAlloc, &state_->older) != NVML_SUCCESS)
    state_->older = nullptr;
  if (nvml_call(state_->f->nvmlGpmSampleAlloc, &state_->newer) != NVML_SUCCESS)
    state_->newer = nullptr;
}
Gpm::Gpm(Gpm&&) noexcept = default;
Gpm::~Gpm() {
  if (!state_) return;
  for (auto sample : {state_->older, state_->newer})
    if (sample) nvml_call(state_->f->nvmlGpmSampleFree, sample);
}

std::optional<Gpm::Window> Gpm::read() {
  auto& state = *state_;
  if (!state.older || !state.newer) return {};
  Nanos now = host_now();
  if (const Nanos left = state.older_ns ? state.older_ns + kShortest - now : 0; left > 0) {
    if (left > kJitter) return {};
    std::this_thread::sleep_for(
        std::chrono::nanoseconds(left));  // a timer of 100 ms comes now a little early, now late
    now = host_now();
  }
  if (!state.take(state.older_ns ? state.newer : state.older)) return {};
  if (!state.older_ns) {
    state.older_ns = now;
    return {};
  }
  auto& request = *state.request;
  std::memset(&request, 0, sizeof request);
  request.version = NVML_GPM_METRICS_GET_VERSION;
  request.sample1 = state.older;
  request.sample2 = state.newer;
  for (const auto& metric : kGpmMetrics) request.metrics[request.count++].metricId = metric.gpm_id;
  Window window{state.older_ns, now, {}};
  const auto code =
      nvml_call(state.f->nvmlGpmMetricsGet, reinterpret_cast<nvmlGpmMetricsGet_t*>(&request));
  std::swap(state.older, state.newer);
  state.older_ns = now;
  if (code != NVML_SUCCESS) return {};
  for (std::size_t i = 0; i < std::size(kGpmMetrics); ++i)
    if (request.metrics[i].nvmlReturn == NVML_SUCCESS && std::isfinite(request.metrics[i].value)) {
      double span = 1.0;
      if (kGpmMetrics[i].per_second)
        span = static_cast<double>(window.end_ns - window.start_ns) * 1e-9;
      window.values.emplace_back(kGpmMetrics[i].id,
                                 request.metrics[i].value * kGpmMetrics[i].scale * span);
    }
  return window;
}

}  // namespace gf
