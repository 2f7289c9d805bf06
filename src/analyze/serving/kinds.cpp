// Time, work and waits of all steps of a kind.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analyze/sampled/levels.h"
#include "analyze/serving/parts.h"
#include "analyze/work/ceilings.h"
#include "analyze/work/kernel_work.h"
#include "model/metrics.h"

namespace gf::serving {

namespace {

template <class Value>
using ByKind = std::array<Value, kStepKinds>;

std::size_t place(StepKind kind) { return static_cast<std::size_t>(kind); }

/// The step that a moment lies in; steps come by start.
const EngineStep* step_at(const std::vector<EngineStep>& steps, Nanos time) {
  const auto after = std::ranges::upper_bound(steps, time, {}, &EngineStep::start_ns);
  if (after == steps.begin()) return nullptr;
  const auto& step = *std::prev(after);
  return time < span_of(step).end ? &step : nullptr;
}

/// f(step, span) for the parts of a span that lie in steps.
template <class F>
void each_part(const std::vector<EngineStep>& steps, Interval span, F&& apply) {
  auto step = std::ranges::upper_bound(steps, span.start, {}, &EngineStep::start_ns);
  if (step != steps.begin()) --step;
  for (; step != steps.end() && step->start_ns < span.end; ++step) {
    const Interval both{std::max(span.start, step->start_ns),
                        std::min(span.end, span_of(*step).end)};
    if (both.end > both.start) apply(*step, both);
  }
}

/// Idle time of steps by kind and cause.
using IdleByKind = ByKind<std::map<IdleReason, IdleCause>>;
IdleByKind idle_by_kind(const Context& context, const std::vector<EngineStep>& steps) {
  IdleByKind idle;
  for (const auto& line : context.devices)
    for (const auto& piece : line.idle_pieces)
      each_part(steps, piece.span(), [&](const EngineStep& step, Interval both) {
        auto& cause = idle[place(step.kind)][piece.reason];
        cause.cause = piece.reason;
        cause.ns += both.length();
        ++cause.gaps;
      });
  return idle;
}

/// DRAM throughput by kind, where samples of it fill half of the kind's time.
ByKind<Share> dram_by_kind(const Context& context, const std::vector<EngineStep>& steps) {
  constexpr double kEnough = 0.5;
  ByKind<Share> dram;
  const Text metric = context.capture.strings.find("dram.active"_metric);
  if (metric == Text::none || context.devices.empty()) return dram;
  ByKind<double> sum{}, covered{}, whole{};
  for (const auto& step : steps)
    whole[place(step.kind)] +=
        static_cast<double>(step.duration_ns) * static_cast<double>(context.devices.size());
  const Interval window{context.window.start_ns, context.window.end_ns};
  for (const auto& line : context.devices)
    each_sample_span(context.capture, window, {line.device, {metric}},
                     [&](std::uint32_t, Text, Nanos start, Nanos end, double value) {
                       if (!std::isfinite(value)) return;
                       each_part(steps, {start, end}, [&](const EngineStep& step, Interval both) {
                         const auto ns = static_cast<double>(both.length());
                         sum[place(step.kind)] += value * ns;
                         covered[place(step.kind)] += ns;
                       });
                     });
  for (std::size_t kind = 0; kind < kStepKinds; ++kind)
    if (covered[kind] > 0 && covered[kind] >= kEnough * whole[kind])
      dram[kind] = sum[kind] / covered[kind];
  return dram;
}

/// Model FLOPs utilization by kind, where the sizes of nine tenths of the products are known.
ByKind<Share> mfu_by_kind(const Context& context, const std::vector<EngineStep>& steps) {
  constexpr double kEnough = 0.9;
  ByKind<Share> mfu;
  const auto* works = work::works_of(context);
  if (!works || works->kernels.size() != context.kernels.size()) return mfu;
  double peak = 0;  // of all devices
  for (std::size_t number = 0; number < context.devices.size(); ++number) {
    const auto* product = work::product_of(context, number);
    if (!product) return mfu;
    peak +=
        stated_peak(*product, work::peak_type(*product, works->kernels, 0, works->kernels.size()))
            .value_or(0);
  }
  ByKind<double> flops{}, multiplying{}, known{}, ns{};
  for (const auto& step : steps) ns[place(step.kind)] += static_cast<double>(step.duration_ns);
  for (std::size_t i = 0; i < context.kernels.size(); ++i) {
    const auto& instance = context.kernels[i];
    const auto& kernel = works->kernels[i];
    const auto* step = step_at(steps, context.capture.activities.start_ns[instance.activity]);
    if (!step) continue;
    const auto kind = place(step->kind);
    const auto took = static_cast<double>(instance.exclusive_ns);
    flops[kind] += kernel.flops - kernel.recomputed;
    if (kernel.multiplies) multiplying[kind] += took;
    if (kernel.multiplies && kernel.known) known[kind] += took;
  }
  for (std::size_t kind = 0; kind < kStepKinds; ++kind)
    if (peak > 0 && ns[kind] > 0 && known[kind] > 0 && known[kind] >= kEnough * multiplying[kind] &&
        work::is_possible(flops[kind], peak, known[kind]))
      mfu[kind] = flops[kind] / (peak * ns[kind] * 1e-9);
  return mfu;
}

/// Share of the tokens that are of no request, where half of the steps say both numbers.
Share padding_of(const std::vector<EngineStep>& steps, StepKind kind) {
  std::int64_t all = 0, say = 0, run = 0, real = 0;
  for (const auto& step : steps) {
    if (step.kind != kind) continue;
    ++all;
    if (!step.run_tokens || !step.tokens || *step.run_tokens < *step.tokens) continue;
    ++say;
    run += *step.run_tokens;
    real += *step.tokens;
  }
  if (run == 0 || 2 * say < all) return std::nullopt;
  return static_cast<double>(run - real) / static_cast<double>(run);
}

void add(std::optional<std::int64_t>& sum, std::optional<std::int64_t> value) {
  if (sum && value)
    *sum += *value;
  else
    sum.reset();
}

}  // namespace

std::vector<StepKindUse> use_by_kind(const Context& context, const std::vector<EngineStep>& steps,
                                     std::int64_t engines, const Joules& joules) {
  ByKind<StepKindUse> uses;
  ByKind<Lengths> lengths;
  Nanos all = 0;
  for (auto& use : uses) use.tokens = use.run_tokens = 0;
  for (const auto& step : steps) {
    StepKindUse& use = uses[place(step.kind)];
    ++use.steps;
    use.graphs += step.graph;
    use.duration_ns += step.duration_ns;
    all += step.duration_ns;
    lengths[place(step.kind)].add(step.duration_ns, 1);
    add(use.run_tokens, step.run_tokens);
    add(use.tokens, step.tokens);
  }
  auto idle = idle_by_kind(context, steps);
  const auto dram = dram_by_kind(context, steps);
  const auto mfu = engines > 1 ? ByKind<Share>{} : mfu_by_kind(context, steps);
  const auto energy = joules.by_kind(steps);
  std::vector<StepKindUse> known;
  for (std::size_t kind = 0; kind < kStepKinds; ++kind) {
    StepKindUse& use = uses[kind];
    if (use.steps == 0) continue;
    use.kind = static_cast<StepKind>(kind);
    if (all > 0) use.share = static_cast<double>(use.duration_ns) / static_cast<double>(all);
    use.p50_ns = lengths[kind].at(50);
    use.p90_ns = lengths[kind].at(90);
    use.p99_ns = lengths[kind].at(99);
    use.padding = padding_of(steps, use.kind);
    use.dram = dram[kind];
    use.mfu = mfu[kind];
    if (!energy.empty()) use.joules = energy[kind];
    const auto tokens = use.tokens ? use.tokens : use.run_tokens;
    if (use.joules && tokens.value_or(0) > 0)
      use.joules_per_token = *use.joules / static_cast<double>(*tokens);
    for (auto& [reason, cause] : idle[kind]) {
      use.idle_ns += cause.ns;
      use.idle.push_back(std::move(cause));
    }
    std::ranges::stable_sort(use.idle, std::greater{}, &IdleCause::ns);
    known.push_back(std::move(use));
  }
  std::ranges::stable_sort(known, std::greater{}, &StepKindUse::duration_ns);
  return known;
}

}  // namespace gf::serving
