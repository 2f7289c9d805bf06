#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/steps/steps.h"
#include "analyze/traits.h"
#include "analyze/work/bounded.h"
#include "analyze/work/operands.h"
#include "analyze/work/sections.h"
#include "core/strings.h"
#include "model/sample_block.h"

namespace gf::work {
namespace {

/// Operations that tell the items of a step, best first, and the input whose leading size counts.
struct Teller {
  std::string_view name;
  std::size_t input;
  std::string_view kind;
};
constexpr std::array kTellers{
    Teller{"aten::embedding", 1, "sequences"}, Teller{"aten::_embedding_bag", 2, "bags"},
    Teller{"aten::convolution", 0, "images"},  Teller{"aten::linear", 0, "rows"},
    Teller{"aten::addmm", 1, "rows"},          Teller{"aten::mm", 0, "rows"}};

/// A convolution of images is the first of a pass: what comes later has more channels.
bool takes_images(const Call& call, std::size_t teller) {
  constexpr std::int64_t kMostColors = 4;
  const Tensor* input = call.tensor(kTellers[teller].input);
  return kTellers[teller].kind == "images" && input && input->dims.size() == 4 &&
         input->dims[1] <= kMostColors;
}

/// A look-up with indices of batch x sequence has its tokens as indices.
std::optional<StepItems> items_of(const Call& call, std::size_t teller) {
  const Tensor* input = call.tensor(kTellers[teller].input);
  if (!input || input->dims.empty() || input->dims[0] < 1) return std::nullopt;
  StepItems items;
  items.items = input->dims[0];
  items.from = fmt::format("{} {}", call.name, shapes_text(call));
  items.kind = kTellers[teller].kind;
  items.told_by = fmt::format("{} by {} of {} sizes", items.kind, call.name, input->dims.size());
  if (teller == 0 && input->dims.size() != 2) return std::nullopt;
  if (teller == 0) items.tokens = whole_bounded(input->elements());
  return items;
}

/// A row of host_ops and its place in kTellers.
using Telling = std::pair<std::uint32_t, std::size_t>;

/// Without those that hold another of their name: they handed their call on (a tensor of a Python
/// class), and the sizes of the inner one are those that ran.
void keep_innermost(const Capture& capture, std::vector<Telling>& by_start) {
  const auto& ops = capture.host_ops;
  std::vector<std::uint32_t> last(capture.threads.size() * kTellers.size(), kNoRow);
  std::vector<bool> hands_on(ops.size(), false);
  for (const auto& [op, teller] : by_start) {
    const auto at = ops.thread[op] * kTellers.size() + teller;
    if (at >= last.size()) continue;
    if (last[at] != kNoRow &&
        ops.start_ns[op] < end_of(ops.start_ns[last[at]], ops.duration_ns[last[at]]))
      hands_on[last[at]] = true;
    last[at] = op;
  }
  std::erase_if(by_start, [&](const Telling& telling) { return hands_on[telling.first]; });
}

/// The operations of kTellers, by their start.
std::vector<Telling> telling_operations(const Capture& capture) {
  constexpr auto kTellsNothing = kTellers.size();
  std::vector<std::uint8_t> teller_of(capture.strings.size(), kTellsNothing);  // by name
  for (std::size_t teller = 0; teller < kTellers.size(); ++teller)
    if (const Text name = capture.strings.find(kTellers[teller].name); name != Text::none)
      teller_of[static_cast<std::uint32_t>(name)] = static_cast<std::uint8_t>(teller);
  std::vector<Telling> found;
  const auto& ops = capture.host_ops;
  for (std::uint32_t op = 0; op < ops.size(); ++op)
    if (const auto teller = teller_of[static_cast<std::uint32_t>(ops.name[op])];
        teller != kTellsNothing && ops.kind[op] == HostKind::op)
      found.emplace_back(op, teller);
  std::stable_sort(found.begin(), found.end(), [&](const Telling& left, const Telling& right) {
    const Nanos first = ops.start_ns[left.first], second = ops.start_ns[right.first];
    return first != second ? first < second
                           : ops.duration_ns[left.first] > ops.duration_ns[right.first];
  });
  keep_innermost(capture, found);
  return found;
}

/// When batches are copied to GPUs in pieces, by functions of Python, whose names have no
/// namespace. Looked for when first asked.
class Deals {
 public:
  explicit Deals(const Capture& capture) : capture_(capture) {}
  bool any_in(Interval span) {
    if (!std::exchange(known_, true)) find();
    const auto deal = std::ranges::lower_bound(starts_, span.start);
    return deal != starts_.end() && *deal < span.end;
  }

 private:
  void find() {
    OncePerText deals_out(capture_.strings, [](std::string_view name) {
      constexpr NameWord kBoth = host_is::asks_for_input | host_is::splits;
      return name.find(':') == name.npos && (host_word(name) & kBoth) == kBoth;
    });
    const auto& ops = capture_.host_ops;
    for (std::uint32_t op = 0; op < ops.size(); ++op)
      if (ops.kind[op] == HostKind::op && deals_out(ops.name[op]))
        starts_.push_back(ops.start_ns[op]);
    std::ranges::sort(starts_);
  }

  const Capture& capture_;
  bool known_ = false;
  std::vector<Nanos> starts_;
};

/// Where nn.DataParallel deals a batch out to GPUs, a thread for each of them runs the forward pass
/// on its share: this adds what the others than that of `best` say first of their own.
bool add_shares(const Capture& capture, std::span<const Telling> operations, const Telling& best,
                Deals& deals, Interval span, StepItems& items) {
  const auto& ops = capture.host_ops;
  std::map<std::uint32_t, StepItems> shares;  // by thread
  for (const auto& [op, teller] : operations) {
    // Autograd's threads run products without numbers of their own.
    const bool forward = (ops.sequence[op] >= 0) == (ops.sequence[best.first] >= 0);
    if (teller != best.second || ops.thread[op] == ops.thread[best.first] || !forward) continue;
    if (shares.empty() && !deals.any_in(span)) return false;
    const auto call = call_of(capture, op);
    const auto share = call ? items_of(*call, teller) : std::nullopt;
    if (!share) continue;
    const auto [known, added] = shares.try_emplace(ops.thread[op], *share);
    if (!added && share->tokens > known->second.tokens) known->second = *share;
  }
  for (const auto& [thread, share] : shares) {
    items.items += share.items;
    items.tokens += share.tokens;
  }
  if (!shares.empty()) items.from += fmt::format(", of {} replicas together", shares.size() + 1);
  return !shares.empty();
}

/// By the best teller that begins in a span, the first of its name; of look-ups the one with most
/// indices, as positions are looked up too. Images that pass one batch after the other add up.
std::optional<StepItems> items_in(const Capture& capture, const std::vector<Telling>& operations,
                                  Deals& deals, Interval span) {
  const auto& starts = capture.host_ops.start_ns;
  const auto from = std::lower_bound(
      operations.begin(), operations.end(), span.start,
      [&](const Telling& telling, Nanos start) { return starts[telling.first] < start; });
  std::optional<StepItems> best;
  std::size_t best_teller = kTellers.size();
  std::map<std::pair<std::uint32_t, std::string>, std::int64_t> images;  // passes of a thread
  std::uint32_t best_op = kNoRow;
  Nanos first = INT64_MAX;
  auto at = from;
  for (; at != operations.end() && starts[at->first] < span.end; ++at) {
    const auto [op, teller] = *at;
    const Nanos begins = starts[op];
    if (teller > best_teller) continue;
    const auto call = call_of(capture, op);
    const auto items = call ? items_of(*call, teller) : std::nullopt;
    if (!items) continue;
    if (takes_images(*call, teller)) ++images[{capture.host_ops.thread[op], items->from}];
    const bool more = teller == 0 && best && items->tokens > best->tokens;
    const bool earlier = begins < first && (teller != 0 || !best || items->tokens >= best->tokens);
    if (teller < best_teller || more || earlier) {
      best = items;
      best_teller = teller;
      first = begins;
      best_op = op;
    }
  }
  if (!best) return best;
  if (add_shares(capture, {from, at}, {best_op, best_teller}, deals, span, *best)) return best;
  // On its own thread: autograd's runs a pass again where activations are checkpointed.
  const auto passes = images.find({capture.host_ops.thread[best_op], best->from});
  if (passes == images.end() || passes->second < 2) return best;
  best->items *= passes->second;
  best->from += fmt::format(", {} times", passes->second);
  return best;
}

bool alike(const StepItems& left, const StepItems& right) {
  return left.items == right.items && left.tokens == right.tokens;
}

std::optional<StepItems> items_of_steps(const Capture& capture, const WindowInfo& window,
                                        const std::vector<Telling>& operations) {
  std::optional<StepItems> items;
  Deals deals(capture);
  // The host can be steps ahead of the device: a step that shows nothing says nothing.
  for (const auto& step : window.steps) {
    const auto of_step = items_in(capture, operations, deals,
                                  {step.start_ns, end_of(step.start_ns, step.duration_ns)});
    if (!of_step) continue;
    if (items && !alike(*items, *of_step)) return std::nullopt;
    if (!items) items = of_step;
  }
  return items;
}

/// Without steps: what most calls of the best teller say, as a window can hold several programs.
std::optional<StepItems> items_of_most(const Capture& capture, const WindowInfo& window,
                                       const std::vector<Telling>& operations) {
  constexpr double kMostShare = 0.6;
  std::size_t best = kTellers.size();
  std::map<std::int64_t, std::pair<std::int64_t, StepItems>> votes;  // how many say so
  std::int64_t total = 0;
  for (const auto& [op, teller] : operations) {
    const Nanos start = capture.host_ops.start_ns[op];
    if (teller > best || start < window.start_ns || start >= window.end_ns) continue;
    const auto call = call_of(capture, op);
    const auto items = call ? items_of(*call, teller) : std::nullopt;
    if (!items) continue;
    if (teller < best) {
      best = teller;
      votes.clear();
      total = 0;
    }
    auto& [count, of_vote] = votes[items->items];
    if (++count == 1) of_vote = *items;
    ++total;
  }
  for (auto& [number, vote] : votes)
    if (static_cast<double>(vote.first) >= kMostShare * static_cast<double>(total))
      return std::move(vote.second);
  return std::nullopt;
}

}  // namespace

std::optional<StepItems> items_of_window(const Capture& capture, const WindowInfo& window) {
  const auto operations = telling_operations(capture);
  if (window.steps.empty()) return items_of_most(capture, window, operations);
  return items_of_steps(capture, window, operations);
}

Throughput throughput(const Context& context, const Analysis& analysis, const KernelWorks& works) {
  Throughput answer;
  answer.steps = static_cast<std::int64_t>(context.window.steps.size());
  if (answer.steps == 0) return answer;
  const auto counted = ordinary_steps(context.window.steps);
  Nanos sum = 0;
  for (const auto& step : counted) sum += step.duration_ns;
  const double seconds = static_cast<double>(sum) * 1e-9 / static_cast<double>(counted.size());
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
    const auto phase = context.attribution.phase[context.kernels[i].activity];
    if (static_cast<TrainingPhase>(phase) != TrainingPhase::recompute)
      flops += kernel.flops - kernel.recomputed;
    if (kernel.multiplies)
      (kernel.known ? known : unknown) += static_cast<double>(context.kernels[i].exclusive_ns);
  }
  // A part of the products alone would give too little.
  constexpr double kMostUnknown = 0.02;
  if (flops > 0 && unknown <= kMostUnknown * known) answer.flops_per_item = flops / items;
  return answer;
}

}  // namespace gf::work
