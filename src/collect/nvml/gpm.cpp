#include "collect/nvml/gpm.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "collect/nvml/functions.h"

namespace gf {

namespace {

constexpr double kPercent = 0.01, kMebibyte = 1 << 20;
constexpr GpmMetric kMetrics[] = {
    {"gpu.busy", 1, kPercent, "compute or graphics engine active"},
    {"sm.active", 2, kPercent, "SMs with at least one warp, averaged over SMs"},
    {"sm.occupancy", 3, kPercent, "resident warps over the most an SM can hold"},
    {"tensor.active", 5, kPercent, "tensor pipe active, any type"},
    {"tensor.half.active", 7, kPercent, "tensor pipe active, half and single types"},
    {"tensor.integer.active", 9, kPercent, "tensor pipe active, integer types"},
    {"tensor.double.active", 6, kPercent, "tensor pipe active, double"},
    {"integer.active", 4, kPercent, "integer pipe active"},
    {"fp64.active", 11, kPercent, "FP64 pipe active"},
    {"fp32.active", 12, kPercent, "FP32 pipe active"},
    {"fp16.active", 13, kPercent, "FP16 pipe active, without tensor work"},
    {"dram.active", 10, kPercent, "DRAM bandwidth used over the peak"},
    {"pcie.tx", 20, kMebibyte, "PCIe bytes per second from the GPU"},
    {"pcie.rx", 21, kMebibyte, "PCIe bytes per second to the GPU"},
    {"nvlink.rx", 60, kMebibyte, "NVLink bytes per second received, all links"},
    {"nvlink.tx", 61, kMebibyte, "NVLink bytes per second sent, all links"},
};

// nvmlGpmMetricsGet_t ends in an array whose length grows with the driver's headers while its version stays 1: a newer
// driver may write past an older header's struct. This is its beginning, with room for far more metrics than any has.
struct MetricsGet {
  unsigned version;
  unsigned count;
  nvmlGpmSample_t sample1, sample2;
  nvmlGpmMetric_t metrics[1024];
};
static_assert(offsetof(MetricsGet, metrics) == offsetof(nvmlGpmMetricsGet_t, metrics));
static_assert(sizeof(MetricsGet) > 2 * sizeof(nvmlGpmMetricsGet_t));

}  // namespace

std::span<const GpmMetric> gpm_metrics() { return kMetrics; }

struct Gpm::State {
  const NvmlFunctions* f;
  nvmlDevice_t device;
  std::optional<unsigned> gpu_instance;
  nvmlGpmSample_t older = nullptr, newer = nullptr;
  Nanos older_ns = 0;
  std::unique_ptr<MetricsGet> request = std::make_unique<MetricsGet>();

  bool take(nvmlGpmSample_t sample) {
    const auto code = gpu_instance ? nvml_call(f->nvmlGpmMigSampleGet, device, *gpu_instance, sample) : nvml_call(f->nvmlGpmSampleGet, device, sample);
    return code == NVML_SUCCESS;
  }
};

Gpm::Gpm(const Nvml& nvml, const GpuInfo& gpu, std::optional<unsigned> gpu_instance) : state_(std::make_unique<State>()) {
  state_->f = &nvml.functions();
  state_->device = gpu.handle;
  state_->gpu_instance = gpu_instance;
  if (nvml_call(state_->f->nvmlGpmSampleAlloc, &state_->older) != NVML_SUCCESS) state_->older = nullptr;
  if (nvml_call(state_->f->nvmlGpmSampleAlloc, &state_->newer) != NVML_SUCCESS) state_->newer = nullptr;
}
Gpm::Gpm(Gpm&&) noexcept = default;
Gpm::~Gpm() {
  if (!state_) return;
  for (auto sample : {state_->older, state_->newer})
    if (sample) nvml_call(state_->f->nvmlGpmSampleFree, sample);
}

std::optional<Gpm::Window> Gpm::read() {
  auto& s = *state_;
  if (!s.older || !s.newer) return {};
  const Nanos now = host_now();
  if (s.older_ns && now - s.older_ns < kShortest) return {};
  if (!s.take(s.older_ns ? s.newer : s.older)) return {};
  if (!s.older_ns) {
    s.older_ns = now;
    return {};
  }
  auto& q = *s.request;
  std::memset(&q, 0, sizeof q);
  q.version = NVML_GPM_METRICS_GET_VERSION;
  q.sample1 = s.older;
  q.sample2 = s.newer;
  for (const auto& metric : kMetrics) q.metrics[q.count++].metricId = metric.gpm_id;
  Window window{s.older_ns, now, {}};
  const auto code = nvml_call(s.f->nvmlGpmMetricsGet, reinterpret_cast<nvmlGpmMetricsGet_t*>(&q));
  std::swap(s.older, s.newer);
  s.older_ns = now;
  if (code != NVML_SUCCESS) return {};
  for (std::size_t i = 0; i < std::size(kMetrics); ++i)
    if (q.metrics[i].nvmlReturn == NVML_SUCCESS && std::isfinite(q.metrics[i].value)) window.values.emplace_back(&kMetrics[i], q.metrics[i].value * kMetrics[i].scale);
  return window;
}

}  // namespace gf
