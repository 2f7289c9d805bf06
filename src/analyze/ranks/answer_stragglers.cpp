// Who was late, and what the job hung on.
#include <algorithm>
#include <map>
#include <utility>

#include "analyze/ranks/answer.h"
#include "core/apportion.h"

namespace gf {

namespace {

/// A rank and one cause, with the owners that were named for it.
struct Late {
  Straggler row;
  std::map<std::pair<std::int64_t, std::int64_t>, Nanos> owners;  // by numbers of texts
};

class Ledger {
 public:
  explicit Ledger(const JobView& view) : view_(view) {}

  void add(std::size_t number) {
    const WaitSplit& split = view_.splits[number];
    const Charge& charge = view_.charges[number];
    if (!split.sure() || split.wait == 0) return;
    const auto part = view_.job.shared[number].arrivals[split.last].part;
    // The job waits where nobody computes: the second to last rank is the first to gain.
    const Nanos gain = std::min(split.margin, split.ranks[split.second].exposed_wait());
    std::vector<double> shares(charge.wait.begin(), charge.wait.end());
    const auto late = apportion(split.margin, shares);
    const auto gains = apportion(gain, shares);
    for (std::size_t i = 0; i < charge.wait.size(); ++i) {
      if (charge.wait[i] == 0 && late[i] == 0) continue;
      Late& entry = late_[{part, i}];
      entry.row.wait_ns += charge.wait[i];
      entry.row.late_ns += late[i];
      entry.row.gain_ns += gains[i];
      ++entry.row.collectives;
      if (static_cast<RankTime>(i) == charge.cause && charge.op >= 0)
        entry.owners[{charge.op, charge.module}] += charge.wait[i];
    }
  }

  std::vector<Straggler> rows() && {
    std::vector<Straggler> rows;
    for (auto& [key, entry] : late_) {
      const RankPart& part = view_.job.parts[key.first];
      entry.row.rank = part.rank;
      entry.row.cause = static_cast<RankTime>(key.second);
      const auto most = std::max_element(
          entry.owners.begin(), entry.owners.end(),
          [](const auto& left, const auto& right) { return left.second < right.second; });
      if (most != entry.owners.end()) {
        entry.row.op = text(part, most->first.first);
        entry.row.module = text(part, most->first.second);
      }
      rows.push_back(std::move(entry.row));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Straggler& left, const Straggler& right) {
      if (left.gain_ns != right.gain_ns) return left.gain_ns > right.gain_ns;
      return left.wait_ns > right.wait_ns;
    });
    return rows;
  }

 private:
  static std::string text(const RankPart& part, std::int64_t number) {
    if (number < 0) return {};
    return part.texts[static_cast<std::size_t>(number)];
  }

  const JobView& view_;
  std::map<std::pair<std::uint32_t, std::size_t>, Late> late_;
};

}  // namespace

std::vector<Straggler> stragglers(const JobView& view) {
  Ledger ledger(view);
  for (std::size_t number = 0; number < view.splits.size(); ++number) ledger.add(number);
  return std::move(ledger).rows();
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

}  // namespace gf
