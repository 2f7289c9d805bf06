// Rules about how a model and its training loop are written.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyze/findings/around.h"
#include "analyze/findings/facts.h"
#include "analyze/findings/rules.h"

namespace gf::trace_rules {
namespace {

constexpr std::string_view kCompilesProgram = "PjRtCApiClient::CompileAndLoad(";

/// The program that XLA compiles most often, "jit_step", and how often.
std::pair<std::string_view, std::int64_t> compiled_again(const Facts& facts) {
  std::unordered_map<std::uint32_t, std::int64_t> times;
  if (!any_host_name(facts, host_is::compiles_program)) return {};
  for (const auto name : facts.capture().host_ops.name)
    if (facts.context.names.host(name) & host_is::compiles_program)
      ++times[static_cast<std::uint32_t>(name)];
  const auto most = std::ranges::max_element(times, {}, [](const auto& one) { return one.second; });
  auto program = facts.capture().text(static_cast<Text>(most->first));
  program.remove_prefix(kCompilesProgram.size());
  return {program.substr(0, program.find(')')), most->second};
}

/// The number of times that torch.compile recompiled the same function, by the names of what ran:
/// "Torch-Compiled Region: 0/2" is the third of function 0. Once more is common: sizes become
/// dynamic.
std::int64_t variants_of_function(const Facts& facts) {
  constexpr std::string_view kRegion = "Torch-Compiled Region: ";
  std::unordered_map<std::string_view, std::int64_t> variants;
  std::int64_t most = 0;
  for (const Text text : facts.host_names()) {
    const auto name = facts.capture().text(text);
    const auto slash = name.find('/');
    if (name.starts_with(kRegion) && slash != std::string_view::npos)
      most = std::max(most, ++variants[name.substr(0, slash)]);
  }
  return most;
}

/// Steps of the window that some of the spans touch for a percent of their length or more.
std::int64_t steps_with(const Facts& facts, const Intervals& spans) {
  std::int64_t count = 0;
  for (const auto& step : facts.analysis.window.steps) {
    const Interval whole{step.start_ns, step.start_ns + step.duration_ns};
    if (shared_length(spans, {whole}) * 100 >= whole.length()) ++count;
  }
  return count;
}

/// The size that changes from one compilation to the next: "size 1 of aten::clone is 1017, 1016",
/// of the first inputs that compiled functions get. Empty where shapes are not known or the same.
std::string changed_size(const Facts& facts) {
  const auto& ops = facts.capture().host_ops;
  const auto& parent = facts.context.attribution.op_parent;
  std::unordered_set<std::uint32_t> seen;
  std::vector<std::vector<std::string>> sizes;  // of the first tensor, call by call
  for (std::uint32_t thread = 0; thread < facts.context.host.threads(); ++thread)
    for (const auto row : facts.context.host.ops(thread)) {
      if (ops.kind[row] != HostKind::op || ops.shapes[row] == Text::none) continue;
      auto region = kNoRow;
      for (auto up = parent[row]; up != kNoRow; up = parent[up])
        if (word_of_op(facts, up) & (host_is::compiled_region | host_is::compiled_graph))
          region = up;
      if (region == kNoRow || !seen.insert(region).second) continue;
      // "[[16,1017,2048],[...]]": the numbers of the first list.
      const auto shapes = facts.capture().text(ops.shapes[row]);
      std::vector<std::string> numbers;
      std::string number;
      for (const char c : shapes) {
        if (c >= '0' && c <= '9')
          number += c;
        else if (!number.empty())
          numbers.push_back(std::exchange(number, {}));
        if (c == ']' && !numbers.empty()) break;
      }
      if (!numbers.empty()) sizes.push_back(std::move(numbers));
    }
  for (std::size_t at = 0; sizes.size() > 1 && at < sizes.front().size(); ++at) {
    std::string values = sizes.front()[at];
    std::size_t different = 1;
    for (std::size_t call = 1; call < sizes.size() && different < 4; ++call) {
      if (sizes[call].size() != sizes.front().size()) return {};
      if (sizes[call][at] == sizes[call - 1][at]) continue;
      values += ", " + sizes[call][at];
      ++different;
    }
    if (different > 1) return fmt::format("size {} of its input changes ({})", at, values);
  }
  return {};
}

}  // namespace

std::optional<Said> recompilation(const Facts& facts) {
  const auto& ops = facts.capture().host_ops;
  Intervals spans;
  const bool any = any_host_name(facts, host_is::compiles);
  for (std::size_t i = 0; any && i < ops.size(); ++i)
    if (ops.kind[i] == HostKind::op && facts.context.names.host(ops.name[i]) & host_is::compiles)
      spans.push_back(span_of(ops, i));
  spans = normalised(std::move(spans));
  const auto steps = steps_with(facts, spans);
  const auto [program, times] = compiled_again(facts);
  constexpr std::int64_t kOften = 3;  // once for a step, once for the last of an epoch
  if (steps < 2 && times < kOften && variants_of_function(facts) < kOften) return {};
  Nanos time = 0;
  for (const auto& line : facts.context.devices) time += covered(spans, line.window);
  if (facts.of_window(time) < 0.02) return {};
  facts.claim_idle(spans);
  if (!program.empty())
    return Said{
        fmt::format("XLA compiles {} {} times, {} of the time: sizes, types or static arguments "
                    "change from call to call. Keep them constant, or pad to a few lengths; "
                    "jax.log_compiles shows what is compiled.",
                    program, times, say_share(facts.of_window(time))),
        fmt::format("{} of compiling", say_time(time)), time};
  const auto changed = changed_size(facts);
  return Said{
      fmt::format("torch.compile recompiles {} of the time{}. Keep shapes, types and Python values "
                  "constant, pad to a few lengths, or compile with dynamic=True; "
                  "TORCH_LOGS=recompiles shows what changed.",
                  say_share(facts.of_window(time)),
                  changed.empty() ? changed : fmt::format(": {}", changed)),
      facts.analysis.window.steps.empty()
          ? say_time(time)
          : fmt::format("{} in {} of {}", say_time(time), steps,
                        plural(facts.analysis.window.steps.size(), "step")),
      time};
}

namespace {

/// Kernels of an optimizer's steps.
struct Updates {
  explicit Updates(const Facts& all) : facts(all), found(all) {}
  void take(const KernelInstance& kernel, std::uint32_t step) {
    found.take(kernel);
    rows.insert(kernel.activity);
    calls.insert(facts.context.attribution.op[kernel.activity]);
    operators.insert(static_cast<std::uint32_t>(facts.operation(kernel)));
    if (step != kNoRow) steps.insert(step);
  }
  const Facts& facts;
  Found found;
  std::unordered_set<std::uint32_t> rows, steps, calls, operators;
};

}  // namespace

std::optional<Said> unfused_optimiser(const Facts& facts) {
  Updates single(facts);
  // Updates of many tensors, but too few to fill the device: groups with few tensors each.
  Updates grouped(facts);
  std::int64_t all = 0;
  AroundNamed around(facts, host_is::optimizer_step);
  const auto updates_of = facts.kernels_of([](const LaunchGroup& group) {
    return group.phase == TrainingPhase::optimizer && group.type != LayerType::communication;
  });
  for (const auto [kernel, group] : updates_of) {
    ++all;
    if (!(group.word & kernel_is::many_tensors))
      single.take(kernel, around.of(kernel));
    else if (group.blocks_per_sm < 1)
      grouped.take(kernel, around.of(kernel));
  }
  constexpr std::int64_t kMany = 50;
  const bool by_group = grouped.found.count > single.found.count;
  const auto& kernels = by_group ? grouped : single;
  const auto& found = kernels.found;
  const auto updates = static_cast<std::int64_t>(kernels.steps.size());
  // A group calls each operator about once. Some groups have rates of their own: of layers.
  const auto groups = kernels.calls.size() / std::max<std::size_t>(1, kernels.operators.size());
  if (updates == 0 || found.count * 2 < all || found.count < kMany * updates ||
      (by_group && static_cast<std::int64_t>(groups) < kMany * updates))
    return {};
  const Nanos idle =
      facts.idle_before([&](const IdlePiece& piece) { return kernels.rows.contains(piece.next); });
  const Nanos time = found.time + idle;
  if (facts.of_window(time) < 0.05) return {};
  const auto share = say_share(facts.of_window(time));
  return Said{
      by_group
          ? fmt::format("The optimizer updates about {} small groups of tensors one by one: {} "
                        "kernels per step, {} of the time. Put parameters with the same settings "
                        "into one group.",
                        static_cast<std::int64_t>(groups) / updates, found.count / updates, share)
          : fmt::format("The optimizer updates one tensor at a time: {} kernels per step, {} of "
                        "the time. Use one that updates many tensors per kernel{}.",
                        found.count / updates, share,
                        facts.pytorch() ? " (fused=True, or foreach=True)" : ""),
      fmt::format("{} of kernels and {} of idle before them; most under {}", say_time(found.time),
                  say_time(idle), say_names(found.operators)),
      time};
}

std::optional<Said> dense_embedding_gradients(const Facts& facts) {
  Found found(facts);
  AroundNamed around(facts, host_is::embedding_backward);
  Nanos fills = 0;
  for (std::size_t at = 0; at < facts.kernels.size(); ++at) {
    const auto& kernel = facts.kernels[at];
    if (around.of(kernel) == kNoRow) continue;
    found.take(kernel);
    if (facts.group_at(at).word & kernel_is::fills) fills += kernel.exclusive_ns;
  }
  // A table that is small beside what a step takes from it is soon set to zero.
  if (!found.reaches(0.05, 0) || fills * 4 < found.time) return {};
  for (const auto& kernel : found.kernels) facts.also_gone(kernel.activity);
  return Said{
      fmt::format("{} of kernel time computes dense embedding gradients, as large as "
                  "their tables, although a step touches few rows. Use sparse gradients "
                  "(sparse=True with SparseAdam or SGD), or a fused table.",
                  found.share()),
      fmt::format("{} of {} kernel time", say_time(found.time), say_time(facts.kernel_busy)),
      found.time};
}

}  // namespace gf::trace_rules
