// Causes of work that is done again though once would do: backward passes over one graph,
// factorizations of one matrix, sums in an order that is the same in each run.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyze/findings/around.h"
#include "analyze/findings/facts.h"
#include "analyze/findings/rules.h"

namespace gf::trace_rules {
namespace {

/// Visits the rows of host_ops until `last` that are directly inside another one, both by
/// name: take(inner, outer).
template <class Take>
void each_nested(const Facts& facts, std::size_t last, NameWord outer, NameWord inner,
                 Take&& take) {
  const auto& parent = facts.context.attribution.op_parent;
  for (std::uint32_t row = 0; row < last; ++row)
    if (word_of_op(facts, row) & inner && parent[row] != kNoRow &&
        word_of_op(facts, parent[row]) & outer)
      take(row, parent[row]);
}

}  // namespace

std::optional<Said> deterministic(const Facts& facts) {
  const auto& ops = facts.capture().host_ops;
  const auto all = ops.size();
  std::vector<bool> marked;
  std::map<std::string_view, std::int64_t> sorted;
  const auto mark = [&](std::uint32_t row) {
    marked.resize(all);
    marked[row] = true;
  };
  if (any_host_name(facts, host_is::sorts_indices) &&
      any_host_name(facts, host_is::writes_by_index))
    each_nested(facts, all, host_is::writes_by_index, host_is::sorts_indices,
                [&](std::uint32_t, std::uint32_t outer) {
                  mark(outer);
                  ++sorted[facts.capture().text(ops.name[outer])];
                });
  // Either all new tensors are filled or none is: a few show it.
  constexpr std::size_t kFew = 4096;
  constexpr std::int64_t kShown = 4;
  std::int64_t shown = 0, filled = 0;
  each_nested(facts, std::min(all, kFew), host_is::makes_empty, host_is::overwrites,
              [&](std::uint32_t, std::uint32_t) { ++shown; });
  if (shown >= kShown)
    each_nested(facts, all, host_is::makes_empty, host_is::overwrites,
                [&](std::uint32_t inner, std::uint32_t) {
                  mark(inner);
                  ++filled;
                });
  if (marked.empty()) return {};
  Around around(facts, [&](std::uint32_t row) { return static_cast<bool>(marked[row]); });
  const auto cost = cost_of(facts, around, [](ApiKind) { return false; });
  if (facts.of_window(cost.of_kernels + cost.idle) < 0.03) return {};
  Intervals host;
  for (std::uint32_t row = 0; row < all; ++row)
    if (marked[row]) host.push_back(span_of(ops, row));
  const Nanos gain = cost.claim(facts, std::move(host));
  const auto what = say_counts(sorted);
  return Said{
      fmt::format("Deterministic algorithms are on, {} of the time: {}{}{}. Turn them off outside "
                  "debugging (torch.use_deterministic_algorithms(False)){}.",
                  say_share(facts.of_window(gain)),
                  what.empty() ? "" : "sums by index sort their indices (" + what + ")",
                  !what.empty() && filled > 0 ? ", and " : "",
                  filled > 0 ? "new tensors are filled" : "",
                  filled > 0 ? ", or only the fills "
                               "(torch.utils.deterministic.fill_uninitialized_memory = False)"
                             : ""),
      fmt::format("{} of kernels in them, {} of idle; {} filled", say_time(cost.of_kernels),
                  say_time(gain - cost.of_kernels), plural(filled, "new tensor")),
      gain};
}

namespace {

constexpr std::string_view kEvaluates = "autograd::engine::evaluate_function: ";

/// True if a backward pass comes back to nodes that one before it evaluated: their numbers are not
/// above all that were met before the pass began. Of a thread's first operations.
bool comes_back(const Facts& facts, std::uint32_t thread) {
  constexpr std::size_t kFirst = 1 << 15;
  const auto& ops = facts.capture().host_ops;
  std::int64_t most = -1, before = -1;
  for (const auto row : facts.context.host.ops(thread).first(
           std::min(kFirst, facts.context.host.ops(thread).size()))) {
    if (ops.forward_thread[row] <= 0) continue;
    const auto number = ops.sequence[row];
    if (number > most) {
      before = most;
      most = number;
    } else if (number >= 0 && number <= before) {
      return true;
    }
  }
  return false;
}

/// Evaluations of one node after its first. Those that make a graph of the backward pass itself, as
/// for derivatives of a higher order, are none: they and what they made are needed.
void add_repeated(const Facts& facts, std::uint32_t thread, std::vector<bool>& again) {
  const auto& ops = facts.capture().host_ops;
  std::map<std::pair<std::int32_t, std::int64_t>, std::vector<std::uint32_t>> nodes;
  std::uint32_t current = kNoRow;
  bool makes_graph = false;
  const auto end_current = [&] {
    if (current != kNoRow && !makes_graph)
      nodes[{ops.forward_thread[current], ops.sequence[current]}].push_back(current);
    current = kNoRow;
    makes_graph = false;
  };
  for (const auto row : facts.context.host.ops(thread)) {
    if (current != kNoRow && ops.start_ns[row] >= span_of(ops, current).end) end_current();
    if (current == kNoRow && ops.sequence[row] >= 0 && ops.forward_thread[row] > 0 &&
        word_of_op(facts, row) & host_is::backward)
      current = row;
    else if (current != kNoRow && ops.sequence[row] >= 0 && ops.forward_thread[row] <= 0)
      makes_graph = true;
  }
  end_current();
  for (const auto& [node, rows] : nodes)
    for (std::size_t i = 1; i < rows.size(); ++i) again[rows[i]] = true;
}

}  // namespace

std::optional<Said> repeated_backward(const Facts& facts) {
  std::vector<bool> again;
  for (std::uint32_t thread = 0; thread < facts.context.host.threads(); ++thread)
    if (comes_back(facts, thread)) {
      again.resize(facts.capture().host_ops.size());
      add_repeated(facts, thread, again);
    }
  if (again.empty()) return {};
  Around around(facts, [&](std::uint32_t row) { return static_cast<bool>(again[row]); });
  Found found(facts);
  std::unordered_set<std::uint32_t> rows;
  for (const auto& kernel : facts.kernels)
    if (const auto row = around.of(kernel); row != kNoRow) {
      found.take(kernel);
      rows.insert(row);
    }
  if (!found.claim(0.05)) return {};
  Intervals host;
  for (const auto row : rows) host.push_back(span_of(facts.capture().host_ops, row));
  facts.also_gone(std::move(host));
  return Said{
      fmt::format("{} of kernel time evaluates the same graph nodes again in another backward pass "
                  "(retain_graph). Sum the losses and run one backward pass; where each gradient "
                  "is needed separately, compute them in one call (torch.autograd.grad with "
                  "is_grads_batched=True).",
                  found.share()),
      fmt::format("{} again, {} and {} of {} kernel time; most under {}",
                  plural(rows.size(), "node"), plural(found.count, "kernel"), say_time(found.time),
                  say_time(facts.kernel_busy), say_names(found.operators)),
      found.time};
}

std::optional<Said> repeated_factorization(const Facts& facts) {
  constexpr std::size_t kOften = 3;
  constexpr Nanos kLong = 200 * kNsPerUs;  // small ones in a loop are of matrices that differ
  if (!any_host_name(facts, host_is::factors)) return {};
  // Trained tensors change from step to step.
  if (std::ranges::any_of(facts.groups(), [](const LaunchGroup& group) {
        return group.phase == TrainingPhase::backward || group.phase == TrainingPhase::optimizer;
      }))
    return {};
  AroundNamed around(facts, host_is::factors);
  struct Calls {
    Nanos time = 0;
    std::map<std::uint32_t, Nanos> rows;  // of host_ops
    Intervals spans;                      // of the device
  };
  const auto& ops = facts.capture().host_ops;
  const auto& activities = facts.capture().activities;
  // Without shapes, the same number of blocks of the longest kernel is the same size.
  std::map<std::uint32_t, KernelInstance> longest;
  for (const auto& kernel : facts.kernels)
    if (const auto row = around.of(kernel); row != kNoRow) {
      auto& most = longest.emplace(row, kernel).first->second;
      if (kernel.duration_ns > most.duration_ns) most = kernel;
    }
  std::map<std::tuple<Text, Text, Text, std::int64_t>, Calls> sizes;
  for (const auto& kernel : facts.kernels) {
    const auto row = around.of(kernel);
    if (row == kNoRow) continue;
    const auto most = longest.at(row).activity;
    const std::int64_t blocks = std::int64_t{activities.grid_x[most]} * activities.grid_y[most];
    auto& calls = sizes[{ops.name[row], ops.shapes[row], activities.name[most], blocks}];
    calls.time += kernel.exclusive_ns;
    calls.rows[row] += kernel.exclusive_ns;
    calls.spans.push_back({activities.start_ns[kernel.activity],
                           activities.start_ns[kernel.activity] + kernel.duration_ns});
  }
  const auto most =
      std::ranges::max_element(sizes, {}, [](const auto& one) { return one.second.time; });
  if (most == sizes.end() || most->second.rows.size() < kOften) return {};
  const Calls& calls = most->second;
  if (calls.time < kLong * static_cast<Nanos>(calls.rows.size())) return {};
  const Nanos again = calls.time - calls.rows.begin()->second;
  if (facts.of_window(again) < 0.1 || !facts.repeats(normalised(calls.spans), 0.01)) return {};
  const auto shape = facts.capture().text(std::get<1>(most->first));
  return Said{
      fmt::format("{} factors a matrix of the same size {} times, {} of the time. If the matrix is "
                  "the same, factor it once and reuse the factors for each solve.",
                  facts.capture().text(std::get<0>(most->first)), calls.rows.size(),
                  say_share(facts.of_window(again))),
      fmt::format("{} of kernels after the first{}{}", say_time(again),
                  shape.empty() ? "" : ", sizes ", shape),
      again};
}

}  // namespace gf::trace_rules
