// Ranks, groups and steps.
#include <algorithm>

#include "analyze/ranks/answer.h"

namespace gf {

namespace {

void split_time(const RankPart& part, RankUse& use) {
  for (const auto& piece : part.time) {
    if (piece.part != RankTime::collectives) {
      use.time.push_back({std::string(name_of(piece.part)), piece.ns});
      continue;
    }
    // The exposed waiting of collectives is told instant by instant only of each by itself;
    // two that overlap cannot wait longer than the time has.
    const Nanos waiting = std::min(use.exposed_wait_ns, piece.ns);
    if (waiting > 0) use.time.push_back({"waiting", waiting});
    if (piece.ns > waiting) use.time.push_back({"exchange", piece.ns - waiting});
  }
}

RankUse described(const RankPart& part, const RankClock& clock) {
  RankUse use;
  use.rank = part.rank;
  use.rank_source = part.rank_source;
  use.host = part.host;
  use.device = part.device;
  use.source = part.source;
  if (clock.known) {
    use.offset_ns = clock.offset;
    use.drift_ppm = clock.drift * 1e6;
    use.residual_ns = clock.residual;
  }
  use.start_ns = clock.known ? clock.common(part.start_ns) : part.start_ns;
  use.span_ns = part.span_ns;
  use.busy_ns = part.busy_ns;
  use.compute_ns = part.compute_ns;
  use.communication_ns = part.communication_ns;
  use.exposed_ns = part.exposed_ns;
  use.collectives = static_cast<std::int64_t>(part.collectives.start_ns.size());
  for (const Nanos duration : part.collectives.duration_ns) use.collective_ns += duration;
  return use;
}

}  // namespace

std::vector<RankUse> rank_uses(const JobView& view) {
  const Job& job = view.job;
  std::vector<RankUse> uses;
  for (std::size_t i = 0; i < job.parts.size(); ++i)
    uses.push_back(described(job.parts[i], job.clocks[i]));
  for (std::size_t number = 0; number < job.shared.size(); ++number) {
    const auto& arrivals = job.shared[number].arrivals;
    const WaitSplit& split = view.splits[number];
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      RankUse& use = uses[arrivals[i].part];
      ++use.matched;
      use.wait_ns += split.ranks[i].wait;
      use.exposed_wait_ns += split.ranks[i].exposed_wait();
      use.transfer_ns += split.ranks[i].duration - split.ranks[i].wait;
    }
    if (split.sure()) ++uses[arrivals[split.last].part].last;
  }
  for (std::size_t i = 0; i < uses.size(); ++i) {
    uses[i].unmatched_ns = uses[i].collective_ns - uses[i].wait_ns - uses[i].transfer_ns;
    split_time(job.parts[i], uses[i]);
  }
  return uses;
}

std::vector<GroupUse> group_uses(const JobView& view) {
  const Job& job = view.job;
  std::vector<GroupUse> groups;
  for (const auto& group : job.groups) {
    GroupUse use;
    use.name = group.name;
    use.size = group.size;
    use.paired_by = group.paired_by;
    for (const auto& member : group.members) use.ranks.push_back(job.parts[member.part].rank);
    groups.push_back(std::move(use));
  }
  for (std::size_t number = 0; number < job.shared.size(); ++number) {
    auto& use = groups[job.shared[number].group];
    ++use.collectives;
    use.wait_ns += view.splits[number].wait;
  }
  return groups;
}

std::vector<RankStep> rank_steps(const JobView& view) {
  const Job& job = view.job;
  std::vector<std::size_t> begin;
  std::vector<RankStep> steps;
  for (std::size_t i = 0; i < job.parts.size(); ++i) {
    begin.push_back(steps.size());
    for (const auto& step : job.parts[i].steps) {
      RankStep row;
      row.rank = job.parts[i].rank;
      row.step = step.index;
      row.start_ns = job.clocks[i].known ? job.clocks[i].common(step.start_ns) : step.start_ns;
      row.duration_ns = step.duration_ns;
      for (const auto& piece : step.time) {
        if (piece.part == RankTime::kernels)
          row.kernels_ns += piece.ns;
        else if (piece.part == RankTime::copies)
          row.copies_ns += piece.ns;
        else if (piece.part == RankTime::collectives)
          row.exchange_ns += piece.ns;
        else
          row.idle_ns += piece.ns;
      }
      steps.push_back(row);
    }
  }
  for (std::size_t number = 0; number < job.shared.size(); ++number) {
    const auto& arrivals = job.shared[number].arrivals;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      const auto step = job.parts[arrivals[i].part].collectives.step[arrivals[i].row];
      if (step < 0) continue;
      auto& row = steps[begin[arrivals[i].part] + static_cast<std::size_t>(step)];
      const Nanos moved = std::min(view.splits[number].ranks[i].exposed_wait(), row.exchange_ns);
      row.wait_ns += moved;
      row.exchange_ns -= moved;
    }
  }
  return steps;
}

}  // namespace gf
