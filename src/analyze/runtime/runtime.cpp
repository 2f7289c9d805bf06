#include "analyze/runtime/runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "analyze/runtime/queues.h"
#include "analyze/runtime/shares.h"
#include "analyze/utilization/instances.h"

namespace gf {

namespace {

/// The times of these operations, by phase.
OperationType spread(std::string_view type, const RuntimeTrace& trace,
                     std::span<const std::uint32_t> operations) {
  auto each = [&](auto&& apply) {
    for (const auto operation : operations)
      for (std::size_t piece = trace.operations[operation].first,
                       end = piece + trace.operations[operation].count;
           piece < end; ++piece)
        apply(index_of(trace.phase_of_time[piece]), trace.time_ns[piece]);
  };
  std::array<std::size_t, kRuntimePhases> count{};
  PhaseTimes total{};
  each([&](std::size_t position, Nanos ns) {
    ++count[position];
    total[position] += ns;
  });
  std::array<std::vector<double>, kRuntimePhases> values;
  for (std::size_t phase = 0; phase < kRuntimePhases; ++phase) values[phase].reserve(count[phase]);
  each(
      [&](std::size_t position, Nanos ns) { values[position].push_back(static_cast<double>(ns)); });
  OperationType row;
  row.type = type;
  row.count = static_cast<std::int64_t>(operations.size());
  for (std::size_t phase = 0; phase < kRuntimePhases; ++phase) {
    if (values[phase].empty()) continue;
    row.phases.push_back(
        {static_cast<RuntimePhase>(phase), total[phase], distribution(std::move(values[phase]))});
    row.total_ns += total[phase];
  }
  return row;
}

}  // namespace

std::vector<OperationType> spread_operations(const RuntimeTrace& trace, Interval window,
                                             std::size_t max_rows) {
  std::vector<std::uint32_t> all;
  all.reserve(trace.operations.size());
  for (std::uint32_t i = 0; i < trace.operations.size(); ++i) {
    const auto& operation = trace.operations[i];
    if (!operation.runs_for_another && operation.start_ns >= window.start &&
        operation.start_ns < window.end)
      all.push_back(i);
  }
  std::vector<OperationType> rows;
  if (all.empty()) return rows;
  std::vector<std::uint32_t> type(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) type[i] = trace.operations[all[i]].type;
  const Groups by_type(type, trace.types.size());
  std::vector<std::uint32_t> members;
  for (std::size_t index = 0; index < by_type.size(); ++index) {
    members.clear();
    for (const auto member : by_type.members(index)) members.push_back(all[member]);
    if (!members.empty()) rows.push_back(spread(trace.types[index], trace, members));
  }
  std::sort(rows.begin(), rows.end(), [](const auto& left, const auto& right) {
    if (left.total_ns != right.total_ns) return left.total_ns > right.total_ns;
    return left.type < right.type;
  });
  if (max_rows && rows.size() > max_rows) rows.resize(max_rows);
  rows.insert(rows.begin(), spread("*", trace, all));
  return rows;
}

namespace {

constexpr std::size_t kMarks = 20;

/// The asked window. Where nothing was asked for and there are no steps, the devices' window, so
/// that every section has one denominator. For "all", from the first to the last thing that has a
/// phase (a device's activities or a host event that a rule knows): what the program did before and
/// after is not the runtime's.
Interval runtime_window(const Context& context, const RuntimeTrace& trace) {
  if (context.window.kind != WindowKind::all)
    return {context.window.start_ns, context.window.end_ns};
  Interval devices{INT64_MAX, INT64_MIN};
  for (const auto& device : context.devices)
    if (!device.rows.empty())
      devices = {std::min(devices.start, device.window.start),
                 std::max(devices.end, device.window.end)};
  const bool one_for_all = context.options.window == "auto" && devices.start < devices.end;
  Interval window = devices;
  if (!one_for_all)
    window = Interval{std::min(devices.start, trace.extent.start),
                      std::max(devices.end, trace.extent.end)};
  if (window.start < window.end) return window;
  return Interval{};
}

std::vector<std::string> modes_of(const Context& context, const RuntimeTrace& trace,
                                  const RuleLookup& rules) {
  std::set<std::string> modes;
  if (trace.inline_operations > 0) modes.insert("eager_sync");
  if (!trace.framework_queue.empty()) modes.insert("eager_async");
  for (std::size_t index = 0; index < rules.size(); ++index) {
    if (trace.rule_events[index] == 0) continue;
    const auto& rule = rules.rule(static_cast<std::uint16_t>(index));
    if (!rule.mode.empty()) modes.emplace(rule.mode);
  }
  for (std::size_t i = 0; i < context.capture.api_calls.size(); ++i)
    if (context.capture.api_calls.kind[i] == ApiKind::graph_launch) {
      modes.insert("cuda_graphs");
      break;
    }
  return {modes.begin(), modes.end()};
}

/// Rows of those that begin in the window, longest first, the earlier of equal ones; no more than
/// are shown.
template <class SpanOf>
std::vector<std::uint32_t> longest(std::size_t rows, Interval window, SpanOf&& span_of) {
  std::vector<std::uint32_t> inside;
  for (std::uint32_t i = 0; i < rows; ++i)
    if (const Interval span = span_of(i); span.start >= window.start && span.start < window.end)
      inside.push_back(i);
  const auto shown = inside.begin() + static_cast<std::ptrdiff_t>(std::min(inside.size(), kMarks));
  std::partial_sort(inside.begin(), shown, inside.end(), [&](auto left, auto right) {
    const Nanos value = span_of(left).length(), other = span_of(right).length();
    return value != other ? value > other : left < right;
  });
  inside.erase(shown, inside.end());
  return inside;
}

std::vector<RuntimeMark> longest_waits(const Context& context, const RuntimeTrace& trace,
                                       Interval window) {
  std::vector<RuntimeMark> marks;
  for (const auto row : longest(trace.waits.size(), window,
                                [&](std::uint32_t width) { return trace.waits[width].span; })) {
    const auto& wait = trace.waits[row];
    const auto event = context.capture.text(wait.event),
               operation = wait.operation == kNoRow
                               ? std::string_view()
                               : trace.types[trace.operations[wait.operation].type];
    marks.push_back({"wait",
                     operation.empty() || operation == event
                         ? std::string(event)
                         : fmt::format("{}: {}", operation, event),
                     wait.span.start, wait.span.length(), -1});
  }
  return marks;
}

std::vector<RuntimeMark> longest_transfers(const Context& context, Interval window) {
  const auto& activities = context.capture.activities;
  std::vector<std::uint32_t> copies;
  for (std::uint32_t i = 0; i < activities.size(); ++i)
    if (activities.kind[i] == ActivityKind::memcpy) copies.push_back(i);
  std::vector<RuntimeMark> marks;
  for (const auto copy : longest(copies.size(), window, [&](std::uint32_t column) {
         return Interval{
             activities.start_ns[copies[column]],
             activities.start_ns[copies[column]] + activities.duration_ns[copies[column]]};
       })) {
    const auto row = copies[copy];
    marks.push_back({std::string(name_of(activities.copy[row])),
                     std::string(context.capture.text(activities.name[row])),
                     activities.start_ns[row], activities.duration_ns[row], activities.bytes[row]});
  }
  return marks;
}

std::string pattern_of(const PhaseRule& rule) {
  const std::string text(rule.text);
  switch (rule.match) {
    case Match::exact:
      return text;
    case Match::prefix:
      return fmt::format("{}*", text);
    case Match::suffix:
      return fmt::format("*{}", text);
    case Match::contains:
      return fmt::format("*{}*", text);
    case Match::typed:
      return "NODE:TYPE";
    case Match::compiled:
      return "HLO OPERATION";
  }
  return text;
}

}  // namespace

RuntimeInfo analyze_runtime(const Context& context, const RuleLookup& rules,
                            const RuntimeTrace& trace, const std::vector<Queue>& queues) {
  RuntimeInfo runtime_info;
  const Interval window = runtime_window(context, trace);
  if (window.length() <= 0 || (trace.extent.start > trace.extent.end && context.devices.empty()))
    return runtime_info;
  runtime_info.start_ns = window.start;
  runtime_info.duration_ns = window.length();
  runtime_info.modes = modes_of(context, trace, rules);
  std::int64_t steps = 0;
  for (const auto& step : context.window.all_steps)
    steps += step.start_ns + step.duration_ns > window.start && step.start_ns < window.end;
  std::int64_t items = 0;
  if (context.options.batch > 0 && steps > 0 &&
      !__builtin_mul_overflow(context.options.batch, steps, &items))
    runtime_info.items = items;
  else
    items = 0;

  const PhaseTimeline phases = lay_out_phases(context, trace, window);
  const PhaseSums sums = sum_phases(phases, {window});
  runtime_info.phases = phase_times(sums, items);
  runtime_info.kernels = kernel_shares(sums, items);
  runtime_info.operations = spread_operations(trace, window, context.options.max_rows);
  if (runtime_info.operations.empty()) {
    runtime_info.operation_count = 0;
  } else {
    runtime_info.operation_count = runtime_info.operations.front().count;
  }
  QueueDescription description(context, phases);
  for (const auto& queue : queues) runtime_info.queues.push_back(description.of(queue));
  runtime_info.waits = longest_waits(context, trace, window);
  runtime_info.transfers = longest_transfers(context, window);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const auto& rule = rules.rule(static_cast<std::uint16_t>(i));
    if (trace.rule_events[i] > 0)
      runtime_info.rules.push_back(
          {rule.phase, pattern_of(rule), std::string(rule.source), trace.rule_events[i]});
  }
  return runtime_info;
}

}  // namespace gf
