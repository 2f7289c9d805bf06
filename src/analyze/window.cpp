#include "analyze/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/intervals.h"
#include "model/counter_values.h"
#include "model/formats.h"
#include "model/quality.h"
#include "model/vendor.h"

namespace gf {

Interval extent(const Capture& capture, const ChosenDevices& devices) {
  Interval all{INT64_MAX, INT64_MIN};
  const auto& activities = capture.activities;
  if (activities.empty())
    for (std::size_t i = 0; i < capture.host_ops.size(); ++i) {
      all.start = std::min(all.start, capture.host_ops.start_ns[i]);
      all.end = std::max(all.end, capture.host_ops.start_ns[i] + capture.host_ops.duration_ns[i]);
    }
  for (std::size_t i = 0; i < activities.size(); ++i) {
    if (!devices.has(activities.device[i])) continue;
    all.start = std::min(all.start, activities.start_ns[i]);
    all.end = std::max(all.end, activities.start_ns[i] + activities.duration_ns[i]);
  }
  return all;
}

namespace {

constexpr const char* kForms = "auto, all, steps, stable, step:N or START:END, such as 1.5ms:20ms";

}  // namespace

std::optional<Nanos> parse_span_time(std::string_view text) {
  int exponent = 0;
  for (auto [unit, power] :
       {std::pair<std::string_view, int>{"ns", 0}, {"us", 3}, {"µs", 3}, {"ms", 6}, {"s", 9}})
    if (text.ends_with(unit)) {
      text.remove_suffix(unit.size());
      exponent = power;
      break;
    }
  return parse_decimal(text, exponent);
}

namespace {

std::string known_steps(const Steps& steps) {
  if (steps.steps.empty())
    return "the capture has no step marks and its kernels show no period; use --window all or "
           "START:END";
  constexpr std::size_t kShown = 12;
  std::string text = "steps:";
  for (std::size_t i = 0; i < std::min(kShown, steps.steps.size()); ++i)
    text += fmt::format(" {}", steps.steps[i].index);
  if (steps.steps.size() > kShown) text += fmt::format(" … {}", steps.steps.back().index);
  return text + " (" + steps.source + ")";
}

/// A TensorFlow or JAX profile of a run on the CPU: whole without a device, unlike a trace whose
/// GPU side was left off.
bool ran_on_the_host(const Capture& capture) {
  return capture.activities.empty() && !capture.host_ops.empty() &&
         (capture.framework == "tensorflow" || capture.framework == "jax");
}

constexpr Nanos kLeastCommon = 3;  // of the longest window, a part as large as 1 / this

Nanos longest_of(const Intervals& spans) {
  Nanos longest = 0;
  for (const Interval& span : spans) longest = std::max(longest, span.length());
  return longest;
}

/// When every process that ran work on a device was recorded: elsewhere a device may have been busy
/// unseen. Where the processes' windows hardly meet (one came and went), the windows themselves, by
/// their start.
Intervals recorded_stretches(const Capture& capture) {
  const auto& windows = capture.recording_windows;
  std::map<std::int64_t, Intervals> of_process;  // a launcher, say, has windows and no work
  for (const auto pid : capture.activities.pid) of_process[pid];
  Intervals all;
  for (std::size_t row = 0; row < windows.size(); ++row) {
    const auto process = of_process.find(windows.pid[row]);
    if (process == of_process.end()) continue;
    all.push_back(span_of(windows, row));
    process->second.push_back(all.back());
  }
  std::sort(all.begin(), all.end(),
            [](const Interval& left, const Interval& right) { return left.start < right.start; });
  Intervals common = normalised(all);
  for (auto& [pid, own] : of_process) common = intersect(common, normalised(std::move(own)));
  return longest_of(common) * kLeastCommon >= longest_of(all) ? common : all;
}

}  // namespace

bool recorded_throughout(const Capture& capture, Interval span) {
  if (capture.recording_windows.size() <= 1) return true;
  const Intervals stretches = recorded_stretches(capture);
  return stretches.size() == 1 && holds(stretches, span);
}

namespace {

// A window with less work than the fullest one's divided by this caught the program while it
// loaded or ended.
constexpr Nanos kLeastWork = 10;

/// The longest stretch of device activity inside one recording window in which the GPU worked.
Interval longest_recording_window(const Capture& capture, const ChosenDevices& devices) {
  const auto& activities = capture.activities;
  const Intervals windows = recorded_stretches(capture);
  Intervals used(windows.size(), {INT64_MAX, INT64_MIN});
  std::vector<Nanos> work(windows.size(), 0);
  for (std::size_t row = 0; row < activities.size(); ++row) {
    if (!devices.has(activities.device[row])) continue;
    const Nanos start = activities.start_ns[row], end = start + activities.duration_ns[row];
    const Interval* recorded = member_at(windows, start);
    if (!recorded) continue;
    const auto window = static_cast<std::size_t>(recorded - windows.data());
    auto& span = used[window];
    span = {std::min(span.start, start), std::max(span.end, std::min(end, recorded->end))};
    work[window] += activities.duration_ns[row];
  }
  Nanos most_work = 0;
  for (const Nanos worked : work) most_work = std::max(most_work, worked);
  Interval longest{0, 0};
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i].end > used[i].start && work[i] >= most_work / kLeastWork &&
        used[i].length() > longest.length())
      longest = used[i];
  return longest.length() > 0 ? longest : extent(capture, devices);
}

Interval span_of_step(const StepInfo& step) {
  return {step.start_ns, step.start_ns + step.duration_ns};
}

/// The meaning of "auto": steps where there are any, else a loop of equal kernels, else all. Of a
/// recording in several windows the longest one, since nothing is known of the time between; of
/// several devices one span for all, so that they share a denominator.
std::string_view default_window(const Capture& capture, const Steps& steps,
                                const ChosenDevices& devices) {
  if (!steps.steps.empty())
    return recorded_throughout(capture,
                               {steps.steps.front().start_ns, span_of_step(steps.steps.back()).end})
               ? "steps"
               : "all";
  if (steps.loop && recorded_throughout(capture, *steps.loop)) {
    constexpr Nanos kNearlyAll = 20;  // a twentieth that is left out changes no answer
    const Nanos whole = extent(capture, devices).length();
    if (whole - steps.loop->length() > whole / kNearlyAll) return "stable";
  }
  if (capture.recording_windows.size() > 1) return "all";
  std::uint32_t first = kNoRow;
  for (const auto device : capture.activities.device) {
    if (!devices.has(device)) continue;
    if (first == kNoRow) first = device;
    if (device != first) return ":";
  }
  return "all";
}

}  // namespace

Result<Interval> parse_span(const std::string& path, std::string_view wanted, Interval all,
                            Interval recorded) {
  const auto colon = wanted.find(':');
  const auto left = wanted.substr(0, colon), right = wanted.substr(colon + 1);
  std::optional<Nanos> start = 0, end = all.length();
  if (!left.empty()) start = parse_span_time(left);
  if (!right.empty()) end = parse_span_time(right);
  if (!start || !end)
    return fail(fmt::format("--window {}: not a span of time", wanted), path, -1,
                fmt::format("use {}", kForms));
  // Beyond the capture when counted from its first activity, inside it on its own clock: meant on
  // its own clock.
  const auto is_absolute = [&](Nanos time) {
    return time >= all.length() && time >= recorded.start && time <= recorded.end;
  };
  auto from = start, to = end;
  if (!is_absolute(left.empty() ? *end : *start)) {
    from = checked_add(all.start, *start);
    to = checked_add(all.start, *end);
  }
  if (left.empty()) from = all.start;
  if (right.empty()) to = all.end;
  if (from && to && (*to <= all.start || *from >= all.end))
    return fail(
        fmt::format("--window {}: no device activity in it", wanted), path, -1,
        fmt::format("the device was traced for {} ns after its first activity", all.length()));
  if (!from || !to || *from >= *to)
    return fail(fmt::format("--window {}: the span is empty", wanted), path, -1,
                "START must come before END");
  return Interval{std::max(*from, recorded.start), std::min(*to, recorded.end)};
}

namespace {

/// Says how to make a capture with GPU work, with the tool that made this one without.
std::string how_to_record(const Capture& capture) {
  const auto format = format_facts(capture.format);
  if (!format.how_to_record.empty()) return std::string(format.how_to_record);
  if (!format.made_by.empty() && format.id != "kineto")
    return fmt::format("such a file is made by: {}", format.made_by);
  const auto activity = terms_of(vendor_of(capture)).activity;
  return fmt::format(
      "record with the GPU side on, for PyTorch torch.profiler.profile(activities="
      "[ProfilerActivity.CPU, {}])",
      activity.empty() ? "that of the device" : activity);
}

/// Reports what the profiler or the capture itself says about the absence of GPU work.
Status why_nothing_ran(const Capture& capture) {
  for (std::size_t note = 0; note < capture.quality.size(); ++note)
    if (capture.text(capture.quality.code[note]) == name_of(QualityCode::profiler_message))
      return fail(
          fmt::format("no GPU activity, and {}", capture.text(capture.quality.detail[note])),
          capture.path, -1,
          "mend that first, with another release of the profiler where it is the driver, and "
          "record again");
  const bool sampled = counter_value_count(capture) > 0;
  return fail(sampled ? "holds samples alone, no kernels or copies"
                      : "no GPU activity: there is nothing to analyze",
              capture.path, -1, how_to_record(capture));
}

Status check_for_work(const Capture& capture) {
  if (capture.activities.empty() && !capture.report_kernels.empty())
    return fail(
        "a counter report alone has no timeline to analyze", capture.path, -1,
        "give a trace of the same program, and the report with --counters; of the report alone: "
        "gpufathom analyze " +
            capture.path);
  if (capture.activities.empty() && !ran_on_the_host(capture)) return why_nothing_ran(capture);
  return {};
}

/// The most steps in a row of which none is left out.
Result<Interval> steps_span(const Capture& capture, const Steps& steps) {
  if (steps.steps.empty())
    return fail("--window steps: there are none", capture.path, -1, known_steps(steps));
  const std::span<const StepInfo> all = steps.steps;
  std::span<const StepInfo> most;
  for (std::size_t i = 0, begin = 0; i < all.size(); ++i) {
    if (all[i].role != StepRole::ordinary)
      begin = i + 1;
    else if (i + 1 - begin > most.size())
      most = all.subspan(begin, i + 1 - begin);
  }
  if (most.empty()) most = all;
  return Interval{most.front().start_ns, span_of_step(most.back()).end};
}

Result<Interval> stable_steps_span(const Capture& capture, const Steps& steps) {
  if (steps.loop) return *steps.loop;
  const auto first = std::find_if(steps.steps.begin(), steps.steps.end(),
                                  [](const StepInfo& step) { return step.stable; });
  if (first == steps.steps.end())
    return fail("--window stable: no three consecutive steps are alike", capture.path, -1,
                "choose --window step:N; " + known_steps(steps));
  return Interval{first->start_ns, span_of_step(steps.steps.back()).end};
}

Result<Interval> one_step_span(const Capture& capture, const Steps& steps,
                               std::string_view wanted) {
  const auto number = parse_decimal(wanted.substr(wanted.find(':') + 1), 0);
  const auto step =
      std::find_if(steps.steps.begin(), steps.steps.end(),
                   [&](const StepInfo& other) { return number && other.index == *number; });
  if (step == steps.steps.end())
    return fail(fmt::format("--window {}: there is no such step", wanted), capture.path, -1,
                known_steps(steps));
  return span_of_step(*step);
}

/// From the first to the last thing that the capture holds: beyond it nothing is known of any time.
Interval recorded_extent(const Capture& capture, Interval activities) {
  const auto widen = [&](const auto& table) {
    for (std::size_t row = 0; row < table.size(); ++row) {
      const Interval span = span_of(table, row);
      activities = {std::min(activities.start, span.start), std::max(activities.end, span.end)};
    }
  };
  widen(capture.activities);
  widen(capture.host_ops);
  widen(capture.api_calls);
  widen(capture.steps);
  widen(capture.recording_windows);
  return activities;
}

/// Ends that nobody named are those of the device's activities. The first step begins with its
/// mark before that, and the last may end after it: they are in the capture all the same.
struct Open {
  bool start = false, end = false;
};

/// The kind and the span that `wanted` names.
struct ChosenSpan {
  WindowKind kind;
  Result<Interval> span;
  Open open = {};
};
ChosenSpan chosen_span(const Capture& capture, std::string_view wanted, const Steps& steps,
                       const ChosenDevices& devices) {
  if (wanted == "all" && capture.recording_windows.size() > 1)
    return {WindowKind::recording_window, longest_recording_window(capture, devices)};
  if (wanted == "all") return {WindowKind::all, extent(capture, devices), {true, true}};
  if (wanted == "steps") return {WindowKind::steps, steps_span(capture, steps)};
  if (wanted == "stable") return {WindowKind::stable, stable_steps_span(capture, steps)};
  if (wanted.starts_with("step:")) return {WindowKind::step, one_step_span(capture, steps, wanted)};
  if (wanted.find(':') != std::string_view::npos) {
    const Interval all = extent(capture, devices);
    return {
        WindowKind::range,
        parse_span(capture.path, wanted, all, wanted == ":" ? all : recorded_extent(capture, all)),
        {wanted.starts_with(':'), wanted.ends_with(':')}};
  }
  return {WindowKind::all, fail(fmt::format("--window {}: not recognized", wanted), capture.path,
                                -1, fmt::format("use {}", kForms))};
}

}  // namespace

namespace {

WindowInfo window_of(WindowKind kind, Interval span, const Steps& steps, Open open) {
  WindowInfo window;
  window.kind = kind;
  window.step_source = steps.source;
  window.step_confidence = steps.confidence;
  window.step_sign = steps.sign;
  window.blocks = steps.blocks;
  window.all_steps = steps.steps;
  window.start_ns = span.start;
  window.end_ns = span.end;
  window.duration_ns = span.length();
  for (const auto& step : steps.steps)
    if ((open.start || step.start_ns >= span.start) &&
        (open.end || span_of_step(step).end <= span.end))
      window.steps.push_back(step);
  return window;
}

}  // namespace

Result<WindowInfo> choose_window(const Capture& capture, std::string_view wanted,
                                 const Steps& steps, const ChosenDevices& devices) {
  if (const Status works = check_for_work(capture); !works) return tl::unexpected(works.error());
  const bool chosen = wanted != "auto";
  if (!chosen) wanted = default_window(capture, steps, devices);
  auto [kind, span, open] = chosen_span(capture, wanted, steps, devices);
  if (!chosen && kind == WindowKind::range) kind = WindowKind::common;
  if (!span) return tl::unexpected(span.error());
  return window_of(kind, *span, steps, open);
}

Result<WindowInfo> choose_window(const Capture& capture, Interval span, const Steps& steps) {
  if (const Status works = check_for_work(capture); !works) return tl::unexpected(works.error());
  return window_of(WindowKind::common, span, steps, {});
}

}  // namespace gf
