#include "analyze/replay/mendings.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <span>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyze/attribution/attribution.h"
#include "analyze/findings/eager_attention.h"
#include "analyze/replay/device_work.h"
#include "analyze/traits.h"
#include "analyze/work/ceilings.h"
#include "analyze/work/kernel_traits.h"
#include "analyze/work/kernel_work.h"
#include "core/strings.h"
#include "core/text.h"

namespace gf {

namespace {

/// Where no operation is recorded, as of CuPy or C++: the call that launched what is gone goes,
/// too, with the way to it from the call before.
void remove_calls(const Context& context, const std::vector<std::uint32_t>& gone,
                  Mending& mending) {
  constexpr Nanos kOnTheWay = 100 * kNsPerUs;
  const auto& calls = context.capture.api_calls;
  for (const auto row : gone) {
    const auto call = context.launches[row];
    if (context.attribution.op[row] != kNoRow || call == kNoRow) continue;
    const Nanos start = calls.start_ns[call];
    const auto all = context.host.calls(calls.thread[call]);
    const auto own = std::ranges::lower_bound(
        all, start, {}, [&](std::uint32_t one) { return calls.start_ns[one]; });
    Nanos from = start;
    if (own != all.begin()) {
      const auto before = *std::prev(own);
      from = std::max(calls.start_ns[before] + calls.duration_ns[before], start - kOnTheWay);
    }
    mending.host[calls.thread[call]].push_back(
        {std::min(from, start), start + calls.duration_ns[call]});
  }
}

/// Takes away the host's time in operations that launch nothing but what is gone, and returns them.
std::vector<std::uint32_t> remove_operations(const Context& context,
                                             const std::vector<std::uint32_t>& gone, Interval span,
                                             Mending& mending) {
  struct Launched {
    std::int32_t gone = 0;
    std::uint32_t all : 31 = 0, any : 1 = 0;  // any: also what is not counted
  };
  std::vector<std::uint32_t> removed;
  if (gone.empty()) return removed;
  const auto& ops = context.capture.host_ops;
  const auto& owner = context.attribution.op;
  const auto& starts = context.capture.activities.start_ns;
  std::vector<Launched> by_op(ops.size());
  // Memory is set for the kernels of the same operation.
  const auto& kinds = context.capture.activities.kind;
  for (std::uint32_t row = 0; row < starts.size(); ++row)
    if (owner[row] != kNoRow && starts[row] >= span.start && starts[row] < span.end) {
      Launched& launched = by_op[owner[row]];
      if (kinds[row] != ActivityKind::memset) ++launched.all;
      launched.any = 1;
    }
  for (const auto row : gone)
    if (owner[row] != kNoRow) {
      ++by_op[owner[row]].gone;
      by_op[owner[row]].any = 1;
    }
  for (std::uint32_t thread = 0; thread < context.host.threads(); ++thread) {
    const auto rows = begin_inside(context.host.ops(thread), ops.start_ns, span);
    Intervals spans;  // the last first
    // The operations that one encloses come after it.
    for (const auto op : std::views::reverse(rows)) {
      const Launched own = by_op[op];
      if (!own.any) continue;
      if (static_cast<std::int32_t>(own.all) <= own.gone && ops.kind[op] == HostKind::op) {
        spans.push_back(span_of(ops, op));
        removed.push_back(op);
      }
      if (const auto parent = context.attribution.op_parent[op]; parent != kNoRow) {
        by_op[parent].all += own.all;
        by_op[parent].gone += own.gone;
        by_op[parent].any = 1;
      }
    }
    if (spans.empty()) continue;
    Intervals& host = mending.host[thread];
    host.insert(host.end(), spans.rbegin(), spans.rend());
  }
  remove_calls(context, gone, mending);
  for (auto& [thread, spans] : mending.host) spans = normalised(std::move(spans));
  return removed;
}

/// Works one kind of mending out, kernel by kernel.
class Mender {
 public:
  Mender(const Context& context, const work::KernelWorks& works, Interval span)
      : context_(context), works_(works), span_(span) {
    // Kernels launched in it may run after it.
    if (span_.end != INT64_MAX) span_.end += span_.length();
    for (std::size_t number = 0; number < context.devices.size(); ++number)
      product_of_device_[context.devices[number].device] = work::product_of(context, number);
  }

  Mending of(With what) {
    switch (what) {
      case With::fused_optimizer:
        fuse_optimizer();
        break;
      case With::fused_attention:
        fuse_attention();
        break;
      case With::fused_elementwise:
        fuse_elementwise();
        break;
      case With::padded_sizes:
        each_kernel([&](std::size_t i) { pad(i); });
        break;
      case With::tensor_cores:
        each_kernel([&](std::size_t i) { use_tensor_cores(i); });
        break;
      case With::channels_last:
        keep_layout();
        break;
      case With::one_layout:
        each_kernel([&](std::size_t i) {
          if (type(i) == LayerType::copy) remove(i, {0, 0.05, 0.4});
        });
        break;
      case With::sparse_gradients:
        each_of_embeddings([&](std::size_t i) { remove(i, {0, 0.05, 0.3}); });
        break;
    }
    remove_operations(context_, gone_, span_, mending_);
    return std::move(mending_);
  }

  Mending on(const Product& gpu) {
    each_kernel([&](std::size_t i) {
      const Product* own = product(i);
      if (own && type(i) != LayerType::communication) take(i, exchanged(i, *own, gpu));
    });
    return std::move(mending_);
  }

 private:
  template <class Use>
  void each_kernel(Use&& use) {
    for (std::size_t i = 0; i < context_.kernels.size(); ++i) {
      const Nanos start = context_.capture.activities.start_ns[activity(i)];
      if (start >= span_.start && start < span_.end) use(i);
    }
  }
  std::uint32_t activity(std::size_t i) const { return context_.kernels[i].activity; }
  NameWord is(std::size_t i) const {
    return context_.names.kernel(context_.capture.activities.name[activity(i)]);
  }
  bool is_fused(std::size_t i) const {
    return (is(i) & (kernel_is::many_tensors | kernel_is::fused_chain)) != 0;
  }
  LayerType type(std::size_t i) const { return context_.attribution.layer[activity(i)]; }
  TrainingPhase phase(std::size_t i) const {
    return static_cast<TrainingPhase>(context_.attribution.phase[activity(i)]);
  }
  double seconds(std::size_t i) const {
    return static_cast<double>(context_.capture.activities.duration_ns[activity(i)]) * 1e-9;
  }
  const work::KernelWork* work_of(std::size_t i) const {
    return i < works_.kernels.size() ? &works_.kernels[i] : nullptr;
  }
  const Product* product(std::size_t i) const {
    const auto found = product_of_device_.find(context_.capture.activities.device[activity(i)]);
    return found == product_of_device_.end() ? nullptr : found->second;
  }
  /// Uses each kernel that the backward pass of an embedding launches.
  template <class Use>
  void each_of_embeddings(Use&& use) {
    const auto& ops = context_.capture.host_ops;
    std::vector<bool> backward(ops.size());
    for (std::uint32_t op = 0; op < ops.size(); ++op)
      backward[op] = (context_.names.host(ops.name[op]) & host_is::embedding_backward) != 0;
    const auto inside = with_inner(std::move(backward), context_.host, context_.attribution);
    each_kernel([&](std::size_t i) {
      const auto op = context_.attribution.op[activity(i)];
      if (op != kNoRow && inside[op]) use(i);
    });
  }

  void take(std::size_t i, MendedTime time) { mending_.kernels.push_back({activity(i), time}); }
  /// The kernel is gone, and with it what operations took of the host for it alone.
  void remove(std::size_t i, MendedTime time = {0, 0, 0}) {
    take(i, time);
    gone_.push_back(activity(i));
  }
  void remove_from_host(std::uint32_t op) {
    const auto& ops = context_.capture.host_ops;
    mending_.host[ops.thread[op]].push_back(span_of(ops, op));
  }

  /// A product at these shares of the peak of a data type; without sizes or a known peak `unknown`.
  MendedTime at_peak(std::size_t i, std::string_view number_type, MendedTime share,
                     MendedTime unknown) const {
    const auto* known = work_of(i);
    const Product* gpu = product(i);
    const auto peak = gpu ? stated_peak(*gpu, number_type) : std::nullopt;
    const double time = seconds(i);
    if (!known || !(known->flops > 0) || !peak || time <= 0) return unknown;
    double least = 0;  // its bytes have to move
    if (gpu->dram_bytes_per_s > 0)
      least = std::max(0.0, known->bytes) / static_cast<double>(gpu->dram_bytes_per_s);
    auto part = [&](double reached) {
      return std::min(1.0, std::max(known->flops / (*peak * reached), least) / time);
    };
    return {part(share.best), part(share.about), part(share.worst)};
  }

  /// A kernel takes as much longer as the ceiling that holds it is lower: that of products, or of
  /// memory. A short one is held by neither.
  MendedTime exchanged(std::size_t i, const Product& from, const Product& to) const {
    constexpr double kShort = 5e-6;
    auto ratio = [](double mine, double other) { return mine > 0 && other > 0 ? mine / other : 1; };
    const double memory =
        ratio(static_cast<double>(from.dram_bytes_per_s), static_cast<double>(to.dram_bytes_per_s));
    double held = memory;
    double other = ratio(from.sm_count * from.clock_hz, to.sm_count * to.clock_hz);
    const auto* known = work_of(i);
    if (known && known->multiplies) {
      const double peak = stated_peak(from, name_of(known->type)).value_or(0);
      other = ratio(peak, stated_peak(to, name_of(known->type)).value_or(0));
      const double bytes = std::max(0.0, known->bytes);
      if (known->flops * static_cast<double>(from.dram_bytes_per_s) > bytes * peak)
        std::swap(held, other);
    }
    if (seconds(i) < kShort) return {std::min(1.0, held), 1, std::max(1.0, held)};
    return {std::min(held, other), held, std::max(held, other)};
  }

  /// Kernels that load one or two elements at a time run as aligned ones do.
  void pad(std::size_t i) {
    const auto* known = work_of(i);
    if (!known || !known->multiplies || known->type == work::Element::fp32 ||
        !work::loads_unaligned(is(i)))
      return;
    take(i, at_peak(i, name_of(known->type), {0.75, 0.6, 0.4}, {0.15, 0.25, 0.5}));
  }

  void use_tensor_cores(std::size_t i) {
    const auto* known = work_of(i);
    if (!known || !known->multiplies || known->type != work::Element::fp32) return;
    const Product* gpu = product(i);
    const bool tf32 = !gpu || tensor_path(gpu->chip, TensorType::tf32);
    if (!tf32 && !tensor_path(gpu->chip, TensorType::fp16)) return;
    const bool convolution = type(i) == LayerType::convolution;  // reaches less of the peak
    take(i, at_peak(i, tf32 ? "tf32" : "fp16",
                    convolution ? MendedTime{0.6, 0.28, 0.15} : MendedTime{0.75, 0.55, 0.35},
                    {0.12, 0.2, 0.4}));
  }

  /// AdamW one tensor at a time passes over memory some 20 times, fused seven times.
  void fuse_optimizer() {
    each_kernel([&](std::size_t i) {
      if (phase(i) != TrainingPhase::optimizer || type(i) == LayerType::communication ||
          is_fused(i))
        return;
      take(i, {0.2, 0.35, 0.5});
    });
    const auto& ops = context_.capture.host_ops;
    for (std::uint32_t op = 0; op < ops.size(); ++op)
      if (context_.names.host(ops.name[op]) & host_is::optimizer_step) remove_from_host(op);
  }

  /// The products in one kernel, without what lies between them.
  void fuse_attention() {
    const EagerAttention attention(context_);
    if (attention.count() == 0) return;
    each_kernel([&](std::size_t i) {
      if (!attention.holds(context_.kernels[i])) return;
      const auto* known = work_of(i);
      if (!known || !known->multiplies) return remove(i);
      take(i, at_peak(i, name_of(known->type), {0.6, 0.4, 0.25}, {0.5, 1, 1}));
    });
  }

  bool passes_over_memory(std::size_t i) {
    const auto kind = type(i);
    return (kind == LayerType::elementwise || kind == LayerType::activation ||
            kind == LayerType::random || kind == LayerType::normalisation ||
            kind == LayerType::softmax || kind == LayerType::copy ||
            kind == LayerType::reduction) &&
           !is_fused(i);
  }

  /// Kernels of one stream that follow each other and could be one; `small` ones after its last,
  /// which works on something larger.
  struct Chain {
    std::vector<std::size_t> kernels, small;
  };

  /// One kernel takes at least as long as the longest.
  void fuse(std::vector<std::size_t>& kernels) {
    if (kernels.size() > 1) {
      double sum = 0, longest = 0;
      for (const auto i : kernels) {
        sum += seconds(i);
        longest = std::max(longest, seconds(i));
      }
      if (const double own = seconds(kernels.front()); own > 0)
        take(kernels.front(), {longest / own, (longest + 0.1 * (sum - longest)) / own,
                               (longest + 0.6 * (sum - longest)) / own});
      for (const auto i : std::span(kernels).subspan(1)) remove(i);
    }
    kernels.clear();
  }
  void fuse(Chain& chain) {
    fuse(chain.kernels);
    fuse(chain.small);
  }

  /// Kernels that a library fuses have one size: a kernel that takes much less works on something
  /// else, but for one or two between large ones, such as the root of a norm before a division.
  void add_to(Chain& chain, std::size_t i) {
    constexpr double kAlike = 8;  // times as long
    constexpr std::size_t kBetween = 4;
    auto much_less = [&](std::size_t one, std::size_t other) {
      return seconds(one) * kAlike < seconds(other);
    };
    if (!chain.kernels.empty() && much_less(i, chain.kernels.back())) {
      if (!chain.small.empty() &&
          (much_less(i, chain.small.back()) || much_less(chain.small.back(), i)))
        fuse(chain.small);
      chain.small.push_back(i);
      return;
    }
    if (!chain.kernels.empty() &&
        (much_less(chain.kernels.back(), i) || chain.small.size() > kBetween))
      fuse(chain);
    chain.kernels.insert(chain.kernels.end(), chain.small.begin(), chain.small.end());
    chain.small.clear();
    chain.kernels.push_back(i);
  }

  void fuse_elementwise() {
    constexpr std::size_t kLongestChain = 40;
    std::map<std::pair<std::uint32_t, std::int64_t>, Chain> chains;
    const auto& activities = context_.capture.activities;
    const auto& steps = context_.window.all_steps;
    auto step_of = [&](std::size_t i) {
      return std::ranges::upper_bound(steps, activities.start_ns[activity(i)], {},
                                      &StepInfo::start_ns) -
             steps.begin();
    };
    each_kernel([&](std::size_t i) {
      auto& chain = chains[{activities.device[activity(i)], activities.stream[activity(i)]}];
      if (!passes_over_memory(i)) return fuse(chain);
      if (!chain.kernels.empty() &&
          (chain.kernels.size() >= kLongestChain || step_of(i) != step_of(chain.kernels.front()) ||
           phase(i) != phase(chain.kernels.front())))
        fuse(chain);
      add_to(chain, i);
    });
    for (auto& [stream, chain] : chains) fuse(chain);
  }

  void keep_layout() {
    each_kernel([&](std::size_t i) {
      const auto kind = type(i);
      if ((is(i) & kernel_is::converts_layout) != 0)
        take(i, {0, 0, 0});
      else if ((kind == LayerType::normalisation || kind == LayerType::pooling) &&
               (is(i) & kernel_is::nhwc) == 0)
        take(i, {0.3, 0.5, 1});
    });
  }

  const Context& context_;
  const work::KernelWorks& works_;
  Interval span_;
  std::unordered_map<std::uint32_t, const Product*> product_of_device_;
  Mending mending_;
  std::vector<std::uint32_t> gone_;  // activities
};

}  // namespace

Mending mending_of(const Context& context, const work::KernelWorks& works, With what,
                   Interval span) {
  return Mender(context, works, span).of(what);
}

Mending mending_of(const Context& context, const work::KernelWorks& works, const Product& gpu,
                   Interval span) {
  return Mender(context, works, span).on(gpu);
}

namespace {

/// Kernels whose launch lies before the recording are gone where nearly all of their kind are.
void add_unrecorded(const Context& context, std::vector<std::uint32_t>& gone) {
  constexpr std::int64_t kNearlyAll = 10;  // all but one in so many
  struct Kind {
    std::int64_t all = 0, gone = 0;
  };
  const auto& activities = context.capture.activities;
  std::map<std::tuple<Text, std::int32_t, std::int32_t, std::int32_t>, Kind> kinds;
  auto kind_of = [&](std::uint32_t row) {
    return std::tuple(activities.name[row], activities.grid_x[row], activities.grid_y[row],
                      activities.grid_z[row]);
  };
  for (const auto row : gone) ++kinds[kind_of(row)].gone;
  std::vector<std::uint32_t> unrecorded;
  for (std::uint32_t row = 0; row < activities.size() && !kinds.empty(); ++row) {
    const auto kind = kinds.find(kind_of(row));
    if (kind == kinds.end()) continue;
    if (context.launches[row] == kNoRow && context.attribution.op[row] == kNoRow)
      unrecorded.push_back(row);
    else
      ++kind->second.all;
  }
  std::erase_if(unrecorded, [&](std::uint32_t row) {
    const Kind& kind = kinds.at(kind_of(row));
    return (kind.all - kind.gone) * kNearlyAll > kind.all;
  });
  gone.insert(gone.end(), unrecorded.begin(), unrecorded.end());
}

/// Adds what goes with operations: memory that they set, and what autograd computes for them, if
/// they did not only run again. Adds it to `gone`; whether there is backward work.
bool add_what_goes_along(const Context& context, const std::vector<std::uint32_t>& removed,
                         std::vector<std::uint32_t>& gone) {
  if (removed.empty()) return false;
  const auto& attribution = context.attribution;
  const bool again = std::ranges::any_of(gone, [&](std::uint32_t row) {
    return attribution.phase[row] == static_cast<std::uint8_t>(TrainingPhase::recompute);
  });
  const std::unordered_set<std::uint32_t> ops(removed.begin(), removed.end());
  std::unordered_set<std::uint32_t> known(gone.begin(), gone.end());
  bool backward = false;
  for (std::uint32_t row = 0; row < attribution.op.size(); ++row) {
    const bool set = context.capture.activities.kind[row] == ActivityKind::memset &&
                     ops.contains(attribution.op[row]);
    const bool follows = !again && ops.contains(attribution.forward_op[row]);
    if ((set || follows) && known.insert(row).second) {
      gone.push_back(row);
      backward = backward || follows;
    }
  }
  return backward;
}

}  // namespace

Mending mending_of(const Context& context, const ClaimedTime& claimed, Interval span) {
  constexpr MendedTime kGone{0, 0.05, 0.4};  // what comes in its place takes some of it
  std::vector<std::uint32_t> gone = claimed.activities;
  gone.insert(gone.end(), claimed.merged.begin(), claimed.merged.end());
  const auto& activities = context.capture.activities;
  auto in_claimed = [&](Nanos time) { return member_at(claimed.host, time) != nullptr; };
  for (std::uint32_t row = 0; row < activities.size() && !claimed.host.empty(); ++row) {
    if (activities.kind[row] != ActivityKind::memcpy) continue;
    const auto call = context.launches[row];
    if (in_claimed(activities.start_ns[row]) ||
        (call != kNoRow && in_claimed(context.capture.api_calls.start_ns[call])))
      gone.push_back(row);
  }
  add_unrecorded(context, gone);
  Mending mending;
  const auto removed = remove_operations(context, gone, span, mending);
  if (add_what_goes_along(context, removed, gone)) {
    mending.host.clear();
    add_what_goes_along(context, remove_operations(context, gone, span, mending), gone);
  }
  std::unordered_map<std::uint32_t, MendedTime> kernels;
  for (const auto row : gone) kernels[row] = kGone;
  for (const auto row : claimed.merged) kernels[row] = {0, 0, 0};
  for (const auto& [row, time] : claimed.changed) kernels[row] = time;
  mending.kernels.assign(kernels.begin(), kernels.end());
  return mending;
}

}  // namespace gf
