// Finds the causes of added time: roles of kernels beyond what all kernels have in common, added
// calls with the host's time for them, copies, and idle causes.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyze/compare/role_match.h"
#include "core/statistics.h"

namespace gf {

namespace {

constexpr double kOfKernels = 0.005;  // of the kernel time: what a role must add to be named
constexpr double kOfStep = 0.01;      // of the step: what anything else must
constexpr double kMoreCalls = 1.05;

class CulpritFinder {
 public:
  CulpritFinder(const Comparison& comparison, const std::vector<RunDetails>& details,
                const RoleMatch& match, const std::vector<MeasuredVersion>& versions,
                std::size_t run)
      : comparison_(comparison),
        details_(details),
        match_(match),
        versions_(versions),
        run_(run),
        change_(comparison.changes[run - 1]) {
    const auto &first = comparison.runs[0], &other = comparison.runs[run];
    if (change_.of == "item")
      items_ = static_cast<double>(*other.batch) / static_cast<double>(*first.batch);
    for (std::size_t role = 0; role < match.roles().size(); ++role) {
      if (!match.roles()[role].is_kernel) continue;
      kernels_[0] += match.sum(0, role).ns * items_;
      kernels_[1] += match.sum(run, role).ns;
    }
  }

  Culprits find() {
    Culprits found;
    if (kernels_[0] <= 0 || kernels_[1] <= 0) return found;
    find_common();
    divide_idle();
    for (std::size_t role = 0; role < match_.roles().size(); ++role) try_role(role);
    for (const auto& row : comparison_.time)
      if (row.kind == ComparedRowKind::idle) try_idle(row);
    try_outliers();
    std::ranges::stable_sort(named_, std::greater{}, &ComparedCulprit::adds_ns);
    constexpr std::size_t kMost = 3;
    if (named_.size() > kMost) named_.resize(kMost);
    found.named = std::move(named_);
    if (items_ == 1) found.common_ratio = alike_;
    return found;
  }

 private:
  using Place = std::pair<std::string, std::string>;  // operator (or kernel) and inputs

  static Place place_of(const RoleCall& call) {
    return call.name.empty() ? Place(call.kernel, "") : Place(call.name, call.shapes);
  }

  /// By how much all kernels changed. Where a part of the time stayed as it was no clock changed.
  void find_common() {
    constexpr double kSmall = 0.001, kStayed = 0.004, kPart = 0.15, kMost = 0.85, kNear = 0.01;
    std::map<std::pair<std::size_t, Place>, std::pair<double, double>> places;
    for (const std::size_t run : {std::size_t{0}, run_}) {
      const auto& calls = details_[run].roles.calls;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        if (!calls[i].is_kernel) continue;
        auto& place = places[{match_.role_of(run, i), place_of(calls[i])}];
        const double ns = calls[i].ns / match_.steps(run);
        if (run == 0)
          place.first += ns * items_;
        else
          place.second += ns;
      }
    }
    std::vector<std::pair<double, double>> ratios;  // with the time of the first run
    double told = 0, stayed = 0;
    for (const auto& [key, ns] : places) {
      if (ns.first < kSmall * kernels_[0] || ns.second <= 0) continue;
      ratios.emplace_back(ns.second / ns.first, ns.first);
      told += ns.first;
      if (std::abs(ratios.back().first - 1) <= kStayed) stayed += ns.first;
    }
    if (told < kernels_[0] / 2 || stayed > kPart * kernels_[0]) return;
    std::ranges::sort(ratios);
    double before = 0;
    for (const auto& [ratio, ns] : ratios) {
      before += ns;
      common_ = ratio;
      if (before >= told / 2) break;
    }
    // No clock of one GPU moves so far: then it is the work, also where all of it is of one kind.
    constexpr double kClock = 1.35;
    const bool same_device = comparison_.runs[0].device == comparison_.runs[run_].device;
    if (same_device && (common_ > kClock || common_ < 1 / kClock)) {
      common_ = 1;
      return;
    }
    double alike = 0;
    for (const auto& [ratio, ns] : ratios)
      if (std::abs(ratio / common_ - 1) <= std::max(kNear, std::abs(common_ - 1) / 4)) alike += ns;
    if (alike < kMost * kernels_[0] || std::abs(common_ - 1) < kNear) return;
    if (!change_.kernel_low || *change_.kernel_low > 1 || *change_.kernel_high < 1)
      alike_ = common_;
  }

  MeasuredSide side(std::size_t run, const std::function<StepTimes(const MeasuredRun&)>& times,
                    bool of_kernels) const {
    return side_of(versions_[run], versions_[run == 0 ? run_ : 0], times, of_kernels);
  }

  /// The time of a role in a step, over all captures.
  double taken(std::size_t run, std::size_t role) const {
    const double in_tables = match_.sum(run, role).ns;
    if (versions_[run].size() == 1 || !match_.roles()[role].is_kernel) return in_tables;
    double sum = 0;
    for (const auto& capture : versions_[run]) {
      const auto steps = match_.by_step(capture.roles, role);
      if (steps.empty()) return in_tables;
      sum += mean_of(steps);
    }
    return sum / static_cast<double>(versions_[run].size());
  }

  /// A role's time by step, without what all kernels of a step have in common.
  StepTimes own_steps(const MeasuredRun& capture, std::size_t role) const {
    StepTimes all(capture.roles.ns.size());
    for (const auto& [key, series] : capture.roles.kernels)
      for (std::size_t i = 0; i < series.size(); ++i) all[i] += static_cast<double>(series[i]);
    auto steps = match_.by_step(capture.roles, role);
    const double mean = all.empty() ? 0 : mean_of(all);
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (all[i] > 0) steps[i] *= mean / all[i];
    return steps;
  }

  /// The time of a role beyond `times` its time in the first run.
  std::optional<MeasuredDifference> measured(std::size_t role, double times) const {
    const auto steps = [&](const MeasuredRun& capture) { return own_steps(capture, role); };
    return measure_difference(side(0, steps, true), side(run_, steps, true), times);
  }

  /// The host's time for calls that the first run does not make, as far as the device idles more.
  void divide_idle() {
    for (const auto& row : comparison_.time)
      if (row.kind == ComparedRowKind::idle) {
        idle_more_ += static_cast<double>(row.change_ns[run_]);
        if (row.change_ns[run_] > 0) idle_grown_ += static_cast<double>(row.change_ns[run_]);
      } else if (row.kind == ComparedRowKind::copy) {
        copies_more_ += static_cast<double>(row.change_ns[run_]);
      }
    double wanted = 0;
    for (std::size_t role = 0; role < match_.roles().size(); ++role) wanted += host_for(role);
    if (wanted > 0) host_share_ = std::clamp(idle_more_ / wanted, 0.0, 1.0);
    host_given_ = host_share_ * wanted;
    for (std::size_t role = 0; role < match_.roles().size(); ++role)
      if (!match_.roles()[role].is_kernel)
        copies_wanted_ += std::max(0.0, match_.sum(run_, role).ns - match_.sum(0, role).ns);
  }

  double host_for(std::size_t role) const {
    const auto &before = match_.sum(0, role), &after = match_.sum(run_, role);
    if (after.calls <= kMoreCalls * before.calls) return 0;
    return after.host_ns * (1 - before.calls / after.calls);
  }

  /// The profiler slowed both hosts alike.
  bool same_host() const {
    return std::ranges::none_of(comparison_.differences, [](const ComparedDifference& difference) {
      return difference.setting == ComparedSetting::profiler;
    });
  }

  /// The interval of what a culprit adds, as far off that as that of what was measured.
  static void take_interval(ComparedCulprit& culprit,
                            const std::optional<MeasuredDifference>& found) {
    if (!found) return;
    culprit.low_ns = culprit.adds_ns - std::llround(found->change - found->low);
    culprit.high_ns = culprit.adds_ns + std::llround(found->high - found->change);
  }

  void try_role(std::size_t role) {
    const auto& what = match_.roles()[role];
    const double before = items_ * taken(0, role), after = taken(run_, role);
    const double step = static_cast<double>(comparison_.runs[0].time_ns);
    const double host = same_host() ? host_share_ * host_for(role) : 0;
    double device = after - before;
    std::optional<MeasuredDifference> found;
    bool worth = host >= kOfStep * step;
    if (what.is_kernel) {
      found = measured(role, common_ * items_);
      const double excess = after - common_ * before;
      worth =
          worth || (excess >= kOfKernels * kernels_[0] && (!found || found->low > 0) && device > 0);
    } else {
      device = std::max(0.0, device);
      if (copies_wanted_ > 0)
        device *= std::clamp(copies_more_ / copies_wanted_, 0.0, 1.0);  // beside kernels: nothing
      worth = worth || (device >= kOfStep * step && slower());
    }
    const double adds = device + host;
    if (!worth || adds <= 0) return;
    ComparedCulprit culprit;
    culprit.run = static_cast<std::int64_t>(run_);
    culprit.role = what.name;
    culprit.phase = what.phase;
    culprit.adds_ns = std::llround(adds);
    take_interval(culprit, found);
    culprit.host_ns = std::llround(host);
    culprit.before_ns = std::llround(before);
    culprit.after_ns = std::llround(after);
    culprit.calls_before = match_.sum(0, role).calls;
    culprit.calls_after = match_.sum(run_, role).calls;
    look_inside(role, culprit);
    named_.push_back(std::move(culprit));
  }

  struct Gains {
    std::map<Place, double> places, kernels;  // kernels by their operator
    std::map<std::string, double> modules, kernel_calls, kernel_calls_before;
  };

  Gains gains_in(std::size_t role) const {
    Gains gains;
    for (const std::size_t run : {std::size_t{0}, run_}) {
      const auto& calls = details_[run].roles.calls;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        if (match_.role_of(run, i) != role) continue;
        const double ns = calls[i].ns / match_.steps(run) * (run == 0 ? -items_ : 1);
        gains.places[{calls[i].name, calls[i].shapes}] += ns;
        if (!calls[i].module.empty()) gains.modules[calls[i].module] += ns;
        gains.kernels[{calls[i].name, calls[i].kernel}] += ns;
        (run == 0 ? gains.kernel_calls_before : gains.kernel_calls)[calls[i].kernel] +=
            calls[i].calls / match_.steps(run);
      }
    }
    return gains;
  }

  template <class Key>
  static std::pair<Key, double> most(const std::map<Key, double>& gains) {
    std::pair<Key, double> best{Key{}, 0};
    for (const auto& [key, ns] : gains)
      if (ns > best.second) best = {key, ns};
    return best;
  }

  /// Names the operator, inputs, module and kernel that gained time.
  void look_inside(std::size_t role, ComparedCulprit& culprit) const {
    const auto gains = gains_in(role);
    const double half = static_cast<double>(culprit.after_ns - culprit.before_ns) / 2;
    std::map<std::string, double> operators;
    for (const auto& [place, ns] : gains.places) operators[place.first] += ns;
    culprit.name = most(operators).first;
    if (const auto place = most(gains.places); place.second >= half) {
      culprit.name = place.first.first;
      culprit.shapes = place.first.second;
    }
    if (const auto module = most(gains.modules); module.second >= half)
      culprit.module = module.first;
    std::map<std::string, double> kernels;
    for (const auto& [kernel, ns] : gains.kernels)
      if (culprit.name.empty() || kernel.first == culprit.name) kernels[kernel.second] += ns;
    culprit.kernel = most(kernels).first;
    if (culprit.kernel.empty() && !gains.kernel_calls.empty())
      culprit.kernel = most(gains.kernel_calls).first;
    name_replaced(gains, culprit);
    const bool more = culprit.calls_after > kMoreCalls * culprit.calls_before;
    if (culprit.calls_before <= 0)
      culprit.kind = CulpritKind::fresh;
    else if (!culprit.kernel_before.empty())
      culprit.kind = CulpritKind::replaced;
    else if (more)
      culprit.kind = CulpritKind::more_calls;
    for (const auto& row : details_[run_].operators)
      if (culprit.python.empty() && row.phase == culprit.phase && !row.by_kernel.empty() &&
          row.by_kernel.front().name == culprit.kernel)
        culprit.python = row.python;
  }

  /// The kernel that the first run has at the places of one that this run alone has more of.
  void name_replaced(const Gains& gains, ComparedCulprit& culprit) const {
    const auto of = [](const std::map<std::string, double>& calls, const std::string& kernel) {
      const auto known = calls.find(kernel);
      return known == calls.end() ? 0 : known->second;
    };
    const auto& kernel = culprit.kernel;
    if (of(gains.kernel_calls, kernel) <= kMoreCalls * of(gains.kernel_calls_before, kernel))
      return;
    std::map<std::string, double> others;
    for (const auto& [left, right] : match_.paired(run_)) {
      const auto& before = details_[0].roles.calls[left].kernel;
      if (details_[run_].roles.calls[right].kernel == kernel && before != kernel)
        others[before] += 1;
    }
    const auto other = most(others).first;
    if (of(gains.kernel_calls, other) < of(gains.kernel_calls_before, other))
      culprit.kernel_before = other;
  }

  bool slower() const { return change_.verdict == ComparedVerdict::slower; }

  void try_idle(const ComparedTime& row) {
    const double step = static_cast<double>(comparison_.runs[0].time_ns);
    const auto reason = enum_from<IdleReason>(row.name);
    if (!reason || !same_host()) return;
    const auto steps = [&](const MeasuredRun& capture) { return idle_steps(capture, *reason); };
    const auto before = side(0, steps, false), after = side(run_, steps, false);
    ComparedCulprit culprit;
    culprit.run = static_cast<std::int64_t>(run_);
    culprit.role = "idle";
    culprit.cause = row.name;
    culprit.phase = TrainingPhase::all;
    culprit.before_ns = row.ns[0];
    culprit.after_ns = row.ns[run_];
    if (try_single_steps(before, after, culprit)) return;
    double more = static_cast<double>(row.change_ns[run_]);
    if (more <= 0 || items_ != 1 || !slower()) return;
    more -= host_given_ * more / idle_grown_;  // told with the calls that it is for
    const auto found = measure_difference(before, after);
    if (more < kOfStep * step || (found && more <= found->change - found->low)) return;
    culprit.kind = CulpritKind::idle;
    culprit.adds_ns = std::llround(more);
    culprit.name = host_work(more);
    take_interval(culprit, found);
    named_.push_back(std::move(culprit));
  }

  /// The innermost host span that accounts for most of the added time.
  std::string host_work(double more) const {
    const auto &before = details_[0].roles.host_ns, &after = details_[run_].roles.host_ns;
    std::string name;
    double least = 0;
    for (const auto& [work, total] : after) {
      const auto known = before.find(work);
      const double ns = total / match_.steps(run_);
      const double was = known == before.end() ? 0 : known->second / match_.steps(0);
      if (ns - was < more / 2 || (!name.empty() && ns >= least)) continue;
      least = ns;
      name = work;
    }
    return name;
  }

  static StepTimes idle_steps(const MeasuredRun& capture, IdleReason reason) {
    StepTimes steps(capture.roles.ns.size());
    const auto known = capture.roles.idle.find(reason);
    if (known == capture.roles.idle.end()) return steps;
    for (std::size_t i = 0; i < known->second.size(); ++i)
      steps[i] = static_cast<double>(known->second[i]);
    return steps;
  }

  /// One step that is half as long again by this cause is none of the noise that all steps have.
  bool try_single_steps(const MeasuredSide& before, const MeasuredSide& after,
                        ComparedCulprit& culprit) {
    constexpr std::size_t kOneIn = 8, kLeast = 4;
    std::vector<Nanos> lengths;
    for (const auto& capture : versions_[run_])
      lengths.insert(lengths.end(), capture.roles.ns.begin(), capture.roles.ns.end());
    if (lengths.size() < kLeast) return false;
    std::ranges::sort(lengths);
    const double much = static_cast<double>(lengths[(lengths.size() - 1) / 2]) / 2;
    const auto beyond = [&](const MeasuredSide& side) {
      std::pair<std::size_t, double> found{0, 0};
      StepTimes order;
      for (const auto& capture : side.captures)
        order.insert(order.end(), capture.begin(), capture.end());
      if (order.empty()) return found;
      std::ranges::sort(order);
      const double middle = order[(order.size() - 1) / 2];
      for (const double ns : order)
        if (ns - middle >= much) {
          ++found.first;
          found.second += ns - middle;
        }
      return found;
    };
    const auto [count, ns] = beyond(after);
    if (count == 0 || count > std::max<std::size_t>(1, lengths.size() / kOneIn) ||
        beyond(before).first > 0)
      return false;
    culprit.kind = CulpritKind::few_steps;
    culprit.adds_ns = std::llround(ns / static_cast<double>(lengths.size()));
    culprit.calls_before = static_cast<double>(lengths.size());
    culprit.calls_after = static_cast<double>(count);
    named_.push_back(culprit);
    return true;
  }

  /// Steps that both windows leave out, where the first run has none.
  void try_outliers() {
    const auto& roles = details_[run_].roles;
    if (roles.outliers == 0 || details_[0].roles.outliers > 0) return;
    ComparedCulprit culprit;
    culprit.run = static_cast<std::int64_t>(run_);
    culprit.kind = CulpritKind::few_steps;
    culprit.role = "outlier steps";
    culprit.name = roles.in_outliers;
    culprit.phase = TrainingPhase::all;
    culprit.adds_ns = roles.outlier_ns / static_cast<Nanos>(roles.all_steps);
    culprit.calls_before = static_cast<double>(roles.all_steps);
    culprit.calls_after = static_cast<double>(roles.outliers);
    named_.push_back(std::move(culprit));
  }

  const Comparison& comparison_;
  const std::vector<RunDetails>& details_;
  const RoleMatch& match_;
  const std::vector<MeasuredVersion>& versions_;
  std::size_t run_;
  const ComparedChange& change_;
  double items_ = 1;            // of this run's step over those of the first
  double kernels_[2] = {0, 0};  // of a step
  double common_ = 1;           // what all kernels changed by
  std::optional<double> alike_;
  double idle_more_ = 0, idle_grown_ = 0, host_share_ = 0, host_given_ = 0;
  double copies_more_ = 0, copies_wanted_ = 0;
  std::vector<ComparedCulprit> named_;
};

}  // namespace

Culprits find_culprits(const Comparison& comparison, const std::vector<RunDetails>& details,
                       const RoleMatch& match, const std::vector<MeasuredVersion>& versions,
                       std::size_t run) {
  return CulpritFinder(comparison, details, match, versions, run).find();
}

}  // namespace gf
