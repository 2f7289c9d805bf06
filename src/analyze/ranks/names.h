// The closed lists of a job of several ranks, with the names that JSON uses.
// Words about one rank (RankPart) and a job of several (JobRanks).
// Notes about a job as a whole. quality.def has what single captures carry.
// Reasons why a rank was late, for people.
// Names of a part, each once.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/names.h"
#include "analyze/result.h"

namespace gf {

/// The operation of a collective, whatever library and name carries it.
enum class CollectiveType : std::uint8_t {
  other,
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  gather,
  scatter,
  send,
  receive,
  send_receive,
  barrier
};
template <>
struct EnumNames<CollectiveType> {
  static constexpr const char* type = "CollectiveType";
  static constexpr std::array<std::string_view, 13> names{
      "other",   "all_reduce",   "all_gather", "reduce_scatter", "broadcast",
      "reduce",  "all_to_all",   "gather",     "scatter",        "send",
      "receive", "send_receive", "barrier"};
};

/// The use of a stretch of a rank's time: kernels that compute, copies, collectives that
/// nothing ran beside, else an idle cause. `unknown`: before the first collective that the ranks
/// share. Time in which several hold takes the first.
enum class RankTime : std::uint8_t {
  kernels,
  copies,
  collectives,
#define GF_CAUSE(id, label, short_label, colour, meaning) idle_##id,
#include "analyze/names/causes_ids.def"
#undef GF_CAUSE
  unknown
};
template <>
struct EnumNames<RankTime> {
  static constexpr const char* type = "RankTime";
  static constexpr auto names = std::to_array<std::string_view>({"kernels", "copies", "collectives",
#define GF_CAUSE(id, label, short_label, colour, meaning) #id,
#include "analyze/names/causes_ids.def"
#undef GF_CAUSE
                                                                 "unknown"});
};
inline constexpr std::size_t kRankTimes = EnumNames<RankTime>::names.size();
inline constexpr std::size_t kFirstIdleTime = 3;  // of RankTime

constexpr RankTime rank_time(IdleReason reason) {
  return static_cast<RankTime>(kFirstIdleTime + static_cast<std::size_t>(reason));
}

/// The source of a rank's number, the surest first.
enum class RankSource : std::uint8_t { trace, environment, groups, device, file_name, order };
template <>
struct EnumNames<RankSource> {
  static constexpr const char* type = "RankSource";
  static constexpr std::array<std::string_view, 6> names{"trace",  "environment", "groups",
                                                         "device", "file_name",   "order"};
};

/// The pairing of a group's collectives across ranks.
enum class PairedBy : std::uint8_t { nothing, sequence, order, time };
template <>
struct EnumNames<PairedBy> {
  static constexpr const char* type = "PairedBy";
  static constexpr std::array<std::string_view, 4> names{"nothing", "sequence", "order", "time"};
};

#define GF_RESULTS "analyze/results/rank_part.def"
#include "analyze/declare_results.inl"
#define GF_RESULTS "analyze/results/ranks.def"
#include "analyze/declare_results.inl"

/// Ranks without a file, or with one that cannot be read: the answer is not whole.
inline constexpr std::string_view kMissingRanks = "missing_ranks";

/// A rank whose file has another rank's number in its name.
inline constexpr std::string_view kRenamedRank = "rank_renamed";

/// True if a note of this code only says how far to trust an answer, which is whole.
constexpr bool is_job_doubt(std::string_view code) {
  constexpr std::array<std::string_view, 7> kDoubts{
      "bounds_by_waiting",      // the job is too large to run again: gains are bounds by waiting
      "doubtful_pairs",         // another way to pair the collectives of two ranks fits as well
      "incredible_pairs",       // collectives that did not run at the same time are left unpaired
      "no_shared_collectives",  // ranks whose clocks are tied to no other's
      "rank_guessed",           // the number comes from the file's name or place
      kRenamedRank,
      "unmatched_collectives",  // that only one of the ranks shows
  };
  return std::ranges::find(kDoubts, code) != kDoubts.end();
}

/// The excess of the late rank over the ranks that waited: "launch too late", "more kernel time".
constexpr std::string_view late_label(RankTime cause) {
  constexpr std::string_view kLabels[] = {"more kernel time", "more copies", "other collectives",
#define GF_CAUSE(id, label, short_label, colour, meaning) label,
#include "analyze/names/causes.def"
#undef GF_CAUSE
                                          "not recorded"};
  return kLabels[static_cast<std::size_t>(cause)];
}

class Texts {
 public:
  std::int64_t number(std::string_view text) {
    const auto [at, added] =
        numbers_.try_emplace(std::string(text), static_cast<std::int64_t>(texts_.size()));
    if (added) texts_.emplace_back(text);
    return at->second;
  }
  std::vector<std::string> take() && { return std::move(texts_); }

 private:
  std::unordered_map<std::string, std::int64_t> numbers_;
  std::vector<std::string> texts_;
};

}  // namespace gf
