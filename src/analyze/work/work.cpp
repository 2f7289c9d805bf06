#include "analyze/work/work.h"

#include <algorithm>
#include <map>
#include <optional>

#include "analyze/host_nesting.h"
#include "analyze/report_alone.h"
#include "analyze/utilization/kernel_levels.h"
#include "analyze/work/ceilings.h"
#include "analyze/work/kernel_work.h"
#include "analyze/work/sections.h"
#include "model/metrics.h"

namespace gf {
namespace {

using work::KernelWorks;

void add_totals(const Context& context, const KernelWorks& works, WorkUse& use) {
  std::map<std::string_view, double> by_type;
  double flops = 0, others = 0, bytes = 0;
  bool any = false;
  for (const auto& call : works.calls) {
    if (!(call.in_window > 0)) continue;
    any = true;
    flops += call.in_window * call.of->work.flops;
    others += call.in_window * call.of->work.other_flops;
    bytes += call.in_window * call.of->work.bytes;
    if (call.of->work.flops > 0)
      by_type[name_of(call.type)] += call.in_window * call.of->work.flops;
  }
  if (!any) {
    use.why_missing = context.capture.host_ops.empty()
                          ? "the capture has no operators"
                          : "no operator has recorded shapes (torch.profiler: record_shapes=True)";
    return;
  }
  use.flops = flops;
  use.other_flops = others;
  use.bytes = bytes;
  for (const auto& [type, operations] : by_type)
    use.types.push_back({std::string(type), operations});
  std::stable_sort(use.types.begin(), use.types.end(),
                   [](const auto& left, const auto& right) { return left.flops > right.flops; });
  double known = 0, all = 0;
  for (std::size_t i = 0; i < works.kernels.size(); ++i) {
    const auto ns = static_cast<double>(context.kernels[i].exclusive_ns);
    all += ns;
    if (works.kernels[i].known) known += ns;
  }
  if (all > 0) use.coverage = known / all;
}

const Product* first_product(const Context& context) {
  for (std::size_t number = 0; number < context.devices.size(); ++number)
    if (const auto* product = work::product_of(context, number)) return product;
  return nullptr;
}

constexpr std::string_view kRung = "tensor.flops"_metric;

/// The deepest rung by the model: operations of products over what the tensor cores could do in the
/// time. Kernels that multiply and whose work is not known make an interval.
std::optional<Level> modelled_rung(const Context& context, const KernelWorks& works,
                                   std::size_t first, std::size_t last, const Product& product,
                                   Nanos window) {
  StatedPeaks peaks(product);
  double seconds = 0, asked = 0, on_tensor_cores = 0, unknown = 0, covered = 0, busy = 0;
  for (std::size_t i = first; i < last; ++i) {
    const auto& kernel = works.kernels[i];
    const double ns = static_cast<double>(context.kernels[i].exclusive_ns);
    busy += ns;
    if (kernel.known || !kernel.multiplies) covered += ns;
    if (kernel.multiplies && !kernel.known) unknown += ns;
    const bool tensor_cores = kernel.flops > 0 && kernel.type != work::Element::fp32 &&
                              kernel.type != work::Element::none;
    const auto peak = tensor_cores ? peaks.of(kernel.type) : std::nullopt;
    if (!peak) continue;
    seconds += std::min(kernel.flops / *peak, ns * 1e-9);
    asked += kernel.flops / *peak;
    on_tensor_cores += ns;
  }
  if (!work::is_possible(asked, 1, on_tensor_cores)) return std::nullopt;
  if (!(covered > 0) || window <= 0 || works.calls.empty()) return std::nullopt;
  const double whole = static_cast<double>(window) * 1e-9;
  Level level;
  level.id = kRung;
  level.value = level.low = seconds / whole;
  level.high = std::min(1.0, (seconds + unknown * 1e-9) / whole);
  level.coverage = covered / busy;
  level.formula =
      "model: operations of products by recorded shapes / (stated dense peak of their type * "
      "window)";
  return level;
}

/// True if the device has the level and no value for it.
template <class Levels>
auto missing_rung(Levels& levels) {
  const auto rung = std::ranges::find(levels, kRung, &Level::id);
  return rung != levels.end() && !rung->value ? &*rung : nullptr;
}

/// Puts the model's rung in the place of one without a value; what to collect stays said.
void put_rung(std::optional<Level> level, std::vector<Level>& levels) {
  Level* rung = missing_rung(levels);
  if (!level || !rung) return;
  level->why_missing = std::move(rung->why_missing);
  *rung = std::move(*level);
}

/// A report without a trace has kernels alone: what its counters say of them.
void measure_report(const Context& context, const KernelWorks& works, const work::Roof& roof,
                    WorkUse& use) {
  use.roofline = work::roofline(context, works, {}, roof, 0);
  std::erase_if(use.roofline,
                [](const RoofPoint& point) { return point.scope != RoofScope::kernel; });
  use.why_missing =
      "operators, MFU, items and copies: a counter report has kernels alone (for all: gpufathom "
      "work TRACE --counters REPORT)";
  const bool operations = std::ranges::any_of(
      use.roofline, [](const RoofPoint& point) { return point.flops_per_s.has_value(); });
  if (!operations)
    use.why_missing += "; FLOP: collect sm__ops_path_tensor_src_*.sum (regex: in ncu --metrics)";
  if (use.roofline.empty())
    use.why_missing += "; bytes: collect dram__bytes_read.sum and dram__bytes_write.sum";
}

}  // namespace

ModelledRungs rungs_by_model(const Context& context, const KernelWorks& works,
                             const Analysis& analysis) {
  const Product* product = first_product(context);
  if (works.calls.empty() || !product || !missing_rung(analysis.levels)) return {};
  ModelledRungs rungs;
  Nanos window = 0;
  std::size_t first = 0;
  const auto devices = std::min(context.devices.size(), analysis.devices.size());
  for (std::size_t number = 0; number < devices; ++number) {
    std::size_t last = first;
    for (const auto row : context.devices[number].rows)
      if (context.capture.activities.kind[row] == ActivityKind::kernel) ++last;
    const Nanos span = context.devices[number].window.length();
    rungs.devices.push_back(modelled_rung(context, works, first, last, *product, span));
    window += span;
    first = last;
  }
  rungs.all = devices == 1 && first == works.kernels.size()
                  ? rungs.devices.front()
                  : modelled_rung(context, works, 0, works.kernels.size(), *product, window);
  return rungs;
}

void put(ModelledRungs rungs, Analysis& analysis) {
  for (std::size_t number = 0; number < rungs.devices.size(); ++number)
    put_rung(std::move(rungs.devices[number]), analysis.devices[number].levels);
  put_rung(std::move(rungs.all), analysis.levels);
}

WorkUse measure_work(const Context& context, const Analysis& analysis, const CeilingsFile* ceilings,
                     const HostNesting* nesting) {
  WorkUse use;
  use.source = analysis.source;
  use.counters_source = analysis.counters_source;
  use.window = analysis.window;
  const KernelLevels levels(context.capture, context.matching);
  const KernelWorks* known = work::works_of(context);
  std::optional<KernelWorks> own;
  const KernelWorks& works = known ? *known : own.emplace(work::kernel_works(context));
  use.ceilings = ceilings_of(first_product(context), ceilings);
  const work::Roof roof(context, use.ceilings);
  use.stalls = work::stall_use(context, levels, analysis);
  if (is_report_alone(analysis)) {
    measure_report(context, works, roof, use);
    return use;
  }
  add_totals(context, works, use);
  std::optional<HostNesting> own_nesting;
  if (!nesting) nesting = &own_nesting.emplace(context.capture, context.host, context.names);
  use.operators = work::operator_table(context, works, roof, *nesting);
  use.sequences = work::kernel_sequences(context, works, roof);
  const auto most = context.options.max_rows;
  if (most > 0 && use.sequences.size() > most) use.sequences.resize(most);
  constexpr std::size_t kPointsOfAScope = 200;
  use.roofline = work::roofline(context, works, use.operators, roof, kPointsOfAScope);
  use.transfers = work::transfer_rates(context, use.ceilings);
  use.accounts = work::work_accounts(context, levels, analysis, works);
  if (analysis.work.peak_flops_per_s && !analysis.work.mfu)
    use.why_missing =
        "MFU: kernels would have done more operations than their time allows at the peak, so the "
        "sizes or the GPU's name are not those of this run";
  use.throughput = known ? analysis.work.throughput : work::throughput(context, analysis, works);
  use.memory = work::memory_use(context, works, use.throughput);
  for (const auto& level : analysis.levels)
    if (level.id == kRung && level.formula.starts_with("model:")) use.levels.push_back(level);
  use.operators = work::longest_operators(std::move(use.operators), context.options.max_rows);
  return use;
}

}  // namespace gf
