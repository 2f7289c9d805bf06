#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "analyze/ranks/answer.h"
#include "analyze/ranks/names.h"
#include "core/apportion.h"

namespace gf {

namespace {

class RankHistory {
 public:
  using Sums = std::array<Nanos, kRankTimes>;

  explicit RankHistory(const RankPart& part);
  /// Between the starts of two collectives.
  Sums between(std::uint32_t from, std::uint32_t to) const;
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

RankHistory::RankHistory(const RankPart& part) : part_(part) {
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

RankHistory::Sums RankHistory::between(std::uint32_t from, std::uint32_t to) const {
  Sums sums = until_[to];
  for (std::size_t i = 0; i < kRankTimes; ++i) sums[i] -= until_[from][i];
  return sums;
}

/// The row of a part in a shared collective, if it takes part.
const Arrival* arrival_of(const SharedCollective& shared, std::uint32_t part) {
  const auto at = std::lower_bound(
      shared.arrivals.begin(), shared.arrivals.end(), part,
      [](const Arrival& arrival, std::uint32_t number) { return arrival.part < number; });
  return at != shared.arrivals.end() && at->part == part ? &*at : nullptr;
}

/// Two ranks between an earlier collective and a later one.
struct Stretch {
  Arrival late_then, early_then, late, early;
};

/// The excess of the late rank in a stretch.
struct Excess {
  std::array<Nanos, kRankTimes> own{};  // by cause
  Nanos waited = 0;                     // for other ranks, with nothing beside
};

class Charger {
 public:
  Charger(const Job& job, const std::vector<WaitSplit>& splits)
      : job_(job), splits_(splits), charges_(splits.size()) {
    history_.reserve(job.parts.size());
    for (const auto& part : job.parts) history_.emplace_back(part);
    of_part_.resize(job.parts.size());
    of_row_.resize(job.parts.size());
    for (std::size_t part = 0; part < job.parts.size(); ++part)
      of_row_[part].resize(job.parts[part].collectives.start_ns.size());
    for (std::uint32_t number = 0; number < job.shared.size(); ++number) {
      const auto& arrivals = job.shared[number].arrivals;
      for (std::size_t i = 0; i < arrivals.size(); ++i) {
        of_part_[arrivals[i].part].push_back(number);
        of_row_[arrivals[i].part][arrivals[i].row] = {number,
                                                      splits[number].ranks[i].exposed_wait()};
      }
    }
    for (std::size_t part = 0; part < of_row_.size(); ++part) {
      auto& until = waited_until_.emplace_back(1, 0);
      auto& alone = alone_until_.emplace_back(1, 0);
      for (std::size_t row = 0; row < of_row_[part].size(); ++row) {
        const bool unshared = of_row_[part][row].number == UINT32_MAX;
        const Nanos exposed = job.parts[part].collectives.exposed_ns[row];
        until.push_back(until.back() + of_row_[part][row].wait);
        alone.push_back(alone.back() + (unshared ? exposed : 0));
      }
    }
  }

  std::vector<Charge> run() && {
    // A rank that waits for another is charged after that one.
    std::vector<std::uint32_t> order(splits_.size());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    auto handed = [&](std::uint32_t number) {
      return splits_[number].ranks[splits_[number].last].start;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](auto left, auto right) { return handed(left) < handed(right); });
    for (const auto number : order) charges_[number] = charge(number);
    return std::move(charges_);
  }

 private:
  /// A collective of one rank, and its waiting with nothing beside.
  struct Shared {
    std::uint32_t number = UINT32_MAX;  // of the shared collective, if it is one
    Nanos wait = 0;
  };

  Charge charge(std::uint32_t number) const {
    const WaitSplit& split = splits_[number];
    if (!split.sure() || split.wait == 0) return {};
    const auto part = job_.shared[number].arrivals[split.last].part;
    const Charge unknown{{{part, RankTime::unknown, -1, -1, split.wait}}, RankTime::unknown};
    const auto level = last_level(number, number);
    if (!level) return unknown;
    auto stretch = stretch_of(*level, number);
    if (!stretch) return unknown;
    Excess excess = excess_of(*stretch);
    if (mostly_kernels(excess))
      if (const auto earlier = before_work_was_done(number, *level, excess))
        excess = excess_of(*(stretch = earlier));
    return shared_out(split.wait, *stretch, excess);
  }

  std::optional<Stretch> stretch_of(std::uint32_t level, std::uint32_t number) const {
    const WaitSplit& split = splits_[number];
    const Arrival late = job_.shared[number].arrivals[split.last];
    const Arrival early = job_.shared[number].arrivals[split.waited_most];
    const Stretch stretch{*arrival_of(job_.shared[level], late.part),
                          *arrival_of(job_.shared[level], early.part), late, early};
    if (stretch.late_then.row >= late.row || stretch.early_then.row >= early.row) return {};
    return stretch;
  }

  /// The latest collective before `from` whose lateness did not last until this one: the early
  /// rank came as late or waited its lead out. The first that the two share, when there is none.
  std::optional<std::uint32_t> last_level(std::uint32_t number, std::uint32_t from) const {
    const WaitSplit& split = splits_[number];
    const auto late = job_.shared[number].arrivals[split.last].part;
    const auto early = job_.shared[number].arrivals[split.waited_most].part;
    const Nanos tenth = difference(number, late, early) / 10;
    const auto& own = of_part_[late];
    std::uint32_t next = from;
    std::optional<std::uint32_t> first;
    for (auto at = std::lower_bound(own.begin(), own.end(), from); at != own.begin();) {
      --at;
      if (!arrival_of(job_.shared[*at], early)) continue;
      first = *at;
      const Nanos carried = difference(*at, late, early) - led_out(*at, next, late, early);
      if (carried <= std::max(splits_[*at].doubt, tenth)) return first;
      next = *at;
    }
    return first;
  }

  /// A rank that waits for one collective may compute what the next ones need, and then seems to
  /// do less between them. An earlier stretch counts where it makes up for half of that.
  std::optional<Stretch> before_work_was_done(std::uint32_t number, std::uint32_t level,
                                              const Excess& excess) const {
    constexpr int kTried = 64;
    const Nanos more = excess.own[static_cast<std::size_t>(RankTime::kernels)];
    for (int i = 0; i < kTried; ++i) {
      const auto earlier = last_level(number, level);
      if (!earlier) return {};
      const auto stretch = stretch_of(*earlier, number);
      if (!stretch) return {};
      if (2 * excess_of(*stretch).own[static_cast<std::size_t>(RankTime::kernels)] <= more)
        return stretch;
      level = *earlier;
    }
    return {};
  }

  static bool mostly_kernels(const Excess& excess) {
    const Nanos kernels = excess.own[static_cast<std::size_t>(RankTime::kernels)];
    return kernels > 0 && kernels >= excess.waited &&
           kernels >= *std::max_element(excess.own.begin(), excess.own.end());
  }

  /// The extra time of the early rank in exposed collectives between two of them.
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

  /// Waiting with nothing beside, in collectives that began between the two.
  Nanos waited(const Arrival& then, const Arrival& now) const {
    return waited_until_[now.part][now.row] - waited_until_[now.part][then.row];
  }

  /// In collectives that no other file shows, such as those of a group whose other ranks are
  /// missing: whom it waited for there is not known.
  Nanos alone(const Arrival& then, const Arrival& now) const {
    return alone_until_[now.part][now.row] - alone_until_[now.part][then.row];
  }

  Excess excess_of(const Stretch& stretch) const {
    const auto late = history_[stretch.late.part].between(stretch.late_then.row, stretch.late.row);
    const auto early =
        history_[stretch.early.part].between(stretch.early_then.row, stretch.early.row);
    Excess excess;
    for (std::size_t i = 0; i < kRankTimes; ++i)
      if (static_cast<RankTime>(i) != RankTime::collectives)
        excess.own[i] = std::max<Nanos>(late[i] - early[i], 0);
    excess.own[static_cast<std::size_t>(RankTime::collectives)] = std::max<Nanos>(
        alone(stretch.late_then, stretch.late) - alone(stretch.early_then, stretch.early), 0);
    excess.waited = std::max<Nanos>(
        waited(stretch.late_then, stretch.late) - waited(stretch.early_then, stretch.early), 0);
    settle_gaps(excess.own);
    return excess;
  }

  /// Gaps without a reason are no fault of a rank: around kernels that only it runs they are those
  /// kernels', and else the recorder can have made them (it paused, its window began).
  static void settle_gaps(std::array<Nanos, kRankTimes>& own) {
    constexpr std::array kGaps{RankTime::idle_unexplained, RankTime::idle_not_recorded,
                               RankTime::idle_no_launch_record};
    constexpr Nanos kTenth = 10;
    Nanos gaps = 0;
    for (const auto gap : kGaps) gaps += std::exchange(own[static_cast<std::size_t>(gap)], 0);
    Nanos& kernels = own[static_cast<std::size_t>(RankTime::kernels)];
    if (kernels * kTenth >= gaps)
      kernels += gaps;
    else
      own[static_cast<std::size_t>(RankTime::unknown)] += gaps;
  }

  using Owners = std::map<std::tuple<std::uint32_t, RankTime, std::int64_t, std::int64_t>, double>;

  /// Passes the late rank's own waiting on to the ranks that it was charged to.
  void pass_on(const Stretch& stretch, Nanos excess, Owners& shares) const {
    const Nanos all = waited(stretch.late_then, stretch.late);
    if (excess <= 0 || all <= 0) return;
    const double part_of_all = static_cast<double>(excess) / static_cast<double>(all);
    for (auto row = stretch.late_then.row; row < stretch.late.row; ++row) {
      const Shared& waited_in = of_row_[stretch.late.part][row];
      if (waited_in.wait == 0) continue;
      const auto& blames = charges_[waited_in.number].blames;
      Nanos sum = 0;
      for (const auto& blame : blames) sum += blame.wait;
      const double factor = part_of_all * static_cast<double>(waited_in.wait);
      for (const auto& blame : blames)
        shares[{blame.part, blame.cause, blame.op, blame.module}] +=
            factor * static_cast<double>(blame.wait) / static_cast<double>(sum);
    }
  }

  Charge shared_out(Nanos wait, const Stretch& stretch, const Excess& excess) const {
    const auto part = stretch.late.part;
    Owners shares;
    const auto largest = std::max_element(excess.own.begin(), excess.own.end());
    Charge charge;
    charge.cause = static_cast<RankTime>(largest - excess.own.begin());
    const auto [op, module] = owner_of(stretch, charge.cause);
    for (std::size_t i = 0; i < kRankTimes; ++i) {
      const auto cause = static_cast<RankTime>(i);
      if (excess.own[i] == 0) continue;
      const bool named = cause == charge.cause;
      shares[{part, cause, named ? op : -1, named ? module : -1}] +=
          static_cast<double>(excess.own[i]);
    }
    pass_on(stretch, excess.waited, shares);
    if (excess.waited > *largest) charge.cause = RankTime::collectives;
    if (shares.empty()) {
      charge.cause = RankTime::unknown;
      shares[{part, RankTime::unknown, -1, -1}] = 1;
    }
    charge.blames = blames_of(wait, shares);
    return charge;
  }

  static std::vector<Blame> blames_of(Nanos wait, const Owners& shares) {
    std::vector<std::pair<double, Blame>> order;
    for (const auto& [key, share] : shares) {
      const auto [part, cause, op, module] = key;
      order.push_back({share, {part, cause, op, module, 0}});
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& left, const auto& right) { return left.first > right.first; });
    constexpr std::size_t kMost = 24;  // a chain over many ranks does not grow without end
    if (order.size() > kMost) order.resize(kMost);
    std::vector<double> weights;
    for (const auto& [share, blame] : order) weights.push_back(share);
    const auto parts = apportion(wait, weights);
    std::vector<Blame> blames;
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i].second.wait = parts[i];
      if (parts[i] > 0) blames.push_back(order[i].second);
    }
    return blames;
  }

  /// The operator and module with most more of one kind of time.
  std::pair<std::int64_t, std::int64_t> owner_of(const Stretch& stretch, RankTime cause) const {
    const RankPart& part = job_.parts[stretch.late.part];
    const RankPart& mate = job_.parts[stretch.early.part];
    std::map<std::pair<std::string_view, std::string_view>, Nanos> more;
    history_[stretch.late.part].each_owner(
        stretch.late_then.row, stretch.late.row, cause, [&](auto op, auto module, Nanos ns) {
          more[{part.texts[static_cast<std::size_t>(op)],
                part.texts[static_cast<std::size_t>(module)]}] += ns;
        });
    history_[stretch.early.part].each_owner(
        stretch.early_then.row, stretch.early.row, cause, [&](auto op, auto module, Nanos ns) {
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
    if (!owner) return {-1, -1};
    return {number_of(part, owner->first), number_of(part, owner->second)};
  }

  static std::int64_t number_of(const RankPart& part, std::string_view text) {
    const auto at = std::find(part.texts.begin(), part.texts.end(), text);
    return at == part.texts.end() ? -1 : at - part.texts.begin();
  }

  const Job& job_;
  const std::vector<WaitSplit>& splits_;
  std::vector<Charge> charges_;
  std::vector<RankHistory> history_;
  std::vector<std::vector<std::uint32_t>> of_part_;  // shared collectives of a part, by time
  std::vector<std::vector<Shared>> of_row_;          // by part and row of its collectives
  std::vector<std::vector<Nanos>> waited_until_;     // before each row
  std::vector<std::vector<Nanos>> alone_until_;      // of collectives that are not shared
};

}  // namespace

std::vector<Charge> charge_waiting(const Job& job, const std::vector<WaitSplit>& splits) {
  return Charger(job, splits).run();
}

}  // namespace gf
