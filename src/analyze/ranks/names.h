// The closed lists of a job of several ranks, with the names that JSON uses.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "analyze/names.h"

namespace gf {

/// What a collective does, whatever library and name carries it.
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

/// What a rank did with a stretch of its time: kernels that compute, copies, collectives that
/// nothing ran beside, else an idle cause. `unknown`: before the first collective that the ranks
/// share. Time in which several hold takes the first.
enum class RankTime : std::uint8_t {
  kernels,
  copies,
  collectives,
#define GF_CAUSE(id, label, short_label, colour, meaning) idle_##id,
#include "analyze/names/causes.def"
#undef GF_CAUSE
  unknown
};
template <>
struct EnumNames<RankTime> {
  static constexpr const char* type = "RankTime";
  static constexpr auto names = std::to_array<std::string_view>({"kernels", "copies", "collectives",
#define GF_CAUSE(id, label, short_label, colour, meaning) #id,
#include "analyze/names/causes.def"
#undef GF_CAUSE
                                                                 "unknown"});
};
inline constexpr std::size_t kRankTimes = EnumNames<RankTime>::names.size();
inline constexpr std::size_t kFirstIdleTime = 3;  // of RankTime

constexpr RankTime rank_time(IdleReason reason) {
  return static_cast<RankTime>(kFirstIdleTime + static_cast<std::size_t>(reason));
}

/// What told the number of a rank, the surest first.
enum class RankSource : std::uint8_t { trace, environment, device, file_name, order };
template <>
struct EnumNames<RankSource> {
  static constexpr const char* type = "RankSource";
  static constexpr std::array<std::string_view, 5> names{"trace", "environment", "device",
                                                         "file_name", "order"};
};

/// How the collectives of a group were paired across ranks.
enum class PairedBy : std::uint8_t { nothing, sequence, order, time };
template <>
struct EnumNames<PairedBy> {
  static constexpr const char* type = "PairedBy";
  static constexpr std::array<std::string_view, 4> names{"nothing", "sequence", "order", "time"};
};

}  // namespace gf
