// Rules about what the host does while the device waits.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyze/findings/around.h"
#include "analyze/findings/facts.h"
#include "analyze/findings/framework_terms.h"
#include "analyze/findings/place.h"
#include "analyze/findings/rules.h"
#include "analyze/idle/idle_rules.h"
#include "analyze/traits.h"
#include "core/format.h"
#include "core/text.h"
#include "model/vendor.h"

namespace gf::trace_rules {
namespace {

bool in_window(const Facts& facts, Nanos time) {
  for (const auto& line : facts.context.devices)
    if (time >= line.window.start && time < line.window.end) return true;
  return false;
}

/// Idle time of all devices with a reason, piece by piece.
Intervals idle_spans(const Facts& facts, IdleReason reason) {
  Intervals spans;
  for (const auto& piece : facts.idle_pieces(reason)) spans.push_back(piece.span());
  return spans;
}

/// Share of kernel time in kernels that torch.compile wrote.
double compiled(const Facts& facts) {
  Nanos ns = 0;
  for (const LaunchGroup& group : facts.groups())
    if (group.word & kernel_is::compiler_made) ns += group.exclusive_ns;
  return facts.of_kernels(ns);
}

/// Share of kernel time that graph launches started.
double from_graphs(const Facts& facts) {
  Nanos ns = 0;
  for (const auto& kernel : facts.kernels) {
    const auto call = facts.context.launches[kernel.activity];
    if (facts.capture().activities.graph_id[kernel.activity] > 0 ||
        (call != kNoRow && facts.capture().api_calls.kind[call] == ApiKind::graph_launch))
      ns += kernel.exclusive_ns;
  }
  return facts.of_kernels(ns);
}

/// True if most calls that launch kernels stand in no operation.
bool mostly_outside_operations(const Facts& facts) {
  std::int64_t inside = 0, outside = 0;
  for (const auto& kernel : facts.kernels) {
    const auto call = facts.context.launches[kernel.activity];
    if (call == kNoRow || facts.capture().api_calls.kind[call] != ApiKind::launch) continue;
    ++(facts.context.attribution.op[kernel.activity] == kNoRow ? outside : inside);
  }
  return outside > inside || facts.capture().host_ops.empty();
}

/// A host that is held up cannot run ahead: launches that come late afterwards are so up to the
/// time that it was held up.
Nanos lead_lost(const Facts& facts, Nanos held_up) { return std::min(facts.late(), held_up); }

}  // namespace

/// Long stretches of idle time labeled launch_bound that do not repeat: no launch takes that long.
Nanos late_once(const Facts& facts) {
  Intervals stretches;
  for (const auto& piece : facts.idle_pieces(IdleReason::launch_bound)) {
    if (!stretches.empty() && stretches.back().end == piece.start) {
      stretches.back().end = piece.span().end;
      continue;
    }
    if (!stretches.empty() && stretches.back().length() < kNsPerMs) stretches.pop_back();
    stretches.push_back(piece.span());
  }
  if (!stretches.empty() && stretches.back().length() < kNsPerMs) stretches.pop_back();
  return facts.repeats(stretches, 0.02) ? 0 : total(stretches);
}

/// True if memory is allocated step after step: in at least half of three steps and more, for
/// a hundredth of their time. Without steps, more often than what is allocated once, and in a
/// capture that does more than a handful of kernels or allocates for each.
bool allocates_in_steps(const Facts& facts, const Intervals& calls) {
  constexpr std::int64_t kMany = 100, kHandful = 8;
  constexpr Nanos kShort = 10'000'000;  // too short to tell
  const auto& steps = facts.analysis.window.steps;
  const auto count = static_cast<std::int64_t>(calls.size());
  if (steps.size() < 3)
    return count >= kHandful &&
           (facts.window < kShort || facts.kernel_count >= kMany ||
            (facts.kernel_count >= 2 * kHandful && count >= facts.kernel_count));
  std::size_t allocating = 0;
  for (const auto& step : steps) {
    const Interval span{step.start_ns, step.start_ns + step.duration_ns};
    allocating += covered(calls, span) * 100 >= step.duration_ns;
  }
  return allocating * 2 >= steps.size();
}

namespace {

/// Graphs only where the maker of the GPU has them.
std::string how_to_launch_less(const Facts& facts) {
  const auto graph = terms_of(vendor_of(facts.capture())).graph;
  const auto& terms = terms_of_framework(facts.capture().framework);
  if (!facts.pytorch())
    return fmt::format(
        "Launch less often: {}{}",
        graph.empty() || !terms.captures_graphs ? "" : "capture the step in a graph, ",
        terms.launch_less);
  if (compiled(facts) > 0.2)
    return fmt::format("The step is compiled already: {}fuse the optimizer, or use a larger batch.",
                       graph.empty()
                           ? ""
                           : fmt::format("put it into {}s (torch.compile with "
                                         "mode=\"reduce-overhead\", or torch.cuda.graph), ",
                                         graph));
  if (graph.empty())
    return "Launch less often: torch.compile, fused optimizers, or a larger batch.";
  return fmt::format(
      "Launch less often: torch.compile (mode=\"reduce-overhead\"), {}s for the step, fused "
      "optimizers, or a larger batch.",
      graph);
}

}  // namespace

std::optional<Said> launch_bound(const Facts& facts) {
  auto late = facts.idle(IdleReason::launch_bound);
  late.ns -= late_once(facts);
  const Nanos between = facts.host_other().between;
  // Between launches PyTorch runs its operators, whether the trace has them or not; of
  // CuPy or Triton beside it, Python.
  const bool nameless = facts.pytorch() && mostly_outside_operations(facts);
  const Nanos waiting = late.ns + (nameless ? between : 0);
  if (facts.of_window(waiting) < 0.05) return {};
  const double graphs = from_graphs(facts);
  std::string advice;
  if (graphs > 0.8)
    advice =
        "Most kernels already come from captured graphs: put more work into one graph, or enqueue "
        "the next graph before the current one ends.";
  else
    advice = how_to_launch_less(facts);
  // Where the profiler may have caused nearly all of it, observer_effect says so instead.
  constexpr double kMostOver = 1.4;  // profiler_cost is the most, of which most programs lose less
  if (static_cast<double>(late.ns + between) -
          static_cast<double>(profiler_cost(facts.analysis)) / kMostOver <
      0.02 * static_cast<double>(facts.window))
    return {};
  std::string evidence =
      fmt::format("idle {} of {} in {}, {:.3g} kernels per millisecond{}", say_time(late.ns),
                  say_time(facts.window), plural(late.gaps, "gap"),
                  static_cast<double>(facts.kernel_count) * 1e6 / static_cast<double>(facts.window),
                  behind(late));
  if (between > 0)
    evidence += fmt::format("; {} more between operations that launch", say_time(between));
  if (graphs > 0) evidence += fmt::format("; {} of kernel time from graphs", say_share(graphs));
  return Said{
      fmt::format(
          "Launch-bound: the GPU waits for the host to launch the next kernel {} of the time{}. "
          "{}",
          say_share(facts.of_window(waiting)), most_in(facts, IdleReason::launch_bound), advice),
      evidence, late.ns + between};
}

bool copies_pageable(const Facts& facts, std::uint32_t activity) {
  const auto& rows = facts.capture().activities;
  return rows.kind[activity] == ActivityKind::memcpy &&
         facts.context.names.kernel(rows.name[activity]) & kernel_is::pageable;
}

/// Idle time labeled input in which the host copies from pageable memory: the batch is there, and
/// how it is copied takes the time. blocking_copies tells it.
Intervals in_pageable_copies(const Facts& facts) {
  const auto& calls = facts.capture().api_calls;
  Intervals spans;
  for (const auto& piece : facts.idle_pieces(IdleReason::input)) {
    if (piece.next == kNoRow) continue;
    const auto call = facts.context.launches[piece.next];
    if (call == kNoRow || !copies_pageable(facts, piece.next)) continue;
    const Nanos start = std::max(piece.start, calls.start_ns[call]);
    const Nanos end = std::min(piece.span().end, calls.start_ns[call] + calls.duration_ns[call]);
    if (start < end) spans.push_back({start, end});
  }
  return spans;
}

std::optional<Said> input_bound(const Facts& facts) {
  auto input = facts.idle(IdleReason::input);
  input.ns -= total(in_pageable_copies(facts));
  constexpr std::int64_t kFew = 4;  // the one copy of a program that makes one pass is no input
  if (facts.of_window(input.ns) < 0.05) return {};
  if (facts.analysis.window.steps.empty() && input.gaps < kFew) return {};
  // An input that comes once in one step is no pipeline.
  if (facts.analysis.window.steps.size() < 2 &&
      !facts.repeats(idle_spans(facts, IdleReason::input), 0.01))
    return {};
  // Workers are of a loader, and some programs have none.
  const bool loads = facts.pytorch() && std::ranges::any_of(facts.host_names(), [&](Text name) {
                       return (facts.context.names.host(name) & host_is::input) != 0;
                     });
  return Said{
      fmt::format("Input-bound: the GPU waits for input {} of the time{}. {}",
                  say_share(facts.of_window(input.ns)), most_in(facts, IdleReason::input),
                  loads ? std::string_view(
                              "Use more data-loader workers (num_workers), pin_memory=True with "
                              "non_blocking copies, and prefetching.")
                        : terms_of_framework(facts.capture().framework).next_input),
      fmt::format("idle {} of {} in {}{}", say_time(input.ns), say_time(facts.window),
                  plural(input.gaps, "gap"), behind(input)),
      input.ns + lead_lost(facts, input.ns)};
}

/// Names what the host waits for: the outermost operation around each wait and the one before it,
/// whose result it fetches.
struct WaitedFor {
  std::string most;     // "aten::is_nonzero after aten::any"
  Nanos computing = 0;  // idle time in the operations before: launches that are late
};

WaitedFor waited_for(const Facts& facts) {
  const auto& ops = facts.capture().host_ops;
  const auto& parent = facts.context.attribution.op_parent;
  const auto& tree = facts.tree();
  const auto& siblings = facts.siblings();
  auto outermost = [&](std::uint32_t row) {
    while (parent[row] != kNoRow && ops.kind[parent[row]] == HostKind::op &&
           word_of_op(facts, parent[row]) & host_is::aten)
      row = parent[row];
    return row;
  };
  auto is_op = [&](std::uint32_t row) { return row != kNoRow && ops.kind[row] == HostKind::op; };
  std::map<std::string, Nanos> times;
  std::unordered_set<std::uint32_t> fetched;
  for (const auto& piece : facts.idle_pieces(IdleReason::sync)) {
    if (!is_op(piece.op)) continue;
    const auto row = outermost(piece.op);
    std::string text(facts.capture().text(ops.name[row]));
    auto before = siblings.before[row];
    while (before != kNoRow && !tree.device[before]) before = siblings.before[before];
    if (before != kNoRow) {
      text += fmt::format(" after {}", facts.capture().text(ops.name[before]));
      fetched.insert(before);
    }
    times[std::move(text)] += piece.span().length();
  }
  WaitedFor waited;
  // One look back further: aten::isnan before aten::any.
  for (const auto row : std::vector(fetched.begin(), fetched.end()))
    if (const auto earlier = siblings.before[row];
        is_op(earlier) && tree.device[earlier] && ops.duration_ns[earlier] < kNsPerMs)
      fetched.insert(earlier);
  for (const auto& piece : facts.idle_pieces(IdleReason::launch_bound))
    if (is_op(piece.op) && fetched.contains(outermost(piece.op)))
      waited.computing += piece.span().length();
  const auto most = std::ranges::max_element(times, {}, [](const auto& one) { return one.second; });
  if (most != times.end()) waited.most = most->first;
  return waited;
}

/// Copy calls in the window that wait for a value: docs/idle.md, rule 6.
std::vector<std::uint32_t> calls_that_fetch_values(const Facts& facts) {
  const auto& rows = facts.capture().activities;
  const auto& calls = facts.capture().api_calls;
  std::vector<std::uint32_t> fetching;
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    const auto call = facts.context.launches[row];
    if (call == kNoRow || rows.kind[row] != ActivityKind::memcpy || rows.bytes[row] < 0 ||
        rows.bytes[row] >= kInputBytes || rows.copy[row] == CopyKind::device_to_device ||
        rows.copy[row] == CopyKind::host_to_device)
      continue;
    const Nanos returned = calls.start_ns[call] + calls.duration_ns[call];
    if (rows.start_ns[row] + rows.duration_ns[row] <= returned &&
        in_window(facts, calls.start_ns[call]))
      fetching.push_back(call);
  }
  return fetching;
}

std::optional<Said> sync_in_step(const Facts& facts) {
  auto idle = facts.idle(IdleReason::sync);
  // Waiting before the first work and after the last holds up nothing: who measures does.
  for (std::size_t device = 0; device < facts.context.devices.size(); ++device) {
    const auto& busy = facts.context.devices[device].busy;
    for (const auto& piece : facts.idle_pieces(IdleReason::sync, device))
      if (!busy.empty() &&
          (piece.span().end <= busy.front().start || piece.start >= busy.back().end))
        idle.ns -= piece.span().length();
  }
  if (facts.of_window(idle.ns) < 0.01) return {};
  const auto& calls = facts.capture().api_calls;
  std::unordered_map<std::uint32_t, std::int64_t> by_text;
  Nanos blocked = 0;
  std::int64_t count = 0;
  auto add = [&](std::uint32_t call) {
    ++by_text[static_cast<std::uint32_t>(calls.name[call])];
    blocked += calls.duration_ns[call];
    ++count;
  };
  for (std::uint32_t call = 0; call < calls.size(); ++call)
    if (calls.kind[call] == ApiKind::sync && in_window(facts, calls.start_ns[call])) add(call);
  for (const auto call : calls_that_fetch_values(facts)) add(call);
  std::map<std::string_view, std::int64_t> by_name;
  for (const auto& [text, times] : by_text)
    by_name[facts.capture().text(static_cast<Text>(text))] = times;
  const auto names = say_counts(by_name);
  const auto waited = waited_for(facts);
  return Said{
      fmt::format(
          "The host synchronizes with the GPU, which then idles {} of the time until new "
          "work arrives{}. Remove synchronizing calls ({}) from the step, or make them every "
          "N steps.",
          say_share(facts.of_window(idle.ns)),
          waited.most.empty() ? std::string() : fmt::format(", most in {}", waited.most),
          terms_of_framework(facts.capture().framework).synchronizing),
      fmt::format("idle {} in {}; {}{}, which block the host for {}{}", say_time(idle.ns),
                  plural(idle.gaps, "gap"), plural(count, "synchronizing call"),
                  names.empty() ? "" : fmt::format(" ({})", names), say_time(blocked),
                  behind(idle)),
      idle.ns + waited.computing +
          std::min(facts.late() - waited.computing, std::max<Nanos>(0, blocked - idle.ns))};
}

std::optional<Said> blocking_copies(const Facts& facts) {
  auto idle = facts.idle(IdleReason::memcpy);
  const auto& activities = facts.capture().activities;
  Nanos pageable = 0, alone = 0, pinned = 0;  // pinned: that no kernel overlaps
  std::int64_t count = 0, bytes = 0;
  Intervals costs, pinned_costs;
  const Nanos repeats_from = facts.analysis.window.blocks.begin_ns.value_or(INT64_MIN);
  for (std::size_t device = 0; device < facts.context.devices.size(); ++device) {
    const auto& line = facts.context.devices[device];
    for (std::size_t i = 0; i < line.rows.size(); ++i) {
      const auto row = line.rows[i];
      if (activities.kind[row] != ActivityKind::memcpy || facts.claimed_activity(row)) continue;
      if (line.spans[i].end <= repeats_from) continue;  // a model that is loaded
      if (!copies_pageable(facts, row)) {
        if (activities.copy[row] == CopyKind::host_to_device ||
            activities.copy[row] == CopyKind::device_to_host) {
          pinned += covered(line.copying, line.spans[i]);
          pinned_costs.push_back(line.spans[i]);
        }
        continue;
      }
      pageable += line.spans[i].length();
      bytes += std::max<std::int64_t>(activities.bytes[row], 0);
      ++count;
      alone += covered(line.copying, line.spans[i]);
      costs.push_back(line.spans[i]);
    }
    for (const auto& piece : facts.idle_pieces(IdleReason::memcpy, device))
      costs.push_back(piece.span());
  }
  const Intervals before = in_pageable_copies(facts);
  idle.ns += total(before);
  idle.gaps += static_cast<std::int64_t>(before.size());
  costs.insert(costs.end(), before.begin(), before.end());
  // Copies from pinned memory block no host; alone on the device they cost their time.
  constexpr double kMuch = 0.05;
  const bool much = facts.of_window(pinned) >= kMuch;
  if (much) costs.insert(costs.end(), pinned_costs.begin(), pinned_costs.end());
  const Nanos cost = std::min(idle.ns + alone + (much ? pinned : 0), facts.window);
  if (facts.of_window(cost) < 0.02) return {};
  // A pass's copies at its ends count where they are much of it.
  if (!facts.repeats(costs, 0.005) && !facts.much_of_one_pass(cost)) return {};
  const Nanos gain = std::min(cost + lead_lost(facts, cost), facts.window);
  std::string evidence = fmt::format("idle in blocking copies {} in {}{}", say_time(idle.ns),
                                     plural(idle.gaps, "gap"), behind(idle));
  if (count > 0)
    evidence += fmt::format(
        "; {} from or to pageable memory, {}, {} long, {} of it not overlapped by kernels",
        count == 1 ? "1 copy" : plural(count, "copie"), say_bytes(bytes), say_time(pageable),
        say_time(alone));
  if (much) evidence += fmt::format("; {} of other copies while no kernel runs", say_time(pinned));
  std::string advice = "Make them asynchronous and overlap them with kernels.";
  if (count > 0) advice = terms_of_framework(facts.capture().framework).pinned;
  if (much && pinned > alone)
    advice =
        "Overlap them with kernels (a separate stream, the next batch while this one is computed), "
        "keep data on the GPU, or copy fewer bytes.";
  return Said{fmt::format("Copies between host and device block the {} {} of the time. {}",
                          facts.analysis.window.steps.empty() ? "program" : "step",
                          say_share(facts.of_window(cost)), advice),
              evidence, gain};
}

std::optional<Said> device_allocations(const Facts& facts) {
  const auto& calls = facts.capture().api_calls;
  // The first allocations of a library count as start-up.
  const Intervals start_up = normalised(idle_spans(facts, IdleReason::start_up));
  std::int64_t frees = 0;
  Nanos time = 0;
  Intervals spans;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls.kind[i] != ApiKind::alloc || !in_window(facts, calls.start_ns[i])) continue;
    const Interval span = span_of(calls, i);
    if (covered(start_up, span) * 2 > span.length()) continue;
    time += span.length();
    spans.push_back(span);
    frees += (facts.context.names.call(calls.name[i]) & call_is::frees) != 0;
  }
  const auto count = static_cast<std::int64_t>(spans.size());
  // A host that is ahead may allocate while the device works; one that is not launches later, too.
  Nanos waiting = 0, idle = 0;
  const auto allocating = normalised(spans);
  for (const auto& line : facts.context.devices) {
    waiting += line.idle_in(allocating);
    idle += line.idle_ns();
  }
  // One pass of PyTorch has to allocate what it keeps, and frees none of it.
  const bool first_pass = facts.pytorch() && facts.analysis.window.steps.empty();
  if (count == 0 || facts.of_window(waiting) < (first_pass ? 0.05 : 0.01) ||
      !facts.repeats(spans, 0.005) || !allocates_in_steps(facts, allocating))
    return {};
  constexpr std::int64_t kOften = 2;
  if (first_pass && frees < kOften) return {};
  std::string text = facts.analysis.window.steps.empty()
                         ? "GPU memory is allocated or freed between kernels; "
                         : "GPU memory is allocated or freed inside the step; ";
  const auto pool = terms_of(vendor_of(facts.capture())).pool_call;
  if (facts.pytorch())
    text +=
        "after warm-up a caching allocator should reuse it. Look for changing shapes, nearly "
        "full memory, and empty_cache().";
  else
    text += fmt::format("allocate it once{}, and reuse it.",
                        pool.empty() ? "" : fmt::format(", or from a pool ({})", pool));
  return Said{text, fmt::format("{}, {} of host time", plural(count, "call"), say_time(time)),
              std::min(time, idle)};
}

}  // namespace gf::trace_rules
