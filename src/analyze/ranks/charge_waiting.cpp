#include "analyze/ranks/charge_waiting.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/apportion.h"

namespace gf {

namespace {

using Sums = std::array<Nanos, kRankTimes>;

/// What a part did before each of its collectives, and whose time that was.
class History {
 public:
  explicit History(const RankPart& part) : part_(part) {
    const std::size_t rows = part.collectives.start_ns.size();
    until_.resize(rows);
    const auto& before = part.before;
    for (std::size_t i = 0; i < before.ns.size(); ++i)
      until_[static_cast<std::size_t>(before.collective[i])]
            [static_cast<std::size_t>(before.part[i])] += before.ns[i];
    for (std::size_t row = 1; row < rows; ++row)
      for (std::size_t i = 0; i < kRankTimes; ++i) until_[row][i] += until_[row - 1][i];
    const auto& owners = part.owners.collective;
    for (std::size_t i = 0, row = 0; row <= rows; ++row) {
      while (i < owners.size() && owners[i] < static_cast<std::int64_t>(row)) ++i;
      owner_begin_.push_back(i);
    }
  }
  /// Between the starts of two collectives.
  Sums between(std::uint32_t from, std::uint32_t to) const {
    Sums sums = until_[to];
    for (std::size_t i = 0; i < kRankTimes; ++i) sums[i] -= until_[from][i];
    return sums;
  }
  /// f(op, module, ns) for the owners of one kind of time between two collectives.
  template <class F>
  void each_owner(std::uint32_t from, std::uint32_t to, RankTime kind, F&& f) const {
    for (std::size_t i = owner_begin_[from + 1]; i < owner_begin_[to + 1]; ++i)
      if (part_.owners.part[i] == static_cast<std::int64_t>(kind))
        f(part_.owners.op[i], part_.owners.module[i], part_.owners.ns[i]);
  }

 private:
  const RankPart& part_;
  std::vector<Sums> until_;
  std::vector<std::size_t> owner_begin_;  // by collective, and one more
};

/// The row of a part in a shared collective, if it takes part.
const Arrival* arrival_of(const SharedCollective& shared, std::uint32_t part) {
  const auto at = std::lower_bound(
      shared.arrivals.begin(), shared.arrivals.end(), part,
      [](const Arrival& arrival, std::uint32_t number) { return arrival.part < number; });
  return at != shared.arrivals.end() && at->part == part ? &*at : nullptr;
}

class Charger {
 public:
  Charger(const Job& job, const std::vector<WaitSplit>& splits) : job_(job), splits_(splits) {
    history_.reserve(job.parts.size());
    for (const auto& part : job.parts) history_.emplace_back(part);
    of_part_.resize(job.parts.size());
    for (std::uint32_t number = 0; number < job.shared.size(); ++number)
      for (const auto& arrival : job.shared[number].arrivals)
        of_part_[arrival.part].push_back(number);
  }

  Charge charge(std::uint32_t number) const {
    Charge out;
    const WaitSplit& split = splits_[number];
    if (!split.sure() || split.wait == 0) return out;
    const Arrival late = job_.shared[number].arrivals[split.last];
    const Arrival early = job_.shared[number].arrivals[split.waited_most];
    const auto level = last_level(number, late.part, early.part);
    if (!level) {
      out.wait[static_cast<std::size_t>(RankTime::unknown)] = split.wait;
      return out;
    }
    const Arrival late_then = *arrival_of(job_.shared[*level], late.part);
    const Arrival early_then = *arrival_of(job_.shared[*level], early.part);
    if (late_then.row >= late.row || early_then.row >= early.row) {
      out.wait[static_cast<std::size_t>(RankTime::unknown)] = split.wait;
      return out;
    }
    apportion_wait(split.wait, history_[late.part].between(late_then.row, late.row),
                   history_[early.part].between(early_then.row, early.row), out);
    name_owner(late, late_then, early, early_then, out);
    return out;
  }

 private:
  /// The latest collective before this one whose lateness did not last: the early rank came as late
  /// or waited its lead out. The first that the two share, when there is none.
  std::optional<std::uint32_t> last_level(std::uint32_t number, std::uint32_t late,
                                          std::uint32_t early) const {
    const Nanos tenth = difference(number, late, early) / 10;
    const auto& own = of_part_[late];
    std::uint32_t next = number;
    std::optional<std::uint32_t> first;
    for (auto at = std::lower_bound(own.begin(), own.end(), number); at != own.begin();) {
      --at;
      if (!arrival_of(job_.shared[*at], early)) continue;
      first = *at;
      const Nanos carried = difference(*at, late, early) - led_out(*at, next, late, early);
      if (carried <= std::max(splits_[*at].doubt, tenth)) return *at;
      next = *at;
    }
    return first;
  }

  /// How much longer the early rank was in collectives, with nothing beside, between two of them.
  Nanos led_out(std::uint32_t from, std::uint32_t to, std::uint32_t late,
                std::uint32_t early) const {
    constexpr auto kWaiting = static_cast<std::size_t>(RankTime::collectives);
    auto waited = [&](std::uint32_t part) {
      const auto begin = arrival_of(job_.shared[from], part)->row;
      const auto end = arrival_of(job_.shared[to], part)->row;
      return begin < end ? history_[part].between(begin, end)[kWaiting] : 0;
    };
    return waited(early) - waited(late);
  }

  Nanos difference(std::uint32_t number, std::uint32_t late, std::uint32_t early) const {
    const auto& shared = job_.shared[number];
    const auto& ranks = splits_[number].ranks;
    const auto late_at = arrival_of(shared, late) - shared.arrivals.data();
    const auto early_at = arrival_of(shared, early) - shared.arrivals.data();
    return ranks[static_cast<std::size_t>(late_at)].start -
           ranks[static_cast<std::size_t>(early_at)].start;
  }

  static void apportion_wait(Nanos wait, const Sums& late, const Sums& early, Charge& out) {
    std::vector<double> more(kRankTimes, 0);
    double all = 0;
    for (std::size_t i = 0; i < kRankTimes; ++i) {
      if (static_cast<RankTime>(i) == RankTime::collectives) continue;
      more[i] = static_cast<double>(std::max<Nanos>(late[i] - early[i], 0));
      all += more[i];
    }
    if (all == 0) more[static_cast<std::size_t>(RankTime::unknown)] = 1;
    const auto parts = apportion(wait, more);
    for (std::size_t i = 0; i < kRankTimes; ++i) out.wait[i] = parts[i];
    const auto largest = std::max_element(out.wait.begin(), out.wait.end());
    out.cause = static_cast<RankTime>(largest - out.wait.begin());
  }

  void name_owner(const Arrival& late, const Arrival& late_then, const Arrival& early,
                  const Arrival& early_then, Charge& out) const {
    const RankPart& part = job_.parts[late.part];
    const RankPart& mate = job_.parts[early.part];
    std::map<std::pair<std::string_view, std::string_view>, Nanos> more;
    history_[late.part].each_owner(late_then.row, late.row, out.cause,
                                   [&](auto op, auto module, Nanos ns) {
                                     more[{part.texts[static_cast<std::size_t>(op)],
                                           part.texts[static_cast<std::size_t>(module)]}] += ns;
                                   });
    history_[early.part].each_owner(early_then.row, early.row, out.cause,
                                    [&](auto op, auto module, Nanos ns) {
                                      more[{mate.texts[static_cast<std::size_t>(op)],
                                            mate.texts[static_cast<std::size_t>(module)]}] -= ns;
                                    });
    Nanos most = 0;
    const std::pair<std::string_view, std::string_view>* owner = nullptr;
    for (const auto& [names, ns] : more) {
      if (ns <= most) continue;
      most = ns;
      owner = &names;
    }
    if (!owner) return;
    out.op = number_of(part, owner->first);
    out.module = number_of(part, owner->second);
  }

  static std::int64_t number_of(const RankPart& part, std::string_view text) {
    const auto at = std::find(part.texts.begin(), part.texts.end(), text);
    return at == part.texts.end() ? -1 : at - part.texts.begin();
  }

  const Job& job_;
  const std::vector<WaitSplit>& splits_;
  std::vector<History> history_;
  std::vector<std::vector<std::uint32_t>> of_part_;  // shared collectives of a part, by time
};

}  // namespace

std::vector<Charge> charge_waiting(const Job& job, const std::vector<WaitSplit>& splits) {
  const Charger charger(job, splits);
  std::vector<Charge> charges;
  charges.reserve(splits.size());
  for (std::uint32_t number = 0; number < splits.size(); ++number)
    charges.push_back(charger.charge(number));
  return charges;
}

}  // namespace gf
