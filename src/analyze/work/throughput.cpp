#include "analyze/work/throughput.h"

#include <algorithm>

#include "analyze/work/items.h"
#include "model/sample_block.h"

namespace gf::work {

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
  const auto shown = items_of_window(context.capture, context.window);
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
  double flops = 0, known = 0, unknown = 0;
  for (std::size_t i = 0; i < works.kernels.size(); ++i) {
    const auto& kernel = works.kernels[i];
    flops += kernel.flops - kernel.recomputed;
    if (kernel.multiplies)
      (kernel.call == kNoCall ? unknown : known) +=
          static_cast<double>(context.kernels[i].exclusive_ns);
  }
  // Of a part of the products alone it would be too little.
  constexpr double kMostUnknown = 0.02;
  if (flops > 0 && unknown <= kMostUnknown * known) answer.flops_per_item = flops / items;
  return answer;
}

}  // namespace gf::work
