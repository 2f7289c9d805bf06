#include "collect/cupti/pm_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "model/metric_id.h"

namespace gf {

std::span<const PmMetric> pm_metrics() {
  // The TriageCompute names are counters that the chip lays out to be sampled together; the plain
  // names serve chips without them.
  static const std::vector<PmMetric> metrics{
      {"gpu.busy"_metric,
       {"FE_B.TriageCompute.gr__cycles_active.avg.pct_of_peak_sustained_elapsed",
        "gr__cycles_active.avg.pct_of_peak_sustained_elapsed"},
       0.01,
       false},
      {"sm.active_any"_metric,
       {"TPC.TriageCompute.sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
        "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"},
       0.01,
       false},
      {"issue.active"_metric,
       {"TPC.TriageCompute.sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed",
        "sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed"},
       0.01,
       false},
      {"tensor.active"_metric,
       {"TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_"
        "elapsed",
        "sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed",
        "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"},
       0.01,
       false},
      {"sm.occupancy"_metric,
       {"TPC.TriageCompute.sm__warps_active_realtime.avg.pct_of_peak_sustained_elapsed",
        "sm__warps_active_realtime.avg.pct_of_peak_sustained_elapsed",
        "TPC.TriageCompute.tpc__warps_active_realtime.avg.pct_of_peak_sustained_elapsed"},
       0.01,
       false},
      {"dram.read"_metric, {"dram__bytes_read.sum", "dram__bytes_op_read.sum"}, 1, true},
      {"dram.write"_metric, {"dram__bytes_write.sum", "dram__bytes_op_write.sum"}, 1, true},
      {"l2.sectors"_metric, {"lts__t_sectors.sum"}, 1, true},
      {"dram.active"_metric, {"dram__throughput.avg.pct_of_peak_sustained_elapsed"}, 0.01, false},
      // Over time it is the clock, which falls with the kernel under a power limit; shares of
      // cycles are compared across kernels with it.
      {"sm.cycles"_metric, {"sm__cycles_elapsed.max"}, 1, true},
      {"pcie.rx"_metric,
       {"PCI.TriageCompute.pcie__read_bytes.sum", "pcie__read_bytes.sum"},
       1,
       true},
      {"pcie.tx"_metric,
       {"PCI.TriageCompute.pcie__write_bytes.sum", "pcie__write_bytes.sum"},
       1,
       true},
      {"nvlink.rx"_metric,
       {"NVLRX.TriageCompute.nvlrx__bytes_packet_request_data_user.sum", "nvlrx__bytes.sum"},
       1,
       true},
      {"nvlink.tx"_metric,
       {"NVLTX.TriageCompute.nvltx__bytes_packet_request_data_user.sum", "nvltx__bytes.sum"},
       1,
       true},
  };
  return metrics;
}

std::span<const PmMetric> pm_cache_metrics() {
  static const std::vector<PmMetric> metrics = [] {
    std::vector<PmMetric> all(pm_metrics().begin(), pm_metrics().end());
    const PmMetric l1[]{
        {"l1.sectors"_metric,
         {"SM_B.TriageCompute.l1tex__t_sectors.sum", "l1tex__t_sectors.sum"},
         1,
         true},
        {"l1.hits"_metric,
         {"SM_B.TriageCompute.l1tex__t_sectors_lookup_hit.sum", "l1tex__t_sectors_lookup_hit.sum"},
         1,
         true},
    };
    all.insert(all.end(), std::begin(l1), std::end(l1));
    return all;
  }();
  return metrics;
}

std::span<const PmMetric> pm_energy_metrics() {
  static const std::vector<PmMetric> metrics = [] {
    std::vector<PmMetric> all;
    for (const auto& metric :
         pm_metrics())  // the ladder's, without those that would take the room of others
      if (!std::string_view(metric.id).starts_with("nvlink.")) all.push_back(metric);
    const char* sectors =
        "lts__t_sectors.sum";  // the ratios below are shares of all sectors, whoever asked
    for (const auto& metric : std::initializer_list<PmMetric>{
             {"inst.executed"_metric,
              {"TPC.TriageCompute.sm__inst_executed_realtime.sum",
               "sm__inst_executed_realtime.sum"},
              1,
              true},
             {"inst.threads"_metric,
              {"SM_A.TriageCompute.sm__thread_inst_executed_pred_on_realtime.sum",
               "sm__thread_inst_executed_pred_on_realtime.sum"},
              1,
              true},
             {"inst.alu"_metric,
              {"TPC.TriageCompute.sm__inst_executed_pipe_alu_realtime.sum",
               "sm__inst_executed_pipe_alu_realtime.sum", "sm__inst_executed_pipe_alu.sum"},
              1,
              true},
             {"inst.fma"_metric,
              {"TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.sum",
               "sm__inst_executed_pipe_fma.sum"},
              1,
              true},
             {"inst.xu"_metric,
              {"SM_A.TriageCompute.sm__inst_executed_pipe_xu_realtime.sum",
               "sm__inst_executed_pipe_xu_realtime.sum"},
              1,
              true},
             {"pipe.fp64"_metric,
              {"TPC.TriageCompute.sm__pipe_fp64_cycles_active_realtime.avg.pct_of_peak_sustained_"
               "elapsed",
               "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed"},
              0.01,
              false},
             {"l2.sm_reads"_metric,
              {sectors},
              1,
              true,
              "lts__average_t_sector_srcunit_tex_op_read.ratio"},
             {"l2.sm_writes"_metric,
              {sectors},
              1,
              true,
              "lts__average_t_sector_srcunit_tex_op_write.ratio"},
             {"l2.sm_requests"_metric, {"lts__t_requests_srcunit_tex.sum"}, 1, true},
             {"shared.wavefronts"_metric,
              {"SM_A.TriageCompute.l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
               "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
              1,
              true},
             {"l1.wavefronts"_metric,
              {"SM_A.TriageCompute.l1tex__data_pipe_lsu_wavefronts.sum",
               "l1tex__data_pipe_lsu_wavefronts.sum"},
              1,
              true},
             {"l1.fill_bytes"_metric,
              {"SM_A.TriageCompute.l1tex__m_xbar2l1tex_read_sectors_realtime.sum"},
              32,
              true},
         })
      all.push_back(metric);
    return all;
  }();
  return metrics;
}

namespace {

/// Puts the ratios of a choice behind its counters, each once.
void add_shares(PmChoice& choice) {
  choice.share_of.assign(choice.metrics.size(), 0);
  for (std::size_t index = 0; index < choice.metrics.size(); ++index) {
    if (!choice.metrics[index]->share) continue;
    auto at =
        std::find(choice.counters.begin() + static_cast<std::ptrdiff_t>(choice.metrics.size()),
                  choice.counters.end(), choice.metrics[index]->share);
    choice.share_of[index] = static_cast<std::size_t>(at - choice.counters.begin());
    if (at == choice.counters.end()) choice.counters.push_back(choice.metrics[index]->share);
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
    if (availability.empty()) {
      params.pCounterAvailabilityImage = nullptr;
    } else {
      params.pCounterAvailabilityImage = availability.data();
    }
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
      const auto known = std::find_if(metric.counters.begin(), metric.counters.end(),
                                      [&](const char* counter) { return all.knows(counter); });
      if (known == metric.counters.end() || (metric.share && !all.knows(metric.share))) {
        whole.left_out.emplace_back(metric.id);
        continue;
      }
      whole.metrics.push_back(&metric);
      whole.counters.push_back(*known);
    }
    add_shares(whole);
    if (!whole.metrics.empty() && all.passes(whole.counters, &whole.config) == 1) return whole;
  }
  for (const auto& metric : wanted) {
    bool taken = false;
    for (const char* counter : metric.counters) {
      PmChoice trial;
      trial.metrics = choice.metrics;
      trial.counters.assign(
          choice.counters.begin(),
          choice.counters.begin() + static_cast<std::ptrdiff_t>(choice.metrics.size()));
      trial.metrics.push_back(&metric);
      trial.counters.push_back(counter);
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

}  // namespace gf
