// Causes that hold up the host at every step though once would do, or never: searches for
// algorithms, captures of graphs, checks, other threads.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "analyze/findings/around.h"
#include "analyze/findings/facts.h"
#include "analyze/findings/rules.h"
#include "core/text.h"
#include "model/vendor.h"

namespace gf::trace_rules {
namespace {

/// Frequency of a cause: in steps where these are known, else in both halves of the window.
struct Times {
  std::int64_t steps = 0, of = 0;
  bool enough = false;
  std::string text() const {
    return of > 0 ? fmt::format(" in {} of {}", steps, plural(of, "step")) : std::string();
  }
};

Times times_of(const Facts& facts, const Intervals& spans) {
  Times times;
  for (const auto& step : facts.analysis.window.steps) {
    const Interval whole{step.start_ns, step.start_ns + step.duration_ns};
    times.steps += covered(spans, whole) * 100 >= whole.length();
    ++times.of;
  }
  times.enough = times.of >= 2 ? times.steps >= 2 && times.steps * 2 >= times.of
                               : spans.size() >= 4 && facts.repeats(spans, 0.01);
  return times;
}

/// Time of the window in spans of the host.
Nanos time_in(const Facts& facts, const Intervals& spans) {
  Nanos time = 0;
  for (const auto& line : facts.context.devices) time += covered(spans, line.window);
  return time;
}

/// Trials of one kernel as Triton's do_bench times them: before each it fills the same large
/// buffer, so that nothing of the last trial is left in the caches.
struct Trials {
  Intervals spans;  // of the device, one for each row of trials
  std::vector<KernelInstance> kernels;
};
Trials timed_trials(const Facts& facts) {
  constexpr std::size_t kFewest = 5;
  constexpr std::int64_t kManyBlocks = 1 << 14;
  constexpr Nanos kFills = 10 * kNsPerUs;  // what a fill of so many blocks takes at least
  const auto& rows = facts.capture().activities;
  const auto& all = facts.kernels;
  const auto fills = [&](std::size_t at) {
    return (facts.group_at(at).word & kernel_is::fills) != 0;
  };
  const auto same = [&](std::size_t i, std::size_t j) {
    const auto a = all[i].activity, b = all[j].activity;
    return rows.name[a] == rows.name[b] && rows.stream[a] == rows.stream[b];
  };
  Trials trials;
  for (std::size_t i = 0; i + 1 < all.size();) {
    std::size_t end = i + 2;
    if (all[i].duration_ns >= kFills && fills(i) && facts.group_at(i).grid_x >= kManyBlocks &&
        !fills(i + 1))
      while (end + 1 < all.size() && same(end, i) && same(end + 1, i + 1) &&
             facts.group_at(end).grid_x == facts.group_at(i).grid_x)
        end += 2;
    if (end - i < 2 * kFewest) {
      ++i;
      continue;
    }
    const auto last = all[end - 1].activity;
    trials.spans.push_back(
        {rows.start_ns[all[i].activity], rows.start_ns[last] + all[end - 1].duration_ns});
    trials.kernels.insert(trials.kernels.end(), all.begin() + static_cast<std::ptrdiff_t>(i),
                          all.begin() + static_cast<std::ptrdiff_t>(end));
    i = end;
  }
  return trials;
}

/// With anomaly detection each operation that makes a node of the backward pass first
/// writes down the stack of its program, which takes much longer than what it does by itself.
Intervals stacks_of_nodes(const Facts& facts) {
  constexpr Nanos kLong = 40 * kNsPerUs;
  const auto& ops = facts.capture().host_ops;
  const auto& calls = facts.capture().api_calls;
  Intervals stacks;
  for (std::uint32_t thread = 0; thread < facts.context.host.threads(); ++thread) {
    const auto rows = facts.context.host.ops(thread);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = rows[i];
      if (ops.sequence[row] < 0 || ops.forward_thread[row] > 0) continue;
      const Interval span = span_of(ops, row);
      Nanos end = span.end;
      if (i + 1 < rows.size()) end = std::min(end, ops.start_ns[rows[i + 1]]);
      const auto own = facts.context.host.calls(thread);
      const auto call = std::ranges::lower_bound(
          own, span.start, {}, [&](std::uint32_t one) { return calls.start_ns[one]; });
      if (call != own.end()) end = std::min(end, calls.start_ns[*call]);
      if (end - span.start >= kLong) stacks.push_back({span.start, end});
    }
  }
  return stacks;
}

}  // namespace

std::optional<Said> autotuning(const Facts& facts) {
  // One convolution starts one kernel, or a few with conversions of layout; a search starts one
  // algorithm after the other.
  constexpr std::size_t kManyKernels = 12, kManyNames = 4;
  const auto& ops = facts.capture().host_ops;
  const auto is_convolution = [&](NameWord is) {
    return is & host_is::aten && layer_in(is) == LayerType::convolution;
  };
  const bool any = std::ranges::any_of(facts.host_names(), [&](Text name) {
    return is_convolution(facts.context.names.host(name));
  });
  std::vector<std::uint32_t> count(any ? ops.size() : 0);
  std::uint32_t most = 0;
  if (any)
    for (const auto& kernel : facts.kernels)
      if (const auto op = facts.context.attribution.op[kernel.activity]; op != kNoRow)
        most = std::max(most, ++count[op]);
  Around convolutions(facts,
                      [&](std::uint32_t row) { return is_convolution(word_of_op(facts, row)); });
  const auto convolution_of = [&](const KernelInstance& kernel) {
    const auto op = facts.context.attribution.op[kernel.activity];
    const bool many = op != kNoRow && count[op] >= kManyKernels;
    return many && convolutions.of_op(op) != kNoRow ? op : kNoRow;
  };
  struct Started {
    std::unordered_set<std::uint32_t> names;
    std::vector<KernelInstance> all;
  };
  std::map<std::uint32_t, Started> by_op;
  if (most >= kManyKernels)
    for (const auto& kernel : facts.kernels)
      if (const auto op = convolution_of(kernel); op != kNoRow) {
        by_op[op].names.insert(static_cast<std::uint32_t>(facts.kernel_name(kernel)));
        by_op[op].all.push_back(kernel);
      }
  Intervals spans;
  std::int64_t searches = 0;
  std::vector<KernelInstance> tried;
  for (const auto& [op, started] : by_op) {
    if (started.names.size() < kManyNames) continue;
    spans.push_back(span_of(ops, op));
    tried.insert(tried.end(), started.all.begin(), started.all.end());
    ++searches;
  }
  const bool timed = any_host_name(facts, host_is::tunes);
  for (std::uint32_t row = 0; timed && row < ops.size(); ++row)
    if (ops.kind[row] == HostKind::python && word_of_op(facts, row) & host_is::tunes) {
      spans.push_back(span_of(ops, row));
      ++searches;
    }
  const auto trials = timed_trials(facts);
  spans.insert(spans.end(), trials.spans.begin(), trials.spans.end());
  tried.insert(tried.end(), trials.kernels.begin(), trials.kernels.end());
  searches += static_cast<std::int64_t>(trials.spans.size());
  spans = normalised(std::move(spans));
  const Nanos time = time_in(facts, spans);
  const auto times = times_of(facts, spans);
  if (!times.enough || facts.of_window(time) < 0.02) return {};
  for (const auto& kernel : tried) facts.claim(kernel);
  facts.claim_idle(spans);
  return Said{
      fmt::format("The search for the fastest algorithm repeats, {} of the time, because sizes "
                  "change from step to step. Keep sizes constant (pad or bucket them){}.",
                  say_share(facts.of_window(time)),
                  !trials.spans.empty() ? ", or leave them out of the key of triton.autotune"
                  : facts.pytorch()
                      ? ", or turn the search off (torch.backends.cudnn.benchmark = False)"
                      : ""),
      fmt::format("{} with {}, {}{}", plural(searches, "search"),
                  plural(tried.size(), "trial kernel"), say_time(time), times.text()),
      time};
}

std::optional<Said> graph_capture(const Facts& facts) {
  const auto& calls = facts.capture().api_calls;
  constexpr NameWord kParts = call_is::begins_capture | call_is::ends_capture |
                              call_is::instantiates | call_is::destroys_graph;
  if (std::ranges::none_of(facts.context.names.call_names(), [&](Text name) {
        return facts.context.names.call(name) & (kParts & ~call_is::destroys_graph);
      }))
    return {};
  Intervals spans;
  Intervals around;                                // what each needs before and after
  std::unordered_map<std::uint32_t, Nanos> begun;  // by thread
  std::int64_t captures = 0;
  for (std::uint32_t thread = 0; thread < facts.context.host.threads(); ++thread) {
    // PyTorch waits for the device, collects garbage and frees memory before each, and launches
    // hardly anything.
    constexpr std::int64_t kHardlyAny = 2;
    Nanos prepares = 0;
    std::int64_t launched = kHardlyAny + 1;
    for (const auto call : facts.context.host.calls(thread)) {
      const Nanos end = calls.start_ns[call] + std::max<Nanos>(0, calls.duration_ns[call]);
      if (calls.kind[call] == ApiKind::launch) ++launched;
      if (calls.kind[call] == ApiKind::sync) {
        if (launched > kHardlyAny) prepares = calls.start_ns[call];
        launched = 0;
      }
      switch (facts.context.names.call(calls.name[call]) & kParts) {
        case call_is::begins_capture:
          begun[thread] = calls.start_ns[call];
          if (launched <= kHardlyAny) around.push_back({prepares, calls.start_ns[call]});
          break;
        case call_is::ends_capture:
          if (const auto begin = begun.find(thread); begin != begun.end()) {
            spans.push_back({begin->second, end});
            begun.erase(begin);
            ++captures;
          }
          break;
        case call_is::instantiates:
          spans.push_back({calls.start_ns[call], end});
          break;
        case call_is::destroys_graph:
          around.push_back({calls.start_ns[call], end});
          break;
        default:
          break;
      }
    }
  }
  if (captures == 0) captures = static_cast<std::int64_t>(spans.size());
  spans = normalised(std::move(spans));
  const auto times = times_of(facts, spans);
  const Nanos time = time_in(facts, spans);
  // Without steps, a program may capture one graph for each of its sizes, once.
  if (captures < 2 || times.of < 2 || !times.enough || facts.of_window(time) < 0.02) return {};
  facts.claim_idle(spans);
  facts.also_gone(std::move(around));
  const auto graph = terms_of(vendor_of(facts.capture())).graph;
  return Said{fmt::format("{}s are captured repeatedly, {} of the time. Capture each once, "
                          "before the loop, with tensors at fixed addresses, and replay it.",
                          graph.empty() ? "Graph" : graph, say_share(facts.of_window(time))),
              fmt::format("{}, {}{}", plural(captures, "capture"), say_time(time), times.text()),
              time};
}

std::optional<Said> anomaly_mode(const Facts& facts) {
  const auto& ops = facts.capture().host_ops;
  const auto& parent = facts.context.attribution.op_parent;
  constexpr NameWord kAsks = host_is::asks_truth | host_is::waits;
  OncePerText isnan(facts.texts(), [](std::string_view name) { return name == "aten::isnan"; });
  // Right in the engine: what a node itself computes stands in the node's own operation.
  auto is_check = [&](std::uint32_t row) {
    return ops.kind[row] == HostKind::op && parent[row] != kNoRow &&
           word_of_op(facts, row) & kAsks && word_of_op(facts, parent[row]) & host_is::backward;
  };
  if (std::ranges::none_of(facts.host_names(), std::ref(isnan))) return {};
  std::int64_t checks = 0;
  Intervals asking;
  for (std::uint32_t row = 0; row < ops.size(); ++row) {
    if (!is_check(row)) continue;
    checks += isnan(ops.name[row]);
    asking.push_back(span_of(ops, row));
  }
  constexpr std::int64_t kFew = 4;  // a program may ask for one of its own
  if (checks < kFew) return {};
  Around around(facts, is_check);
  const auto cost = cost_of(facts, around, [](ApiKind kind) { return kind == ApiKind::sync; });
  if (facts.of_window(cost.all(facts)) < 0.01) return {};
  facts.also_gone(stacks_of_nodes(facts));
  const Nanos gain = cost.claim(facts, std::move(asking));
  return Said{
      fmt::format("Anomaly detection is on: autograd checks each gradient for NaN and waits for "
                  "the result, {} of the time. Turn it on only while debugging "
                  "(torch.autograd.set_detect_anomaly(False)).",
                  say_share(facts.of_window(gain))),
      fmt::format("{} inside the engine; {} of kernels, {} of idle around them, {} "
                  "blocked",
                  plural(checks, "check"), say_time(cost.of_kernels), say_time(cost.idle),
                  say_time(cost.blocked)),
      gain};
}

std::optional<Said> gil_stalls(const Facts& facts) {
  // A Python thread that wants the interpreter asks for it after 5 ms (sys.getswitchinterval).
  constexpr Nanos kInterval = 5 * kNsPerMs;
  constexpr std::size_t kFew = 6;
  if (!facts.pytorch() && facts.capture().framework != "jax") return {};
  Intervals stalls;
  std::size_t others = 0;
  for (const auto& stretch : facts.host_other().elsewhere) {
    if (stretch.length() < kNsPerMs) continue;
    const Nanos over = stretch.length() % kInterval;
    const Nanos times = stretch.length() / kInterval;
    if (times >= 1 && over <= kInterval * 3 / 20)
      stalls.push_back(stretch);
    else
      ++others;
  }
  if (stalls.size() < kFew || others * 3 > stalls.size()) return {};
  // The lock is missed wherever the thread is. What comes at one place is the program's own: a
  // sleep, or a queue that it looks at.
  stalls = normalised(std::move(stalls));
  if (most_elsewhere(facts, stalls).second * 3 > total(stalls) * 2) return {};
  const Nanos time = facts.claim_idle(stalls);
  if (facts.of_window(time) < 0.05) return {};
  // Inside an operation or a call the thread waits for the lock, too, with no stretch of its own.
  Intervals waits;
  for (const auto& line : facts.context.devices)
    line.each_gap([&](Interval gap) {
      if (gap.length() >= kInterval) waits.push_back(gap);
    });
  facts.also_gone(std::move(waits));
  return Said{
      fmt::format("The launching thread stalls for multiples of 5 ms, {} of the time: another "
                  "Python thread holds the GIL. Move its work to another process, or into code "
                  "that releases the GIL.",
                  say_share(facts.of_window(time))),
      fmt::format("{} of {}, {} idle; {} of other lengths", plural(stalls.size(), "stall"),
                  "5 ms and multiples", say_time(time),
                  plural(static_cast<std::int64_t>(others), "pause")),
      time};
}

}  // namespace gf::trace_rules
