// Rules about how a model and its training loop are written.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "analyze/attribution/attribution.h"
#include "analyze/findings/facts.h"
#include "analyze/findings/rules.h"
#include "core/text.h"

namespace gf::trace_rules {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// A host operation that compiles or tunes, of torch.compile.
bool compiles(std::string_view name) {
  return name.ends_with("(dynamo_timed)") || name.starts_with("CachingAutotuner.") ||
         name == "dynamo" || name == "entire_frame_compile";
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

bool of_many_tensors(std::string_view kernel) {
  return contains(kernel, "multi_tensor") || contains(kernel, "multitensor") ||
         kernel.starts_with("triton_");
}

/// The innermost operation or mark around a launch, or the launch's own operation, whose name is
/// wanted.
class Around {
 public:
  Around(const Facts& facts, bool (*wanted)(std::string_view))
      : facts_(facts), wanted_(facts.texts(), wanted), found_(facts.context.attribution) {}
  /// Row of host_ops, or kNoRow.
  std::uint32_t of(const KernelInstance& kernel) {
    const auto& names = facts_.capture().host_ops.name;
    const auto op = facts_.context.attribution.op[kernel.activity];
    if (op == kNoRow) return kNoRow;
    constexpr std::uint32_t kNone = kNoRow - 1;
    const auto row = found_.of(op, [&](std::uint32_t outer, std::uint32_t inner) {
      if (wanted_(names[inner])) return inner;
      if (outer == kNoRow) return kNone;
      return outer;
    });
    if (row == kNone) return kNoRow;
    return row;
  }

 private:
  const Facts& facts_;
  OncePerText<bool (*)(std::string_view)> wanted_;
  Inherited found_;
};

bool is_optimiser_step(std::string_view name) { return name.starts_with("Optimizer.step"); }

bool backward_of_embedding(std::string_view name) {
  return contains(name, "embedding_dense_backward") || contains(name, "EmbeddingBackward");
}

}  // namespace

std::optional<Finding> recompilation(const Facts& facts) {
  const auto& ops = facts.capture().host_ops;
  Intervals spans;
  OncePerText compiling(facts.texts(), compiles);
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (ops.kind[i] == HostKind::op && compiling(ops.name[i]))
      spans.push_back({ops.start_ns[i], ops.start_ns[i] + std::max<Nanos>(0, ops.duration_ns[i])});
  spans = normalised(std::move(spans));
  const auto steps = steps_with(facts, spans);
  if (steps < 2) return {};
  Nanos time = 0;
  for (const auto& line : facts.context.devices) time += covered(spans, line.window);
  if (facts.of_window(time) < 0.02) return {};
  return Finding{
      FindingId::recompilation,
      fmt::format("torch.compile recompiles {} of the time. Keep shapes, types and Python values "
                  "constant, pad to a few lengths, or compile with dynamic=True; "
                  "TORCH_LOGS=recompiles shows what changed.",
                  say_share(facts.of_window(time))),
      fmt::format("{} in {} of {}", say_time(time), steps,
                  plural(static_cast<std::int64_t>(facts.analysis.window.steps.size()), "step")),
      time};
}

std::optional<Finding> unfused_optimiser(const Facts& facts) {
  std::int64_t single = 0, all = 0;
  Nanos time = 0;
  TimeBy operators(facts);
  std::unordered_set<std::uint32_t> kernels, steps;
  Around around(facts, is_optimiser_step);
  OncePerText many(facts.texts(), of_many_tensors);
  for (const auto& kernel : facts.kernels) {
    if (facts.phase(kernel) != TrainingPhase::optimizer ||
        facts.type(kernel) == LayerType::communication)
      continue;
    ++all;
    if (many(facts.kernel_name(kernel))) continue;
    if (const auto step = around.of(kernel); step != kNoRow) steps.insert(step);
    ++single;
    time += kernel.exclusive_ns;
    kernels.insert(kernel.activity);
    operators.add_operator(kernel, kernel.exclusive_ns);
  }
  const auto updates = static_cast<std::int64_t>(steps.size());
  if (updates == 0) return {};
  const Nanos idle =
      facts.idle_before([&](const IdlePiece& piece) { return kernels.contains(piece.next); });
  if (single * 2 < all || single < 50 * updates || facts.of_window(time + idle) < 0.05) return {};
  return Finding{FindingId::unfused_optimiser,
                 fmt::format("The optimizer updates one tensor at a time: {} kernels per step, {} "
                             "of the time. Use one that updates many tensors per kernel{}.",
                             single / updates, say_share(facts.of_window(time + idle)),
                             when(facts.pytorch(), " (fused=True, or foreach=True)")),
                 fmt::format("{} of kernels and {} of idle before them; most under {}",
                             say_time(time), say_time(idle), say_names(operators.largest())),
                 time + idle};
}

std::optional<Finding> dense_embedding_gradients(const Facts& facts) {
  Nanos time = 0;
  Around around(facts, backward_of_embedding);
  for (const auto& kernel : facts.kernels)
    if (around.of(kernel) != kNoRow) time += kernel.exclusive_ns;
  if (facts.of_kernels(time) < 0.05) return {};
  return Finding{FindingId::dense_embedding_gradients,
                 fmt::format("{} of kernel time computes dense embedding gradients, as large as "
                             "their tables, of which a step touches few rows. Use sparse gradients "
                             "(sparse=True with SparseAdam or SGD), or a fused table.",
                             say_share(facts.of_kernels(time))),
                 fmt::format("{} of {} kernel time", say_time(time), say_time(facts.kernel_busy)),
                 time};
}

}  // namespace gf::trace_rules
