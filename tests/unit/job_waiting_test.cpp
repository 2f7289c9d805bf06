// The time that each kernel of one capture waited for the others of its job.
#include "analyze/ranks/job_waiting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyze/analyze.h"
#include "analyze/finding_ids.h"
#include "analyze/ranks/measure_rank.h"
#include "report/summary.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

constexpr Nanos kEvery = 10'000'000, kTransfer = 100'000;
constexpr int kCollectives = 12;

/// Rank 0 is late for every collective but the third, by `delay`; the clock of rank 1 is a second
/// ahead.
Nanos delay(int number) { return number == 2 ? 0 : 500'000 + 40'000 * number; }

void add_rank(test::CaptureBuilder& build, std::int64_t rank, Nanos scatter, int device) {
  const Nanos clock = rank * 1'000'000'000;
  auto& table = build.capture.collectives;
  auto intern = [&](std::string_view text) { return build.capture.strings.intern(text); };
  for (int i = 0; i < kCollectives; ++i) {
    const Nanos begin = clock + (i + 1) * kEvery;
    const Nanos end = begin + delay(i) + kTransfer;
    Nanos start = begin;
    if (rank == 0) start += delay(i);
    // A computation before, and one beside the end of the waiting.
    build.kernel("gemm", begin - 2'000'000, begin - 1'000'000, 7, device);
    if (rank == 1 && i == 0) build.kernel("gemm", begin + 400'000, begin + 600'000, 7, device);
    const Nanos late = (i % 3 - 1) * rank * scatter;  // ends agree up to this
    const auto row =
        build.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", start, end + late, 20, device);
    const auto about = table.add();
    table.activity[about] = row;
    table.name[about] = intern("allreduce");
    table.dtype[about] = intern("Float");
    table.in_elements[about] = 1024;
    table.group_size[about] = 2;
    table.group_name[about] = intern("0");
    table.group_ranks[about] = intern("[0, 1]");
    table.sequence[about] = i;
  }
}

Capture capture_of(std::int64_t rank, Nanos scatter = 0) {
  test::CaptureBuilder build;
  add_rank(build, rank, scatter, 0);
  build.capture.path = "rank" + std::to_string(rank) + ".json";
  return std::move(build.capture);
}

TEST(JobWaiting, OfEachCollectiveToTheNanosecond) {
  const Capture first = capture_of(0), second = capture_of(1);
  const auto waiting = find_job_waiting(second, *measure_ranks(first));
  ASSERT_TRUE(waiting) << waiting.error().message();
  ASSERT_EQ(waiting->kernels.size(), static_cast<std::size_t>(kCollectives - 1));
  for (int i = 0; i < kCollectives; ++i) {
    const auto row = second.collectives.activity[static_cast<std::uint32_t>(i)];
    const KernelWait* wait = waiting->of(row);
    if (i == 2) {
      EXPECT_EQ(wait, nullptr);
      continue;
    }
    ASSERT_NE(wait, nullptr) << i;
    EXPECT_EQ(wait->ns, delay(i));
    EXPECT_EQ(wait->rank, 0);
  }
  // The late rank waits for nobody.
  const auto late = find_job_waiting(first, *measure_ranks(second));
  ASSERT_TRUE(late);
  EXPECT_TRUE(late->kernels.empty());
}

TEST(JobWaiting, IsNotClaimedBelowWhatTheClocksLeaveInDoubt) {
  // Ends that differ by a millisecond tell of no wait under it.
  const Capture second = capture_of(1, 1'000'000);
  const auto waiting = find_job_waiting(second, *measure_ranks(capture_of(0)));
  ASSERT_TRUE(waiting) << waiting.error().message();
  const Nanos doubt = *waiting->job.ranks.at(1).residual_ns;
  EXPECT_GT(doubt, 0);
  for (const auto& wait : waiting->kernels) EXPECT_GT(wait.ns, doubt);
  EXPECT_LT(waiting->kernels.size(), static_cast<std::size_t>(kCollectives - 1));
}

TEST(JobWaiting, LeavesOutWhatIsBesideComputation) {
  const Capture second = capture_of(1);
  const auto waiting = find_job_waiting(second, *measure_ranks(capture_of(0)));
  ASSERT_TRUE(waiting);
  AnalyzeOptions options;
  options.waiting = &*waiting;
  const auto analysis = analyze(second, options);
  ASSERT_TRUE(analysis);
  Nanos expected = -100'000;  // of the first, the last 0.1 ms lie beside a product
  for (int i = 0; i < kCollectives; ++i) expected += delay(i);
  const auto& bars = analysis->devices.at(0).waterfall;
  const auto bar = std::ranges::find(bars, Bar::waiting, &WaterfallBar::id);
  ASSERT_NE(bar, bars.end());
  EXPECT_EQ(bar->ns, expected);
  ASSERT_EQ(bar->parts.size(), 1u);
  EXPECT_EQ(bar->parts[0].name, "rank 0");
  const auto advice =
      std::ranges::find(analysis->findings, FindingId::exposed_communication, &Finding::id);
  ASSERT_NE(advice, analysis->findings.end());
  EXPECT_NE(advice->text.find("waits for other ranks, mostly for rank 0"), std::string::npos)
      << advice->text;
}

TEST(JobWaiting, WithinOneFileNeedsNoOther) {
  test::CaptureBuilder both;
  add_rank(both, 0, 0, 0);
  add_rank(both, 1, 0, 1);
  const auto waiting = find_job_waiting(both.capture, {});
  ASSERT_TRUE(waiting) << waiting.error().message();
  ASSERT_EQ(waiting->kernels.size(), static_cast<std::size_t>(kCollectives - 1));
  AnalyzeOptions options;
  options.waiting = &*waiting;
  const auto analysis = analyze(both.capture, options);
  ASSERT_TRUE(analysis);
  auto waits = [&](std::size_t device) {
    const auto& bars = analysis->devices.at(device).waterfall;
    return std::ranges::find(bars, Bar::waiting, &WaterfallBar::id)->ns;
  };
  EXPECT_EQ(waits(0), 0);
  EXPECT_GT(waits(1), 0);
}

TEST(JobWaiting, RefusesARankAloneAndLeavesItselfOut) {
  const Capture second = capture_of(1);
  const auto alone = find_job_waiting(second, *measure_ranks(second));
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().message().find("the only rank"), std::string::npos);
  auto peers = *measure_ranks(capture_of(0));
  peers.push_back(measure_ranks(second)->front());
  EXPECT_TRUE(find_job_waiting(second, peers));
}

TEST(JobWaiting, RefusesWhatSharesNoCollectiveAndSaysWhoIsMissing) {
  test::CaptureBuilder other;
  other.kernel("gemm", 0, 1000);
  other.capture.path = "rank1.json";
  const auto foreign = find_job_waiting(other.capture, *measure_ranks(capture_of(0)));
  ASSERT_FALSE(foreign);
  EXPECT_NE(foreign.error().message().find("shares no collective"), std::string::npos);

  Capture second = capture_of(1);
  auto peers = *measure_ranks(capture_of(0));
  peers[0].world_size = 3;
  const auto waiting = find_job_waiting(second, peers);
  ASSERT_TRUE(waiting) << waiting.error().message();
  AnalyzeOptions options;
  options.waiting = &*waiting;
  const auto analysis = analyze(second, options);
  ASSERT_TRUE(analysis);
  // Numbers from file names are a doubt, and a rank without a file is not whole.
  const auto missing = shortcomings(*analysis);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_NE(missing[0].find("these have no file: 2"), std::string::npos) << missing[0];
}

}  // namespace
}  // namespace gf
