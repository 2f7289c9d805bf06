// Medians among the ranks of a stage, against those computed rank by rank.
#include "analyze/ranks/stage_peers.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>

#include "core/statistics.h"

namespace gf {
namespace {

/// Ranks of which the first `together` do the same: they share a collective.
Job job_of(const std::vector<Nanos>& spans, std::uint32_t together) {
  Job job;
  for (const auto span : spans) {
    RankPart& part = job.parts.emplace_back();
    part.span_ns = span;
    part.collectives.type.push_back(static_cast<std::int64_t>(CollectiveType::all_reduce));
  }
  SharedCollective shared;
  for (std::uint32_t part = 0; part < together; ++part) {
    auto& arrival = shared.arrivals.emplace_back();
    arrival.part = part;
    arrival.row = 0;
  }
  job.shared.push_back(std::move(shared));
  return job;
}

TEST(UsualOfPeers, IsTheMedianOfThosePeersThatHaveItAndThoseThatDoNot) {
  EXPECT_TRUE(rc::check([] {
    const auto ranks = *rc::gen::inRange<std::uint32_t>(1, 40);
    const auto together = *rc::gen::inRange<std::uint32_t>(1, ranks + 1);
    const bool alike = *rc::gen::arbitrary<bool>();
    const auto spans = *rc::gen::container<std::vector<Nanos>>(
        ranks, alike ? rc::gen::inRange<Nanos>(1000, 1050) : rc::gen::inRange<Nanos>(900, 1200));
    std::map<std::uint32_t, double> values;
    for (std::uint32_t part = 0; part < ranks; ++part)
      if (*rc::gen::inRange(0, 3) > 0) values[part] = *rc::gen::inRange(-4, 9) / 2.0;
    const StagePeers peers(job_of(spans, together));
    UsualOfPeers usual(peers, values);
    for (const auto& [part, own] : values) {
      std::vector<double> theirs;
      for (std::uint32_t other = 0; other < together; ++other)
        if (other != part && part < together &&
            std::abs(spans[other] - spans[part]) <= spans[part] / 10)
          theirs.push_back(values.contains(other) ? values.at(other) : 0);
      const auto found = usual.of(part);
      RC_ASSERT(found.has_value() == !theirs.empty());
      if (found) RC_ASSERT(*found == median(theirs));
    }
  }));
}

}  // namespace
}  // namespace gf
