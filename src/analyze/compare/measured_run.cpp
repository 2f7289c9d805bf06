#include "analyze/compare/measured_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "analyze/steps/steps.h"
#include "core/statistics.h"
#include "core/xxh64.h"
#include "model/launches.h"
#include "model/quality.h"

namespace gf {

namespace {

/// The steps that are compared: all that are no start-up. A single long one is left to the verdict,
/// which tells it apart or counts it.
std::vector<StepInfo> judged_steps(const WindowInfo& window) {
  if (window.kind != WindowKind::steps) return window.steps;
  std::vector<StepInfo> steps;
  for (const auto& step : window.all_steps)
    if (step.role != StepRole::start_up) steps.push_back(step);
  return steps;
}

/// By the clock a step is as long as the window over its steps, which what lies between two steps
/// makes longer than the steps' own mean.
double between_steps(const WindowInfo& window) {
  double sum = 0;
  for (const auto& step : window.steps) sum += static_cast<double>(step.duration_ns);
  return sum > 0 ? static_cast<double>(window.duration_ns) / sum : 1;
}

void take_steps(MeasuredRun& run, const WindowInfo& window, const std::vector<StepInfo>& steps) {
  run.step_source = window.step_source;
  const double longer = between_steps(window);
  for (const auto& step : steps)
    run.step_ns.push_back(longer * static_cast<double>(step.duration_ns));
  if (steps.empty()) run.step_ns.push_back(static_cast<double>(window.duration_ns));
}

/// Which of the steps a kernel belongs to: the one in which it was launched, where there are marks
/// and its launch is known, else the one in which it begins.
class StepOfKernel {
 public:
  StepOfKernel(const Context& context, const std::vector<StepInfo>& steps)
      : context_(context), steps_(steps) {
    if (!context.capture.steps.empty()) return;  // the source's own, on the device
    marks_ = find_marks(context.capture);
    for (std::size_t i = 0; i < steps.size(); ++i) by_number_.emplace(steps[i].index, i);
    // Steps of another source than these marks.
    if (context.window.step_source != "marks:" + marks_.family) marks_.marks.clear();
  }

  /// Empty: no step's.
  std::optional<std::size_t> operator()(std::uint32_t activity) const {
    const auto call = context_.launches[activity];
    if (call == kNoRow || marks_.marks.empty())
      return at(context_.capture.activities.start_ns[activity]);
    return of_call(call);
  }

  std::optional<std::size_t> of_call(std::uint32_t call) const {
    const auto& calls = context_.capture.api_calls;
    const auto& all = marks_.marks;
    const Nanos time = calls.start_ns[call];
    if (all.empty()) return at(time);
    const auto thread = calls.thread[call];
    const auto& threads = context_.capture.threads;
    if (marks_.pid >= 0 && thread < threads.size() && threads.pid[thread] != marks_.pid)
      return std::nullopt;
    auto mark = std::upper_bound(all.begin(), all.end(), time,
                                 [](Nanos t, const StepMark& m) { return t < m.start; });
    if (mark == all.begin()) return std::nullopt;
    --mark;
    // A step lasts until the next begins, so that a lost mark loses no kernels.
    if (mark + 1 == all.end() && time >= mark->end) return std::nullopt;
    const auto found = by_number_.find(mark->number);
    if (found == by_number_.end()) return std::nullopt;
    return found->second;
  }

 private:
  std::optional<std::size_t> at(Nanos time) const {
    auto step = std::upper_bound(steps_.begin(), steps_.end(), time,
                                 [](Nanos t, const StepInfo& s) { return t < s.start_ns; });
    if (step == steps_.begin()) return std::nullopt;
    --step;
    if (time >= step->start_ns + step->duration_ns) return std::nullopt;
    return static_cast<std::size_t>(step - steps_.begin());
  }

  const Context& context_;
  const std::vector<StepInfo>& steps_;
  StepMarks marks_;
  std::map<std::int64_t, std::size_t> by_number_;
};

/// Time and number of the kernels of each step.
struct KernelTimes {
  std::vector<double> ns;
  std::vector<std::int64_t> count;
  double all = 0, longest = 0;
  double again = 0;  // of kernels whose launch has one already
};

KernelTimes times_of_kernels(const Context& context, const std::vector<StepInfo>& steps,
                             const StepOfKernel& step_of) {
  KernelTimes times;
  times.ns.assign(std::max<std::size_t>(1, steps.size()), 0);
  times.count.assign(times.ns.size(), 0);
  const auto& activities = context.capture.activities;
  std::vector<bool> ran(context.capture.api_calls.size(), false);
  for (std::uint32_t row = 0; row < activities.size(); ++row) {
    if (activities.kind[row] != ActivityKind::kernel || !context.chosen.has(activities.device[row]))
      continue;
    const Nanos start = activities.start_ns[row];
    auto at = step_of(row);
    if (steps.empty() && start >= context.window.start_ns && start < context.window.end_ns) at = 0;
    if (!at) continue;
    const auto took = static_cast<double>(activities.duration_ns[row]);
    times.ns[*at] += took;
    ++times.count[*at];
    times.all += took;
    times.longest = std::max(times.longest, took);
    const auto call = context.launches[row];
    if (call == kNoRow || context.capture.api_calls.kind[call] != ApiKind::launch) continue;
    if (ran[call]) times.again += took;
    ran[call] = true;
  }
  return times;
}

/// Of the kernel time, what launches without a kernel may have cost: such a kernel ran when its
/// step's device was idle. The last step's may have been cut off with the capture.
double lost_of_launches(const Context& context, const std::vector<StepInfo>& steps,
                        const StepOfKernel& step_of, const KernelTimes& times) {
  if (steps.size() < 2 || times.all <= 0) return 0;
  const auto& calls = context.capture.api_calls;
  std::vector<bool> ran(calls.size(), false);
  for (const auto call : context.launches)
    if (call != kNoRow) ran[call] = true;
  const GraphCaptures captures(context.capture);
  std::vector<bool> lost(steps.size(), false);
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    const bool launches =
        calls.kind[call] == ApiKind::launch || calls.kind[call] == ApiKind::graph_launch;
    if (!launches || ran[call] || captures.at(calls.start_ns[call])) continue;
    if (const auto at = step_of.of_call(call)) lost[*at] = true;
  }
  double sum = 0;
  for (std::size_t at = 0; at + 1 < steps.size(); ++at)
    if (lost[at]) sum += std::max(0.0, static_cast<double>(steps[at].duration_ns) - times.ns[at]);
  return sum / times.all;
}

/// Kernels that records of the capture say are missing or doubled, each as long as the longest.
double of_the_longest(const Capture& capture, QualityCode code, const KernelTimes& times) {
  const auto& quality = capture.quality;
  double count = 0;
  for (std::uint32_t row = 0; row < quality.size(); ++row)
    if (capture.text(quality.code[row]) == name_of(code))
      count += static_cast<double>(quality.count[row]);
  return times.all > 0 ? count * times.longest / times.all : 0;
}

void take_doubts(MeasuredRun& run, const Context& context, const std::vector<StepInfo>& steps,
                 const StepOfKernel& step_of, const KernelTimes& times) {
  const auto& capture = context.capture;
  // What overlaps on a stream may be there twice (docs/evidence.md has the bound).
  constexpr double kOverlaps = 0.02, kMost = 0.5;
  if (capture.noted(QualityCode::few_without_kernel))
    run.missing += lost_of_launches(context, steps, step_of, times);
  run.missing += of_the_longest(capture, QualityCode::few_lost_records, times);
  run.extra = of_the_longest(capture, QualityCode::few_repeated, times);
  if (capture.noted(QualityCode::few_overlaps)) run.extra += kOverlaps;
  // A launch runs one kernel, but for graphs': another one of it is a copy under another name, on
  // another stream or a moment later.
  if (times.all > 0) run.extra += times.again / times.all;
  run.extra = std::min(run.extra, kMost);
}

template <class Value>
std::uint64_t digest_of(const std::vector<Value>& values, std::uint64_t seed) {
  return xxh64({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)}, seed);
}

/// Two recordings never agree in the times of all their kernels.
std::uint64_t digest_of_kernels(const Capture& capture) {
  const auto& activities = capture.activities;
  std::vector<Nanos> starts, lengths;
  for (std::uint32_t row = 0; row < activities.size(); ++row)
    if (activities.kind[row] == ActivityKind::kernel) {
      starts.push_back(activities.start_ns[row]);
      lengths.push_back(activities.duration_ns[row]);
    }
  if (starts.empty()) return 0;
  return digest_of(lengths, digest_of(starts, 0));
}

/// "marks", "period" or "none": steps of one kind are no steps of another.
std::string_view kind_of(const MeasuredRun& run) {
  return std::string_view(run.step_source).substr(0, run.step_source.find(':'));
}

/// Kernels of a period, where there are such steps.
std::optional<double> period_of(const MeasuredRun& run) {
  constexpr std::string_view kPeriod = "period:";
  const std::string_view text = run.step_source;
  if (!text.starts_with(kPeriod)) return std::nullopt;
  std::int64_t kernels = 0;
  std::from_chars(text.data() + kPeriod.size(), text.data() + text.size(), kernels);
  return static_cast<double>(kernels);
}

std::string why_not_comparable(const MeasuredVersion& before, const MeasuredVersion& after) {
  constexpr double kSamePeriod = 1.5;
  const auto& first = before.front();
  for (const auto* version : {&before, &after})
    for (const auto& run : *version) {
      if (kind_of(run) != kind_of(first))
        return fmt::format(
            "steps of {} (by {}) cannot be compared with those of {} (by {}): mark the steps of "
            "all",
            first.path, kind_of(first), run.path, kind_of(run));
      const auto one = period_of(first), other = period_of(run);
      if (one && other && std::max(*one, *other) > kSamePeriod * std::min(*one, *other))
        return fmt::format("what repeats in {} has {} kernels, in {} {}: mark the steps of all",
                           first.path, *one, run.path, *other);
    }
  return {};
}

bool any_stacks(const MeasuredVersion& version) {
  return std::ranges::any_of(version, &MeasuredRun::stacks);
}

bool all_stacks(const MeasuredVersion& version) {
  return std::ranges::all_of(version, &MeasuredRun::stacks);
}

/// When each capture was recorded; empty where that is not known of all, or two ran together.
std::vector<double> recorded_at(const MeasuredVersion& version, const MeasuredVersion& other) {
  std::vector<double> at;
  for (const auto& run : version) {
    if (!run.started) return {};
    at.push_back(static_cast<double>(*run.started));
  }
  for (const auto* each : {&version, &other})
    for (const auto& run : *each)
      if (!run.started || std::ranges::count(at, static_cast<double>(*run.started)) > 1) return {};
  for (const auto& run : other)
    if (std::ranges::find(at, static_cast<double>(*run.started)) != at.end()) return {};
  return at;
}

MeasuredSide side_of(const MeasuredVersion& version, const MeasuredVersion& other,
                     StepTimes MeasuredRun::* times) {
  MeasuredSide side;
  side.recorded_at = recorded_at(version, other);
  for (const auto& run : version) {
    side.captures.push_back(run.*times);
    if (times != &MeasuredRun::kernel_ns) continue;
    side.missing = std::max(side.missing, run.missing);
    side.extra = std::max(side.extra, run.extra);
  }
  return side;
}

}  // namespace

MeasuredRun measured_steps(const Analysis& analysis) {
  MeasuredRun run;
  run.path = analysis.source.path;
  take_steps(run, analysis.window, judged_steps(analysis.window));
  return run;
}

MeasuredRun measured_run(const Context& context, const Analysis& analysis) {
  MeasuredRun run;
  run.path = analysis.source.path;
  const auto steps = judged_steps(analysis.window);
  take_steps(run, analysis.window, steps);
  const StepOfKernel step_of(context, steps);
  const KernelTimes times = times_of_kernels(context, steps, step_of);
  run.kernel_ns = times.ns;
  run.kernels = median(std::vector<double>(times.count.begin(), times.count.end()));
  take_doubts(run, context, steps, step_of, times);
  const auto& ops = context.capture.host_ops;
  run.stacks =
      std::ranges::any_of(ops.kind, [](HostKind kind) { return kind == HostKind::python; });
  if (!context.capture.noted(QualityCode::no_absolute_time)) run.started = analysis.window.start_ns;
  run.rows = digest_of_kernels(context.capture);
  return run;
}

MeasuredChange measure_change(const MeasuredVersion& before, const MeasuredVersion& after) {
  MeasuredChange change;
  change.step = measure_ratio(side_of(before, after, &MeasuredRun::step_ns),
                              side_of(after, before, &MeasuredRun::step_ns));
  change.kernels = measure_ratio(side_of(before, after, &MeasuredRun::kernel_ns),
                                 side_of(after, before, &MeasuredRun::kernel_ns));
  change.refused = why_not_comparable(before, after);
  for (const auto* version : {&before, &after})
    if (const auto twice = given_twice(*version); !twice.empty()) change.refused = twice;
  for (const auto* version : {&before, &after})
    for (const auto& run : *version)
      if (!run.kernel_ns.empty() &&
          std::ranges::count(run.kernel_ns, 0) == std::ssize(run.kernel_ns))
        change.kernels_refused = run.path +
                                 " contains no kernels: record with `gpufathom record --kernels`, "
                                 "or a profiler";
  if (any_stacks(before) != any_stacks(after) || all_stacks(before) != all_stacks(after))
    change.step_refused =
        "the profiler recorded stacks on one side, which slows the host: record both alike, or "
        "judge the kernels";
  return change;
}

std::string given_twice(const MeasuredVersion& version) {
  std::map<std::uint64_t, std::string_view> known;
  for (const auto& run : version) {
    if (run.rows == 0) continue;
    const auto [at, added] = known.emplace(run.rows, run.path);
    if (!added)
      return at->second == run.path
                 ? fmt::format("{} is given twice: a capture counts once", run.path)
                 : fmt::format("{} and {} hold the same capture, which counts once", at->second,
                               run.path);
  }
  return {};
}

}  // namespace gf
