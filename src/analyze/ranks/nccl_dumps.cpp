#include "analyze/ranks/nccl_dumps.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

namespace gf {

namespace {

using Place = std::pair<std::string, std::int64_t>;  // group, number of the collective
using Entries = std::map<Place, const DumpEntry*>;

/// One process group over the ranks that have a dump and used it.
class Group {
 public:
  Group(std::string name, const std::vector<NcclDump>& dumps, const std::vector<Entries>& entries)
      : name_(std::move(name)), dumps_(dumps), entries_(entries) {
    for (std::size_t i = 0; i < dumps.size(); ++i) {
      const auto known = dumps[i].groups.find(name_);
      const bool is_named = known != dumps[i].groups.end();
      if (is_named && listed_.empty()) listed_ = known->second.ranks;
      if (is_named && description_.empty()) description_ = known->second.description;
      const auto from = entries[i].lower_bound({name_, INT64_MIN});
      const bool used = from != entries[i].end() && from->first.first == name_;
      if (is_named || used) members_.push_back(i);
      if (!used) continue;
      first_ = std::max(first_, from->first.second);
      last_ = std::max(last_, std::prev(entries[i].lower_bound({name_, INT64_MAX}))->first.second);
    }
  }

  DumpedGroup judge() const {
    DumpedGroup use;
    use.name = name_;
    use.description = description_;
    std::set<std::int64_t> have;
    for (const auto member : members_) have.insert(rank(member));
    use.ranks.assign(have.begin(), have.end());
    std::ranges::copy_if(listed_, std::back_inserter(use.missing),
                         [&](std::int64_t number) { return !have.contains(number); });
    use.listed = !listed_.empty();
    use.stuck = find_stuck();
    lateness(use);
    return use;
  }

 private:
  std::int64_t rank(std::size_t member) const { return dumps_[member].rank; }
  const DumpEntry* entry(std::size_t member, std::int64_t sequence) const {
    const auto found = entries_[member].find({name_, sequence});
    return found == entries_[member].end() ? nullptr : found->second;
  }

  /// The operation that most ranks asked for; of equals the first.
  std::string operation_at(std::int64_t sequence) const {
    std::map<std::string, int> votes;
    std::string most;
    for (const auto member : members_)
      if (const auto* found = entry(member, sequence))
        if (++votes[found->operation] > votes[most] || most.empty()) most = found->operation;
    return most;
  }

  /// The first collective that not every rank ended, among those that no ring buffer has lost.
  std::optional<StuckCollective> find_stuck() const {
    const bool logs = std::ranges::any_of(
        members_, [&](std::size_t member) { return dumps_[member].by_inspector; });
    if (logs) return {};  // a log leaves out what did not end, and more
    std::set<std::int64_t> sequences;
    for (const auto member : members_)
      for (auto at = entries_[member].lower_bound({name_, first_});
           at != entries_[member].end() && at->first.first == name_; ++at)
        sequences.insert(at->first.second);
    for (const auto sequence : sequences)
      if (auto stuck = judge_collective(sequence)) return stuck;
    return {};
  }

  std::optional<StuckCollective> judge_collective(std::int64_t sequence) const {
    StuckCollective stuck;
    stuck.sequence = sequence;
    stuck.operation = operation_at(sequence);
    for (const auto member : members_) {
      const auto* found = entry(member, sequence);
      if (!found) {
        stuck.never_asked.push_back(rank(member));
        continue;
      }
      if (found->operation != stuck.operation) {
        if (stuck.differs.empty()) stuck.asked_instead = found->operation;
        stuck.differs.push_back(rank(member));
        continue;
      }
      if (stuck.sizes.empty()) stuck.sizes = found->sizes;
      if (stuck.where.empty()) stuck.where = found->where;
      (found->state == DumpState::completed ? stuck.completed
       : found->state == DumpState::started ? stuck.started
                                            : stuck.not_started)
          .push_back(rank(member));
    }
    const bool all_ended = stuck.completed.size() == members_.size();
    if (all_ended) return {};
    // Dumps are not written at one instant: the last collective may be absent where all others
    // ended.
    const bool cut_short = stuck.started.empty() && stuck.not_started.empty() &&
                           stuck.differs.empty() && sequence == last_;
    if (cut_short) return {};
    stuck.culprits = !stuck.differs.empty()       ? stuck.differs
                     : !stuck.never_asked.empty() ? stuck.never_asked
                     : !stuck.started.empty()     ? stuck.not_started
                                                  : std::vector<std::int64_t>{};
    return stuck;
  }

  void lateness(DumpedGroup& use) const {
    std::map<std::int64_t, std::vector<Nanos>> behind;
    std::map<std::int64_t, std::int64_t> last;
    for (auto at = entries_[members_.front()].lower_bound({name_, first_});
         at != entries_[members_.front()].end() && at->first.first == name_; ++at) {
      std::vector<std::pair<Nanos, std::int64_t>> arrivals;
      for (const auto member : members_) {
        const auto* found = entry(member, at->first.second);
        if (found && found->created > 0) arrivals.emplace_back(found->created, rank(member));
      }
      if (arrivals.size() != members_.size()) continue;
      ++use.shared;
      if (arrivals.size() < 2) continue;
      std::ranges::sort(arrivals);
      for (const auto& [time, number] : arrivals)
        behind[number].push_back(time - arrivals.front().first);
      if (arrivals.back().first > arrivals[arrivals.size() - 2].first)
        ++last[arrivals.back().second];
    }
    for (auto& [number, delays] : behind) {
      const auto middle = delays.begin() + static_cast<std::ptrdiff_t>(delays.size() / 2);
      std::nth_element(delays.begin(), middle, delays.end());
      use.late.push_back({number, last[number], use.shared, *middle});
    }
    std::ranges::stable_sort(use.late, [](const LateRank& left, const LateRank& right) {
      return left.last != right.last ? left.last > right.last
                                     : left.median_late_ns > right.median_late_ns;
    });
  }

  std::string name_, description_;
  const std::vector<NcclDump>& dumps_;
  const std::vector<Entries>& entries_;
  std::vector<std::int64_t> listed_;  // the group's ranks as a dump has them
  std::vector<std::size_t> members_;
  std::int64_t first_ = INT64_MIN, last_ = INT64_MIN;
};

constexpr std::string_view kOfRecorder[] = {
    "The recorder's times of start and end are those at which a watchdog looked, every 100 ms or "
    "so: how long a collective took, or how busy a GPU was, they cannot say. A torch.profiler "
    "trace of each rank can.",
    "Lateness is by the clock of each rank's host when its program asked for the collective: "
    "between hosts it includes the difference of their clocks."};
constexpr std::string_view kOfInspector[] = {
    "The inspector logs how long the kernel of each collective ran: the rank with the shortest "
    "came "
    "last, and the others waited in it. It leaves out small messages, and what did not end."};

/// Ranks without a number count in the order of their files.
Status number_ranks(std::vector<NcclDump>& dumps) {
  std::ranges::sort(dumps, {},
                    [](const NcclDump& dump) { return std::pair(dump.rank, dump.path); });
  if (std::ranges::any_of(dumps, [](const NcclDump& dump) { return dump.rank < 0; }))
    for (std::size_t i = 0; i < dumps.size(); ++i) dumps[i].rank = static_cast<std::int64_t>(i);
  for (std::size_t i = 1; i < dumps.size(); ++i)
    if (dumps[i].rank == dumps[i - 1].rank)
      return fail(fmt::format("is a second dump of rank {}, by its name", dumps[i].rank),
                  dumps[i].path, -1, "give the dumps of one run, one a rank");
  return {};
}

}  // namespace

Result<NcclDumps> analyze_dumps(std::vector<NcclDump> dumps) {
  NcclDumps answer;
  if (const auto numbered = number_ranks(dumps); !numbered) return tl::unexpected(numbered.error());
  std::vector<Entries> entries(dumps.size());
  std::set<std::string> names;
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    for (const auto& entry : dumps[i].entries) {
      entries[i][{entry.group, entry.sequence}] = &entry;
      names.insert(entry.group);
    }
    answer.ranks.push_back({dumps[i].rank, dumps[i].path,
                            static_cast<std::int64_t>(dumps[i].entries.size()),
                            dumps[i].point_to_point});
  }
  for (const auto& name : names) answer.groups.push_back(Group(name, dumps, entries).judge());
  std::ranges::stable_sort(answer.groups, [](const DumpedGroup& left, const DumpedGroup& right) {
    return left.stuck.has_value() != right.stuck.has_value() ? left.stuck.has_value()
                                                             : left.shared > right.shared;
  });
  const bool logs = std::ranges::any_of(dumps, &NcclDump::by_inspector);
  if (logs)
    answer.caveats.assign(std::begin(kOfInspector), std::end(kOfInspector));
  else
    answer.caveats.assign(std::begin(kOfRecorder), std::end(kOfRecorder));
  return answer;
}

}  // namespace gf
