// Waiting between ranks: simulated jobs whose truth is known, and recorded ones with the truth
// beside them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "analyze/collective_type.h"
#include "analyze/ranks/align.h"
#include "analyze/ranks/identity.h"
#include "analyze/ranks/measure_rank.h"
#include "analyze/ranks/ranks.h"
#include "import/importer.h"
#include "ranks_job.h"
#include "report/json.h"

namespace gf {

namespace {

using testing::MadeJob;

TEST(Ranks, TypesByTheWordsOfFrameworksLibrariesAndKernels) {
  EXPECT_EQ(collective_type("allreduce"), CollectiveType::all_reduce);
  EXPECT_EQ(collective_type("_reduce_scatter_base"), CollectiveType::reduce_scatter);
  EXPECT_EQ(collective_type("all_to_allv"), CollectiveType::all_to_all);
  EXPECT_EQ(collective_type("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long)"),
            CollectiveType::all_reduce);
  EXPECT_EQ(collective_type("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"),
            CollectiveType::send_receive);
  EXPECT_EQ(collective_type("ncclDevKernel_Reduce_Sum_f32_RING_LL"), CollectiveType::reduce);
  EXPECT_EQ(collective_type("ncclDevKernel_Generic"), CollectiveType::other);
  EXPECT_EQ(collective_type("void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<8, 1>"
                            "(unsigned int**)"),
            CollectiveType::all_reduce);
}

TEST(Ranks, LongListsAreToldByTheirEnds) {
  auto listed = [](std::int64_t from, std::int64_t until, std::int64_t step) {
    std::string list;
    for (std::int64_t rank = from; rank < until; rank += step)
      list += (list.empty() ? "" : ", ") + std::to_string(rank);
    return list;
  };
  EXPECT_EQ(short_list("[0, 1, 2, 3]"), "[0,1,2,3]");
  EXPECT_EQ(short_list("[" + listed(0, 2048, 1) + "]"), "[0-2047]");
  EXPECT_EQ(short_list("[" + listed(3, 2048, 8) + "]"), "[3-2043/8]");
  EXPECT_EQ(short_list("[" + listed(0, 16, 1) + ", 99, " + listed(32, 48, 1) + "]"),
            "[0-15,99,32-47]");
  EXPECT_EQ(short_list("[" + listed(0, 20, 1) + ", 7, 5, 3, 1]"), "[0-19,7,5,3,1]");
  for (const char* as_is : {"", "[]", "[0-2047]", "[0,1,...,2046,2047]", "default", "[0,1", "[-1]"})
    EXPECT_EQ(short_list(as_is), as_is);
}

TEST(Ranks, NumbersInFileNames) {
  EXPECT_EQ(rank_in_name("a/none.rank1.json.gz"), 1);
  EXPECT_EQ(rank_in_name("rank-12_x.pt.trace.json"), 12);
  EXPECT_EQ(rank_in_name("/rank7/host_worker_3.json"), 3);
  EXPECT_EQ(rank_in_name("frank2.json"), std::nullopt);
  EXPECT_EQ(rank_in_name("trace.json"), std::nullopt);
}

TEST(Ranks, WhatTheTraceSaysGoesBeforeTheLauncherAndTheName) {
  Capture capture;
  capture.path = "run/rank5.gpf";
  EXPECT_EQ(identify_rank(capture).rank, 5);
  EXPECT_EQ(identify_rank(capture).source, RankSource::file_name);
  capture.set_metadata("job.rank", "3");
  capture.set_metadata("job.world_size", "16");
  capture.set_metadata("job.scheduler", "slurm");
  capture.set_metadata("job.id", "4711");
  const RankIdentity launched = identify_rank(capture);
  EXPECT_EQ(launched.rank, 3);
  EXPECT_EQ(launched.world_size, 16);
  EXPECT_EQ(launched.job, "slurm 4711");
  EXPECT_EQ(launched.source, RankSource::environment);
  capture.set_metadata("distributedInfo.rank", "1");
  capture.set_metadata("distributedInfo.world_size", "2");
  EXPECT_EQ(identify_rank(capture).rank, 1);
  EXPECT_EQ(identify_rank(capture).source, RankSource::trace);
  capture.set_metadata("distributedInfo.rank", "many");
  EXPECT_EQ(identify_rank(capture).rank, 3);
}

TEST(Ranks, ClocksAreFittedAgainstOutliers) {
  std::vector<ClockPair> pairs;
  for (Nanos i = 0; i < 100; ++i) {
    const Nanos at = i * 10 * kNsPerMs;
    Nanos difference = 2 * kNsPerSecond + i * 80 + (i % 7 - 3) * 100;  // 8 ppm
    if (i % 5 == 0) difference += 40 * kNsPerUs;
    pairs.push_back({at, difference});
  }
  const ClockFit fit = fit_clock(pairs);
  EXPECT_NEAR(fit.drift * 1e6, 8, 0.5);
  EXPECT_LT(std::abs(fit.at(500 * kNsPerMs) - 2 * kNsPerSecond - 4000), 500);
  EXPECT_LT(fit.residual, kNsPerUs);
}

// One that is being set back while the other is set forward.
TEST(Ranks, ClocksThatAreSlewed) {
  for (const Nanos nanos_a_millisecond : {500, -500, 900}) {
    std::vector<ClockPair> pairs;
    for (Nanos i = 0; i < 60; ++i) pairs.push_back({i * kNsPerMs, i * nanos_a_millisecond});
    const ClockFit fit = fit_clock(pairs);
    EXPECT_NEAR(fit.drift * 1e6, static_cast<double>(nanos_a_millisecond), 1);
    EXPECT_LT(fit.residual, 100);
  }
}

/// Every wait of a made-up job within `tolerance`, and the last rank right where it is sure.
void expect_truth(const MadeJob& made, const JobRanks& job, Nanos tolerance) {
  ASSERT_EQ(job.collectives.size(), made.collectives);
  for (std::size_t i = 0; i < made.collectives; ++i) {
    const auto& row = job.collectives[i];
    ASSERT_EQ(row.ranks.size(), static_cast<std::size_t>(made.ranks));
    for (const auto& rank : row.ranks) {
      EXPECT_EQ(rank.wait_ns + rank.transfer_ns, rank.duration_ns);
      EXPECT_NEAR(static_cast<double>(rank.wait_ns),
                  static_cast<double>(made.wait[static_cast<std::size_t>(rank.rank)][i]),
                  static_cast<double>(tolerance));
    }
    if (row.margin_ns > row.doubt_ns) {
      EXPECT_EQ(row.last_rank, made.late[i]);
    }
  }
}

TEST(Ranks, OffsetsDriftAndWaitsWithinFiveMicroseconds) {
  for (const bool numbered : {false, true}) {
    MadeJob made;
    made.numbered = numbered;
    made.offset = {0, 3 * kNsPerSecond, -5 * kNsPerSecond / 2, 700};
    made.drift = {0, 8e-6, -8e-6, 0};
    made.make();
    const auto job = analyze_ranks(made.parts);
    ASSERT_TRUE(job) << job.error().message();
    expect_truth(made, *job, 5 * kNsPerUs);
    EXPECT_EQ(job->groups.front().paired_by, numbered ? PairedBy::sequence : PairedBy::order);
    EXPECT_NEAR(job->ranks[1].drift_ppm, 8, 1);
    for (const auto& rank : job->ranks) {
      EXPECT_EQ(rank.wait_ns + rank.transfer_ns + rank.unmatched_ns, rank.collective_ns);
      Nanos sum = 0;
      for (const auto& piece : rank.time) sum += piece.ns;
      EXPECT_EQ(sum, rank.span_ns);
    }
  }
}

TEST(Ranks, TheOrderOfTheFilesChangesNothing) {
  MadeJob made;
  made.offset = {0, 9000, -40'000, 12};
  made.make();
  auto reversed = made.parts;
  std::reverse(reversed.begin(), reversed.end());
  std::string one, other;
  to_json(one, *analyze_ranks(made.parts));
  to_json(other, *analyze_ranks(reversed, {0, 3}));
  EXPECT_EQ(one, other);
}

TEST(Ranks, TheCauseIsWhatTheLateRankHadMoreOf) {
  MadeJob made;
  made.make();
  const auto job = analyze_ranks(made.parts);
  ASSERT_TRUE(job);
  Nanos input = 0, all = 0;
  for (const auto& late : job->stragglers) {
    all += late.wait_ns;
    if (late.cause != RankTime::idle_input) continue;
    input += late.wait_ns;
    EXPECT_EQ(late.op, "planted");
  }
  EXPECT_GT(static_cast<double>(input), 0.95 * static_cast<double>(all));
  Nanos waited = 0;
  for (const auto& row : job->collectives)
    if (row.margin_ns > row.doubt_ns) waited += row.wait_ns;
  EXPECT_EQ(all, waited);  // every waiting that is sure has one cause
}

void cut(RankPart& part, std::size_t first) {
  auto rows = [first](auto& column) {
    column.erase(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(first));
  };
  PartCollectives::fields(
      [&](const char*, auto member, const char*) { rows(part.collectives.*member); });
  part.before = {};
  part.owners = {};
}

TEST(Ranks, ACutTraceIsNotPairedByBlindOrder) {
  MadeJob made;
  made.offset = {0, 50'000, 0, 0};
  made.make();
  cut(made.parts[1], 7);
  const auto job = analyze_ranks(made.parts);
  ASSERT_TRUE(job) << job.error().message();
  EXPECT_EQ(job->ranks[1].matched, 53);
  std::size_t late_first = 0;
  for (std::size_t i = 0; i < job->collectives.size(); ++i) {
    const auto& row = job->collectives[i];
    if (made.late[i] == 1 && i < 7) continue;  // the late one is not there
    if (row.margin_ns > row.doubt_ns && row.last_rank != made.late[i]) ++late_first;
  }
  EXPECT_EQ(late_first, 0u);
}

TEST(Ranks, ACutTraceOfPeriodicCollectivesIsPairedByTheirNumbers) {
  MadeJob made;
  made.periodic = made.numbered = true;
  made.offset = {0, 20 * kNsPerMs, 0, 0};
  made.make();
  cut(made.parts[1], 7);
  // The first of a file may have been launched before the profiler described anything.
  made.parts[2].collectives.sequence[0] = -1;
  const auto job = analyze_ranks(made.parts);
  ASSERT_TRUE(job) << job.error().message();
  EXPECT_NEAR(static_cast<double>(*job->ranks[1].offset_ns), 20e6, 5e3);
  EXPECT_EQ(job->groups.front().paired_by, PairedBy::sequence);
  EXPECT_EQ(job->ranks[1].matched, 53);
  EXPECT_EQ(job->ranks[2].matched, 60);
  for (const auto& note : job->quality) EXPECT_NE(note.code, "doubtful_pairs");
}

TEST(Ranks, FilesOfTwoRunsAreRefused) {
  MadeJob made, other;
  other.seed = 99;
  made.make();
  other.make();
  made.parts[2] = other.parts[2];
  const auto job = analyze_ranks(made.parts);
  ASSERT_FALSE(job);
  EXPECT_NE(job.error().message().find("another run"), std::string::npos) << job.error().message();
}

TEST(Ranks, RanksOfOtherSizesAndDoubledRanksAreRefused) {
  MadeJob made;
  made.make();
  auto larger = made.parts;
  larger[3].world_size = 8;
  EXPECT_FALSE(analyze_ranks(larger));
  auto doubled = made.parts;
  doubled[3].rank = 2;
  EXPECT_FALSE(analyze_ranks(doubled));
  auto other_job = made.parts;
  other_job[0].job = "SLURM_JOB_ID=1";
  other_job[1].job = "SLURM_JOB_ID=2";
  EXPECT_FALSE(analyze_ranks(other_job));
}

TEST(Ranks, MissingRanksAreListed) {
  MadeJob made;
  made.make();
  made.parts.erase(made.parts.begin() + 1);
  const auto job = analyze_ranks(made.parts);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->missing_ranks, std::vector<std::int64_t>{1});
  EXPECT_EQ(job->world_size, 4);
}

TEST(Ranks, APartReadsBackAsItWasWritten) {
  MadeJob made;
  made.make();
  for (const auto& part : made.parts) {
    std::string json, again;
    to_json(json, part);
    const auto read = read_rank_part(json, "x");
    ASSERT_TRUE(read) << read.error().message();
    to_json(again, *read);
    EXPECT_EQ(json, again);
    for (std::size_t length = 0; length < json.size(); length += 997)
      EXPECT_FALSE(read_rank_part(std::string_view(json).substr(0, length), "x"));
  }
}

/// Ranks whose collectives, in two groups, are given one by one.
class Chain {
 public:
  explicit Chain(std::int64_t ranks) {
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      RankPart part;
      part.rank = rank;
      part.world_size = ranks;
      part.rank_source = RankSource::trace;
      part.source = std::to_string(rank);
      part.groups = {{"near", "", 2}, {"far", "", 2}};
      part.texts = {"ncclDevKernel_AllReduce", "load", "mm", ""};
      parts.push_back(std::move(part));
    }
  }
  /// `what`: time of the rank since its collective before began, by kind.
  void add(std::size_t rank, std::int64_t group, std::string_view channel, Nanos start, Nanos end,
           Nanos exposed, std::vector<std::pair<RankTime, Nanos>> what) {
    RankPart& part = parts[rank];
    part.groups[static_cast<std::size_t>(group)].ranks = channel;
    auto& table = part.collectives;
    table.start_ns.push_back(start);
    table.duration_ns.push_back(end - start);
    table.exposed_ns.push_back(exposed);
    table.type.push_back(static_cast<std::int64_t>(CollectiveType::all_reduce));
    for (auto* column : {&table.sequence, &table.from_rank, &table.to_rank, &table.step})
      column->push_back(-1);
    table.bytes.push_back(1000 + 7 * std::count(table.group.begin(), table.group.end(), group));
    table.group.push_back(group);
    table.kernel.push_back(0);
    const auto row = static_cast<std::int64_t>(table.start_ns.size()) - 1;
    for (const auto& [kind, ns] : what) {
      part.before.collective.push_back(row);
      part.before.part.push_back(static_cast<std::int64_t>(kind));
      part.before.ns.push_back(ns);
    }
    part.span_ns = end;
    part.exposed_ns += exposed;
    part.time = {{RankTime::collectives, part.exposed_ns}};
  }
  std::vector<RankPart> parts;
};

constexpr Nanos kMs = kNsPerMs;

const Straggler* find(const JobRanks& job, std::int64_t rank, RankTime cause) {
  for (const auto& late : job.stragglers)
    if (late.rank == rank && late.cause == cause) return &late;
  return nullptr;
}

TEST(Ranks, WhoWaitedItselfIsNotToBlame) {
  // Rank 0 reads its input for 15 ms a step; rank 1 waits for it, and rank 2 for rank 1.
  Chain chain(3);
  Nanos now = 10 * kMs;
  for (int step = 0; step < 6; ++step) {
    const Nanos wait = step == 0 ? 0 : 15 * kMs;
    const Nanos meet = now + wait;
    using enum RankTime;
    chain.add(0, 0, "[0,1]", meet, meet + kMs, kMs, {{kernels, 5 * kMs}, {idle_input, wait}});
    chain.add(1, 0, "[0,1]", now, meet + kMs, wait + kMs, {{kernels, 5 * kMs}});
    // Rank 1 then meets rank 2, which has been there since before.
    const Nanos far = meet + 3 * kMs;
    chain.add(1, 1, "[1,2]", far, far + kMs, kMs, {{collectives, wait + kMs}, {kernels, 2 * kMs}});
    chain.add(2, 1, "[1,2]", now + 3 * kMs, far + kMs, wait + kMs, {{kernels, 7 * kMs}});
    now = far + 6 * kMs;
  }
  const auto job = analyze_ranks(chain.parts);
  ASSERT_TRUE(job) << job.error().message();
  const Straggler* worst = find(*job, 0, RankTime::idle_input);
  ASSERT_TRUE(worst);
  EXPECT_EQ(&job->stragglers.front(), worst);
  EXPECT_EQ(worst->wait_ns, 5 * 2 * 15 * kMs);  // of two ranks
  EXPECT_EQ(worst->gain_ns, 5 * 15 * kMs);      // and gained once
  EXPECT_EQ(find(*job, 1, RankTime::kernels), nullptr);
  std::size_t passed = 0;
  for (const auto& row : job->collectives) passed += row.cause == RankTime::collectives;
  EXPECT_EQ(passed, 5u);
}

TEST(Ranks, WorkDoneWhileWaitingIsNoExcessOfTheLateRank) {
  // Two buckets a step: while the early rank waits for the first it computes the second's part.
  Chain chain(2);
  Nanos now = 10 * kMs;
  for (int step = 0; step < 6; ++step) {
    using enum RankTime;
    const Nanos first = now + 20 * kMs;
    const Nanos alone = step == 0 ? 0 : kMs;  // in the collective before, of the late rank
    chain.add(0, 0, "[0,1]", first, first + kMs, 0,
              {{collectives, alone}, {kernels, 5 * kMs}, {idle_input, 15 * kMs}});
    chain.add(1, 0, "[0,1]", now + 5 * kMs, first + kMs, 9 * kMs,
              {{collectives, 4 * alone}, {kernels, 5 * kMs}});
    const Nanos second = first + 4 * kMs;
    chain.add(0, 0, "[0,1]", second, second + kMs, kMs, {{kernels, 4 * kMs}});
    chain.add(1, 0, "[0,1]", first + kMs, second + kMs, 4 * kMs,
              {{kernels, 7 * kMs}, {collectives, 9 * kMs}});
    const Nanos third = second + 4 * kMs;
    chain.add(0, 0, "[0,1]", third, third + kMs, kMs, {{kernels, 3 * kMs}, {collectives, kMs}});
    chain.add(1, 0, "[0,1]", second + kMs, third + kMs, 4 * kMs, {{collectives, 4 * kMs}});
    now = third + kMs;
  }
  const auto job = analyze_ranks(chain.parts);
  ASSERT_TRUE(job) << job.error().message();
  EXPECT_EQ(job->stragglers.front().cause, RankTime::idle_input);
  const Straggler* kernels = find(*job, 0, RankTime::kernels);
  EXPECT_LT(kernels ? kernels->wait_ns : 0, job->stragglers.front().wait_ns / 20);
}

// Recorded on two H200s; truth.json stands beside them.
struct Truth {
  const char* name;
  std::int64_t matched, last[2];
  Nanos wait[2], exposed[2], compute[2], busy[2];
  Nanos offset;
};
constexpr Truth kTruth[] = {
    {"none",
     28,
     {28, 0},
     {0, 103630262},
     {1773821, 72901642},
     {60984101, 67846571},
     {64309972, 141447421},
     -1241},
    {"slow_gpu",
     28,
     {26, 2},
     {354, 153536269},
     {1940573, 114318496},
     {87500092, 69135971},
     {91146765, 184413178},
     1572},
    {"fsdp",
     72,
     {72, 0},
     {0, 178145400},
     {8481995, 163742624},
     {32456843, 48092765},
     {41881872, 212089593},
     -14771},
};

void PrintTo(const Truth& truth, std::ostream* out) { *out << truth.name; }

class RecordedRanks : public ::testing::TestWithParam<Truth> {};

TEST_P(RecordedRanks, StragglerWaitingAndClocks) {
  const char* corpus = std::getenv("GPUFATHOM_CORPUS");
  if (!corpus || !*corpus) GTEST_SKIP() << "GPUFATHOM_CORPUS is not set";
  const Truth& truth = GetParam();
  std::vector<RankPart> parts;
  for (int rank = 0; rank < 2; ++rank) {
    const auto path = std::filesystem::path(corpus) / "h200" / "ranks" /
                      (std::string(truth.name) + ".rank" + std::to_string(rank) + ".json.gz");
    const auto capture = import_file(path.string());
    ASSERT_TRUE(capture) << capture.error().message();
    auto measured = measure_ranks(*capture);
    ASSERT_TRUE(measured);
    ASSERT_EQ(measured->size(), 1u);
    parts.push_back(std::move(measured->front()));
  }
  const auto job = analyze_ranks(std::move(parts));
  ASSERT_TRUE(job) << job.error().message();
  EXPECT_EQ(job->collectives_matched, truth.matched);
  EXPECT_EQ(job->stragglers.front().rank, 0);
  EXPECT_LT(std::abs(*job->ranks[1].offset_ns - truth.offset), 5 * kNsPerUs);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const RankUse& use = job->ranks[rank];
    EXPECT_LT(std::abs(use.wait_ns - truth.wait[rank]), truth.matched * 5 * kNsPerUs);
    EXPECT_LT(std::abs(use.compute_ns - truth.compute[rank]), 100);
    EXPECT_LT(std::abs(use.exposed_ns - truth.exposed[rank]), 100);
    EXPECT_LT(std::abs(use.busy_ns - truth.busy[rank]), 100);
    EXPECT_LE(use.last, truth.last[rank]);  // a margin below the doubt counts for nobody
    EXPECT_EQ(use.wait_ns + use.transfer_ns + use.unmatched_ns, use.collective_ns);
  }
  for (const auto& row : job->collectives)
    for (const auto& one : row.ranks) EXPECT_EQ(one.wait_ns + one.transfer_ns, one.duration_ns);
}

INSTANTIATE_TEST_SUITE_P(H200, RecordedRanks, ::testing::ValuesIn(kTruth),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace

}  // namespace gf
