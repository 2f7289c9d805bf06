// Groups of captures that belong together: ranks told by their events, stages of one job, files
// under wrong numbers and files given twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyze/ranks/ranks.h"
#include "analyze/ranks/stages.h"

namespace gf {
namespace {

struct Named {
  std::string source;
  std::string ranks = "[0,1]";  // of its group
  std::int64_t rank = -1;
  RankSource rank_source = RankSource::order;
  std::int64_t device = 0, process = -1;
  Nanos start = 0;
  std::int64_t late = 0;  // us that each collective begins later than on the other ranks
  std::string content;
};

/// Twelve collectives of 100 us in which the rank computes `late` longer than its peers.
RankPart part_of(const Named& named) {
  RankPart part;
  part.source = named.source;
  part.rank = named.rank;
  part.rank_source = named.rank_source;
  part.device_id = named.device;
  part.process = named.process;
  part.start_ns = named.start;
  part.content = named.content;
  const auto size = static_cast<std::int64_t>(listed_ranks(named.ranks).size());
  part.groups.push_back({"1", named.ranks, size});
  part.texts = {"ncclDevKernel_AllReduce_Sum_f32_RING_LL"};
  auto& table = part.collectives;
  for (int i = 0; i < 12; ++i) {
    const Nanos begin = named.start + i * 1000 * kNsPerUs + 700 * kNsPerUs;
    table.start_ns.push_back(begin + named.late * kNsPerUs);
    table.duration_ns.push_back((100 - named.late) * kNsPerUs);
    table.exposed_ns.push_back(table.duration_ns.back());
    table.ahead_ns.push_back(-1);
    table.type.push_back(static_cast<std::int64_t>(CollectiveType::all_reduce));
    table.group.push_back(0);
    table.sequence.push_back(-1);
    table.bytes.push_back(4096);
    table.kernel.push_back(0);
    table.from_rank.push_back(-1);
    table.to_rank.push_back(-1);
    table.step.push_back(-1);
  }
  part.span_ns = table.start_ns.back() + table.duration_ns.back() - part.start_ns;
  part.busy_ns = part.span_ns;
  return part;
}

std::vector<RankPart> parts_of(const std::vector<Named>& all) {
  std::vector<RankPart> parts;
  for (const auto& named : all) parts.push_back(part_of(named));
  return parts;
}

/// "EXTEND: 0 a, 1 b; DECODE: …": the stages with ranks and files.
std::string stages_of(const std::vector<Named>& all) {
  const auto stages = split_stages(parts_of(all));
  if (!stages) return stages.error().message();
  std::string text;
  for (const auto& stage : *stages) {
    text += (text.empty() ? "" : "; ") + stage.name + ":";
    auto parts = stage.parts;
    std::ranges::sort(parts, {}, &RankPart::rank);
    for (const auto& part : parts) text += " " + std::to_string(part.rank) + " " + part.source;
  }
  return text;
}

/// The same for the files in any order.
std::string in_any_order(std::vector<Named> all) {
  const auto first = stages_of(all);
  for (std::size_t turn = 1; turn < all.size(); ++turn) {
    std::ranges::rotate(all, all.begin() + 1);
    EXPECT_EQ(stages_of(all), first);
  }
  std::ranges::reverse(all);
  EXPECT_EQ(stages_of(all), first);
  return first;
}

constexpr Nanos kLater = 5 * kNsPerSecond;

TEST(RankStages, ListsOfRanksAreReadAsTheyAreWritten) {
  EXPECT_EQ(listed_ranks("[0,1,5]"), (std::vector<std::int64_t>{0, 1, 5}));
  EXPECT_EQ(listed_ranks("[0-3,9]"), (std::vector<std::int64_t>{0, 1, 2, 3, 9}));
  EXPECT_EQ(listed_ranks("[2-10/4]"), (std::vector<std::int64_t>{2, 6, 10}));
  for (const char* none : {"", "[]", "default", "[0,1", "[0,1,...,7]", "[-1]", "[3-1]", "[0-4/0]",
                           "[0-99999999999]", "[1,]"})
    EXPECT_TRUE(listed_ranks(none).empty()) << none;
}

TEST(RankStages, GroupsThatShareOneRankTellIt) {
  auto part = part_of({"a"});
  EXPECT_EQ(rank_in_groups(part), std::nullopt);
  part.groups.push_back({"2", "[1,3]", 2});
  EXPECT_EQ(rank_in_groups(part), std::nullopt) << "it has no collective of the second";
  part.collectives.group.back() = 1;
  EXPECT_EQ(rank_in_groups(part), 1);
  part.rank_source = RankSource::file_name;
  part.rank = 0;
  const auto stages = split_stages({part});
  ASSERT_TRUE(stages);
  EXPECT_EQ(stages->front().parts.front().rank, 1);
  EXPECT_EQ(stages->front().parts.front().rank_source, RankSource::groups);
}

TEST(RankStages, StageFilesOfTheSameRanksAreStages) {
  EXPECT_EQ(in_any_order({{"1-TP-0-EXTEND.json"},
                          {"1-TP-1-EXTEND.json", "[0,1]", -1, RankSource::order, 1},
                          {.source = "1-TP-0-DECODE.json", .start = kLater},
                          {"1-TP-1-DECODE.json", "[0,1]", -1, RankSource::order, 1, -1, kLater}}),
            "EXTEND: 0 1-TP-0-EXTEND.json 1 1-TP-1-EXTEND.json; "
            "DECODE: 0 1-TP-0-DECODE.json 1 1-TP-1-DECODE.json");
}

TEST(RankStages, ThatTheCapturesNumberToo) {
  std::vector<Named> all;
  for (const std::int64_t rank : {0, 1})
    for (const char* stage : {"EXTEND", "DECODE"})
      all.push_back({"1-TP-" + std::to_string(rank) + "-" + stage + ".json", "[0,1]", rank,
                     RankSource::trace, rank, 100 + rank,
                     std::string(stage) == "DECODE" ? kLater : 0});
  EXPECT_EQ(in_any_order(all),
            "EXTEND: 0 1-TP-0-EXTEND.json 1 1-TP-1-EXTEND.json; "
            "DECODE: 0 1-TP-0-DECODE.json 1 1-TP-1-DECODE.json");
  // Other processes are another run.
  for (auto& named : all)
    if (named.start > 0) named.process += 50;
  EXPECT_NE(in_any_order(all).find("is rank 0, and so is"), std::string::npos);
}

TEST(RankStages, NamesWithoutNumbersAreToldByDeviceAndTime) {
  EXPECT_EQ(in_any_order({{"decode_left.json", "[0,1]", -1, RankSource::order, 0, -1, kLater},
                          {"decode_right.json", "[0,1]", -1, RankSource::order, 1, -1, kLater},
                          {"prefill_left.json"},
                          {"prefill_right.json", "[0,1]", -1, RankSource::order, 1}}),
            "1: 0 prefill_left.json 1 prefill_right.json; "
            "2: 0 decode_left.json 1 decode_right.json");
}

TEST(RankStages, ARankMayLackAStage) {
  const std::vector<Named> all{{"TP-0-EXTEND.json"},
                               {"TP-1-EXTEND.json", "[0,1]", -1, RankSource::order, 1},
                               {.source = "TP-0-DECODE.json", .start = kLater}};
  EXPECT_EQ(in_any_order(all),
            "EXTEND: 0 TP-0-EXTEND.json 1 TP-1-EXTEND.json; "
            "DECODE: 0 TP-0-DECODE.json");
  const auto answers = analyze_stages(parts_of(all));
  ASSERT_TRUE(answers);
  EXPECT_TRUE((*answers)[0].missing_ranks.empty());
  EXPECT_EQ((*answers)[1].missing_ranks, std::vector<std::int64_t>{1});
}

TEST(RankStages, EachStageHasItsOwnAnswer) {
  auto all = parts_of({{.source = "TP-0-EXTEND.json", .late = 60},
                       {"TP-1-EXTEND.json", "[0,1]", -1, RankSource::order, 1},
                       {.source = "TP-0-DECODE.json", .start = kLater, .late = 60},
                       {"TP-1-DECODE.json", "[0,1]", -1, RankSource::order, 1, -1, kLater}});
  const auto answers = analyze_stages(all);
  ASSERT_TRUE(answers);
  ASSERT_EQ(answers->size(), 2U);
  for (const auto& answer : *answers) {
    EXPECT_EQ(answer.ranks.size(), 2U);
    EXPECT_EQ(answer.world_size, 2);
    EXPECT_EQ(answer.ranks[0].last, 12) << answer.stage;
    EXPECT_EQ(answer.ranks[1].wait_ns, 12 * 60 * kNsPerUs);
  }
  EXPECT_FALSE(analyze_ranks(all)) << "one answer for two stages";
}

TEST(RankStages, ParallelismInNamesGivesRanksInOrder) {
  std::vector<Named> all;
  for (const char* name : {"TP-1-PP-0.json", "TP-0-PP-1.json", "TP-0-PP-0.json", "TP-1-PP-1.json"})
    all.push_back({.source = name, .ranks = "[0,1,2,3]", .start = static_cast<Nanos>(all.size())});
  EXPECT_EQ(in_any_order(all),
            ": 0 TP-0-PP-0.json 1 TP-1-PP-0.json 2 TP-0-PP-1.json 3 TP-1-PP-1.json");
}

TEST(RankStages, ThreeHostsWithoutNumbersAreRanksByName) {
  EXPECT_EQ(in_any_order({{"host10/t.json", "[0,1,2]"},
                          {"host2/t.json", "[0,1,2]", -1, RankSource::order, 0, -1, 1000},
                          {"host1/t.json", "[0,1,2]", -1, RankSource::order, 0, -1, 2000}}),
            ": -1 host1/t.json -1 host2/t.json -1 host10/t.json");
  const auto answer =
      analyze_ranks(parts_of({{"host10/t.json", "[0,1,2]"},
                              {"host2/t.json", "[0,1,2]", -1, RankSource::order, 0, -1, 9}}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->world_size, 3);
  EXPECT_EQ(answer->ranks[0].source, "host2/t.json");
  EXPECT_EQ(answer->missing_ranks, std::vector<std::int64_t>{2});
}

TEST(RankStages, MoreCapturesThanRanksAreToldSo) {
  const auto text = in_any_order({{"a.json"},
                                  {"b.json", "[0,1]", -1, RankSource::order, 1},
                                  {"c.json", "[0,1]", -1, RankSource::order, 2, -1, 50}});
  EXPECT_EQ(text,
            "a.json: 3 captures are given, and the groups of their collectives have the 2 ranks 0, "
            "1 (give each rank once, all from one run)");
}

TEST(RankStages, OneCaptureTwiceIsToldByItsContent) {
  constexpr const char* kTold =
      "run.rank1.json: has the content of run.rank0.json: it is the same capture (give each rank "
      "once, all from one run)";
  Named first{"run.rank0.json", "[0,1]", 0, RankSource::file_name};
  Named second{"run.rank1.json", "[0,1]", 1, RankSource::file_name};
  first.content = second.content = "00d1";
  EXPECT_EQ(in_any_order({first, second}), kTold);
  second.rank_source =
      RankSource::trace;  // its number was changed inside, its device and clock too
  second.device = 1;
  second.start = 40;
  EXPECT_EQ(in_any_order({first, second}), kTold);
}

TEST(RankStages, AFileUnderAnotherRanksNumberIsTold) {
  const auto stages = split_stages(parts_of({{"rank0.json", "[0,1,2]", 0, RankSource::trace},
                                             {"rank2.json", "[0,1,2]", 1, RankSource::trace, 1}}));
  ASSERT_TRUE(stages);
  const auto& quality = stages->front().parts[1].quality;
  ASSERT_EQ(quality.size(), 1U);
  EXPECT_EQ(quality[0].code, "rank_renamed");
  EXPECT_EQ(quality[0].detail, "rank2.json is rank 1 by what it holds, and rank 2 by its name");
  EXPECT_EQ(stages_of({{"rank5.json", "[0,1]", 5, RankSource::file_name}}),
            "rank5.json: is rank 5 by its name, and its collectives are those of ranks 0, 1 (give "
            "each rank once, all from one run)");
}

TEST(RankStages, NumbersOnAHostAreNoNumbersOfTheJob) {
  const auto stages =
      split_stages(parts_of({{"a/rank0.json", "[0,1,2,3]", 0, RankSource::trace},
                             {"a/rank1.json", "[0,1,2,3]", 1, RankSource::trace, 1},
                             {"b/rank0.json", "[0,1,2,3]", 2, RankSource::trace, 0, -1, 7},
                             {"b/rank1.json", "[0,1,2,3]", 3, RankSource::trace, 1, -1, 7}}));
  ASSERT_TRUE(stages);
  for (const auto& part : stages->front().parts) EXPECT_TRUE(part.quality.empty());
}

}  // namespace
}  // namespace gf
