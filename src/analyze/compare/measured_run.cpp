#include "analyze/compare/measured_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "analyze/sampled/sampled.h"
#include "analyze/steps/steps.h"
#include "core/files.h"
#include "core/statistics.h"
#include "core/xxh64.h"
#include "model/ledger/kernel_doubt.h"
#include "model/quality.h"

namespace gf {

namespace {

/// The step source of a recording of samples in which nothing repeats.
constexpr const char* kRecording = "recording";

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

void take_steps(MeasuredRun& run, const Analysis& analysis, const std::vector<StepInfo>& steps) {
  const WindowInfo& window = analysis.window;
  run.path = analysis.source.path;
  if (!analysis.devices.empty()) run.device = analysis.devices[0].name;
  run.step_source = window.step_source;
  const double longer = between_steps(window);
  for (const auto& step : steps)
    run.step_ns.push_back(longer * static_cast<double>(step.duration_ns));
  if (!steps.empty()) return;
  const auto period = sampled_step(analysis);
  if (only_samples(analysis)) run.step_source = period ? "samples" : kRecording;
  run.step_ns.push_back(period.value_or(static_cast<double>(window.duration_ns)));
}

/// Assigns a kernel to a step: the one in which it was launched, where there are marks
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
  double all = 0;
};

KernelTimes times_of_kernels(const Context& context, const std::vector<StepInfo>& steps,
                             const StepOfKernel& step_of) {
  KernelTimes times;
  times.ns.assign(std::max<std::size_t>(1, steps.size()), 0);
  times.count.assign(times.ns.size(), 0);
  const auto& activities = context.capture.activities;
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
  }
  return times;
}

/// Kernel time that the ledger calls missing, or too much: no more than all
/// steps took, where nothing is known of what was lost. Records that were only counted are taken to
/// be as long as those that are there.
void take_doubts(MeasuredRun& run, const Capture& capture, const KernelTimes& times) {
  constexpr double kMost = 0.5;
  if (times.all <= 0) return;
  const KernelDoubt doubt = kernel_doubt(capture);
  const double whole = std::accumulate(run.step_ns.begin(), run.step_ns.end(), 0.0);
  const auto kernels = std::accumulate(times.count.begin(), times.count.end(), std::int64_t{0});
  run.missing = std::min(doubt.missing, whole) / times.all +
                static_cast<double>(doubt.records) / static_cast<double>(kernels);
  run.extra = std::min((doubt.repeated + doubt.overlap) / times.all, kMost);
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
  constexpr double kSamePeriod = 1.5, kSameWindow = 1.5;
  const auto& first = before.front();
  if (const auto &rank = first.rank, &other = after.front().rank; rank && other && rank != other)
    return fmt::format(
        "{} is rank {} of its job and {} rank {}, and ranks wait for each other: compare the same "
        "rank of both",
        file_name(first.path), *rank, file_name(after.front().path), *other);
  for (const auto* version : {&before, &after})
    for (const auto& run : *version) {
      if (kind_of(run) != kind_of(first))
        return fmt::format(
            "steps of {} (by {}) cannot be compared with those of {} (by {}): mark the steps of "
            "all",
            file_name(first.path), kind_of(first), file_name(run.path), kind_of(run));
      const auto one = period_of(first), other = period_of(run);
      if (one && other && std::max(*one, *other) > kSamePeriod * std::min(*one, *other))
        return fmt::format("what repeats in {} has {} kernels, in {} {}: mark the steps of all",
                           file_name(first.path), *one, file_name(run.path), *other);
      const double fewer = std::min(first.kernels, run.kernels);
      if (kind_of(run) == kRecording)
        return fmt::format(
            "{} has neither kernels nor steps, so that nobody knows how much work it holds: mark "
            "the steps",
            file_name(run.path));
      if (kind_of(run) == "none" && fewer > 0 &&
          std::max(first.kernels, run.kernels) > kSameWindow * fewer)
        return fmt::format(
            "without steps the windows are compared, and that of {} has {} kernels, that of {} {}: "
            "mark the steps of all",
            file_name(first.path), first.kernels, file_name(run.path), run.kernels);
    }
  return {};
}

bool any_stacks(const MeasuredVersion& version) {
  return std::ranges::any_of(version, [](const MeasuredRun& run) { return run.profiler.stacks; });
}

bool all_stacks(const MeasuredVersion& version) {
  return std::ranges::all_of(version, [](const MeasuredRun& run) { return run.profiler.stacks; });
}

/// Two captures of one version that are the same one, or of two ranks, which run together; empty:
/// there are none.
std::string counted_twice(const MeasuredVersion& version) {
  std::map<std::uint64_t, std::string_view> known;
  for (const auto& run : version) {
    if (run.rank != version.front().rank)
      return fmt::format(
          "{} and {} are of different ranks, which wait for each other: give one rank "
          "of each job",
          version.front().path, run.path);
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

}  // namespace

std::optional<double> sampled_step(const Analysis& analysis) {
  constexpr double kClear = 0.6;  // correlation from which a period is taken for a step
  if (!only_samples(analysis) || analysis.samples.devices.size() != 1) return std::nullopt;
  const auto& device = analysis.samples.devices.front();
  if (!device.step_ns || device.step_confidence.value_or(0) < kClear) return std::nullopt;
  return *device.step_ns;
}

MeasuredRun measured_steps(const Analysis& analysis) {
  MeasuredRun run;
  take_steps(run, analysis, judged_steps(analysis.window));
  return run;
}

MeasuredRun measured_run(const Context& context, const Analysis& analysis, RoleSteps roles) {
  MeasuredRun run;
  const auto steps = judged_steps(analysis.window);
  take_steps(run, analysis, steps);
  const StepOfKernel step_of(context, steps);
  const KernelTimes times = times_of_kernels(context, steps, step_of);
  run.kernel_ns = times.ns;
  run.roles = std::move(roles);
  run.kernels = median(std::vector<double>(times.count.begin(), times.count.end()));
  take_doubts(run, context.capture, times);
  run.profiler = profiler_facts(context.capture);
  run.rank = rank_of(context.capture);
  if (!context.capture.noted(QualityCode::no_absolute_time)) run.started = analysis.window.start_ns;
  run.rows = digest_of_kernels(context.capture);
  return run;
}

MeasuredSide side_of(const MeasuredVersion& version, const MeasuredVersion& other,
                     const std::function<StepTimes(const MeasuredRun&)>& times, bool of_kernels) {
  MeasuredSide side;
  side.recorded_at = recorded_at(version, other);
  for (const auto& run : version) {
    side.captures.push_back(times(run));
    if (!of_kernels) continue;
    side.missing = std::max(side.missing, run.missing);
    side.extra = std::max(side.extra, run.extra);
  }
  return side;
}

MeasuredChange measure_change(const MeasuredVersion& before, const MeasuredVersion& after) {
  MeasuredChange change;
  change.step = measure_ratio(side_of(before, after, &MeasuredRun::step_ns, false),
                              side_of(after, before, &MeasuredRun::step_ns, false));
  change.kernels = measure_ratio(side_of(before, after, &MeasuredRun::kernel_ns, true),
                                 side_of(after, before, &MeasuredRun::kernel_ns, true));
  change.refused = why_not_comparable(before, after);
  for (const auto* version : {&before, &after})
    if (const auto twice = counted_twice(*version); !twice.empty()) change.refused = twice;
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

}  // namespace gf
