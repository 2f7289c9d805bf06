#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyze/ranks/by_number.h"
#include "analyze/ranks/collective_type.h"
#include "analyze/ranks/job.h"
#include "analyze/ranks/parallel.h"
#include "analyze/ranks/tie_clocks.h"
#include "core/statistics.h"

namespace gf {

namespace {

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
  for (std::uint32_t number = 0; number < job.parts.size(); ++number) {
    const RankPart& part = job.parts[number];
    for (std::uint32_t row = 0; row < part.collectives.start_ns.size(); ++row) {
      const std::string name = channel_of(part, row);
      const auto [at, added] =
          numbers.try_emplace(name, static_cast<std::uint32_t>(job.groups.size()));
      if (added) job.groups.push_back({name, -1, {}, PairedBy::nothing});
      JobGroup& group = job.groups[at->second];
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
};

Pairing pair_members(const Job& job, const GroupMember& first, const Lane& lane,
                     const GroupMember& other, const Lane& mate) {
  Pairing pairing;
  pairing.partner = pairs_by_number(lane, mate);
  if (!pairing.partner.empty()) {
    pairing.by = PairedBy::sequence;
    pair_unnumbered(lane, mate, clock_of(lane, mate, pairing.partner), pairing.partner);
    pairing.clock = clock_of(lane, mate, pairing.partner);
    return pairing;
  }
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

void pair_group(Job& job, std::uint32_t number, unsigned workers, std::vector<ClockEdge>& edges) {
  JobGroup& group = job.groups[number];
  if (group.members.size() < 2) return;
  const std::size_t first = fullest(group);
  std::vector<Lane> lanes(group.members.size());
  for_each_parallel(lanes.size(), workers,
                    [&](std::size_t i) { lanes[i] = lane_of(job, group.members[i]); });
  std::vector<Pairing> pairings(group.members.size());
  for_each_parallel(lanes.size(), workers, [&](std::size_t i) {
    if (i != first)
      pairings[i] =
          pair_members(job, group.members[first], lanes[first], group.members[i], lanes[i]);
  });
  std::int64_t doubtful = 0;
  for (std::size_t i = 0; i < pairings.size(); ++i) {
    if (i == first || pairings[i].clock.pairs == 0) continue;
    group.paired_by = std::max(group.paired_by, pairings[i].by);
    doubtful += pairings[i].doubtful ? 1 : 0;
    edges.push_back({group.members[first].part, group.members[i].part, pairings[i].clock});
  }
  if (doubtful > 0)
    job.note("doubtful_pairs", doubtful,
             fmt::format("group {}: another way to pair its collectives fits nearly as well",
                         group.name.empty() ? "without a name" : group.name));
  collect(group, number, first, pairings, job.shared);
}

/// A synchronising collective cannot have ended on one rank before it began on another.
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
    const auto& front = one.arrivals.front();
    const auto type =
        static_cast<CollectiveType>(job.parts[front.part].collectives.type[front.row]);
    const bool apart = synchronises(type) && last_start > first_end + 3 * doubt + kNsPerUs;
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
  std::vector<ClockEdge> edges;
  for (std::uint32_t number = 0; number < job.groups.size(); ++number)
    pair_group(job, number, workers, edges);
  tie_clocks(job, edges);
  drop_incredible(job);
  order_by_time(job);
  return all_of_one_run(job);
}

}  // namespace gf
