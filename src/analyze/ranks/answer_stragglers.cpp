// Stragglers, and the rank that the job hung on.

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "analyze/collective_type.h"
#include "analyze/ranks/answer.h"
#include "core/apportion.h"
#include "core/statistics.h"

namespace gf {

namespace {

/// The gain at one shared collective that is charged to a rank.
struct ChargedGain {
  std::uint32_t number = 0;  // of the shared collective
  Nanos gain = 0;
};

/// The other ranks as they go through the collectives without one rank's delay.
class Replay {
 public:
  Replay(const JobView& view, std::uint32_t late)
      : view_(view), late_(late), gained_(view.job.parts.size()), lost_(view.job.parts.size()) {}

  void pass(std::uint32_t number, Nanos gain) {
    const auto& arrivals = view_.job.shared[number].arrivals;
    const WaitSplit& split = view_.splits[number];
    Nanos lost = 0;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      if (arrivals[i].part == late_) continue;
      hold_at_launches(arrivals[i]);
      lost = std::max(lost, lost_[arrivals[i].part] - spare(split, i, gain));
    }
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      const auto part = arrivals[i].part;
      if (part == late_) continue;
      // All leave together; what a rank computes beside its waiting does not come earlier by it.
      lost_[part] = std::max(lost, lost_[part] - split.ranks[i].exposed_wait());
      if (i != split.last) gained_[part] += gain;
    }
  }

  Nanos most() const {
    Nanos most = 0;
    for (std::size_t part = 0; part < gained_.size(); ++part)
      most = std::max(most, gained_[part] - lost_[part]);
    return most;
  }

 private:
  /// A device cannot begin what its host, however little it had waited, would not have launched.
  void hold_at_launches(const Arrival& arrival) {
    const auto part = arrival.part;
    const Nanos queued = view_.job.parts[part].collectives.ahead_ns[arrival.row];
    if (queued >= 0) lost_[part] = std::max(lost_[part], gained_[part] - queued);
  }

  /// The slack of a rank before the others notice.
  static Nanos spare(const WaitSplit& split, std::size_t i, Nanos gain) {
    return std::max<Nanos>(split.ranks[split.last].start - split.ranks[i].start - gain, 0);
  }

  const JobView& view_;
  std::uint32_t late_;
  std::vector<Nanos> gained_, lost_;  // by part
};

/// Most that any other rank gains by the end, when each keeps of what it gained before only as much
/// as its launches lay ahead. `gains` by number. O(arrivals of all collectives).
Nanos gain_within_launches(const JobView& view, std::uint32_t part,
                           const std::vector<ChargedGain>& gains) {
  Replay replay(view, part);
  auto next = gains.begin();
  for (std::uint32_t number = 0; number < view.job.shared.size(); ++number) {
    Nanos gain = 0;
    for (; next != gains.end() && next->number == number; ++next) gain += next->gain;
    replay.pass(number, gain);
  }
  return replay.most();
}

/// A rank and one cause, with the owners that were named for it.
struct Late {
  Straggler row;
  std::map<std::pair<std::int64_t, std::int64_t>, Nanos> owners;  // by numbers of texts
  std::map<std::uint32_t, Nanos> gains;                           // by group
  std::map<std::uint32_t, Nanos> as_last;  // of these, by the part that came last

  /// The waiting that a rank of these groups would save.
  Nanos gain_of(std::uint32_t part, const std::vector<std::uint32_t>& groups) const {
    Nanos sum = 0;
    for (const auto group : groups)
      if (const auto found = gains.find(group); found != gains.end()) sum += found->second;
    if (const auto found = as_last.find(part); found != as_last.end()) sum -= found->second;
    return sum;
  }
};

class Ledger {
 public:
  explicit Ledger(const JobView& view)
      : view_(view), groups_of_(view.job.parts.size()), charged_(view.job.parts.size()) {
    for (std::uint32_t group = 0; group < view.job.groups.size(); ++group)
      for (const auto& member : view.job.groups[group].members)
        groups_of_[member.part].push_back(group);
  }

  void add(std::size_t number) {
    const SharedCollective& shared = view_.job.shared[number];
    const WaitSplit& split = view_.splits[number];
    const auto& blames = view_.charges[number].blames;
    if (blames.empty()) return;
    // The job waits where nobody computes: the second to last rank is the first to gain.
    const Nanos gain = std::min(split.margin, split.ranks[split.second].exposed_wait());
    std::vector<double> shares;
    for (const auto& blame : blames) shares.push_back(static_cast<double>(blame.wait));
    const auto late = apportion(split.margin, shares);
    const auto gains = apportion(gain, shares);
    const Late* counted = nullptr;
    for (std::size_t i = 0; i < blames.size(); ++i) {
      const Blame& blame = blames[i];
      Late& entry = late_[{blame.part, blame.cause}];
      entry.row.wait_ns += blame.wait;
      entry.row.late_ns += late[i];
      entry.gains[shared.group] += gains[i];
      charged_[blame.part].push_back({static_cast<std::uint32_t>(number), gains[i]});
      entry.as_last[shared.arrivals[split.last].part] += gains[i];
      if (&entry != counted) ++entry.row.collectives;
      counted = &entry;
      if (blame.op >= 0) entry.owners[{blame.op, blame.module}] += blame.wait;
    }
  }

  /// Gains by waiting where the job cannot run again.
  std::vector<Straggler> rows() && {
    std::vector<Straggler> rows;
    for (auto entry = late_.begin(); entry != late_.end();) {
      auto end = entry;
      while (end != late_.end() && end->first.first == entry->first.first) ++end;
      if (!view_.gains) fill_gains(entry, end);
      for (; entry != end; ++entry) rows.push_back(described(entry->first, entry->second));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Straggler& left, const Straggler& right) {
      if (left.gain_ns != right.gain_ns) return left.gain_ns > right.gain_ns;
      return left.wait_ns > right.wait_ns;
    });
    return rows;
  }

 private:
  using Entries = std::map<std::pair<std::uint32_t, RankTime>, Late>;

  /// The same delay shows in each group that it reaches. What the rank that waits most for it in
  /// all its groups would gain counts, and no more than that rank waited; of a slow host no more
  /// than the others' hosts allow.
  void fill_gains(Entries::iterator begin, Entries::iterator end) {
    Nanos most = 0;
    std::uint32_t who = 0;
    for (std::uint32_t part = 0; part < groups_of_.size(); ++part) {
      if (part == begin->first.first) continue;
      Nanos sum = 0;
      for (auto entry = begin; entry != end; ++entry)
        sum += entry->second.gain_of(part, groups_of_[part]);
      if (sum <= most) continue;
      most = sum;
      who = part;
    }
    if (most == 0) return;
    std::vector<double> shares;
    for (auto entry = begin; entry != end; ++entry)
      shares.push_back(static_cast<double>(entry->second.gain_of(who, groups_of_[who])));
    most = std::min(most, in_collectives(who));
    const auto largest = std::max_element(shares.begin(), shares.end()) - shares.begin();
    const bool host_is_late = is_pace_of_host(std::next(begin, largest)->first.second);
    if (host_is_late && worth_replaying(most, who))
      most = std::min(
          most, gain_within_launches(view_, begin->first.first, charged_[begin->first.first]));
    const auto gains = apportion(most, shares);
    std::size_t i = 0;
    for (auto entry = begin; entry != end; ++entry) entry->second.row.gain_ns = gains[i++];
  }

  /// A profiler slows the hosts of all ranks alike: only what is host work itself is held against
  /// the others' hosts.
  static bool is_pace_of_host(RankTime cause) {
    return cause == RankTime::idle_launch_bound || cause == RankTime::idle_host_other;
  }

  bool worth_replaying(Nanos gain, std::uint32_t part) const {
    constexpr double kLeast = 0.01;  // few ranks of a large job can gain that share of the time
    return static_cast<double>(gain) > kLeast * static_cast<double>(view_.job.parts[part].span_ns);
  }

  Nanos in_collectives(std::uint32_t part) const {
    for (const auto& piece : view_.job.parts[part].time)
      if (piece.part == RankTime::collectives) return piece.ns;
    return 0;
  }

  Straggler described(const std::pair<std::uint32_t, RankTime>& key, const Late& entry) const {
    const RankPart& part = view_.job.parts[key.first];
    Straggler row = entry.row;
    row.rank = part.rank;
    row.cause = key.second;
    const auto most = std::max_element(
        entry.owners.begin(), entry.owners.end(),
        [](const auto& left, const auto& right) { return left.second < right.second; });
    if (most != entry.owners.end()) {
      row.op = text(part, most->first.first);
      row.module = text(part, most->first.second);
    }
    return row;
  }

  static std::string text(const RankPart& part, std::int64_t number) {
    if (number < 0) return {};
    return part.texts[static_cast<std::size_t>(number)];
  }

  const JobView& view_;
  std::vector<std::vector<std::uint32_t>> groups_of_;  // by part
  std::vector<std::vector<ChargedGain>> charged_;      // by part, by number of the collective
  Entries late_;
};

/// The part of a rank that changes when it is replayed as its peers.
enum class Changed : std::uint8_t { kernels, host, input, nothing };

Changed changed_for(RankTime cause) {
  switch (cause) {
    case RankTime::kernels:
    case RankTime::copies:
      return Changed::kernels;
    case RankTime::idle_input:
      return Changed::input;
    case RankTime::collectives:
    case RankTime::unknown:
    case RankTime::idle_unexplained:
    case RankTime::idle_not_recorded:
    case RankTime::idle_no_launch_record:
      return Changed::nothing;
    default:
      return Changed::host;
  }
}

RankTime cause_of(Changed changed) {
  if (changed == Changed::kernels) return RankTime::kernels;
  return changed == Changed::input ? RankTime::idle_input : RankTime::idle_host_other;
}

/// The rows of one rank that share a gain, by their waiting; a new row where there is none.
void give(std::int64_t rank, Changed changed, Nanos gain, std::vector<Straggler>& rows) {
  std::vector<std::size_t> own;
  std::vector<double> waits;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].rank == rank && changed_for(rows[i].cause) == changed) {
      own.push_back(i);
      waits.push_back(static_cast<double>(rows[i].wait_ns));
    }
  if (own.empty()) {
    Straggler row;
    row.rank = rank;
    row.cause = cause_of(changed);
    row.gain_ns = gain;
    rows.push_back(row);
    return;
  }
  const auto gains = apportion(gain, waits);
  for (std::size_t i = 0; i < own.size(); ++i) rows[own[i]].gain_ns = gains[i];
}

/// The waiting tells who was late; a replay tells what the job would gain.
void give_gains(const JobView& view, std::vector<Straggler>& rows) {
  for (std::size_t part = 0; part < view.job.parts.size(); ++part) {
    const RankGains& gains = view.gains->ranks[part];
    if (gains.all <= 0) continue;
    const auto shares = apportion(gains.all, std::vector<double>{static_cast<double>(gains.kernels),
                                                                 static_cast<double>(gains.host),
                                                                 static_cast<double>(gains.input)});
    for (std::size_t i = 0; i < shares.size(); ++i)
      if (shares[i] > 0) give(view.job.parts[part].rank, static_cast<Changed>(i), shares[i], rows);
  }
  std::erase_if(rows, [](const Straggler& row) { return row.gain_ns == 0; });
  std::ranges::stable_sort(rows, std::greater<>(), &Straggler::gain_ns);
}

}  // namespace

std::vector<Straggler> stragglers(const JobView& view) {
  Ledger ledger(view);
  for (std::size_t number = 0; number < view.splits.size(); ++number) ledger.add(number);
  auto rows = std::move(ledger).rows();
  if (view.gains) give_gains(view, rows);
  return rows;
}

std::vector<SlowLink> slow_links(const JobView& view) {
  std::vector<SlowLink> rows;
  if (!view.gains) return rows;
  for (const LinkGain& link : view.gains->links) {
    const auto& group = view.job.groups[link.group];
    const auto& shared = view.job.shared[link.shared];
    SlowLink row{
        group.name,  {},        view.job.type_of(shared), view.job.bytes_of(shared), link.transfer,
        link.others, link.gain, link.collectives};
    for (const auto& member : group.members) row.ranks.push_back(view.job.parts[member.part].rank);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<PathPiece> critical_path(const JobView& view) {
  const Job& job = view.job;
  std::vector<PathPiece> path;
  if (view.splits.empty()) return path;
  // From the end of the last collective back: a rank that waited hands over to the one it waited
  // for, at the moment that one arrived.
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> of_part(job.parts.size());
  for (std::uint32_t number = 0; number < job.shared.size(); ++number)
    for (std::uint32_t i = 0; i < job.shared[number].arrivals.size(); ++i)
      of_part[job.shared[number].arrivals[i].part].push_back({number, i});
  const WaitSplit& end = view.splits.back();
  auto part = job.shared.back().arrivals[end.last].part;
  Nanos until = end.ranks[end.last].start + end.ranks[end.last].duration;
  auto before = static_cast<std::uint32_t>(job.shared.size());
  const WaitSplit& begin = view.splits.front();
  const Nanos from = begin.ranks[begin.last].start;
  while (until > from) {
    const auto& own = of_part[part];
    auto at = std::lower_bound(own.begin(), own.end(), std::pair(before, std::uint32_t{0}));
    Nanos since = from;
    auto next = part;
    while (at != own.begin()) {
      --at;
      const WaitSplit& split = view.splits[at->first];
      before = at->first;
      const Nanos handed = split.ranks[split.last].start;
      if (at->second == split.last || !split.sure() || handed >= until || handed <= from ||
          split.ranks[at->second].exposed_wait() <= split.doubt)
        continue;
      since = handed;
      next = job.shared[at->first].arrivals[split.last].part;
      break;
    }
    path.push_back({job.parts[part].rank, since, until - since});
    if (next == part) break;
    part = next;
    until = since;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

namespace {

/// The number of messages by sender and receiver.
using Messages = std::map<std::pair<std::int64_t, std::int64_t>, double>;

Messages messages_of(const Job& job) {
  Messages messages;
  for (const auto& shared : job.shared) {
    if (!point_to_point(job.type_of(shared))) continue;
    const auto& front = shared.arrivals.front();
    const auto& table = job.parts[front.part].collectives;
    const auto from = table.from_rank[front.row], to = table.to_rank[front.row];
    if (from >= 0 && to >= 0) ++messages[{from, to}];
  }
  return messages;
}

/// The longest row of ranks that messages tie together; 0 where they close a circle, as
/// those that exchange parts of a sequence do.
std::int64_t longest_row(const Messages& messages) {
  std::map<std::int64_t, std::set<std::int64_t>> next;
  for (const auto& [pair, count] : messages) {
    next[pair.first].insert(pair.second);
    next[pair.second].insert(pair.first);
  }
  std::size_t most = 0;
  std::set<std::int64_t> seen;
  for (const auto& [rank, neighbours] : next) {
    if (neighbours.size() != 1 || !seen.insert(rank).second) continue;  // a row begins at its end
    std::size_t length = 1;
    for (auto at = rank; true; ++length) {
      const auto onward = std::ranges::find_if(
          next[at], [&](std::int64_t other) { return seen.insert(other).second; });
      if (onward == next[at].end()) break;
      at = *onward;
    }
    most = std::max(most, length);
  }
  return static_cast<std::int64_t>(most);
}

}  // namespace

PipelineUse pipeline_of(const JobView& view, const std::vector<RankUse>& ranks) {
  const Messages messages = messages_of(view.job);
  PipelineUse use;
  std::size_t steps = 0;
  for (const auto& part : view.job.parts) steps = std::max(steps, part.steps.size());
  const std::int64_t stages = longest_row(messages);
  if (stages < 2 || steps == 0) return use;
  std::vector<double> counts;
  for (const auto& [pair, count] : messages) counts.push_back(count / static_cast<double>(steps));
  Nanos waited = 0, span = 0;
  for (const auto& rank : ranks) {
    for (const auto& piece : rank.time)
      if (piece.part == "waiting") waited += piece.ns;
    span += rank.span_ns;
  }
  use.stages = stages;
  use.micro_batches = median(std::move(counts));
  const double row = static_cast<double>(stages - 1);
  if (span > 0) use.waiting = static_cast<double>(waited) / static_cast<double>(span);
  use.ideal = row / (use.micro_batches + row);
  // m of them take (m + p - 1) / m times what one stage works.
  if (use.micro_batches > 0)
    use.twice_gain = 1 - (1 + row / (2 * use.micro_batches)) / (1 + row / use.micro_batches);
  return use;
}

}  // namespace gf
