// Levels of the ladder from counters: formulas, unknown kernels, both weightings, how a kernel's
// time splits.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "analyze/analyze.h"
#include "analyze/utilization/levels.h"
#include "analyze/utilization/waterfall.h"
#include "import/importer.h"
#include "model/metrics.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

using Counters = std::map<std::string, double>;

/// One device, kernels one after the other; each with its counters, or none.
struct Counted : test::CaptureBuilder {
  Matching matching;
  Counted() {
    const auto device = capture.device_row(0);
    capture.devices.name[device] = capture.strings.intern("NVIDIA H200");
    capture.devices.compute_major[device] = 9;
    capture.devices.compute_minor[device] = 0;
  }
  void add(Nanos start, Nanos end, const Counters& counters) {
    kernel("k", start, end);
    if (counters.empty()) {
      matching.report_row.push_back(kNoRow);
      return;
    }
    const auto row = capture.report_kernels.add();
    capture.report_kernels.duration_ns[row] = 1000;
    for (const auto& [name, value] : counters) {
      const auto c = capture.kernel_counters.add();
      capture.kernel_counters.kernel[c] = row;
      capture.kernel_counters.metric[c] = capture.strings.intern(name);
      capture.kernel_counters.value[c] = value;
    }
    matching.report_row.push_back(row);
  }
  Analysis analysed() {
    std::optional<Context> context;
    auto analysis = analyze(capture, {}, &context);
    EXPECT_TRUE(analysis.has_value());
    context->matching = matching;
    matching.info.matched = 1;
    const KernelLevels levels(capture, matching);
    put(measure_layers(*context, levels), *analysis);
    put(measure_levels(*context, levels, analysis->devices), *analysis);
    return std::move(*analysis);
  }
};

const Level& level(const Analysis& a, std::string_view id) {
  for (const auto& l : a.levels)
    if (l.id == id) return l;
  static const Level none;
  ADD_FAILURE() << "no level " << id;
  return none;
}

Nanos bar(const Analysis& a, std::string_view id) {
  for (const auto& b : a.devices.at(0).waterfall)
    if (name_of(b.id) == id) return b.ns;
  return -1;
}

double value_of(std::string_view id, const Counters& counters) {
  Counted c;
  c.add(0, 1000, counters);
  return level(c.analysed(), id).value.value_or(NAN);
}

TEST(Levels, AHitRateIsAShareOfLookUps) {
  // On GH100 look-ups of the far partition come on top of those of the SMs' own.
  const Counters counters{{"lts__t_sectors_srcunit_tex.sum", 100},
                          {"lts__t_sectors_srcunit_tex_lookup_hit.sum", 70},
                          {"lts__t_sectors_srcunit_tex_lookup_miss.sum", 30},
                          {"lts__t_sectors_srcunit_ltcfabric_lookup_hit.sum", 50},
                          {"lts__t_sectors_srcunit_ltcfabric_lookup_miss.sum", 10}};
  EXPECT_DOUBLE_EQ(value_of("l2.hit_rate", counters), 120.0 / 160);
}

TEST(Levels, EveryFormulaGivesTheSameRatio) {
  const Counters elapsed{{"smsp__cycles_elapsed.sum", 4000},
                         {"smsp__cycles_elapsed.avg", 1000},
                         {"sm__cycles_elapsed.sum", 1000}};
  auto with = [&](Counters more) {
    more.insert(elapsed.begin(), elapsed.end());
    return more;
  };
  EXPECT_DOUBLE_EQ(value_of("sm.active", with({{"smsp__cycles_active.sum", 2000}})), 0.5);
  EXPECT_DOUBLE_EQ(
      value_of("sm.active", {{"smsp__cycles_active.avg.pct_of_peak_sustained_elapsed", 50}}), 0.5);
  EXPECT_DOUBLE_EQ(value_of("sm.active", with({{"sm__cycles_active.sum", 500}})), 0.5);
  const Counters active{{"smsp__cycles_active.sum", 2000},
                        {"smsp__cycles_elapsed.sum", 4000},
                        {"sm__cycles_elapsed.sum", 1000},
                        {"smsp__cycles_elapsed.avg", 1000}};
  auto beside = [&](Counters more) {
    more.insert(active.begin(), active.end());
    return more;
  };
  EXPECT_DOUBLE_EQ(value_of("issue.active", beside({{"smsp__issue_active.sum", 1000}})), 0.25);
  EXPECT_DOUBLE_EQ(value_of("issue.active", beside({{"smsp__inst_issued.sum", 1000}})), 0.25);
  EXPECT_DOUBLE_EQ(
      value_of("issue.active", beside({{"sm__inst_executed.avg.per_cycle_elapsed", 1}})), 0.25);
  EXPECT_DOUBLE_EQ(value_of("issue.active",
                            beside({{"smsp__issue_active.avg.pct_of_peak_sustained_active", 50}})),
                   0.25)
      << "relative to active cycles";
  EXPECT_DOUBLE_EQ(value_of("tensor.active", beside({{"sm__pipe_tensor_cycles_active.sum", 800}})),
                   0.2);
  EXPECT_DOUBLE_EQ(
      value_of("tensor.active",
               beside({{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 20}})),
      0.2);
  EXPECT_DOUBLE_EQ(
      value_of("tensor.active",
               beside({{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 40}})),
      0.2);
  EXPECT_DOUBLE_EQ(
      value_of(
          "tensor.active",
          beside({{"sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed", 15},
                  {"sm__pipe_tensor_op_imma_cycles_active.avg.pct_of_peak_sustained_elapsed", 5}})),
      0.2);
  EXPECT_TRUE(std::isnan(value_of(
      "tensor.active",
      beside(
          {{"sm__pipe_tensor_subpipe_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed", 15}}))))
      << "a Blackwell name on Hopper";
}

TEST(Levels, StandInTheCatalogue) {
  for (std::size_t l = 0; l < kKernelLevels; ++l)
    EXPECT_NE(find_metric(id_of(static_cast<KernelLevel>(l))), nullptr)
        << id_of(static_cast<KernelLevel>(l));
  EXPECT_NE(find_metric("gpu.busy"), nullptr);
  EXPECT_NE(find_metric("gpu.kernel_time"), nullptr);
}

TEST(Levels, OperationsAgainstTheDensePeakOfTheirType) {
  // GH100: 4096 dense bf16 operations a cycle and SM; 4000 sub-partition cycles are 1000 SM cycles.
  const Counters counters{{"smsp__cycles_elapsed.sum", 4000},
                          {"smsp__cycles_active.sum", 4000},
                          {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", 4096e3 / 4},
                          {"sm__ops_path_tensor_src_fp8.sum", 8192e3 / 8}};
  EXPECT_DOUBLE_EQ(value_of("tensor.flops", counters), 0.25 + 0.125);
}

TEST(Levels, UnknownKernelsMakeAnInterval) {
  Counted c;
  c.add(0, 600,
        {{"smsp__cycles_elapsed.sum", 100},
         {"smsp__cycles_active.sum", 50},
         {"smsp__issue_active.sum", 20}});
  c.add(600, 700, {});
  c.add(700, 1000, {{"smsp__cycles_elapsed.sum", 900}, {"smsp__cycles_active.sum", 900}});
  const Analysis a = c.analysed();
  EXPECT_DOUBLE_EQ(*level(a, "gpu.busy").value, 1);
  const auto& sm = level(a, "sm.active");
  EXPECT_DOUBLE_EQ(*sm.value, 0.6);  // 600 x 0.5 + 300 x 1
  EXPECT_DOUBLE_EQ(*sm.low, 0.6);
  EXPECT_DOUBLE_EQ(*sm.high, 0.7);
  EXPECT_DOUBLE_EQ(*sm.coverage, 0.9);
  EXPECT_DOUBLE_EQ(*sm.by_cycles, (50. + 900) / (100 + 900) * 0.9)
      << "weighted by the report's cycles";
  const auto& issue = level(a, "issue.active");
  EXPECT_DOUBLE_EQ(*issue.low, 0.12);
  EXPECT_DOUBLE_EQ(*issue.high, 0.12 + 0.1 + 0.3)
      << "the third kernel's issue is bounded by its active share";
  EXPECT_FALSE(level(a, "tensor.active").value);
  EXPECT_DOUBLE_EQ(*level(a, "tensor.active").low, 0);
  EXPECT_DOUBLE_EQ(*level(a, "tensor.active").high, *sm.high) << "no counter: between its bounds";
  EXPECT_NE(level(a, "tensor.active").why_missing.find("sm__pipe_tensor_cycles_active.sum"),
            std::string::npos);
  EXPECT_NE(
      level(a, "tensor.active").why_missing.find("ncu --launch-count 2000 --clock-control none"),
      std::string::npos);
  EXPECT_EQ(bar(a, "sm_inactive"), 300);
  EXPECT_EQ(bar(a, "stalled"), 0);
  EXPECT_EQ(bar(a, "other_instructions"), 120);
  EXPECT_EQ(bar(a, "unknown"), 580) << "100 without counters, 300 active but not known whether "
                                       "issuing, 180 stalled or tensor work";
  EXPECT_EQ(bar(a, "idle") + bar(a, "copy") + bar(a, "tensor"), 0);
}

TEST(Levels, TensorWorkComesFirstInTheWaterfall) {
  Counted c;
  // Active 90 %, issue 30 %, tensor pipes 70 %, tensor instructions 2 %: 28 % of others fit beside
  // the tensor cycles by 20 % only.
  c.add(0, 1000,
        {{"smsp__cycles_elapsed.sum", 100},
         {"smsp__cycles_active.sum", 90},
         {"smsp__issue_active.sum", 30},
         {"sm__pipe_tensor_cycles_active.sum", 70},
         {"sm__inst_executed_pipe_tensor.sum", 2}});
  const Analysis a = c.analysed();
  EXPECT_EQ(bar(a, "sm_inactive"), 100);
  EXPECT_EQ(bar(a, "tensor"), 700);
  EXPECT_EQ(bar(a, "other_instructions"), 200);
  EXPECT_EQ(bar(a, "stalled"), 0);
}

TEST(Levels, CountersOfDifferentPassesMayDisagree) {
  Counted c;
  c.add(0, 1000,
        {{"smsp__cycles_elapsed.sum", 100},
         {"smsp__cycles_active.sum", 40},
         {"smsp__issue_active.sum", 50}});
  const Analysis a = c.analysed();
  EXPECT_DOUBLE_EQ(*level(a, "issue.active").value, 0.4);
  ASSERT_FALSE(a.quality.empty());
  EXPECT_EQ(a.quality.back().code, "counters_disagree");
  EXPECT_EQ(a.quality.back().count, 1);
}

// The tensor counters of an SM add up its four tensor cores: one SM counts more than one tensor
// cycle a cycle, none more than four.
TEST(Levels, TensorCountersScaleWithSubPartitions) {
  auto report = import_file("examples/resnet50_amp_eager_b64.ncu.csv.gz");
  ASSERT_TRUE(report.has_value()) << report.error().message();
  std::map<std::string, std::map<std::uint32_t, double>> values;
  const auto& counters = report->kernel_counters;
  for (std::size_t i = 0; i < counters.size(); ++i)
    values[std::string(report->text(counters.metric[i]))][counters.kernel[i]] = counters.value[i];
  double most = 0;
  ASSERT_EQ(values["sm__pipe_tensor_cycles_active.max"].size(), 893u);
  for (const auto& [kernel, tensor] : values["sm__pipe_tensor_cycles_active.max"]) {
    const double a_cycle = tensor / values["smsp__cycles_elapsed.max"][kernel];
    EXPECT_LE(a_cycle, 4);
    most = std::max(most, a_cycle);
    EXPECT_LE(values["sm__pipe_tensor_cycles_active.sum"][kernel],
              values["smsp__cycles_active.sum"][kernel]);
    EXPECT_LE(values["sm__inst_executed_pipe_tensor.sum"][kernel],
              values["smsp__issue_active.sum"][kernel]);
  }
  EXPECT_GT(most, 2.5);
}

// ncu --set full counts tensor cycles and no tensor instructions. Between two bounds the lower one
// of `stalled` is shown: all slots may be of other instructions.
TEST(Levels, StalledIsALowerBoundWithoutTensorInstructions) {
  const KernelSplit known = split_busy(0.8, 0.25, 0.25, 0.05);
  EXPECT_NEAR(known.other_instructions, 0.2, 1e-12);
  EXPECT_NEAR(known.stalled, 0.35, 1e-12);
  const KernelSplit open = split_busy(0.8, 0.25, 0.25, NAN);
  EXPECT_NEAR(open.other_instructions, 0.25, 1e-12);
  EXPECT_NEAR(open.stalled, 0.3, 1e-12);
  EXPECT_LE(open.stalled, known.stalled);
}

// Without tensor cycles what does not issue may be stalled or tensor work, but of a kernel that has
// no tensor instructions.
TEST(Levels, NothingIsStalledForSureWithoutTensorCycles) {
  const KernelSplit open = split_busy(0.8, 0.25, NAN, 0.05);
  EXPECT_EQ(open.tensor, 0);
  EXPECT_EQ(open.stalled, 0);
  EXPECT_NEAR(open.other_instructions, 0.2, 1e-12);
  EXPECT_NEAR(open.unknown, 0.6, 1e-12);
  const KernelSplit none = split_busy(0.8, 0.25, NAN, 0);
  EXPECT_NEAR(none.stalled, 0.55, 1e-12);
  EXPECT_EQ(none.unknown, 0);
}

TEST(Levels, PackedArithmeticIsNoMatrixInstruction) {
  const Counters packed{{"smsp__cycles_elapsed.sum", 100},
                        {"smsp__cycles_active.sum", 90},
                        {"smsp__issue_active.sum", 30},
                        {"sm__pipe_tensor_cycles_active.sum", 10},
                        {"sm__inst_executed_pipe_tensor.sum", 5}};
  EXPECT_DOUBLE_EQ(value_of("matrix.issue", packed), 0);
  Counters matrix = packed;
  matrix["sm__pipe_tensor_cycles_active.sum"] = 40;
  EXPECT_DOUBLE_EQ(value_of("matrix.issue", matrix), 0.05);
}

}  // namespace
}  // namespace gf
