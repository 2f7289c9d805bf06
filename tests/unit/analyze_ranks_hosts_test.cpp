// Limits by hosts: gains of a slow host end where the others' hosts begin, and a host that falls
// behind is named before anything waits for it.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/ranks/ranks.h"
#include "ranks_job.h"

namespace gf {

namespace {

using testing::MadeJob;

/// The same causes under another name.
void rename_cause(std::vector<RankPart>& parts, RankTime from, RankTime into) {
  for (auto& part : parts) {
    for (auto* column : {&part.before.part, &part.owners.part})
      std::replace(column->begin(), column->end(), static_cast<std::int64_t>(from),
                   static_cast<std::int64_t>(into));
  }
}

void set_ahead(std::vector<RankPart>& parts, Nanos ahead) {
  for (auto& part : parts)
    std::fill(part.collectives.ahead_ns.begin(), part.collectives.ahead_ns.end(), ahead);
}

Nanos gain_of(std::vector<RankPart> parts) {
  const auto answer = analyze_ranks(std::move(parts), {});
  if (!answer) return -1;
  Nanos most = 0;
  for (const auto& late : answer->stragglers) most = std::max(most, late.gain_ns);
  return most;
}

TEST(RankHosts, ASlowHostGainsNoMoreThanTheOthersLaunchesAllow) {
  MadeJob job;
  job.ranks = 2;
  job.make();
  rename_cause(job.parts, RankTime::idle_input, RankTime::idle_launch_bound);
  const Nanos unbounded = gain_of(job.parts);
  ASSERT_GT(unbounded, 20 * kNsPerMs);
  set_ahead(job.parts, kNsPerSecond);
  EXPECT_EQ(gain_of(job.parts), unbounded);
  // With launches a millisecond ahead, that is what remains, and what the last collective adds.
  set_ahead(job.parts, kNsPerMs);
  EXPECT_LE(gain_of(job.parts), 5 * kNsPerMs);
}

TEST(RankHosts, KernelsAndInputAreNotHeldAgainstTheOthersHosts) {
  MadeJob job;
  job.ranks = 2;
  job.make();
  const Nanos unbounded = gain_of(job.parts);
  set_ahead(job.parts, kNsPerMs);
  EXPECT_EQ(gain_of(job.parts), unbounded);
}

/// Four hosts that need 46 ms a step, one of them with `input` in it and `pace` in all.
MadeJob hosts(Nanos input, Nanos pace) {
  MadeJob job;
  job.periodic = true;
  job.make();
  for (auto& part : job.parts) {
    const bool late = part.rank == 2;
    for (std::int64_t step = 0; step < 5; ++step) {
      const Nanos own = (late ? pace : 46 * kNsPerMs) + (step % 3) * 300'000;
      part.hosts.step.push_back(step);
      part.hosts.duration_ns.push_back(own + kNsPerMs);
      part.hosts.blocked_ns.push_back(kNsPerMs);
      part.hosts.input_ns.push_back(late ? input : 0);
      part.hosts.operators_ns.push_back(own - (late ? input : 0));
      part.hosts.other_ns.push_back(0);
      part.hosts.queued_ns.push_back(20 * kNsPerMs);
      part.hosts.input_op.push_back(late ? 2 : -1);
      part.hosts.other_op.push_back(-1);
    }
  }
  return job;
}

std::vector<FallingBehind> behind(MadeJob job) {
  auto answer = analyze_ranks(std::move(job.parts), {});
  EXPECT_TRUE(answer);
  return answer ? answer->falling_behind : std::vector<FallingBehind>{};
}

TEST(RankHosts, OneThatFallsBehindIsNamedWithCauseAndGain) {
  const auto rows = behind(hosts(15 * kNsPerMs, 50 * kNsPerMs));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].rank, 2);
  EXPECT_EQ(rows[0].cause, RankTime::idle_input);
  EXPECT_EQ(rows[0].op, "planted");
  EXPECT_EQ(rows[0].more_ns, 15 * kNsPerMs);
  EXPECT_EQ(rows[0].gain_step_ns, 4 * kNsPerMs);
  EXPECT_EQ(rows[0].queued_ns, 20 * kNsPerMs);
  EXPECT_EQ(rows[0].steps, 5);
}

TEST(RankHosts, NothingIsSaidOfAHostThatStillIsTheFaster) {
  EXPECT_TRUE(behind(hosts(15 * kNsPerMs, 40 * kNsPerMs)).empty());
}

TEST(RankHosts, NothingIsSaidWhereADeviceIsSlowerThanEveryHost) {
  auto job = hosts(15 * kNsPerMs, 50 * kNsPerMs);
  for (auto& part : job.parts)
    for (std::int64_t step = 0; step < 5; ++step)
      part.steps.push_back({step,
                            part.start_ns + step * 60 * kNsPerMs,
                            60 * kNsPerMs,
                            {{RankTime::kernels, 60 * kNsPerMs}}});
  EXPECT_TRUE(behind(job).empty());
}

TEST(RankHosts, ASlowerHostOfAProfilerMayBeItsRecording) {
  auto job = hosts(0, 55 * kNsPerMs);
  ASSERT_EQ(behind(job).size(), 1U);
  EXPECT_EQ(behind(job)[0].cause, RankTime::idle_launch_bound);
  for (auto& part : job.parts) part.format = "kineto";
  EXPECT_TRUE(behind(job).empty()) << "9 ms of 55";
  auto slow = hosts(0, 80 * kNsPerMs);
  for (auto& part : slow.parts) part.format = "kineto";
  EXPECT_EQ(behind(slow).size(), 1U) << "34 ms of 80";
}

TEST(RankHosts, NothingIsSaidOfTwoSteps) {
  auto job = hosts(15 * kNsPerMs, 50 * kNsPerMs);
  for (auto& part : job.parts)
    PartHost::fields(
        [&](const char*, auto member, const char*) { (part.hosts.*member).resize(2); });
  EXPECT_TRUE(behind(job).empty());
}

TEST(RankHosts, NothingIsSaidWhereEveryHostDoesTheSame) {
  auto job = hosts(15 * kNsPerMs, 50 * kNsPerMs);
  for (auto& part : job.parts) part.hosts = job.parts[2].hosts;
  EXPECT_TRUE(behind(job).empty());
}

}  // namespace

}  // namespace gf
