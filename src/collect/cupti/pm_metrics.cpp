#include "collect/cupti/pm_metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace gf {

std::span<const PmMetric> pm_metrics() {
  // The TriageCompute names are counters that the chip lays out to be sampled together; the plain names serve chips
  // without them.
  static const std::vector<PmMetric> metrics{
      {"gpu.busy", {"FE_B.TriageCompute.gr__cycles_active.avg.pct_of_peak_sustained_elapsed", "gr__cycles_active.avg.pct_of_peak_sustained_elapsed"}, 0.01, false},
      {"sm.active_any", {"TPC.TriageCompute.sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"}, 0.01, false},
      {"issue.active", {"TPC.TriageCompute.sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed", "sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed"}, 0.01, false},
      {"tensor.active",
       {"TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed", "sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed",
        "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"},
       0.01,
       false},
      {"sm.occupancy",
       {"TPC.TriageCompute.sm__warps_active_realtime.avg.pct_of_peak_sustained_elapsed", "sm__warps_active_realtime.avg.pct_of_peak_sustained_elapsed",
        "TPC.TriageCompute.tpc__warps_active_realtime.avg.pct_of_peak_sustained_elapsed"},
       0.01,
       false},
      {"dram.read", {"dram__bytes_read.sum", "dram__bytes_op_read.sum"}, 1, true},
      {"dram.write", {"dram__bytes_write.sum", "dram__bytes_op_write.sum"}, 1, true},
      {"l2.sectors", {"lts__t_sectors.sum"}, 1, true},
      {"dram.active", {"dram__throughput.avg.pct_of_peak_sustained_elapsed"}, 0.01, false},
      {"l1.sectors", {"SM_B.TriageCompute.l1tex__t_sectors.sum", "l1tex__t_sectors.sum"}, 1, true},
      {"l1.hits", {"SM_B.TriageCompute.l1tex__t_sectors_lookup_hit.sum", "l1tex__t_sectors_lookup_hit.sum"}, 1, true},
      {"pcie.rx", {"PCI.TriageCompute.pcie__read_bytes.sum", "pcie__read_bytes.sum"}, 1, true},
      {"pcie.tx", {"PCI.TriageCompute.pcie__write_bytes.sum", "pcie__write_bytes.sum"}, 1, true},
      {"nvlink.rx", {"NVLRX.TriageCompute.nvlrx__bytes_packet_request_data_user.sum", "nvlrx__bytes.sum"}, 1, true},
      {"nvlink.tx", {"NVLTX.TriageCompute.nvltx__bytes_packet_request_data_user.sum", "nvltx__bytes.sum"}, 1, true},
  };
  return metrics;
}

namespace {

/// A configuration under construction; every trial needs a fresh one, because each call of ConfigAddMetrics opens a pass.
class HostConfig {
 public:
  HostConfig(const CuptiFunctions& cupti, const std::string& chip, std::vector<std::uint8_t>& availability) : cupti_(cupti) {
    GF_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize, p);
    p.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
    p.pChipName = chip.c_str();
    p.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
    code_ = cupti_.cuptiProfilerHostInitialize(&p);
    host_ = p.pHostObject;
  }
  ~HostConfig() {
    if (code_ != CUPTI_SUCCESS) return;
    GF_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize, p);
    p.pHostObject = host_;
    cupti_.cuptiProfilerHostDeinitialize(&p);
  }
  CUptiResult code() const { return code_; }
  bool knows(const char* counter) {
    GF_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties, p);
    p.pHostObject = host_;
    p.pMetricName = counter;
    return cupti_.cuptiProfilerHostGetMetricProperties(&p) == CUPTI_SUCCESS;
  }

  /// Passes that the counters need together, 0 when one of them is unknown to the chip. All go into one call.
  std::size_t passes(std::vector<const char*>& counters, std::vector<std::uint8_t>* config = nullptr) {
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
    GF_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses, n);
    n.configImageSize = image.size();
    n.pConfigImage = image.data();
    if (cupti_.cuptiProfilerHostGetNumOfPasses(&n) != CUPTI_SUCCESS) return 0;
    if (config) *config = std::move(image);
    return n.numOfPasses;
  }

 private:
  const CuptiFunctions& cupti_;
  CUptiResult code_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
};

}  // namespace

Result<PmChoice> choose_pm_metrics(const CuptiFunctions& cupti, const std::string& chip, std::vector<std::uint8_t>& availability, std::span<const PmMetric> wanted) {
  PmChoice choice;
  {
    // Most chips take everything they know at once: one trial instead of one a metric.
    HostConfig all(cupti, chip, availability);
    if (all.code() != CUPTI_SUCCESS) return fail(fmt::format("CUPTI does not know the chip {}: {}", chip, cupti.text(all.code())), {}, -1, "use a newer libcupti");
    PmChoice whole;
    for (const auto& metric : wanted) {
      const auto known = std::find_if(metric.counters.begin(), metric.counters.end(), [&](const char* c) { return all.knows(c); });
      if (known == metric.counters.end()) {
        whole.left_out.emplace_back(metric.id);
        continue;
      }
      whole.metrics.push_back(&metric);
      whole.counters.push_back(*known);
    }
    if (!whole.metrics.empty() && all.passes(whole.counters, &whole.config) == 1) return whole;
  }
  for (const auto& metric : wanted) {
    bool taken = false;
    for (const char* counter : metric.counters) {
      auto trial = choice.counters;
      trial.push_back(counter);
      HostConfig config(cupti, chip, availability);
      std::vector<std::uint8_t> image;
      if (config.passes(trial, &image) != 1) continue;
      choice.counters = std::move(trial);
      choice.config = std::move(image);
      choice.metrics.push_back(&metric);
      taken = true;
      break;
    }
    if (!taken) choice.left_out.emplace_back(metric.id);
  }
  if (choice.metrics.empty()) return fail(fmt::format("CUPTI offers none of the counters on the chip {}", chip));
  return choice;
}

}  // namespace gf
