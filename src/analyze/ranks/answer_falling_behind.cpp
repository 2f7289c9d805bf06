// Hosts that are slower than the others' while no device shows it yet: it has work queued, or waits
// for another rank anyhow.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "analyze/ranks/answer.h"
#include "core/statistics.h"

namespace gf {

namespace {

constexpr std::size_t kLeastSteps = 3;

/// What a host can be slow in.
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

  /// What the busiest device works in a step: no host can make the job faster than that.
  double device_step() const {
    std::map<std::int64_t, std::vector<double>> work;  // by rank
    for (const auto& step : rank_steps(view_))
      work[step.rank].push_back(
          static_cast<double>(step.kernels_ns + step.copies_ns + step.exchange_ns));
    double longest = 0;
    for (const auto& [rank, times] : work) longest = std::max(longest, median(times));
    return longest;
  }

  /// What the job already waited for it is said there.
  bool shows_already(const FallingBehind& row, const std::vector<Straggler>& late) const {
    Nanos said = 0;
    for (const auto& one : late)
      if (one.rank == row.rank) said += one.gain_ns;
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
