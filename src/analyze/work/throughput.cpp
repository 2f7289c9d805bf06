#include "analyze/work/throughput.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/work/bounded.h"
#include "analyze/work/operator_table.h"
#include "model/sample_block.h"

namespace gf::work {
namespace {

struct Items {
  std::int64_t items = 0, tokens = 0;
  std::string from;
  bool operator==(const Items& other) const {
    return items == other.items && tokens == other.tokens;
  }
};

/// How well an operation tells the items of a step: the lower the better; 0: not at all.
int rank_of(const KnownCall& call) {
  if (call.rule->name == "embedding") return 1;
  if (call.rule->name == "_embedding_bag") return 2;
  if (call.rule->family == WorkFamily::convolution) return 3;
  if (call.rule->family == WorkFamily::product) return 4;
  return 0;
}

/// Of a look-up with indices of batch x sequence the tokens are the indices.
std::optional<Items> items_of(const KnownCall& call) {
  Items items;
  items.from = fmt::format("{} {}", call.call.name, shapes_text(call.call));
  const int rank = rank_of(call);
  if (rank == 1) {
    const Tensor* index = call.call.tensor(1);
    if (!index || index->dims.size() != 2 || index->dims[0] < 1) return std::nullopt;
    items.items = index->dims[0];
    items.tokens = whole_bounded(index->elements());
    return items;
  }
  const Tensor* input = nullptr;
  if (rank == 2)
    input = call.call.tensor(2);
  else if (rank == 3)
    input = call.call.tensor(0);
  else if (call.rule->name == "addmm")
    input = call.call.tensor(1);
  else if (rank == 4)
    input = call.call.tensor(0);
  if (!input || input->dims.empty() || input->dims[0] < 1) return std::nullopt;
  items.items = input->dims[0];
  return items;
}

/// The first call of the best rank that begins in a span; of look-ups the one with most indices,
/// as positions are looked up too.
std::optional<Items> items_in(const Context& context, const KernelWorks& works, Interval span) {
  const auto& start = context.capture.host_ops.start_ns;
  const KnownCall* best = nullptr;
  double most = 0;
  for (const auto& call : works.calls) {
    const int rank = rank_of(call);
    const Nanos begins = start[call.host_op];
    if (rank == 0 || begins < span.start || begins >= span.end) continue;
    const double size = rank == 1 && call.call.tensor(1) ? call.call.tensor(1)->elements() : 0;
    const int best_rank = best ? rank_of(*best) : 9;
    const bool earlier = best && begins < start[best->host_op];
    if (rank < best_rank || (rank == best_rank && (size > most || (size == most && earlier)))) {
      best = &call;
      most = size;
    }
  }
  if (!best) return std::nullopt;
  return items_of(*best);
}

std::optional<Items> items_of_steps(const Context& context, const KernelWorks& works) {
  std::optional<Items> items;
  const auto& steps = context.window.steps;
  // The host can be steps ahead of the device: a step that shows nothing says nothing.
  for (const auto& step : steps) {
    const auto of_step =
        items_in(context, works, {step.start_ns, end_of(step.start_ns, step.duration_ns)});
    if (!of_step) continue;
    if (items && !(*items == *of_step)) return std::nullopt;
    if (!items) items = of_step;
  }
  return items;
}

}  // namespace

Throughput throughput(const Context& context, const Analysis& analysis, const KernelWorks& works) {
  Throughput answer;
  answer.steps = static_cast<std::int64_t>(context.window.steps.size());
  if (answer.steps == 0) return answer;
  Nanos first = INT64_MAX, last = INT64_MIN;
  for (const auto& step : context.window.steps) {
    first = std::min(first, step.start_ns);
    last = std::max(last, end_of(step.start_ns, step.duration_ns));
  }
  const double seconds =
      static_cast<double>(last - first) * 1e-9 / static_cast<double>(answer.steps);
  answer.step_ns = seconds * 1e9;
  const auto shown = items_of_steps(context, works);
  if (context.options.batch > 0) {
    answer.items = context.options.batch;
    answer.items_source = ItemsSource::option;
  } else if (shown) {
    answer.items = shown->items;
    answer.items_source = ItemsSource::shapes;
    answer.items_from = shown->from;
  }
  if (shown && shown->tokens > 0) answer.tokens = shown->tokens;
  if (seconds > 0 && answer.items)
    answer.items_per_s = static_cast<double>(*answer.items) / seconds;
  if (seconds > 0 && answer.tokens)
    answer.tokens_per_s = static_cast<double>(*answer.tokens) / seconds;
  if (!answer.items) return answer;
  const double items = static_cast<double>(*answer.items) * static_cast<double>(answer.steps);
  double joules = 0;
  for (const auto& device : analysis.energy.devices)
    if (device.step) joules += device.step->joules;
  if (joules > 0) answer.joules_per_item = joules / static_cast<double>(*answer.items);
  double flops = 0;
  for (const auto& kernel : works.kernels) flops += kernel.flops - kernel.recomputed;
  if (flops > 0) answer.flops_per_item = flops / items;
  return answer;
}

}  // namespace gf::work
