#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/collective_type.h"
#include "analyze/ranks/align.h"
#include "analyze/ranks/ranks.h"
#include "core/parallel.h"
#include "core/statistics.h"

namespace gf {

namespace {

/// The evidence for the clocks of two parts, the surest first.
enum class Tie : std::uint8_t {
  numbers,  // collectives with numbers
  ends,     // the ends of collectives, which all ranks leave together
  guess     // messages, or ends that another fit suits nearly as well: steps are alike
};

/// The clock of `other` against that of `first`, both from their parts' starts.
struct ClockEdge {
  std::uint32_t first = 0, other = 0;
  ClockFit fit;
  Tie tie = Tie::numbers;
  bool doubtful = false;
};

/// Joined sets with path halving.
class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t of(std::size_t item) {
    for (; parent_[item] != item; item = parent_[item]) parent_[item] = parent_[parent_[item]];
    return item;
  }
  bool join(std::size_t left, std::size_t right) {
    const auto first = of(left), second = of(right);
    parent_[second] = first;
    return first != second;
  }

 private:
  std::vector<std::size_t> parent_;
};

/// Standard error of an offset, near enough to order ties by.
double error_of(const ClockFit& fit) {
  return static_cast<double>(fit.residual + 1) / static_cast<double>(fit.pairs);
}

/// The clock of the edge's other end, when that of `known` is tied.
RankClock beyond(const Job& job, const ClockEdge& edge, std::uint32_t known) {
  const RankClock& clock = job.clocks[known];
  const Nanos first_zero = job.parts[edge.first].start_ns;
  const Nanos other_zero = job.parts[edge.other].start_ns;
  RankClock out;
  out.known = true;
  const bool forward = known == edge.first;
  // The same instant on both clocks.
  const Nanos on_first = first_zero + edge.fit.about;
  const Nanos on_other = other_zero + edge.fit.about + edge.fit.offset;
  const Nanos here = forward ? on_first : on_other, there = forward ? on_other : on_first;
  out.about = there;
  out.offset = there - clock.common(here);
  out.drift = clock.drift + (forward ? edge.fit.drift : -edge.fit.drift);
  out.residual = std::max(clock.residual, edge.fit.residual);
  return out;
}

/// Ties the clocks of all parts, set by set: first by edges that are sure, those of least error
/// first; then two sets at a time by what most of the pairs between them say, where each edge may
/// be off by a step.
class ClockTies {
 public:
  ClockTies(Job& job, std::vector<ClockEdge> edges)
      : job_(job), edges_(std::move(edges)), sets_(job.parts.size()), sure_(job.parts.size()) {
    members_.resize(job.parts.size());
    for (std::uint32_t part = 0; part < members_.size(); ++part) {
      members_[part] = {part};
      job.clocks[part] = {false, 0, job.parts[part].start_ns, 0, 0};
    }
  }

  void run() {
    std::ranges::stable_sort(edges_, {}, [](const ClockEdge& edge) {
      return std::tuple(edge.tie, edge.doubtful, error_of(edge.fit));
    });
    // Votes are counted anew for each two sets: of very many, single edges tell.
    constexpr std::size_t kMostCounted = 50'000'000;
    const bool votes = edges_.size() * members_.size() <= kMostCounted;
    for (const auto& edge : edges_) {
      if (edge.tie == Tie::guess && votes) break;
      join(edge);
      if (edge.tie != Tie::guess) sure_.join(edge.first, edge.other);
    }
    while (const auto vote = next_vote()) {
      join(*vote->edge);
      if (vote->clear) sure_.join(vote->edge->first, vote->edge->other);
    }
    settle();
  }

  /// True where the clock between two parts stands beyond the doubt of single edges.
  bool sure(std::uint32_t left, std::uint32_t right) { return sure_.of(left) == sure_.of(right); }

 private:
  struct Vote {
    const ClockEdge* edge = nullptr;
    bool clear = false;  // no other clock has half as many pairs
  };

  void join(const ClockEdge& edge) {
    std::size_t kept = sets_.of(edge.first), moved = sets_.of(edge.other);
    if (kept == moved) return;
    auto known = edge.first, there = edge.other;
    if (members_[kept].size() < members_[moved].size()) {
      std::swap(kept, moved);
      std::swap(known, there);
    }
    const RankClock told = beyond(job_, edge, known);
    const RankClock own = job_.clocks[there];
    const Nanos at = own.common(told.about);
    for (const auto part : members_[moved]) {
      RankClock& clock = job_.clocks[part];
      move(clock, told.common(told.about) - at, told.drift - own.drift, at);
      clock.residual = std::max(clock.residual, told.residual);
      members_[kept].push_back(part);
    }
    members_[moved].clear();
    sets_.join(kept, moved);
  }

  /// The common clock of its set is put forward, and its drift counts from `at` on.
  static void move(RankClock& clock, Nanos forward, double drift, Nanos at) {
    const Nanos since = clock.about - clock.offset - at;
    clock.offset += static_cast<Nanos>(drift * static_cast<double>(since)) - forward;
    clock.drift += drift;
  }

  /// How much later the set of the edge's other end would be on its own common clock.
  Nanos shift_of(const ClockEdge& edge) const {
    const RankClock told = beyond(job_, edge, edge.first);
    return told.common(told.about) - job_.clocks[edge.other].common(told.about);
  }

  std::optional<Vote> next_vote() {
    struct Said {
      Nanos shift;
      const ClockEdge* edge;
    };
    std::map<std::pair<std::size_t, std::size_t>, std::vector<Said>> between;
    for (const auto& edge : edges_) {
      const auto left = sets_.of(edge.first), right = sets_.of(edge.other);
      if (left == right) continue;
      const Nanos shift = shift_of(edge);
      if (left < right)
        between[{left, right}].push_back({shift, &edge});
      else
        between[{right, left}].push_back({-shift, &edge});
    }
    std::optional<Vote> best;
    std::size_t most = 0;
    for (auto& [sets, said] : between) {
      std::ranges::sort(said, {}, &Said::shift);
      constexpr Nanos kAlike = 200 * kNsPerUs;
      std::size_t first = 0, second = 0;
      const ClockEdge* edge = nullptr;
      for (std::size_t from = 0, to = 0; from < said.size(); from = to) {
        std::size_t pairs = 0;
        const ClockEdge* least = said[from].edge;
        for (to = from; to < said.size() && said[to].shift - said[from].shift <= kAlike; ++to) {
          pairs += said[to].edge->fit.pairs;
          least = std::min(least, said[to].edge);  // they are in order
        }
        second = std::max(second, std::min(first, pairs));
        if (pairs > first || (pairs == first && least < edge)) {
          first = pairs;
          edge = least;
        }
      }
      if (first <= most && best) continue;
      most = first;
      best = Vote{edge, first > 2 * second && !edge->doubtful};
    }
    return best;
  }

  /// The clock of the lowest rank that is tied to another is the common one.
  void settle() {
    std::uint32_t root = 0;
    while (root + 1 < members_.size() && members_[sets_.of(root)].size() < 2) ++root;
    if (members_.empty()) return;
    if (members_[sets_.of(root)].size() < 2) root = 0;
    const RankClock zero = job_.clocks[root];
    for (const auto part : members_[sets_.of(root)]) {
      RankClock& clock = job_.clocks[part];
      clock.known = true;
      move(clock, zero.offset, -zero.drift, zero.about - zero.offset);
    }
  }

  Job& job_;
  std::vector<ClockEdge> edges_;
  Sets sets_, sure_;
  std::vector<std::vector<std::uint32_t>> members_;  // by set: parts with clocks against each other
};

/// Adds how many collectives each member can share with another at most: a trace that was cut has
/// few.
void add_most_in_common(const JobGroup& group, std::vector<std::size_t>& met) {
  std::size_t most = 0, second = 0;
  for (const auto& member : group.members) {
    const std::size_t count = member.collectives.size();
    second = std::max(second, std::min(most, count));
    most = std::max(most, count);
  }
  for (const auto& member : group.members) {
    const std::size_t count = member.collectives.size();
    met[member.part] += std::min(count, count == most ? second : most);
  }
}

/// Ranks that share groups and no collective that fits: files of different runs.
Status all_of_one_run(Job& job) {
  std::vector<std::size_t> shared(job.parts.size(), 0), met(job.parts.size(), 0);
  for (const auto& one : job.shared)
    for (const auto& arrival : one.arrivals) ++shared[arrival.part];
  for (const auto& group : job.groups) add_most_in_common(group, met);
  std::int64_t alone = 0;
  for (std::size_t i = 0; i < job.parts.size(); ++i) {
    const bool few = met[i] >= 8 && 4 * shared[i] < met[i];
    if (few)
      return fail(
          fmt::format("shares its process groups with other ranks, but of its {} collectives only "
                      "{} match: it is from another run, or from another time of the same run",
                      met[i], shared[i]),
          job.parts[i].source, -1, "give files that the ranks wrote at the same time");
    if (job.parts.size() > 1 && shared[i] == 0) ++alone;
  }
  if (alone > 0)
    job.note("no_shared_collectives", alone,
             "ranks that share no collective with another rank: their clocks are not aligned with "
             "the others', and their waiting is unknown");
  return {};
}

constexpr std::int64_t kTwice = -2;

/// Place of each number that comes once.
std::unordered_map<std::int64_t, std::int64_t> places(const Lane& lane) {
  std::unordered_map<std::int64_t, std::int64_t> place;
  for (std::size_t i = 0; i < lane.number.size(); ++i) {
    if (lane.number[i] < 0) continue;
    const auto [at, added] = place.try_emplace(lane.number[i], static_cast<std::int64_t>(i));
    if (!added) at->second = kTwice;
  }
  return place;
}

bool all_numbered(const Lane& lane) {
  return std::none_of(lane.number.begin(), lane.number.end(),
                      [](std::int64_t number) { return number < 0; });
}

/// By collective of the first lane that of the other, or -1; empty where numbers are missing, name
/// different things, or belong to point-to-point transfers, which each end counts by itself.
std::vector<std::int64_t> pairs_by_number(const Lane& first, const Lane& other) {
  for (const auto& what : first.what)
    if (point_to_point(what.type)) return {};
  const auto of_first = places(first), of_other = places(other);
  std::vector<std::int64_t> partner(first.end.size(), -1);
  std::size_t pairs = 0, conflicts = 0;
  for (const auto& [number, place] : of_first) {
    const auto found = of_other.find(number);
    if (place < 0 || found == of_other.end() || found->second < 0) continue;
    const auto i = static_cast<std::size_t>(place), j = static_cast<std::size_t>(found->second);
    if (compatible(first.what[i], other.what[j])) {
      partner[i] = found->second;
      ++pairs;
    } else {
      ++conflicts;
    }
  }
  // To pair the rest by time, these must give the clock.
  constexpr std::size_t kFewest = 3, kPairsToAConflict = 20;
  const bool whole = all_numbered(first) && all_numbered(other);
  if (pairs == 0 || (!whole && pairs < kFewest)) return {};
  if (kPairsToAConflict * conflicts > pairs) return {};
  return partner;
}

/// Adds those that end together on the fitted clock, but for two that have numbers, where those
/// tell
/// (`numbered`).
void pair_on_clock(const Lane& first, const Lane& other, const ClockFit& clock, bool numbered,
                   std::vector<std::int64_t>& partner) {
  std::vector<bool> used(other.end.size(), false);
  for (const auto place : partner)
    if (place >= 0) used[static_cast<std::size_t>(place)] = true;
  constexpr Nanos kNear = 60 * kNsPerUs;
  const Nanos tolerance = std::max(kNear, 8 * clock.residual);
  for (std::size_t i = 0; i < first.end.size(); ++i) {
    if (partner[i] >= 0) continue;
    const Nanos expected = first.end[i] + clock.at(first.end[i]);
    Nanos best = tolerance + 1;
    const auto from = std::lower_bound(other.end.begin(), other.end.end(), expected - tolerance);
    for (auto j = static_cast<std::size_t>(from - other.end.begin());
         j < other.end.size() && other.end[j] <= expected + tolerance; ++j) {
      const bool both = numbered && first.number[i] >= 0 && other.number[j] >= 0;
      const Nanos distance = std::abs(other.end[j] - expected);
      if (both || used[j] || distance >= best) continue;
      if (!compatible(first.what[i], other.what[j])) continue;
      best = distance;
      partner[i] = static_cast<std::int64_t>(j);
    }
    if (partner[i] >= 0) used[static_cast<std::size_t>(partner[i])] = true;
  }
}

/// Point-to-point transfers pair with those of the one rank at the other end.
std::string channel_of(const RankPart& part, std::size_t row) {
  const auto& table = part.collectives;
  const auto type = static_cast<CollectiveType>(table.type[row]);
  const auto group = table.group[row];
  std::string name;
  if (group >= 0) {
    const auto& known = part.groups[static_cast<std::size_t>(group)];
    name = known.name;
    if (!known.ranks.empty()) name += (name.empty() ? "" : " ") + known.ranks;
  }
  if (type != CollectiveType::send && type != CollectiveType::receive) return name;
  std::int64_t from = table.from_rank[row], to = table.to_rank[row];
  if (type == CollectiveType::send && from < 0) from = part.rank;
  if (type == CollectiveType::receive && to < 0) to = part.rank;
  return fmt::format("{} {} to {}", name, from, to);
}

void find_groups(Job& job) {
  std::unordered_map<std::string, std::uint32_t> numbers;
  std::vector<std::uint32_t> of_group;  // by the part's own group, where all ranks of it take part
  auto number_of = [&](const RankPart& part, std::uint32_t row) {
    const auto [at, added] =
        numbers.try_emplace(channel_of(part, row), static_cast<std::uint32_t>(job.groups.size()));
    if (added) job.groups.push_back({at->first, -1, {}, PairedBy::nothing});
    return at->second;
  };
  for (std::uint32_t number = 0; number < job.parts.size(); ++number) {
    const RankPart& part = job.parts[number];
    of_group.assign(part.groups.size() + 1, kNoRow);
    for (std::uint32_t row = 0; row < part.collectives.start_ns.size(); ++row) {
      const auto type = static_cast<CollectiveType>(part.collectives.type[row]);
      std::uint32_t channel = kNoRow;
      if (type == CollectiveType::send || type == CollectiveType::receive) {
        channel = number_of(part, row);
      } else {
        auto& known = of_group[static_cast<std::size_t>(part.collectives.group[row] + 1)];
        if (known == kNoRow) known = number_of(part, row);
        channel = known;
      }
      JobGroup& group = job.groups[channel];
      if (group.members.empty() || group.members.back().part != number)
        group.members.push_back({number, {}});
      group.members.back().collectives.push_back(row);
      if (const auto own = part.collectives.group[row]; own >= 0)
        group.size = std::max(group.size, part.groups[static_cast<std::size_t>(own)].size);
    }
  }
}

Signature signature_of(const RankPart& part, std::uint32_t row) {
  const auto& table = part.collectives;
  Signature what;
  what.type = static_cast<CollectiveType>(table.type[row]);
  if (point_to_point(what.type)) what.type = CollectiveType::send_receive;
  what.bytes = table.bytes[row];
  what.kernel = std::hash<std::string>()(part.texts[static_cast<std::size_t>(table.kernel[row])]);
  return what;
}

Nanos end_of(const RankPart& part, std::uint32_t row) {
  return part.collectives.start_ns[row] + part.collectives.duration_ns[row];
}

/// A member's collectives by their end, from the part's own start.
Lane lane_of(const Job& job, GroupMember& member) {
  const RankPart& part = job.parts[member.part];
  std::stable_sort(member.collectives.begin(), member.collectives.end(),
                   [&](auto left, auto right) { return end_of(part, left) < end_of(part, right); });
  Lane lane;
  for (const auto row : member.collectives) {
    lane.end.push_back(end_of(part, row) - part.start_ns);
    lane.what.push_back(signature_of(part, row));
    lane.number.push_back(part.collectives.sequence[row]);
  }
  return lane;
}

using PairsByKind =
    std::map<std::tuple<CollectiveType, std::int64_t, std::size_t>, std::vector<ClockPair>>;

/// Ends of large messages scatter; those of one small kind may agree far better. The offset that is
/// known best counts, as long as all pairs allow it.
void sharpen(const std::vector<ClockPair>& all, const PairsByKind& kinds, ClockFit& fit) {
  constexpr std::size_t kFewest = 4;
  constexpr Nanos kClock = 200;  // what a time stamp is worth at best
  auto error = [&](Nanos residual, std::size_t pairs) {
    return static_cast<double>(residual + kClock) / std::sqrt(static_cast<double>(pairs));
  };
  double least = error(fit.residual, fit.pairs);
  const ClockFit whole = fit;
  for (const auto& [kind, pairs] : kinds) {
    if (pairs.size() < kFewest) continue;
    std::vector<double> rest;
    for (const auto& pair : pairs)
      rest.push_back(static_cast<double>(pair.difference - whole.at(pair.at)));
    const auto shift = static_cast<Nanos>(median(rest));
    const auto scatter = static_cast<Nanos>(median_absolute_deviation(rest));
    if (error(scatter, pairs.size()) >= least) continue;
    if (std::abs(shift) > 3 * whole.residual + 10 * kClock) continue;
    least = error(scatter, pairs.size());
    fit.offset = whole.offset + shift;
  }
  std::vector<double> distance;
  for (const auto& pair : all)
    distance.push_back(static_cast<double>(std::abs(pair.difference - fit.at(pair.at))));
  fit.residual = static_cast<Nanos>(median(std::move(distance)));
}

ClockFit clock_of(const Lane& first, const Lane& other, const std::vector<std::int64_t>& partner) {
  std::vector<ClockPair> synchronising, all;
  PairsByKind kinds;
  for (std::size_t i = 0; i < partner.size(); ++i) {
    if (partner[i] < 0) continue;
    const auto mate = static_cast<std::size_t>(partner[i]);
    const ClockPair pair{first.end[i], other.end[mate] - first.end[i]};
    const Signature& what = first.what[i];
    all.push_back(pair);
    kinds[{what.type, what.bytes, what.kernel}].push_back(pair);
    if (synchronises(what.type)) synchronising.push_back(pair);
  }
  constexpr std::size_t kEnough = 3;
  ClockFit fit = fit_clock(synchronising.size() >= kEnough ? synchronising : all);
  if (!all.empty()) sharpen(all, kinds, fit);
  return fit;
}

/// One member against the member that the group is measured by.
struct Pairing {
  std::vector<std::int64_t> partner;
  ClockFit clock;
  PairedBy by = PairedBy::nothing;
  bool doubtful = false;

  Tie tie() const {
    if (by == PairedBy::sequence) return Tie::numbers;
    return doubtful || messages ? Tie::guess : Tie::ends;
  }
  bool messages = false;  // point to point
};

Pairing pair_members(const Job& job, const GroupMember& first, const Lane& lane,
                     const GroupMember& other, const Lane& mate) {
  Pairing pairing;
  pairing.partner = pairs_by_number(lane, mate);
  if (!pairing.partner.empty()) {
    pairing.by = PairedBy::sequence;
    pair_on_clock(lane, mate, clock_of(lane, mate, pairing.partner), true, pairing.partner);
    pairing.clock = clock_of(lane, mate, pairing.partner);
    return pairing;
  }
  pairing.messages = !lane.what.empty() && point_to_point(lane.what[0].type);
  const Nanos near = job.parts[first.part].start_ns - job.parts[other.part].start_ns;
  Alignment found = align(lane, mate, near);
  pairing.by = found.by_order ? PairedBy::order : PairedBy::time;
  pairing.doubtful = found.doubtful;
  pairing.clock = clock_of(lane, mate, found.partner);
  pairing.partner = std::move(found.partner);
  if (pairing.clock.pairs == 0) pairing.by = PairedBy::nothing;
  return pairing;
}

/// The member that shows most of the group's collectives.
std::size_t fullest(const JobGroup& group) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < group.members.size(); ++i)
    if (group.members[i].collectives.size() > group.members[best].collectives.size()) best = i;
  return best;
}

void collect(const JobGroup& group, std::uint32_t number, std::size_t first,
             const std::vector<Pairing>& pairings, std::vector<SharedCollective>& shared) {
  const auto& measure = group.members[first];
  for (std::size_t i = 0; i < measure.collectives.size(); ++i) {
    SharedCollective one{number, {}};
    for (std::size_t other = 0; other < group.members.size(); ++other) {
      const auto& member = group.members[other];
      const auto& partner = pairings[other].partner;
      if (other == first) {
        one.arrivals.push_back({member.part, measure.collectives[i]});
      } else if (!partner.empty() && partner[i] >= 0) {
        const auto place = static_cast<std::size_t>(partner[i]);
        one.arrivals.push_back({member.part, member.collectives[place]});
      }
    }
    if (one.arrivals.size() > 1) shared.push_back(std::move(one));
  }
}

/// A group's members against the fullest of them.
struct GroupPairs {
  std::uint32_t number = 0;
  std::size_t first = 0;
  std::vector<Lane> lanes;
  std::vector<Pairing> pairings;  // by member
};

GroupPairs pair_group(const Job& job, std::uint32_t number, JobGroup& group, unsigned workers) {
  GroupPairs pairs{number, fullest(group), {}, {}};
  pairs.lanes.resize(group.members.size());
  pairs.pairings.resize(group.members.size());
  for_each_parallel(pairs.lanes.size(), workers,
                    [&](std::size_t i) { pairs.lanes[i] = lane_of(job, group.members[i]); });
  for_each_parallel(pairs.lanes.size(), workers, [&](std::size_t i) {
    if (i != pairs.first)
      pairs.pairings[i] = pair_members(job, group.members[pairs.first], pairs.lanes[pairs.first],
                                       group.members[i], pairs.lanes[i]);
  });
  return pairs;
}

void add_edges(const JobGroup& group, const GroupPairs& pairs, std::vector<ClockEdge>& edges) {
  for (std::size_t i = 0; i < pairs.pairings.size(); ++i) {
    const auto& pairing = pairs.pairings[i];
    if (i != pairs.first && pairing.clock.pairs > 0)
      edges.push_back({group.members[pairs.first].part, group.members[i].part, pairing.clock,
                       pairing.tie(), pairing.doubtful});
  }
}

/// What other groups say of the clock of one part against another's, both from their starts.
ClockFit told_clock(const Job& job, std::uint32_t first, std::uint32_t other, Nanos about) {
  const RankClock& clock = job.clocks[first];
  const RankClock& mate = job.clocks[other];
  const Nanos common = clock.common(job.parts[first].start_ns + about);
  Nanos there = common + mate.offset;  // its own time then; once more for what it drifts until then
  there += common - mate.common(there);
  ClockFit fit;
  fit.about = about;
  fit.offset = there - job.parts[other].start_ns - about;
  fit.drift = mate.drift - clock.drift;
  fit.residual = std::max(clock.residual, mate.residual);
  return fit;
}

/// Pairs found by time alone may be those of another step, as where traces begin and end at
/// different times: those count that end together on the clocks that most pairs tell.
void pair_again(const Job& job, ClockTies& ties, const JobGroup& group, GroupPairs& pairs) {
  const auto first = group.members[pairs.first].part;
  const Lane& lane = pairs.lanes[pairs.first];
  for (std::size_t i = 0; i < pairs.pairings.size(); ++i) {
    auto& pairing = pairs.pairings[i];
    const auto other = group.members[i].part;
    if (i == pairs.first || pairing.by == PairedBy::sequence || lane.end.empty() ||
        !job.clocks[first].known || !job.clocks[other].known)
      continue;
    const bool doubtful = !ties.sure(first, other);
    const ClockFit told = told_clock(job, first, other, lane.end[lane.end.size() / 2]);
    constexpr Nanos kAgree = 200 * kNsPerUs;
    const Nanos apart = pairing.clock.at(told.about) - told.offset;
    if (pairing.clock.pairs > 0 && std::abs(apart) <= kAgree + 8 * told.residual) {
      pairing.doubtful = pairing.doubtful && doubtful;
      continue;
    }
    pairing.partner.assign(lane.end.size(), -1);
    pair_on_clock(lane, pairs.lanes[i], told, false, pairing.partner);
    pairing.clock = clock_of(lane, pairs.lanes[i], pairing.partner);
    pairing.by = pairing.clock.pairs > 0 ? PairedBy::time : PairedBy::nothing;
    pairing.doubtful = doubtful;
  }
}

void settle_group(Job& job, const GroupPairs& pairs) {
  JobGroup& group = job.groups[pairs.number];
  std::int64_t doubtful = 0;
  for (const auto& pairing : pairs.pairings) {
    if (pairing.clock.pairs == 0) continue;
    group.paired_by = std::max(group.paired_by, pairing.by);
    doubtful += pairing.doubtful ? 1 : 0;
  }
  if (doubtful > 0)
    job.note("doubtful_pairs", doubtful,
             fmt::format("group {}: another way to pair its collectives fits nearly as well",
                         group.name.empty() ? "without a name" : group.name));
  collect(group, pairs.number, pairs.first, pairs.pairings, job.shared);
}

/// Members by all their groups, and the clocks of their parts.
void pair_groups(Job& job, unsigned workers) {
  std::vector<ClockEdge> edges;
  std::vector<GroupPairs> by_time;
  for (std::uint32_t number = 0; number < job.groups.size(); ++number) {
    JobGroup& group = job.groups[number];
    if (group.members.size() < 2) continue;
    GroupPairs pairs = pair_group(job, number, group, workers);
    add_edges(group, pairs, edges);
    const auto has_number = [](const Pairing& one) {
      return one.partner.empty() || one.by == PairedBy::sequence;
    };
    if (std::ranges::all_of(pairs.pairings, has_number))
      settle_group(job, pairs);
    else
      by_time.push_back(std::move(pairs));
  }
  ClockTies ties(job, std::move(edges));
  ties.run();
  for (auto& pairs : by_time) {
    pair_again(job, ties, job.groups[pairs.number], pairs);
    settle_group(job, pairs);
  }
}

/// A synchronizing collective cannot have ended on one rank before it began on another.
void drop_incredible(Job& job) {
  std::int64_t dropped = 0;
  std::erase_if(job.shared, [&](const SharedCollective& one) {
    Nanos last_start = INT64_MIN, first_end = INT64_MAX, doubt = 0;
    bool known = true;
    for (const auto& arrival : one.arrivals) {
      const RankPart& part = job.parts[arrival.part];
      const RankClock& clock = job.clocks[arrival.part];
      known = known && clock.known;
      last_start = std::max(last_start, clock.common(part.collectives.start_ns[arrival.row]));
      first_end = std::min(first_end, clock.common(end_of(part, arrival.row)));
      doubt = std::max(doubt, clock.residual);
    }
    const bool apart =
        synchronises(job.type_of(one)) && last_start > first_end + 3 * doubt + kNsPerUs;
    if (known && apart) ++dropped;
    return !known || apart;
  });
  if (dropped > 0)
    job.note("incredible_pairs", dropped,
             "collectives that look the same and did not run at the same time were left unpaired");
}

void order_by_time(Job& job) {
  auto start = [&](const SharedCollective& one) {
    const auto& front = one.arrivals.front();
    return job.clocks[front.part].common(job.parts[front.part].collectives.start_ns[front.row]);
  };
  std::stable_sort(job.shared.begin(), job.shared.end(),
                   [&](const auto& left, const auto& right) { return start(left) < start(right); });
}

}  // namespace

Status pair_collectives(Job& job, unsigned workers) {
  find_groups(job);
  pair_groups(job, workers);
  drop_incredible(job);
  order_by_time(job);
  return all_of_one_run(job);
}

}  // namespace gf
