// Ranks' parts sum to their job's energy to the nanosecond's joule, whatever the ranks.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/job_captures.h"

namespace gf {

RC_GTEST_PROP(JobEnergy, RanksStepsAndPartsSumToTheJob, ()) {
  const auto ranks = *rc::gen::inRange<std::int64_t>(2, 5);
  const int collectives = *rc::gen::inRange(4, 20);
  const Nanos delay = 1'000'000 + 1000 * *rc::gen::inRange<Nanos>(0, 3000);
  const bool marks = *rc::gen::arbitrary<bool>();
  std::vector<test::MadeRank> made_ranks;
  std::int64_t powered = 0;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    test::MadeRank made{.rank = rank, .ranks = ranks, .collectives = collectives};
    made.delay = delay;
    made.watts = *rc::gen::inRange(0, 4) == 0 ? 0 : *rc::gen::inRange(50, 700) / 1.7;
    made.marks = marks;
    powered += made.watts > 0;
    made_ranks.push_back(made);
  }
  EnergyModelFile file{"m.json", {}};
  file.model.static_w = file.model.static_low = file.model.static_high = 60;
  file.model.active_w = 20;
  file.model.coefficients = {{"dram.read", "", 2000, 1900, 2100}};
  const auto job = test::energy_of(made_ranks, *rc::gen::arbitrary<bool>() ? &file : nullptr);
  if (!job) RC_FAIL(job.error().message());
  RC_ASSERT(job->measured_ranks == powered);
  std::int64_t nj = 0, waiting = 0, steps = 0, parts = 0;
  for (const auto& rank : job->ranks) {
    RC_ASSERT(rank.nj.has_value() == rank.why_missing.empty());
    if (!rank.nj) continue;
    nj += *rank.nj;
    waiting += *rank.wait_nj;
    RC_ASSERT(*rank.wait_nj <= *rank.nj);
    std::int64_t of_rank = 0;
    for (const auto& part : rank.parts) of_rank += part.nj;
    if (!rank.parts.empty()) RC_ASSERT(of_rank == *rank.nj);
  }
  RC_ASSERT(nj == job->nj);
  if (powered > 0) RC_ASSERT(waiting == *job->wait_nj);
  for (const auto& part : job->parts) parts += part.nj;
  if (!job->parts.empty()) RC_ASSERT(parts == job->nj);
  std::int64_t of_steps = 0;
  for (const auto& step : job->steps) {
    std::int64_t sum = 0, waits = 0;
    for (const auto& rank : step.ranks) {
      sum += rank.nj;
      waits += *rank.wait_nj;
    }
    RC_ASSERT(sum == step.nj && waits == *step.wait_nj);
    steps += step.nj;
    of_steps += waits;
  }
  if (!job->steps.empty()) RC_ASSERT(steps == job->nj && of_steps == waiting);
}

}  // namespace gf
