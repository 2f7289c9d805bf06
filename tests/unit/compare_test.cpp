#include "analyze/compare/compare.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/compare/checks.h"
#include "analyze/finding_ids.h"
#include "report/compare/compare.h"

namespace gf {

namespace {

/// A run of one GPU whose steps lasted so long, half of it in kernels of matrix products.
Analysis run_of(const std::string& path, std::vector<Nanos> steps, Nanos kernels_a_step = 40) {
  Analysis analysis;
  analysis.source.path = path;
  Nanos at = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    analysis.window.steps.push_back({static_cast<std::int64_t>(i), at, steps[i], false});
    at += steps[i];
  }
  analysis.window.step_source = "marks:ProfilerStep";
  analysis.window.duration_ns = at;
  const auto kernels = kernels_a_step * static_cast<Nanos>(steps.size());
  DeviceUse device;
  device.name = "NVIDIA H200";
  device.span_ns = at;
  device.busy_ns = device.kernel_busy_ns = kernels;
  device.idle_ns = at - kernels;
  IdleCause idle;
  idle.cause = IdleReason::launch_bound;
  idle.ns = device.idle_ns;
  device.idle.push_back(idle);
  analysis.devices.push_back(device);
  LayerRow layer;
  layer.type = LayerType::matmul;
  layer.name = "linear";
  layer.ns = kernels;
  analysis.layer_types.push_back(layer);
  analysis.layers.push_back(layer);
  KernelRow kernel;
  kernel.name = "void gemm_a<bf16>(float*)";
  kernel.short_name = "gemm";
  kernel.ns = kernels;
  analysis.kernels.push_back(kernel);
  return analysis;
}

/// Each analysis as the only capture of its version, half of whose steps' time is in kernels.
std::vector<MeasuredVersion> one_each(const std::vector<Analysis>& analyses) {
  std::vector<MeasuredVersion> versions;
  for (const auto& analysis : analyses) {
    MeasuredRun run = measured_steps(analysis);
    const auto kernels = static_cast<double>(analysis.layer_types[0].ns);
    run.kernel_ns.assign(run.step_ns.size(), kernels / static_cast<double>(run.step_ns.size()));
    versions.push_back({run});
  }
  return versions;
}

Comparison compared(const std::vector<Analysis>& analyses, const std::vector<RunFacts>& facts = {},
                    const std::vector<std::int64_t>& batches = {}) {
  return compare(analyses, facts, batches, one_each(analyses));
}

const std::vector<Nanos> kEven{100, 101, 99, 100, 101, 99, 100, 100};
const std::vector<Nanos> kSlower{110, 111, 109, 110, 111, 109, 110, 110};
const std::vector<Nanos> kWild{90, 130, 85, 120, 95, 88, 125, 91};

TEST(Compare, ADifferenceIsShownOrOpen) {
  const auto slower = compared({run_of("a", kEven), run_of("b", kSlower)});
  ASSERT_EQ(slower.changes.size(), 1u);
  EXPECT_EQ(slower.changes[0].verdict, ComparedVerdict::slower);
  EXPECT_NEAR(*slower.changes[0].ratio, 1.1, 1e-9);
  EXPECT_GT(*slower.changes[0].low, 1.08);
  EXPECT_LT(*slower.changes[0].high, 1.12);
  EXPECT_EQ(slower.changes[0].kernel_verdict, ComparedVerdict::no_difference);
  EXPECT_NE(comparison_headline(slower, 1).find("its kernels show no difference"),
            std::string::npos);
  const auto faster = compared({run_of("a", kSlower), run_of("b", kEven)});
  EXPECT_EQ(faster.changes[0].verdict, ComparedVerdict::faster);
  // An interval that holds 1 shows no equality.
  const auto noise = compared({run_of("a", kEven), run_of("b", kWild)});
  EXPECT_EQ(noise.changes[0].verdict, ComparedVerdict::undecided);
  EXPECT_GT(noise.changes[0].captures_needed, 1);
  EXPECT_NE(comparison_headline(noise, 1).find("Undecided: B's step is"), std::string::npos);
  const auto equal = compared({run_of("a", kEven), run_of("b", kEven)});
  EXPECT_EQ(equal.changes[0].verdict, ComparedVerdict::no_difference);
  const auto few = compared({run_of("a", {100, 101}), run_of("b", kSlower)});
  EXPECT_EQ(few.changes[0].verdict, ComparedVerdict::not_known);
  EXPECT_FALSE(few.changes[0].low);
}

TEST(Compare, TimesOfAnItemWhereTheBatchDiffers) {
  // Eight times the work in four times the time.
  std::vector<Nanos> large;
  for (const Nanos step : kEven) large.push_back(4 * step);
  const auto c = compared({run_of("a", kEven), run_of("b", large)}, {}, {64, 512});
  EXPECT_EQ(c.runs[1].batch_source, "given");
  EXPECT_NEAR(*c.runs[1].speedup, 2, 1e-9);
  EXPECT_EQ(c.changes[0].of, "item");
  EXPECT_EQ(c.changes[0].verdict, ComparedVerdict::faster);
  EXPECT_NEAR(*c.changes[0].ratio, 0.5, 1e-9);
  ASSERT_EQ(c.differences.size(), 1u);
  EXPECT_EQ(c.differences[0].setting, ComparedSetting::batch);
  EXPECT_EQ(c.differences[0].values, (std::vector<std::string>{"64", "512"}));
  std::vector<RunFacts> facts(2);
  facts[0].batch = 64;
  EXPECT_EQ(compared({run_of("a", kEven), run_of("b", large)}, facts).runs[0].batch_source,
            "shapes");
}

// An embedding tells sequences, a product the rows of its operand: no item of both.
TEST(Compare, ItemsOfOneRunMayBeNoneOfTheOther) {
  std::vector<RunFacts> facts(2);
  facts[0].batch = 8;
  facts[0].items = "sequences";
  facts[1].batch = 1024;
  facts[1].items = "rows";
  const auto other = compared({run_of("a", kEven), run_of("b", kSlower)}, facts);
  EXPECT_FALSE(other.runs[0].batch || other.runs[1].batch);
  EXPECT_EQ(other.changes[0].of, "step");
  facts[1].items = "sequences";
  const auto same = compared({run_of("a", kEven), run_of("b", kSlower)}, facts);
  EXPECT_EQ(same.runs[1].batch, 1024);
  EXPECT_EQ(same.changes[0].of, "item");
}

TEST(Compare, RanksOfOneJobAreNotFasterThanEachOther) {
  std::vector<RunFacts> facts(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    facts[rank].rank = static_cast<std::int64_t>(rank);
    facts[rank].world_size = 2;
    facts[rank].extent = {0, 1000};
  }
  const auto c = compared({run_of("a", kEven), run_of("b", kSlower)}, facts);
  EXPECT_TRUE(c.ranks_of_one_job);
  EXPECT_EQ(c.changes[0].verdict, ComparedVerdict::same_job);
  EXPECT_FALSE(c.runs[1].speedup);
  EXPECT_NE(comparison_headline(c, 1).find("ranks 0 and 1 of one job"), std::string::npos);
  facts[1].rank = 0;  // the same rank of another run is another run
  EXPECT_FALSE(compared({run_of("a", kEven), run_of("b", kSlower)}, facts).ranks_of_one_job);
  facts[1].rank = 1;
  facts[1].extent = {3'600'000'000'000, 3'600'000'001'000};  // an hour later
  EXPECT_FALSE(compared({run_of("a", kEven), run_of("b", kSlower)}, facts).ranks_of_one_job);
}

TEST(Compare, WhatTheProfilerMayHaveTakenMakesAnInterval) {
  auto before = run_of("a", kSlower, 60), after = run_of("b", kEven, 30);
  Finding observed;
  observed.id = FindingId::observer_effect;
  after.findings.push_back(observed);
  after.window.profiler_ns = 400;  // of 800: 50 of a step of 100
  const auto c = compared({before, after});
  EXPECT_NEAR(*c.changes[0].kernel_ratio, 0.5, 1e-9);
  EXPECT_NE(comparison_headline(c, 1).find("likely 1.10x to 2.20x"), std::string::npos)
      << comparison_headline(c, 1);
}

TEST(Compare, WithoutDeviceWorkThePhasesOfTheHostAreCompared) {
  auto host = [](const std::string& path, Nanos kernels, Nanos other) {
    Analysis analysis;
    analysis.layer_types.emplace_back();
    analysis.source.path = path;
    analysis.runtime.duration_ns = kernels + other;
    PhaseTime phase;
    phase.phase = RuntimePhase::cpu_kernel;
    phase.ns = kernels;
    analysis.runtime.phases.push_back(phase);
    phase.phase = RuntimePhase::other;
    phase.ns = other;
    analysis.runtime.phases.push_back(phase);
    return analysis;
  };
  const auto c = compared({host("a", 700, 300), host("b", 1500, 500)});
  EXPECT_EQ(c.runs[0].time_ns, 1000);
  EXPECT_EQ(c.runs[1].time_ns, 2000);
  ASSERT_EQ(c.time.size(), 2u);
  EXPECT_EQ(c.time[0].kind, ComparedRowKind::phase);
  EXPECT_EQ(c.time[0].change_ns[1], 800);
  EXPECT_NEAR(*c.runs[1].speedup, 0.5, 1e-9);
}

TEST(Compare, NamesThatLookAlikeAreToldApart) {
  auto first = run_of("runs/before/trace.json", kEven);
  auto second = run_of("runs/after/trace.json", kSlower);
  auto other = first.kernels[0];
  other.name = "void gemm_b<fp16>(float*)";
  first.kernels.push_back(other);
  const auto c = compared({first, second});
  EXPECT_EQ(c.runs[0].label, "before/trace.json");
  EXPECT_EQ(c.runs[1].label, "after/trace.json");
  ASSERT_EQ(c.kernels.size(), 2u);
  EXPECT_NE(c.kernels[0].label, c.kernels[1].label);
}

CheckOutcome outcome(const std::vector<Analysis>& runs, const std::string& rule) {
  const auto parsed = parse_check(rule);
  EXPECT_TRUE(parsed) << rule;
  Comparison c = compared(runs);
  try_checks(c, {*parsed}, one_each(runs));
  EXPECT_EQ(c.checks.at(0).failed, c.checks.at(0).outcome == CheckOutcome::failed);
  return c.checks.at(0).outcome;
}

TEST(Compare, ChecksFailWhereTheIntervalLiesBeyondTheLimit) {
  const std::vector<Analysis> slower{run_of("a", kEven), run_of("b", kSlower)};
  EXPECT_EQ(outcome(slower, "step > 3%"), CheckOutcome::failed);
  EXPECT_EQ(outcome(slower, "step > 3ns"), CheckOutcome::failed);
  EXPECT_EQ(outcome(slower, "step > 10%"), CheckOutcome::undecided) << "as large as the limit";
  EXPECT_EQ(outcome(slower, "step > 20%"), CheckOutcome::ok);
  EXPECT_EQ(outcome(slower, "step < -3%"), CheckOutcome::ok);
  EXPECT_EQ(outcome(slower, "idle > 9ns"), CheckOutcome::failed);
  EXPECT_EQ(outcome(slower, "idle > 10us"), CheckOutcome::ok);
  EXPECT_EQ(outcome(slower, "idle:launch_bound > 10%"), CheckOutcome::failed);
  EXPECT_EQ(outcome(slower, "kernels > 3%"), CheckOutcome::ok);
  const std::vector<Analysis> faster{run_of("a", kSlower), run_of("b", kEven)};
  EXPECT_EQ(outcome(faster, "step < -3%"), CheckOutcome::failed);
  EXPECT_EQ(outcome(faster, "step > 3%"), CheckOutcome::ok);
}

TEST(Compare, OneCaptureOfEachResolvesThreePercent) {
  const std::vector<Analysis> equal{run_of("a", kEven), run_of("b", kEven)};
  EXPECT_EQ(outcome(equal, "kernels > 3%"), CheckOutcome::ok);
  EXPECT_EQ(outcome(equal, "kernels > 1%"), CheckOutcome::undecided);
  const std::vector<Analysis> slower{run_of("a", kEven), run_of("b", kSlower)};
  EXPECT_EQ(outcome(slower, "step > 1%"), CheckOutcome::failed);
}

TEST(Compare, ChecksThatNobodyCanDecide) {
  const std::vector<Analysis> slower{run_of("a", kEven), run_of("b", kSlower)};
  EXPECT_EQ(outcome(slower, "joules > 3%"), CheckOutcome::undecided) << "no data";
  const std::vector<Analysis> noise{run_of("a", kEven), run_of("b", kWild)};
  EXPECT_EQ(outcome(noise, "step > 3%"), CheckOutcome::undecided) << "noise holds both";
  const std::vector<Analysis> few{run_of("a", {100, 101}), run_of("b", {130, 131})};
  EXPECT_EQ(outcome(few, "step > 3%"), CheckOutcome::undecided) << "noise is not known";
  EXPECT_EQ(outcome(few, "kernels > 3%"), CheckOutcome::undecided);
  EXPECT_EQ(outcome(few, "idle > 3%"), CheckOutcome::undecided);
}

TEST(Compare, StacksOnOneSideLeaveTheKernels) {
  const std::vector<Analysis> runs{run_of("a", kEven), run_of("b", kSlower)};
  auto versions = one_each(runs);
  versions[1][0].profiler.stacks = true;
  auto c = compare(runs, {}, {}, versions);
  try_checks(c, {*parse_check("step > 3%"), *parse_check("kernels > 3%")}, versions);
  EXPECT_EQ(c.checks[0].outcome, CheckOutcome::refused);
  EXPECT_NE(c.checks[0].text.find("stacks on one side"), std::string::npos);
  EXPECT_EQ(c.checks[1].outcome, CheckOutcome::ok);
}

CheckOutcome outcome_of(const std::vector<Analysis>& runs,
                        const std::vector<MeasuredVersion>& versions, const char* rule,
                        const std::vector<RunFacts>& facts = {}) {
  auto c = compare(runs, facts, {}, versions);
  try_checks(c, {*parse_check(rule)}, versions);
  return c.checks.at(0).outcome;
}

TEST(Compare, WhatIsNotTheProgramDecidesNoRule) {
  const std::vector<Analysis> runs{run_of("a", kEven), run_of("b", kSlower)};
  auto versions = one_each(runs);
  versions[1][0].device = "NVIDIA H100";
  EXPECT_EQ(outcome_of(runs, versions, "step > 3%"), CheckOutcome::refused) << "another GPU";
  EXPECT_EQ(outcome_of(runs, versions, "kernels > 3%"), CheckOutcome::ok);
  // Another batch decides whatever is not of an item.
  std::vector<RunFacts> facts(2);
  facts[0].batch = 64;
  facts[1].batch = 128;
  versions = one_each(runs);
  EXPECT_EQ(outcome_of(runs, versions, "step > 3%", facts), CheckOutcome::refused);
  EXPECT_EQ(outcome_of(runs, versions, "kernels > 3%", facts), CheckOutcome::refused);
  EXPECT_EQ(outcome_of(runs, versions, "item > 3%", facts), CheckOutcome::ok);
}

TEST(Compare, AProfilerDecidesWhatItMayHaveMade) {
  auto before = run_of("a", kEven), after = run_of("b", kSlower);
  after.window.profiler_ns = 100;  // of 880: more than the difference
  const std::vector<Analysis> runs{before, after};
  auto versions = one_each(runs);
  EXPECT_EQ(outcome_of(runs, versions, "step > 3%"), CheckOutcome::failed) << "recorded alike";
  versions[1][0].profiler.shapes = true;
  EXPECT_EQ(outcome_of(runs, versions, "step > 3%"), CheckOutcome::refused);
  EXPECT_EQ(outcome_of(runs, versions, "step > 20%"), CheckOutcome::ok) << "holds all the more";
  versions[1][0].profiler.shapes = false;
  versions[0][0].profiler.shapes = true;
  EXPECT_EQ(outcome_of(runs, versions, "step > 3%"), CheckOutcome::failed) << "in spite of it";
}

TEST(Compare, FirstStepsThatSayTheOppositeOfAllDecideNothing) {
  // The program warms up for eight steps, which are all that one capture has.
  std::vector<Nanos> first, longer;
  for (int i = 0; i < 8; ++i) first.push_back(1300 + i % 3);
  for (int i = 0; i < 200; ++i) longer.push_back((i < 8 ? 1300 : 1000) + i % 3);
  const std::vector<Analysis> runs{run_of("a", longer), run_of("b", first)};
  EXPECT_EQ(outcome_of(runs, one_each(runs), "step > 10%"), CheckOutcome::refused);
  std::vector<Nanos> slow(8, 1500);
  slow[3] = 1502;
  const std::vector<Analysis> slower{run_of("a", longer), run_of("b", slow)};
  EXPECT_EQ(outcome_of(slower, one_each(slower), "step > 10%"), CheckOutcome::failed);
}

TEST(Compare, RunsThatCannotBeComparedHaveNoVerdict) {
  const std::vector<Analysis> runs{run_of("a", kEven), run_of("b", kSlower)};
  auto versions = one_each(runs);
  versions[1][0].step_source = "none";
  const auto c = compare(runs, {}, {}, versions);
  EXPECT_EQ(c.changes[0].verdict, ComparedVerdict::not_known);
  EXPECT_FALSE(c.runs[1].speedup);
  EXPECT_TRUE(comparison_headline(c, 1).starts_with("Not judged: steps of a (by marks)"))
      << comparison_headline(c, 1);
  versions = one_each(runs);
  versions[0].push_back(versions[0][0]);
  versions[0][1].rank = 1;
  EXPECT_NE(compare(runs, {}, {}, versions).changes[0].refused.find("of different ranks"),
            std::string::npos);
}

TEST(Compare, TheSentenceFollowsTheVerdictOfAllCaptures) {
  // The captures in the tables happen to differ the other way round.
  const std::vector<Analysis> runs{run_of("a", kSlower), run_of("b", kEven)};
  auto versions = one_each(runs);
  for (auto& version : versions) {
    version[0].step_ns =
        &version == versions.data() ? StepTimes{100, 101, 99, 100} : StepTimes{110, 111, 109, 110};
    for (int more = 0; more < 3; ++more) version.push_back(version[0]);
  }
  const auto c = compare(runs, {}, {}, versions);
  EXPECT_EQ(c.changes[0].verdict, ComparedVerdict::slower);
  const auto text = comparison_headline(c, 1);
  EXPECT_TRUE(text.starts_with("B is 1.10x slower than A (step ")) << text;
  EXPECT_NE(text.find("which differ by -10 ns"), std::string::npos) << text;
}

TEST(Compare, RunsHaveLettersWithoutEnd) {
  EXPECT_EQ(run_letter(0), "A");
  EXPECT_EQ(run_letter(25), "Z");
  EXPECT_EQ(run_letter(26), "AA");
  EXPECT_EQ(run_letter(51), "AZ");
  EXPECT_EQ(run_letter(52), "BA");
  EXPECT_EQ(run_letter(26 + 26 * 26), "AAA");
}

TEST(Compare, ACaptureCountsOnce) {
  const std::vector<Analysis> runs{run_of("a", kEven), run_of("b", kSlower)};
  auto versions = one_each(runs);
  versions[0][0].rows = versions[1][0].rows = 7;
  auto c = compare(runs, {}, {}, versions);
  try_checks(c, {*parse_check("step > 3%")}, versions);
  EXPECT_EQ(c.checks[0].outcome, CheckOutcome::failed) << "one on either side is no repetition";
  versions[0].push_back(versions[0][0]);
  versions[0].back().path = "copy-of-a";
  c = compare(runs, {}, {}, versions);
  try_checks(c, {*parse_check("step > 3%")}, versions);
  EXPECT_EQ(c.checks[0].outcome, CheckOutcome::refused);
  EXPECT_NE(c.checks[0].text.find("a and copy-of-a hold the same capture"), std::string::npos)
      << c.checks[0].text;
}

TEST(Compare, ChecksOfARunThatIsNotWholeAreRefused) {
  const std::vector<Analysis> runs{run_of("a", kEven), run_of("b", kSlower), run_of("c", kSlower)};
  auto c = compared(runs);
  try_checks(c, {*parse_check("step > 3%")}, one_each(runs));
  refuse_incomplete(c, {true, false, true});
  EXPECT_EQ(c.checks.at(0).outcome, CheckOutcome::refused);
  EXPECT_FALSE(c.checks.at(0).failed);
  EXPECT_EQ(c.checks.at(1).outcome, CheckOutcome::failed);
  refuse_incomplete(c, {false, true, true});
  EXPECT_EQ(c.checks.at(1).outcome, CheckOutcome::refused);
}

TEST(Compare, RulesThatAreNoRules) {
  for (const char* text : {"", "step", "step > 3", "> 3%", "step > x%", "step > 3J", "joules > 3ms",
                           "gpu.busy > 3ms", "step > nan%", "step > 2pp"})
    EXPECT_FALSE(parse_check(text)) << text;
  EXPECT_NE(parse_check("step > 3").error().message().find("step > 3%"), std::string::npos);
}

TEST(Compare, BuildServersReadTheChecks) {
  const std::vector<Analysis> runs{run_of("a", kEven), run_of("b<&>.json", kSlower)};
  auto c = compared(runs);
  try_checks(c, {*parse_check("step > 3%"), *parse_check("step > 20%")}, one_each(runs));
  const auto annotations = github_annotations(c);
  EXPECT_NE(annotations.find("::error title=gpufathom%3A step > 3%25::b<&>.json: step +10.0 %25"),
            std::string::npos)
      << annotations;
  const auto junit = junit_report(c);
  EXPECT_NE(junit.find("tests=\"2\" failures=\"1\""), std::string::npos) << junit;
  EXPECT_NE(junit.find("classname=\"b&lt;&amp;&gt;.json\" name=\"step &gt; 3%\""),
            std::string::npos)
      << junit;
}

TEST(Compare, PrecisionByTheKernelsName) {
  EXPECT_EQ(precision_of_kernel("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_32x6_tn"),
            "bf16");
  EXPECT_EQ(precision_of_kernel("cutlass_80_tensorop_s1688gemm_128x256_16x3_nn_align4"), "tf32");
  EXPECT_EQ(precision_of_kernel("turing_fp16_s1688gemm_fp16_256x128_ldg8_f2f_tn"), "fp16");
  EXPECT_EQ(precision_of_kernel("ampere_sgemm_128x64_tn"), "fp32");
  EXPECT_EQ(precision_of_kernel("nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNN"), "fp16");
  EXPECT_EQ(precision_of_kernel("nvjet_sm100_tst_mma_128x256x64"), "bf16");
  EXPECT_EQ(precision_of_kernel("volta_dgemm_64x64_nn"), "fp64");
  EXPECT_EQ(precision_of_kernel("Cijk_Ailk_Bljk"), "");
}

}  // namespace

}  // namespace gf
