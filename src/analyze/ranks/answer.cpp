#include "analyze/ranks/answer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "analyze/collective_type.h"
#include "core/statistics.h"
#include "model/chips.h"
#include "model/formats.h"

namespace gf {

namespace {

struct Facts {
  CollectiveType type = CollectiveType::other;
  std::int64_t bytes = -1, sequence = -1;
  Nanos transfer = 0;  // of the last rank
  std::int64_t ranks = 0;
};

Facts facts_of(const JobView& view, std::size_t number) {
  const auto& shared = view.job.shared[number];
  const WaitSplit& split = view.splits[number];
  const Arrival last = shared.arrivals[split.last];
  const auto& table = view.job.parts[last.part].collectives;
  Facts facts;
  facts.type = static_cast<CollectiveType>(table.type[last.row]);
  facts.bytes = table.bytes[last.row];
  facts.sequence = table.sequence[last.row];
  facts.transfer = split.ranks[split.last].duration - split.ranks[split.last].wait;
  facts.ranks = std::max(view.job.groups[shared.group].size,
                         static_cast<std::int64_t>(shared.arrivals.size()));
  return facts;
}

double per_second(const Facts& facts) {
  return static_cast<double>(facts.bytes) / static_cast<double>(facts.transfer);  // GB/s
}

/// Only where all ranks sit in one host: between hosts other links count.
double link_of(const Job& job) {
  constexpr std::size_t kOneHost = 8;
  if (job.parts.empty() || job.parts.size() > kOneHost) return 0;
  if (job.parts.front().world_size > static_cast<std::int64_t>(kOneHost)) return 0;
  for (const auto& part : job.parts)
    if (part.host != job.parts.front().host || part.device != job.parts.front().device) return 0;
  return link_bytes_per_s(job.parts.front().device) * 1e-9;
}

CollectiveRow row_of(const JobView& view, std::size_t number) {
  const auto& shared = view.job.shared[number];
  const WaitSplit& split = view.splits[number];
  const Facts facts = facts_of(view, number);
  const RankPart& last = view.job.parts[shared.arrivals[split.last].part];
  CollectiveRow row;
  row.group = view.job.groups[shared.group].name;
  row.sequence = facts.sequence;
  row.type = facts.type;
  row.bytes = facts.bytes;
  const auto step = last.collectives.step[shared.arrivals[split.last].row];
  if (step >= 0) row.step = last.steps[static_cast<std::size_t>(step)].index;
  row.last_rank = last.rank;
  row.margin_ns = split.margin;
  row.doubt_ns = split.doubt;
  row.wait_ns = split.wait;
  if (split.sure()) row.cause = view.charges[number].cause;
  if (facts.bytes > 0 && facts.transfer > 0)
    row.bus_gb_per_s = per_second(facts) * bus_factor(facts.type, facts.ranks);
  for (std::size_t i = 0; i < shared.arrivals.size(); ++i) {
    const auto& one = split.ranks[i];
    row.ranks.push_back({view.job.parts[shared.arrivals[i].part].rank, one.start, one.duration,
                         one.wait, one.duration - one.wait, one.exposed});
  }
  return row;
}

}  // namespace

std::vector<CollectiveRow> collective_rows(const JobView& view, std::size_t rows) {
  std::vector<std::size_t> kept(view.splits.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  if (rows > 0 && rows < kept.size()) {
    std::stable_sort(kept.begin(), kept.end(), [&](auto left, auto right) {
      return view.splits[left].wait > view.splits[right].wait;
    });
    kept.resize(rows);
    std::sort(kept.begin(), kept.end());
  }
  std::vector<CollectiveRow> out;
  for (const auto number : kept) out.push_back(row_of(view, number));
  return out;
}

std::vector<CollectiveRate> collective_rates(const JobView& view) {
  struct Class {
    std::vector<double> bytes, transfer, rate;
  };
  std::map<std::tuple<CollectiveType, std::int64_t, int>, Class> classes;
  for (std::size_t number = 0; number < view.splits.size(); ++number) {
    const Facts facts = facts_of(view, number);
    if (facts.bytes <= 0 || facts.transfer <= 0) continue;
    auto& one =
        classes[{facts.type, facts.ranks, std::bit_width(static_cast<std::uint64_t>(facts.bytes))}];
    one.bytes.push_back(static_cast<double>(facts.bytes));
    one.transfer.push_back(static_cast<double>(facts.transfer));
    one.rate.push_back(per_second(facts));
  }
  const double link = link_of(view.job);
  std::vector<CollectiveRate> rates;
  for (auto& [key, one] : classes) {
    CollectiveRate rate;
    rate.type = std::get<0>(key);
    rate.ranks = std::get<1>(key);
    rate.count = static_cast<std::int64_t>(one.rate.size());
    rate.bytes = static_cast<std::int64_t>(median(one.bytes));
    rate.transfer_ns = static_cast<Nanos>(median(one.transfer));
    rate.algorithm_gb_per_s = median(one.rate);
    rate.factor = bus_factor(rate.type, rate.ranks);
    rate.bus_gb_per_s = rate.algorithm_gb_per_s * rate.factor;
    if (link > 0) rate.of_link = rate.bus_gb_per_s / link;
    rates.push_back(rate);
  }
  return rates;
}

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

namespace {

constexpr std::size_t kLeastSteps = 3;

/// The ways in which a host can be slow.
struct Kind {
  RankTime cause;
  std::vector<Nanos> PartHost::* time;
  std::vector<std::int64_t> PartHost::* op;  // null: operators are many
};
constexpr std::array<Kind, 3> kKinds{
    {{RankTime::idle_input, &PartHost::input_ns, &PartHost::input_op},
     {RankTime::idle_launch_bound, &PartHost::operators_ns, nullptr},
     {RankTime::idle_host_other, &PartHost::other_ns, &PartHost::other_op}}};

/// One rank over the steps that all of them have.
struct Pace {
  std::vector<double> own;  // without waiting for the device, by step
  std::array<std::vector<double>, kKinds.size()> kinds;
  double step = 0;  // median of own
};

class Hosts {
 public:
  explicit Hosts(const JobView& view) : view_(view), parts_(view.job.parts) {}

  std::vector<FallingBehind> rows(const std::vector<Straggler>& late) {
    if (parts_.size() < 2 || !read()) return {};
    device_ = device_step();
    const auto slowest =
        static_cast<std::size_t>(std::max_element(paces_.begin(), paces_.end(),
                                                  [](const Pace& left, const Pace& right) {
                                                    return left.step < right.step;
                                                  }) -
                                 paces_.begin());
    std::vector<FallingBehind> rows;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (paces_[part].step + doubt_ < paces_[slowest].step) continue;
      for (std::size_t kind = 0; kind < kKinds.size(); ++kind)
        if (auto row = judged(part, kind, late)) rows.push_back(std::move(*row));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto& left, const auto& right) {
      if (left.gain_step_ns != right.gain_step_ns) return left.gain_step_ns > right.gain_step_ns;
      return left.more_ns > right.more_ns;
    });
    return rows;
  }

 private:
  /// The steps of every rank; false where some rank has too few that the others have as well.
  bool read() {
    std::map<std::int64_t, std::size_t> seen;
    for (const auto& part : parts_)
      for (const auto step : part.hosts.step) ++seen[step];
    std::erase_if(seen, [&](const auto& step) { return step.second != parts_.size(); });
    if (seen.size() < kLeastSteps) return false;
    for (const auto& part : parts_) paces_.push_back(pace_of(part, seen));
    std::vector<double> apart;
    for (const auto& pace : paces_)
      for (const double own : pace.own) apart.push_back(std::abs(own - pace.step));
    constexpr double kDeviation = 1.4826;  // of a normal distribution, from the median's
    doubt_ = kDeviation * median(apart);
    return true;
  }

  template <class Steps>
  static Pace pace_of(const RankPart& part, const Steps& seen) {
    Pace pace;
    for (std::size_t i = 0; i < part.hosts.step.size(); ++i) {
      if (!seen.contains(part.hosts.step[i])) continue;
      pace.own.push_back(static_cast<double>(part.hosts.duration_ns[i] - part.hosts.blocked_ns[i]));
      for (std::size_t kind = 0; kind < kKinds.size(); ++kind)
        pace.kinds[kind].push_back(static_cast<double>((part.hosts.*kKinds[kind].time)[i]));
    }
    pace.step = median(pace.own);
    return pace;
  }

  std::optional<FallingBehind> judged(std::size_t part, std::size_t kind,
                                      const std::vector<Straggler>& late) const {
    constexpr double kWorthSaying = 0.05, kSure = 3;
    const Pace& own = paces_[part];
    double others = 0, next = 0;
    for (std::size_t other = 0; other < paces_.size(); ++other) {
      if (other == part) continue;
      others = std::max(others, median(paces_[other].kinds[kind]));
      next = std::max(next, paces_[other].step);
    }
    const double more = median(own.kinds[kind]) - others;
    if (more < kWorthSaying * own.step || more < kSure * doubt_) return {};
    if (kKinds[kind].cause == RankTime::idle_launch_bound &&
        says(parts_[part].format, kSlowsHost) && more < kRecordingApart * median(own.kinds[kind]))
      return {};
    if (!in_most_steps(own.kinds[kind], others + more / 2)) return {};
    if (device_ > own.step) return {};
    FallingBehind row;
    row.rank = parts_[part].rank;
    row.cause = kKinds[kind].cause;
    row.op = op_of(parts_[part], kKinds[kind]);
    row.more_ns = static_cast<Nanos>(more);
    row.host_step_ns = static_cast<Nanos>(own.step);
    row.next_step_ns = static_cast<Nanos>(std::max(next, device_));
    row.gain_step_ns = std::clamp<Nanos>(row.host_step_ns - row.next_step_ns, 0, row.more_ns);
    row.doubt_ns = static_cast<Nanos>(doubt_);
    row.queued_ns = parts_[part].hosts.queued_ns.back();
    row.steps = static_cast<std::int64_t>(own.own.size());
    if (shows_already(row, late)) return {};
    return row;
  }

  static bool in_most_steps(const std::vector<double>& times, double above) {
    const auto count =
        std::count_if(times.begin(), times.end(), [&](double time) { return time > above; });
    return 4 * static_cast<std::size_t>(count) >= 3 * times.size();
  }

  /// Working time of the busiest device in a step: no host can make the job faster than that.
  double device_step() const {
    std::map<std::int64_t, std::vector<double>> work;  // by rank
    for (const auto& step : rank_steps(view_))
      work[step.rank].push_back(
          static_cast<double>(step.kernels_ns + step.copies_ns + step.exchange_ns));
    double longest = 0;
    for (const auto& [rank, times] : work) longest = std::max(longest, median(times));
    return longest;
  }

  /// True if another row already reports the waiting, or that recording may be the reason.
  bool shows_already(const FallingBehind& row, const std::vector<Straggler>& late) const {
    Nanos said = 0;
    for (const auto& one : late)
      if (one.rank == row.rank) said += one.gain_ns;
    for (std::size_t part = 0; view_.gains && part < parts_.size(); ++part)
      if (parts_[part].rank == row.rank && row.cause != RankTime::idle_input)
        said += view_.gains->ranks[part].host_in_doubt;
    return 2 * said >= row.more_ns * row.steps;
  }

  static std::string op_of(const RankPart& part, const Kind& kind) {
    if (kind.op == nullptr) return {};
    const auto& times = part.hosts.*kind.time;
    const auto most = std::max_element(times.begin(), times.end()) - times.begin();
    const auto number = (part.hosts.*kind.op)[static_cast<std::size_t>(most)];
    if (number < 0) return {};
    return part.texts[static_cast<std::size_t>(number)];
  }

  const JobView& view_;
  const std::vector<RankPart>& parts_;
  std::vector<Pace> paces_;
  double doubt_ = 0, device_ = 0;
};

}  // namespace

std::vector<FallingBehind> falling_behind(const JobView& view, const std::vector<Straggler>& late) {
  return Hosts(view).rows(late);
}

}  // namespace gf
