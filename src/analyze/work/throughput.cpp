#include "analyze/work/throughput.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

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

/// Operations that tell the items of a step, best first, and the input whose leading size counts.
struct Teller {
  std::string_view name;
  std::size_t input;
};
constexpr std::array kTellers{Teller{"aten::embedding", 1},   Teller{"aten::_embedding_bag", 2},
                              Teller{"aten::convolution", 0}, Teller{"aten::linear", 0},
                              Teller{"aten::addmm", 1},       Teller{"aten::mm", 0}};

/// Of a look-up with indices of batch x sequence the tokens are the indices.
std::optional<Items> items_of(const Call& call, std::size_t teller) {
  const Tensor* input = call.tensor(kTellers[teller].input);
  if (!input || input->dims.empty() || input->dims[0] < 1) return std::nullopt;
  Items items;
  items.items = input->dims[0];
  items.from = fmt::format("{} {}", call.name, shapes_text(call));
  if (teller == 0 && input->dims.size() != 2) return std::nullopt;
  if (teller == 0) items.tokens = whole_bounded(input->elements());
  return items;
}

/// A row of host_ops and its place in kTellers.
using Telling = std::pair<std::uint32_t, std::size_t>;

/// The operations of kTellers, by their start.
std::vector<Telling> telling_operations(const Capture& capture) {
  std::unordered_map<std::uint32_t, std::size_t> by_name;
  for (std::size_t teller = 0; teller < kTellers.size(); ++teller)
    if (const Text name = capture.strings.find(kTellers[teller].name); name != Text::none)
      by_name.emplace(static_cast<std::uint32_t>(name), teller);
  std::vector<Telling> found;
  const auto& ops = capture.host_ops;
  for (std::uint32_t op = 0; op < ops.size(); ++op)
    if (const auto at = by_name.find(static_cast<std::uint32_t>(ops.name[op]));
        at != by_name.end() && ops.kind[op] == HostKind::op)
      found.emplace_back(op, at->second);
  std::stable_sort(found.begin(), found.end(), [&](const Telling& left, const Telling& right) {
    return ops.start_ns[left.first] < ops.start_ns[right.first];
  });
  return found;
}

/// By the best teller that begins in a span, the first of its name; of look-ups the one with most
/// indices, as positions are looked up too.
std::optional<Items> items_in(const Capture& capture, const std::vector<Telling>& operations,
                              Interval span) {
  const auto& starts = capture.host_ops.start_ns;
  const auto from = std::lower_bound(
      operations.begin(), operations.end(), span.start,
      [&](const Telling& telling, Nanos start) { return starts[telling.first] < start; });
  std::optional<Items> best;
  std::size_t best_teller = kTellers.size();
  Nanos first = INT64_MAX;
  for (auto at = from; at != operations.end() && starts[at->first] < span.end; ++at) {
    const auto [op, teller] = *at;
    const Nanos begins = starts[op];
    if (teller > best_teller) continue;
    const auto call = call_of(capture, op);
    const auto items = call ? items_of(*call, teller) : std::nullopt;
    if (!items) continue;
    const bool more = teller == 0 && best && items->tokens > best->tokens;
    const bool earlier = begins < first && (teller != 0 || !best || items->tokens >= best->tokens);
    if (teller < best_teller || more || earlier) {
      best = items;
      best_teller = teller;
      first = begins;
    }
  }
  return best;
}

std::optional<Items> items_of_steps(const Context& context) {
  std::optional<Items> items;
  const auto operations = telling_operations(context.capture);
  const auto& steps = context.window.steps;
  // The host can be steps ahead of the device: a step that shows nothing says nothing.
  for (const auto& step : steps) {
    const auto of_step = items_in(context.capture, operations,
                                  {step.start_ns, end_of(step.start_ns, step.duration_ns)});
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
  const auto shown = items_of_steps(context);
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
          static_cast<double>(works.instances[i].exclusive_ns);
  }
  // Of a part of the products alone it would be too little.
  constexpr double kMostUnknown = 0.02;
  if (flops > 0 && unknown <= kMostUnknown * known) answer.flops_per_item = flops / items;
  return answer;
}

}  // namespace gf::work
