#include "analyze/runtime/runtime.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "analyze/runtime/idle_origins.h"
#include "analyze/runtime/operations.h"
#include "analyze/runtime/queues.h"
#include "analyze/runtime/shares.h"

namespace gf {

namespace {

constexpr std::size_t kMarks = 20;
constexpr std::size_t kOrigins = 40;

/// The asked window; for the whole capture, from the first to the last thing that has a phase (a device's activities or a
/// host event that a rule knows): what the program did before and after is not the runtime's.
Interval runtime_window(const Context& context, const RuntimeTrace& trace) {
  if (context.window.kind != "all") return {context.window.start_ns, context.window.end_ns};
  Interval w{INT64_MAX, INT64_MIN};
  auto include = [&](Interval i) { w = {std::min(w.start, i.start), std::max(w.end, i.end)}; };
  for (const auto& s : trace.segments) include(s.span);
  for (const auto& d : context.devices)
    if (!d.rows.empty()) include(d.window);
  return w.start < w.end ? w : Interval{};
}

std::vector<std::string> modes_of(const Context& context, const RuntimeTrace& trace, const RuleLookup& rules) {
  std::set<std::string> modes;
  if (trace.inline_operations > 0) modes.insert("eager_sync");
  if (!trace.framework_queue.empty()) modes.insert("eager_async");
  for (std::size_t r = 0; r < rules.size(); ++r) {
    if (trace.rule_events[r] == 0) continue;
    const auto& rule = rules.rule(static_cast<std::uint16_t>(r));
    if (rule.text == "FunctionRun") modes.insert("function");
    if (rule.match == Match::compiled || rule.text == "GpuExecutable::" || rule.text == "CpuExecutable::") modes.insert("xla");
    if (rule.text == "Torch-Compiled Region" || rule.text == "## Call CompiledFxGraph") modes.insert("compile");
    if (rule.text == "aten::") modes.insert("eager");
    if (rule.text == "PjitFunction(") modes.insert("jit");
  }
  for (std::size_t i = 0; i < context.capture.api_calls.size(); ++i)
    if (context.capture.api_calls.kind[i] == ApiKind::graph_launch) {
      modes.insert("cuda_graphs");
      break;
    }
  return {modes.begin(), modes.end()};
}

void longest_first(std::vector<RuntimeMark>& marks) {
  std::stable_sort(marks.begin(), marks.end(), [](const auto& a, const auto& b) { return a.duration_ns > b.duration_ns; });
  if (marks.size() > kMarks) marks.resize(kMarks);
}

bool inside(Nanos start, Interval window) { return start >= window.start && start < window.end; }

std::vector<RuntimeMark> longest_waits(const Context& context, const RuntimeTrace& trace, Interval window) {
  std::vector<RuntimeMark> marks;
  for (const auto& s : trace.segments) {
    if (s.phase != RuntimePhase::wait || !inside(s.span.start, window)) continue;
    const auto event = context.capture.text(s.event), operation = s.operation == kNoRow ? std::string_view() : trace.operations[s.operation].type;
    marks.push_back({"wait", operation.empty() || operation == event ? std::string(event) : fmt::format("{}: {}", operation, event), s.span.start, s.span.length(), -1});
  }
  longest_first(marks);
  return marks;
}

std::vector<RuntimeMark> longest_transfers(const Context& context, Interval window) {
  const auto& a = context.capture.activities;
  std::vector<RuntimeMark> marks;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a.kind[i] == ActivityKind::memcpy && inside(a.start_ns[i], window))
      marks.push_back({std::string(name_of(a.copy[i])), std::string(context.capture.text(a.name[i])), a.start_ns[i], a.duration_ns[i], a.bytes[i]});
  longest_first(marks);
  return marks;
}

std::string pattern_of(const PhaseRule& rule) {
  const std::string text(rule.text);
  switch (rule.match) {
    case Match::exact: return text;
    case Match::prefix: return fmt::format("{}*", text);
    case Match::suffix: return fmt::format("*{}", text);
    case Match::contains: return fmt::format("*{}*", text);
    case Match::typed: return "NODE:TYPE";
    case Match::compiled: return "HLO OPERATION";
  }
  return text;
}

}  // namespace

RuntimeTrace analyze_runtime(const Context& context, Analysis& analysis) {
  RuleLookup rules(context.capture);
  RuntimeTrace trace = trace_runtime(context, rules);
  RuntimeInfo& r = analysis.runtime;
  r = {};
  const Interval window = runtime_window(context, trace);
  if (window.length() <= 0 || (trace.segments.empty() && context.devices.empty())) return trace;
  r.start_ns = window.start;
  r.duration_ns = window.length();
  r.modes = modes_of(context, trace, rules);
  std::int64_t steps = 0;
  for (const auto& s : context.window.all_steps) steps += s.start_ns + s.duration_ns > window.start && s.start_ns < window.end;
  std::int64_t items = 0;
  if (context.options.batch > 0 && steps > 0 && !__builtin_mul_overflow(context.options.batch, steps, &items)) r.items = items;
  else items = 0;

  const PhaseSets sets = label_phases(context, trace, window);
  r.phases = phase_times(sets, {window}, items);
  r.kernels = kernel_shares(sets, items);
  r.operations = spread_operations(trace, window, context.options.max_rows);
  r.operation_count = r.operations.empty() ? 0 : r.operations.front().count;
  for (const auto& queue : find_queues(context, trace)) r.queues.push_back(describe_queue(context, sets, queue));
  r.waits = longest_waits(context, trace, window);
  r.transfers = longest_transfers(context, window);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const auto& rule = rules.rule(static_cast<std::uint16_t>(i));
    if (trace.rule_events[i] > 0) r.rules.push_back({std::string(name_of(rule.phase)), pattern_of(rule), std::string(rule.source), trace.rule_events[i]});
  }
  return trace;
}

void explain_idle_origins(const Context& context, const RuntimeTrace& trace, Analysis& analysis) {
  if (analysis.runtime.duration_ns <= 0) return;
  analysis.runtime.idle = find_idle_origins(context, trace, context.options.max_rows ? context.options.max_rows : kOrigins);
}

}  // namespace gf
