// A job of several ranks while it is worked out: its parts, which collectives are the same, and the
// clocks.
// Waiting between the ranks of a job, and its reasons. docs/ranks.md gives the rules.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyze/ranks/align.h"
#include "analyze/ranks/names.h"
#include "core/error.h"

namespace gf {

/// A rank's place in a group.
struct GroupMember {
  std::uint32_t part = 0;                  // number in Job::parts
  std::vector<std::uint32_t> collectives;  // rows of its collectives, by start
};

struct JobGroup {
  std::string name;
  std::int64_t size = -1;
  std::vector<GroupMember> members;  // by part
  PairedBy paired_by = PairedBy::nothing;
};

/// One rank's part of a collective.
struct Arrival {
  std::uint32_t part = 0;
  std::uint32_t row = 0;  // of the part's collectives
};

/// The same collective on several ranks.
struct SharedCollective {
  std::uint32_t group = 0;
  std::vector<Arrival> arrivals;  // by part
};

/// The clock of a part: common = own - offset - drift * (own - about).
struct RankClock {
  bool known = false;
  Nanos offset = 0, about = 0;
  double drift = 0;
  Nanos residual = 0;

  Nanos common(Nanos own) const {
    return own - offset - static_cast<Nanos>(drift * static_cast<double>(own - about));
  }
  /// The other way, to the nanosecond.
  Nanos own(Nanos common) const {
    const Nanos since = common + offset - about;
    return about + static_cast<Nanos>(std::llround(static_cast<double>(since) / (1 - drift)));
  }
};

struct Job {
  std::vector<RankPart> parts;  // by rank
  std::vector<JobGroup> groups;
  std::vector<SharedCollective> shared;  // by time, once that is known
  std::vector<RankClock> clocks;         // by part
  std::vector<QualityNote> quality;
  std::int64_t world_size = -1;  // as the parts say, else their groups at least; -1: not known

  /// The type of a shared collective, as the first of its ranks says.
  CollectiveType type_of(const SharedCollective& one) const {
    const auto& front = one.arrivals.front();
    return static_cast<CollectiveType>(parts[front.part].collectives.type[front.row]);
  }
  /// The bytes of its message; -1: not known.
  std::int64_t bytes_of(const SharedCollective& one) const {
    const auto& front = one.arrivals.front();
    return parts[front.part].collectives.bytes[front.row];
  }

  /// Ranks of the world without a part.
  std::vector<std::int64_t> missing_ranks() const;

  void note(std::string code, std::int64_t count, std::string detail) {
    quality.push_back({std::move(code), count, std::move(detail)});
  }
};

/// Puts parts in order of rank. Errors: parts of different jobs, two of one rank.
Result<Job> join_parts(std::vector<RankPart> parts);

/// Finds the groups and what is the same collective in them; fills groups, shared and clocks.
/// Errors: ranks whose collectives fit no other's, so that they must be of another run.
Status pair_collectives(Job& job, unsigned workers);

struct RanksOptions {
  std::size_t max_collectives = 0;  // kept in the answer, those with most waiting; 0 = all
  unsigned workers = 1;
};

/// Pure: the same parts in any order give the same answers, one for each stretch of time that the
/// ranks were recorded over (stages.h). Errors: parts of different jobs, one rank twice, nothing at
/// all.
Result<std::vector<JobRanks>> analyze_stages(std::vector<RankPart> parts,
                                             const RanksOptions& options = {});

/// The same where only one stretch of time is allowed.
Result<JobRanks> analyze_ranks(std::vector<RankPart> parts, const RanksOptions& options = {});

/// A rank's time in a part of RankUse::time, 0 where it has none.
Nanos part_of(const RankUse& rank, std::string_view name);
/// The rank that waits longest for others, but for one; null without another.
const RankUse* who_waits_most(const JobRanks& job, std::optional<std::int64_t> but = {});
/// The gain of the job, were this rank never late: the sum over its causes.
Nanos gain_of(const JobRanks& job, std::int64_t rank);
/// True of a gain for which a rank is blamed.
bool is_worth_blame(const JobRanks& job, Nanos gain);

}  // namespace gf
