// The energy of a job of several ranks, of captures whose joules can be worked out by hand.
#include "analyze/ranks/job_energy.h"

#include <gtest/gtest.h>

#include <numeric>

#include "support/job_captures.h"

namespace gf {
namespace {

using test::energy_of;

std::int64_t sum_of_steps(const JobEnergy& job) {
  std::int64_t sum = 0;
  for (const auto& step : job.steps) sum += step.nj;
  return sum;
}

EnergyModelFile static_model() {
  EnergyModelFile file{"m.json", {}};
  file.model.static_w = file.model.static_low = file.model.static_high = 100;
  file.model.active_w = file.model.active_low = file.model.active_high = 40;
  file.model.coefficients = {{"dram.read", "", 2000, 1900, 2100}};
  return file;
}

TEST(JobEnergy, OfRanksOnOneClockWithTheWaitingOfEach) {
  const auto job =
      energy_of({test::MadeRank{.rank = 0, .watts = 500}, test::MadeRank{.rank = 1, .watts = 200}},
                nullptr, 64);
  ASSERT_TRUE(job) << job.error().message();
  ASSERT_EQ(job->ranks.size(), 2u);
  EXPECT_EQ(job->measured_ranks, 2);
  // One window on both clocks.
  EXPECT_TRUE(job->ranks[0].placed && job->ranks[1].placed);
  EXPECT_EQ(job->ranks[1].start_ns - job->ranks[0].start_ns, kNsPerSecond);
  EXPECT_EQ(job->ranks[0].span_ns, job->ranks[1].span_ns);
  EXPECT_EQ(job->nj, *job->ranks[0].nj + *job->ranks[1].nj);
  EXPECT_NEAR(static_cast<double>(job->nj), 700.0 * static_cast<double>(job->span_ns), 2);
  // Rank 1 waits 2 ms and 10 us more each time; steady power goes by time.
  EXPECT_EQ(job->ranks[0].wait_ns, 0);
  EXPECT_EQ(job->ranks[0].wait_nj, 0);
  Nanos waits = 0;
  for (int i = 0; i < 12; ++i) waits += 2'000'000 + 10'000 * i;
  EXPECT_EQ(job->wait_ns, waits);
  EXPECT_NEAR(static_cast<double>(*job->wait_nj), 200.0 * static_cast<double>(waits), 100);
  EXPECT_FALSE(job->wait_low_nj);
  // Steps of both ranks.
  ASSERT_TRUE(job->step);
  EXPECT_GE(job->step->count, 10);
  EXPECT_NEAR(job->step->joules, 7.0, 0.01);  // 700 W over 10 ms
  EXPECT_NEAR(*job->step->joules_per_item, 7.0 / 64, 1e-3);
  EXPECT_EQ(sum_of_steps(*job), job->nj);
  for (const auto& step : job->steps) {
    std::int64_t sum = 0, waiting = 0;
    for (const auto& rank : step.ranks) {
      sum += rank.nj;
      waiting += *rank.wait_nj;
    }
    EXPECT_EQ(sum, step.nj);
    EXPECT_EQ(waiting, step.wait_nj);
  }
}

TEST(JobEnergy, WhoOnlyWaitsTakesStaticPowerAndAtMostTheMean) {
  const auto file = static_model();
  const auto job = energy_of(
      {test::MadeRank{.rank = 0, .watts = 500}, test::MadeRank{.rank = 1, .watts = 200}}, &file);
  ASSERT_TRUE(job) << job.error().message();
  const auto& rank = job->ranks[1];
  const auto waits = static_cast<double>(rank.wait_ns);
  // Nothing counted its SMs: from static power alone, which boards differ in, to the mean.
  EXPECT_NEAR(static_cast<double>(*rank.wait_nj), 200 * waits, 100);
  EXPECT_LT(static_cast<double>(*rank.wait_low_nj), 100 * waits);
  EXPECT_GT(static_cast<double>(*rank.wait_low_nj), 90 * waits);
  EXPECT_GE(*rank.wait_high_nj, *rank.wait_nj);
  std::int64_t parts = 0;
  for (const auto& part : job->parts) parts += part.nj;
  EXPECT_EQ(parts, job->nj);
  EXPECT_EQ(job->parts.back().component, "rest");
}

TEST(JobEnergy, WhoseSmsWereCountedTakesStaticAndActivePowerAlone) {
  const auto file = static_model();
  const auto job = energy_of({test::MadeRank{.rank = 0, .watts = 500, .sms = 0.25},
                              test::MadeRank{.rank = 1, .watts = 200, .sms = 0.25}},
                             &file);
  ASSERT_TRUE(job) << job.error().message();
  const auto& rank = job->ranks[1];
  // 100 W, and a quarter of 40 W: none of the rest, whose kernels did the work.
  EXPECT_NEAR(static_cast<double>(*rank.wait_nj), 110 * static_cast<double>(rank.wait_ns), 100);
  EXPECT_LT(*rank.wait_low_nj, *rank.wait_nj);
  EXPECT_GT(*rank.wait_high_nj, *rank.wait_nj);
}

TEST(JobEnergy, ARankWithoutPowerIsSaidAndNoZero) {
  const auto job =
      energy_of({test::MadeRank{.rank = 0, .watts = 0}, test::MadeRank{.rank = 1, .watts = 200}});
  ASSERT_TRUE(job) << job.error().message();
  EXPECT_EQ(job->measured_ranks, 1);
  EXPECT_FALSE(job->ranks[0].nj);
  EXPECT_NE(job->ranks[0].why_missing.find("power was not measured"), std::string::npos);
  EXPECT_EQ(job->nj, *job->ranks[1].nj);
  EXPECT_FALSE(job->ranks[0].share);
  EXPECT_EQ(job->ranks[1].share, 1.0);
  // Readings that end before the job does are none of its window.
  const auto early =
      energy_of({test::MadeRank{.rank = 0, .collectives = 80},
                 test::MadeRank{.rank = 1, .collectives = 80, .readings = 100'000'000}});
  ASSERT_TRUE(early) << early.error().message();
  EXPECT_FALSE(early->ranks[1].nj);
  EXPECT_NE(early->ranks[1].why_missing.find("the readings of power cover"), std::string::npos)
      << early->ranks[1].why_missing;
}

TEST(JobEnergy, ABoardThatTwoRanksShareCountsOnce) {
  const auto job = energy_of(
      {test::MadeRank{.rank = 0, .uuid = "GPU-1"}, test::MadeRank{.rank = 1, .uuid = "GPU-1"}});
  ASSERT_TRUE(job) << job.error().message();
  EXPECT_EQ(job->measured_ranks, 1);
  EXPECT_FALSE(job->ranks[1].nj);
  EXPECT_NE(job->ranks[1].why_missing.find("shares its GPU with rank 0"), std::string::npos);
}

TEST(JobEnergy, ARankThatSharesNoCollectiveKeepsItsWindow) {
  const auto apart = energy_of(
      {test::MadeRank{.rank = 0}, test::MadeRank{.rank = 1, .collectives = 4, .alone = true}});
  ASSERT_TRUE(apart) << apart.error().message();
  EXPECT_TRUE(apart->ranks[0].placed);
  EXPECT_FALSE(apart->ranks[1].placed);
  EXPECT_FALSE(apart->ranks[1].wait_nj);
  EXPECT_EQ(apart->nj, *apart->ranks[0].nj + *apart->ranks[1].nj);
  EXPECT_LT(apart->ranks[1].span_ns, apart->ranks[0].span_ns);
  EXPECT_EQ(apart->span_ns, apart->ranks[0].span_ns);
}

TEST(JobEnergy, WhereOneRankWasRecordedForLessItIsOfTheTimeThatAllShare) {
  const auto job = energy_of(
      {test::MadeRank{.rank = 0, .watts = 500},
       test::MadeRank{.rank = 1, .collectives = 6, .watts = 200, .readings = 140'000'000}});
  ASSERT_TRUE(job) << job.error().message();
  EXPECT_EQ(job->ranks[0].span_ns, job->ranks[1].span_ns);
  EXPECT_LT(job->span_ns, 65'000'000);
  ASSERT_TRUE(job->step);
  EXPECT_GE(job->step->count, 4);
  EXPECT_NEAR(job->step->joules, 7.0, 0.01);  // 700 W over 10 ms, as of the whole job
  EXPECT_EQ(sum_of_steps(*job), job->nj);
}

TEST(JobEnergy, WithoutStepsThereAreNone) {
  const auto job = energy_of({test::MadeRank{.rank = 0, .collectives = 3, .marks = false},
                              test::MadeRank{.rank = 1, .collectives = 3, .marks = false}});
  ASSERT_TRUE(job) << job.error().message();
  EXPECT_FALSE(job->step);
  EXPECT_TRUE(job->steps.empty());
}

TEST(RankClock, GoesBackToItsOwnTimeToTheNanosecond) {
  for (const double drift : {0.0, 1e-5, -3e-6}) {
    RankClock clock{true, 1'790'857'026'123'456'789, 1'790'857'027'000'000'000, drift, 0};
    for (const Nanos own : {Nanos{1'790'857'026'000'000'001}, Nanos{1'790'857'099'999'999'999}}) {
      const Nanos back = clock.own(clock.common(own));
      EXPECT_LE(std::abs(back - own), 1) << drift;
    }
  }
}

}  // namespace
}  // namespace gf
