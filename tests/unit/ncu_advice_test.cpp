// Findings from the counters of a report alone, each rule with its counters, without them and
// with the profiler's own rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/finding_ids.h"
#include "analyze/report_alone.h"
#include "analyze/utilization/kernel_levels.h"
#include "import/formats.h"
#include "support/ncu_page.h"

namespace gf {
namespace {

using test::NcuKernel;
using test::NcuMetric;
using test::NcuRule;

Analysis analyzed(const std::string& page) {
  auto capture = ncu::parse_csv(page, "page.csv");
  EXPECT_TRUE(capture) << (capture ? "" : capture.error().message());
  if (!capture) return {};
  lay_out_report(*capture);
  auto analysis = analyze(*capture, {.window = "all"});
  EXPECT_TRUE(analysis) << (analysis ? "" : analysis.error().message());
  if (!analysis) return {};
  forget_time_line(*analysis);
  return std::move(*analysis);
}

std::optional<Finding> finding(const std::vector<NcuKernel>& kernels, FindingId id) {
  const auto analysis = analyzed(test::ncu_details(kernels));
  const auto at = std::ranges::find(analysis.findings, id, &Finding::id);
  return at == analysis.findings.end() ? std::nullopt : std::optional(*at);
}

/// A kernel of 100 us with half of its issue slots and little of the memory used, and what is
/// given.
std::vector<NcuKernel> kernel_with(std::vector<NcuMetric> metrics,
                                   std::vector<NcuRule> rules = {}) {
  for (const NcuMetric& metric : std::vector<NcuMetric>{{"Duration", "us", "100"},
                                                        {"Elapsed Cycles", "cycle", "100,000"},
                                                        {"SM Active Cycles", "cycle", "90,000.00"}})
    metrics.push_back(metric);
  return {{"spin", std::move(metrics), std::move(rules)}};
}

bool says(const std::string& text, const char* part) { return text.find(part) != text.npos; }

TEST(NcuAdvice, ADetailsPageWithRulesHasItsLevels) {
  const std::vector<NcuKernel> kernel{
      {"my_kernel",
       {{"Elapsed Cycles", "cycle", "63,779"},
        {"Duration", "us", "56.06"},
        {"DRAM Throughput", "%", "23.97"},
        {"SM Active Cycles", "cycle", "58,000.00"},
        {"Issue Slots Busy", "%", "51.69"},
        {"Achieved Occupancy", "%", "46.61"}},
       {{"SpeedOfLight", "SOLBottleneck", "OPT", "low use", "", ""}}}};
  for (const test::NcuStyle style :
       {test::NcuStyle{}, test::NcuStyle{.padded = true}, test::NcuStyle{.rules = false}}) {
    const auto capture = ncu::parse_csv(test::ncu_details(kernel, style), "details.csv");
    ASSERT_TRUE(capture) << capture.error().message();
    ASSERT_EQ(capture->report_kernels.size(), 1u);
    EXPECT_DOUBLE_EQ(capture->report_kernels.duration_ns[0], 56'060);
    const KernelLevels levels(*capture, {});
    EXPECT_NEAR(levels.of_report(0, KernelLevel::sm_active), 0.9094, 5e-5);
    EXPECT_NEAR(levels.of_report(0, KernelLevel::issue_active), 0.4701, 5e-5);
  }
}

TEST(NcuAdvice, RegisterSpills) {
  const std::vector<NcuMetric> spilling{{"Registers Per Thread", "register/thread", "255"},
                                        {"Local Memory Spilling Request Overhead", "%", "21.00"}};
  auto f = finding(kernel_with(spilling), FindingId::register_spills);
  ASSERT_TRUE(f);
  EXPECT_TRUE(says(f->text, "100 % of kernel time")) << f->text;
  EXPECT_TRUE(says(f->text, "255 registers a thread")) << f->text;
  EXPECT_TRUE(says(f->evidence, "21 % of their L1 requests")) << f->evidence;
  EXPECT_FALSE(f->gain_ns) << "counters alone do not say what it costs";

  f = finding(kernel_with(spilling, {{"MemoryWorkloadAnalysis_Tables", "LocalMemoryUsage", "OPT",
                                      "uses local memory", "global", "35.00"}}),
              FindingId::register_spills);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 35'000) << "35 % of 100 us, as the profiler estimates";
  EXPECT_TRUE(says(f->evidence, "LocalMemoryUsage estimates up to 35 us")) << f->evidence;

  EXPECT_FALSE(finding(kernel_with({{"Local Memory Spilling Request Overhead", "%", "0"}}),
                       FindingId::register_spills));
  EXPECT_FALSE(finding(kernel_with({{"Registers Per Thread", "register/thread", "255"}}),
                       FindingId::register_spills))
      << "many registers are no spill";
  // The names of the raw page and of .ncu-rep: sectors of local memory of all.
  EXPECT_TRUE(
      finding(kernel_with({{"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "sector", "20"},
                           {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "sector", "20"},
                           {"l1tex__t_sectors.sum", "sector", "400"}}),
              FindingId::register_spills));
}

TEST(NcuAdvice, OccupancyWithItsLimit) {
  const auto launch = [](const char* occupancy, const char* registers, const char* shared,
                         const char* busy, const char* waves = "4.00") {
    return kernel_with({{"Theoretical Occupancy", "%", occupancy},
                        {"Waves Per SM", "", waves},
                        {"Block Limit Registers", "block", registers},
                        {"Block Limit Shared Mem", "block", shared},
                        {"Block Limit Warps", "block", "8"},
                        {"Block Limit SM", "block", "32"},
                        {"Compute (SM) Throughput", "%", busy}});
  };
  auto f = finding(launch("12.50", "1", "6", "30"), FindingId::low_occupancy);
  ASSERT_TRUE(f);
  EXPECT_TRUE(says(f->text, "limited to 1 block an SM by registers")) << f->text;
  EXPECT_TRUE(says(f->evidence, "88 % of the warp slots")) << f->evidence;
  f = finding(launch("25.00", "6", "2", "30"), FindingId::low_occupancy);
  ASSERT_TRUE(f);
  EXPECT_TRUE(says(f->text, "limited to 2 blocks an SM by shared memory")) << f->text;
  f = finding(launch("25.00", "2", "2", "30"), FindingId::low_occupancy);
  ASSERT_TRUE(f);
  EXPECT_TRUE(says(f->text, "by registers and shared memory")) << f->text;
  EXPECT_FALSE(finding(launch("12.50", "1", "6", "85"), FindingId::low_occupancy))
      << "a kernel at the limit of its pipes gains nothing from more warps";
  EXPECT_FALSE(finding(launch("75.00", "6", "6", "30"), FindingId::low_occupancy));
  EXPECT_FALSE(
      finding(kernel_with({{"Theoretical Occupancy", "%", "12.50"}}), FindingId::low_occupancy))
      << "nothing says whether a unit is busy";
  // Then only the profiler's rule, which knows more counters than the page shows.
  f = finding(kernel_with({{"Theoretical Occupancy", "%", "12.50"}},
                          {{"Occupancy", "TheoreticalOccupancy", "OPT", "limited by registers",
                            "local", "81.25"}}),
              FindingId::low_occupancy);
  ASSERT_TRUE(f);
  EXPECT_FALSE(f->gain_ns) << "a local estimate is none of the kernel's time";
  EXPECT_TRUE(says(f->evidence, "a local speedup of up to 81 %")) << f->evidence;
}

TEST(NcuAdvice, UncoalescedSectors) {
  const auto with = [](const char* memory, const char* used) {
    return kernel_with(
        {{"Memory Throughput", "%", memory},
         {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "%", used}});
  };
  const auto f = finding(with("40", "12.5"), FindingId::uncoalesced_access);
  ASSERT_TRUE(f);
  EXPECT_TRUE(says(f->evidence, "88 % of their global memory sectors")) << f->evidence;
  EXPECT_FALSE(finding(with("40", "100"), FindingId::uncoalesced_access));
  EXPECT_FALSE(finding(with("3", "12.5"), FindingId::uncoalesced_access))
      << "memory that is hardly used costs little";
  EXPECT_TRUE(
      finding(kernel_with({{"L2 Cache Throughput", "%", "40"},
                           {"memory_l2_theoretical_sectors_global", "sector", "4,000"},
                           {"memory_l2_theoretical_sectors_global_ideal", "sector", "1,000"}}),
              FindingId::uncoalesced_access));
}

TEST(NcuAdvice, BankConflicts) {
  const auto with = [](const char* l1, const char* conflicts) {
    return kernel_with({{"L1/TEX Cache Throughput", "%", l1},
                        {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "", conflicts},
                        {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "", "1,000"}});
  };
  const auto f = finding(with("70", "900"), FindingId::bank_conflicts);
  ASSERT_TRUE(f);
  EXPECT_TRUE(says(f->evidence, "90 % of their shared memory wavefronts")) << f->evidence;
  EXPECT_FALSE(finding(with("70", "10"), FindingId::bank_conflicts));
  EXPECT_FALSE(finding(with("5", "900"), FindingId::bank_conflicts));
}

TEST(NcuAdvice, PartialWaves) {
  const auto with = [](const char* waves, std::vector<NcuRule> rules = {}) {
    return kernel_with({{"Waves Per SM", "", waves}}, std::move(rules));
  };
  auto f = finding(with("1.25"), FindingId::partial_waves);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 37'500) << "of two waves three quarters of one are empty";
  EXPECT_TRUE(says(f->text, "1.25 waves")) << f->text;
  EXPECT_FALSE(finding(with("1.00"), FindingId::partial_waves));
  EXPECT_FALSE(finding(with("0.50"), FindingId::partial_waves)) << "no wave is whole: small grids";
  EXPECT_FALSE(finding(with("40.10"), FindingId::partial_waves)) << "2 % of 41 waves";
  f = finding(with("1.25", {{"LaunchStats", "LaunchConfiguration", "OPT",
                             "a partial wave: the tail effect lessens", "global", "50"}}),
              FindingId::partial_waves);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 50'000);
  f = finding(with("1.25", {{"LaunchStats", "LaunchConfiguration", "OPT",
                             "two blocks an SM keep it busy at a barrier", "global", "9"}}),
              FindingId::partial_waves);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 37'500) << "the rule speaks of something else";
}

TEST(NcuAdvice, LowIssueWithItsMainStall) {
  const auto with = [](const char* issue, const char* memory) {
    return kernel_with(
        {{"One or More Eligible", "%", issue},
         {"Memory Throughput", "%", memory},
         {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "inst",
          "6.00"},
         {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "inst", "2.00"},
         {"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", "inst", "1.00"}});
  };
  const auto f = finding(with("15", "30"), FindingId::warp_stalls);
  ASSERT_TRUE(f);
  EXPECT_TRUE(says(f->text, "main reason: data from L1, L2 or device memory")) << f->text;
  EXPECT_TRUE(says(f->evidence, "75 % of the stalls")) << f->evidence;
  EXPECT_FALSE(finding(with("80", "30"), FindingId::warp_stalls));
  EXPECT_FALSE(finding(with("15", "85"), FindingId::warp_stalls)) << "memory-bound";
}

TEST(NcuAdvice, NoCountersNoAdvice) {
  for (const auto id :
       {FindingId::register_spills, FindingId::low_occupancy, FindingId::uncoalesced_access,
        FindingId::bank_conflicts, FindingId::partial_waves, FindingId::warp_stalls}) {
    EXPECT_FALSE(finding(kernel_with({}), id)) << name_of(id);
    // Texts that only inform, and rules of other matters, are no advice.
    EXPECT_FALSE(finding(
        kernel_with({}, {{"Occupancy", "TheoreticalOccupancy", "INF", "fine", "", ""},
                         {"SpeedOfLight", "SOLBottleneck", "OPT", "tail effect", "global", "90"}}),
        id))
        << name_of(id);
  }
}

TEST(NcuAdvice, AReportOfSpillsIsNotAnsweredByMissingCountersAlone) {
  const auto analysis = analyzed(
      test::ncu_details(kernel_with({{"Registers Per Thread", "register/thread", "255"},
                                     {"Block Limit Registers", "block", "1"},
                                     {"Block Limit Shared Mem", "block", "8"},
                                     {"Theoretical Occupancy", "%", "12.50"},
                                     {"Waves Per SM", "", "4.00"},
                                     {"Compute (SM) Throughput", "%", "35"},
                                     {"Local Memory Spilling Request Overhead", "%", "21"}})));
  ASSERT_GE(analysis.findings.size(), 2u);
  EXPECT_EQ(analysis.findings[0].id, FindingId::register_spills);
  EXPECT_EQ(analysis.findings[1].id, FindingId::low_occupancy);
}

/// Decode attention multiplies no matrices, and a level below the first is a known one.
TEST(NcuAdvice, DecodeAttentionIsNotToldToUseTensorCores) {
  const auto with = [](const char* kernel) {
    return analyzed(test::ncu_details(
        {{kernel,
          {{"Duration", "us", "300"},
           {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "%", "0.00"}},
          {}}}));
  };
  const auto has = [](const Analysis& analysis, FindingId id) {
    return std::ranges::find(analysis.findings, id, &Finding::id) != analysis.findings.end();
  };
  const auto decode = with("BatchDecodeWithPagedKVCacheKernel<DefaultAttention>");
  EXPECT_FALSE(has(decode, FindingId::low_tensor_use));
  EXPECT_FALSE(has(decode, FindingId::missing_counters));
  EXPECT_TRUE(has(decode, FindingId::missing_levels));
  EXPECT_TRUE(has(with("ampere_bf16_s16816gemm_bf16_128x64"), FindingId::low_tensor_use));
}

TEST(NcuAdvice, OperationsBesideTensorCoresAreCountedToo) {
  const auto with = [](std::vector<NcuMetric> more) {
    std::vector<NcuMetric> metrics{{"Duration", "us", "100"}};
    for (auto& metric : more) metrics.push_back(std::move(metric));
    return analyzed(test::ncu_details({{"silu_kernel", std::move(metrics), {}}})).work;
  };
  // 2 x 600 + 200 operations in 100 us.
  const auto counted =
      with({{"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", "600"},
            {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "inst", "200"}});
  ASSERT_TRUE(counted.flops_per_s);
  EXPECT_NEAR(*counted.flops_per_s, 1.4e7, 1);
  EXPECT_EQ(counted.flops_source, WorkSource::measured);
  EXPECT_FALSE(counted.measured_flops_per_s) << "of tensor cores nothing is known";
  EXPECT_FALSE(with({{"sm__ops_path_tensor_src_fp16.sum", "", "0"}}).flops_per_s)
      << "no operation of tensor cores does not say that there was none";
}

TEST(NcuAdvice, ASummaryIsWeighedByItsLaunches) {
  const std::string header =
      R"csv("Process ID","Kernel Name","Block Size","Grid Size","Device","CC","Invocations",)csv"
      R"csv("Section Name","Metric Name","Metric Unit","Minimum","Maximum","Average")csv"
      "\n";
  const auto row = [](const char* name, const char* launches, const char* metric, const char* unit,
                      const char* value) {
    return test::ncu_row({"9", name, "(256, 1, 1)", "(64, 1, 1)", "0", "8.0", launches, "Occupancy",
                          metric, unit, "1", "9", value}) +
           "\n";
  };
  const auto analysis =
      analyzed(header + row("often", "30", "Duration", "us", "10") +
               row("often", "30", "Local Memory Spilling Request Overhead", "%", "50") +
               row("rare", "2", "Duration", "us", "50"));
  ASSERT_EQ(analysis.devices.size(), 1u);
  EXPECT_EQ(analysis.devices[0].kernel_busy_ns, 400'000);
  EXPECT_EQ(analysis.match.trace_kernels, 32);
  EXPECT_EQ(analysis.match.matched, 32);
  const auto at = std::ranges::find(analysis.findings, FindingId::register_spills, &Finding::id);
  ASSERT_NE(at, analysis.findings.end());
  EXPECT_TRUE(says(at->text, "75 % of kernel time")) << at->text;
}

}  // namespace
}  // namespace gf
