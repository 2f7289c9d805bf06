#include "analyze/steps/steps.h"

#include <algorithm>
#include <unordered_map>

#include "analyze/sampled/sampled.h"
#include "analyze/steps/engine.h"
#include "analyze/steps/engine_work.h"
#include "core/statistics.h"
#include "model/counter_values.h"

namespace gf {

namespace {

/// Spans in which kernels were recorded, by start; all time, when the capture does not say.
std::vector<Interval> recorded_spans(const Capture& capture, std::int64_t pid) {
  const auto& windows = capture.recording_windows;
  std::vector<Interval> spans;
  for (std::uint32_t row = 0; row < windows.size(); ++row)
    if (pid < 0 || windows.pid[row] == pid) spans.push_back(span_of(windows, row));
  if (windows.empty()) spans.push_back({INT64_MIN, INT64_MAX});
  std::sort(spans.begin(), spans.end(),
            [](const Interval& left, const Interval& right) { return left.start < right.start; });
  return spans;
}

/// Steps that the source itself numbered (a recorder, a device's step line): each lasts until the
/// next one starts. Those that were not recorded whole are left out.
std::vector<StepInfo> recorded_steps(const Capture& capture, const Interval& span) {
  const auto& table = capture.steps;
  std::vector<std::uint32_t> order;
  for (std::uint32_t row = 0; row < table.size(); ++row)
    if (table.start_ns[row] >= span.start &&
        table.start_ns[row] + table.duration_ns[row] <= span.end)
      order.push_back(row);
  std::stable_sort(order.begin(), order.end(), [&](auto left, auto right) {
    return table.start_ns[left] < table.start_ns[right];
  });
  std::vector<StepInfo> steps;
  for (auto row : order) {
    if (!steps.empty() && table.start_ns[row] == steps.back().start_ns) continue;
    if (!steps.empty()) steps.back().duration_ns = table.start_ns[row] - steps.back().start_ns;
    steps.push_back({table.index[row], table.start_ns[row], table.duration_ns[row], false});
  }
  return steps;
}

/// The marks of a recorded program (gpufathom.step) that lie whole inside a span, as steps of the
/// device.
std::vector<StepInfo> marked_steps(const Capture& capture, const std::vector<std::uint32_t>& launch,
                                   const StepMarks& all, const Interval& span) {
  StepMarks inside{all.family, all.pid, all.thread, {}, all.engines};
  for (const auto& mark : all.marks)
    if (mark.start >= span.start && mark.end <= span.end) inside.marks.push_back(mark);
  return steps_on_device(capture, launch, inside);
}

/// The steps of a source that numbered marks on its host (a profile of JAX or TensorFlow): the
/// device runs them later, and the last one long after its mark where the host runs ahead.
std::vector<StepInfo> numbered_steps(const Capture& capture,
                                     const std::vector<std::uint32_t>& launch) {
  StepMarks marks{std::string(capture.text(capture.steps.name[0])), -1, kNoRow, {}};
  for (const auto& step : recorded_steps(capture, kAllTime))
    marks.marks.push_back({step.index, step.start_ns, step.start_ns + step.duration_ns});
  return steps_on_device(capture, launch, marks);
}

/// Steps of a recording, window by window: what lies between two windows is no step.
std::vector<StepInfo> steps_of_source(const Capture& capture,
                                      const std::vector<std::uint32_t>& launch) {
  std::vector<StepInfo> steps;
  auto append = [&](std::vector<StepInfo> more) {
    for (auto& step : more)
      if (steps.empty() || step.start_ns >= steps.back().start_ns + steps.back().duration_ns)
        steps.push_back(step);
  };
  if (!capture.recording_windows.empty())
    if (const StepMarks marks = find_marks(capture); !marks.marks.empty())
      for (const auto& span : recorded_spans(capture, marks.pid))
        append(marked_steps(capture, launch, marks, span));
  if (capture.recording_windows.empty()) append(numbered_steps(capture, launch));
  if (steps.empty())  // without launch calls the host's own times are the best there is
    for (const auto& span : recorded_spans(capture, -1)) append(recorded_steps(capture, span));
  return steps;
}

/// True if the kernels repeat after far less time than the samples of hardware counters repeat
/// after: a loop inside a step (the cells of a recurrent network), or kernels that are all alike.
bool inside_sampled_period(const Capture& capture, const Steps& found) {
  constexpr double kOneKernel = 0.5, kLoop = 0.01;  // shares of the samples' period
  if (found.steps.empty()) return false;
  std::vector<double> durations;
  for (const auto& step : found.steps) durations.push_back(static_cast<double>(step.duration_ns));
  const double step = median(std::move(durations));
  const bool one_kernel = found.source == "period:1 kernels";
  const auto sampled = samples_over_time(capture, kAllTime);
  return std::any_of(
      sampled.devices.begin(), sampled.devices.end(), [&](const SampledDevice& device) {
        return device.step_ns && step < *device.step_ns * (one_kernel ? kOneKernel : kLoop);
      });
}

/// The work that an engine's marks say of their steps; none where marks are others.
std::vector<EngineWork> work_of_marks(const StepMarks& marks, const std::vector<StepInfo>& steps) {
  std::unordered_map<std::int64_t, EngineWork> said;
  for (const auto& mark : marks.marks)
    if (mark.work)
      said.try_emplace(mark.number, *mark.work).first->second.host = {mark.start, mark.end};
  if (said.empty()) return {};
  std::vector<EngineWork> work;
  for (const auto& step : steps) work.push_back(said[step.index]);
  return work;
}

}  // namespace

Steps find_steps(const Capture& capture, const std::vector<std::uint32_t>& launch,
                 const HostThreads& host, const Names& names) {
  Steps found;
  if (!capture.steps.empty()) {
    const auto name = capture.text(capture.steps.name[0]);
    found.steps = steps_of_source(capture, launch);
    found.source =
        "marks:" + (name.empty() ? std::string("steps of the source") : std::string(name));
  } else if (const StepMarks marks = find_marks(capture); !marks.marks.empty()) {
    found.steps = steps_on_device(capture, launch, marks);
    found.source = "marks:" + marks.family;
    found.work = work_of_marks(marks, found.steps);
    found.engines = marks.engines;
    found.thread = marks.thread;
  }
  if (found.steps.empty() || !found.work.empty()) {
    const TokenChoices choices = find_token_choices(capture, names);
    if (!found.work.empty()) {
      find_graphs(capture, launch, found);
      if (found.engines == 1) add_learned_work(capture, launch, names, choices, found);
    } else if (found = find_engine_steps(capture, launch, names, choices); found.steps.empty()) {
      found = find_period(capture, launch, host, names);
      if (inside_sampled_period(capture, found) ||
          contradicts_choices(capture, choices, found.steps))
        found = {};
    }
  }
  if (const auto stable = first_stable(found.steps))
    for (std::size_t i = *stable; i < found.steps.size(); ++i) found.steps[i].stable = true;
  name_far_off(found.steps);
  // Among the steps of an engine a long prompt is no outlier.
  if (!found.work.empty())
    for (auto& step : found.steps)
      if (step.role == StepRole::outlier) step.role = StepRole::ordinary;
  return found;
}

}  // namespace gf
