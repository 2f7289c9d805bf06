#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "analyze/layers/layers.h"
#include "analyze/utilization/instances.h"
#include "analyze/utilization/warp_states.h"
#include "analyze/utilization/waterfall.h"
#include "analyze/work/bounded.h"
#include "analyze/work/ceilings.h"
#include "analyze/work/sections.h"
#include "core/apportion.h"
#include "core/strings.h"
#include "model/kernel_name.h"

namespace gf::work {
namespace {

/// The sums of a point. A measured sum holds only when every kernel was counted.
struct Sum {
  Nanos ns = 0;
  std::int64_t kernels = 0;
  double flops = 0, bytes = 0, measured_flops = 0, measured_bytes = 0;
  bool flops_counted = true, bytes_counted = true, modelled = true;
  bool fewer_operations = false;          // a convolution by FFT or Winograd is in it
  bool products = false;                  // tensor counters say nothing of other operations
  std::array<double, kElements> types{};  // operations by type

  void add(const KernelWork& kernel, double counted_flops, Element counted_type,
           double counted_bytes, Nanos time) {
    ns += time;
    ++kernels;
    flops += kernel.flops + kernel.other_flops;
    bytes += kernel.bytes;
    modelled = modelled && kernel.known;
    products = products || kernel.flops > 0 || counted_flops > 0;
    flops_counted = flops_counted && !std::isnan(counted_flops);
    bytes_counted = bytes_counted && !std::isnan(counted_bytes);
    if (flops_counted) measured_flops += counted_flops;
    if (bytes_counted) measured_bytes += counted_bytes;
    // The model knows the operands; of unknown ones the counter tells the type.
    if (kernel.type != Element::none)
      types[static_cast<std::size_t>(kernel.type)] += kernel.flops;
    else if (counted_type != Element::none)
      types[static_cast<std::size_t>(counted_type)] += counted_flops;
  }
};

std::string_view main_type(const Sum& sum) {
  std::string_view type;
  double most = 0;
  for (std::size_t i = 0; i < sum.types.size(); ++i) {
    const auto name = name_of(static_cast<Element>(i));
    if (sum.types[i] > most || (sum.types[i] == most && most > 0 && name < type)) type = name;
    most = std::max(most, sum.types[i]);
  }
  return type;
}

/// The ceiling of operations for a data type: the tensor cores' where they take it.
std::optional<double> compute_ceiling(const std::vector<Ceiling>& ceilings, std::string_view type) {
  if (!type.empty())
    if (const auto tensor = ceiling(ceilings, "tensor." + std::string(type))) return tensor;
  return ceiling(ceilings, "fma.fp32");
}

/// True if bytes came or went faster than device memory moves them by its data sheet, by no more
/// than L2 holds before and after: then a part of them never left it.
bool stayed_in_cache(const RoofPoint& point, double seconds, std::int64_t kernels,
                     const Roof& roof) {
  if (point.bytes_source != WorkSource::model || roof.l2_bytes <= 0) return false;
  const auto times = static_cast<double>(kernels);
  const double over = point.bytes - roof.stated_memory * (seconds + times * roof.clock_step);
  return roof.stated_memory > 0 && over > 0 && over <= 2 * roof.l2_bytes * times;
}

void place_under_roof(RoofPoint& point, std::int64_t kernels, bool fewer_operations,
                      const Roof& roof) {
  const double seconds = static_cast<double>(point.ns) * 1e-9;
  if (!(seconds > 0)) return;
  if (point.flops_source != WorkSource::none) point.flops_per_s = point.flops / seconds;
  if (point.bytes_source != WorkSource::none) point.bytes_per_s = point.bytes / seconds;
  if (point.flops_per_s && point.bytes > 0) point.intensity = point.flops / point.bytes;
  const auto compute = compute_ceiling(roof.ceilings, point.type),
             memory = ceiling(roof.ceilings, "dram");
  const double of_compute = compute && point.flops_per_s ? *point.flops_per_s / *compute : 0;
  const double of_memory = memory && point.bytes_per_s ? *point.bytes_per_s / *memory : 0;
  if (of_compute <= 0 && of_memory <= 0) return;
  if (fewer_operations && point.flops_source == WorkSource::model) {
    point.no_share = NoShare::fewer_operations;
    return;
  }
  // The lower ceiling at this intensity is the one that more of is used of.
  point.limit = of_compute > of_memory ? RoofLimit::compute : RoofLimit::memory;
  const double share = std::max(of_compute, of_memory);
  if (share <= 1) {
    point.of_ceiling = share;
    return;
  }
  const bool cached = point.limit == RoofLimit::memory && of_compute <= 1 &&
                      stayed_in_cache(point, seconds, kernels, roof);
  point.no_share = cached ? NoShare::cache : NoShare::above;
}

RoofPoint point_of(RoofScope scope, std::string name, TrainingPhase phase, const Sum& sum,
                   const Roof& roof) {
  RoofPoint point;
  point.scope = scope;
  point.name = std::move(name);
  point.phase = phase;
  point.type = main_type(sum);
  point.ns = sum.ns;
  if (sum.products && sum.flops_counted && sum.measured_flops > 0) {
    point.flops = sum.measured_flops;
    point.flops_source = WorkSource::measured;
  } else if (sum.modelled) {
    point.flops = sum.flops;
    point.flops_source = WorkSource::model;
  }
  if (sum.bytes_counted) {
    point.bytes = sum.measured_bytes;
    point.bytes_source = WorkSource::measured;
  } else if (sum.modelled) {
    point.bytes = sum.bytes;
    point.bytes_source = WorkSource::model;
  }
  place_under_roof(point, sum.kernels, sum.fewer_operations, roof);
  return point;
}

void keep_longest(std::vector<RoofPoint>& points, std::size_t rows) {
  std::erase_if(points, [](const RoofPoint& point) {
    return point.flops_source == WorkSource::none && point.bytes_source == WorkSource::none;
  });
  std::stable_sort(points.begin(), points.end(),
                   [](const auto& left, const auto& right) { return left.ns > right.ns; });
  if (rows > 0 && points.size() > rows) points.resize(rows);
}

/// Rows that differ in module or strides are one point.
void join(const OperatorWork& row, bool first, OperatorWork& sum) {
  if (first) {
    sum = row;
    return;
  }
  sum.ns += row.ns;
  sum.kernels += row.kernels;
  if (row.no_share == NoShare::fewer_operations) sum.no_share = row.no_share;
  const auto add = [](std::optional<double>& into, const std::optional<double>& more) {
    if (into && more) *into += *more;
    if (!more) into.reset();
  };
  add(sum.product_flops, row.product_flops);
  add(sum.other_flops, row.other_flops);
  add(sum.bytes, row.bytes);
  add(sum.measured_flops, row.measured_flops);
  add(sum.measured_bytes, row.measured_bytes);
}

}  // namespace

Roof::Roof(const Context& context, const std::vector<Ceiling>& all) : ceilings(all) {
  for (std::size_t number = 0; number < context.devices.size() && stated_memory <= 0; ++number)
    if (const auto* product = product_of(context, number)) {
      stated_memory = static_cast<double>(product->dram_bytes_per_s);
      l2_bytes = static_cast<double>(product->l2_bytes);
    }
  // Times of whole microseconds lost what lay behind them.
  constexpr Nanos kMicrosecond = 1000;
  const auto& times = context.capture.activities.duration_ns;
  const bool whole = std::ranges::all_of(context.kernels, [&](const KernelInstance& kernel) {
    return times[kernel.activity] % kMicrosecond == 0;
  });
  if (whole) clock_step = 1e-6;
}

RoofPoint roof_point(const OperatorWork& row, const Roof& roof) {
  RoofPoint point;
  point.scope = RoofScope::operation;
  point.phase = row.phase;
  point.type = row.type;
  point.ns = row.ns;
  const bool known = row.family != WorkFamily::none;
  const bool counted = row.measured_flops && *row.measured_flops > 0;
  if (counted || known) {
    point.flops =
        counted ? *row.measured_flops : row.product_flops.value_or(0) + row.other_flops.value_or(0);
    point.flops_source = counted ? WorkSource::measured : WorkSource::model;
  }
  if (row.measured_bytes || known) {
    point.bytes = row.measured_bytes ? *row.measured_bytes : row.bytes.value_or(0);
    point.bytes_source = row.measured_bytes ? WorkSource::measured : WorkSource::model;
  }
  place_under_roof(point, row.kernels, row.no_share == NoShare::fewer_operations, roof);
  return point;
}

std::vector<RoofPoint> roofline(const Context& context, const KernelWorks& works,
                                const std::vector<OperatorWork>& operators, const Roof& roof,
                                std::size_t rows) {
  const Capture& capture = context.capture;
  std::map<std::string, Sum> by_kernel;
  OncePerText sum_of(capture.strings,
                     [&](std::string_view name) { return &by_kernel[short_kernel_name(name)]; });
  const auto groups = layer_groups_of(context);
  std::vector<Sum> by_layer(groups->rows.size());
  for (std::size_t i = 0; i < context.kernels.size(); ++i) {
    const auto activity = context.kernels[i].activity;
    const auto call = works.call[i];
    const bool fewer = call != kNoCall && works.calls[call].fewer_operations;
    for (Sum* sum : {sum_of(capture.activities.name[activity]), &by_layer[groups->group[i]]}) {
      sum->add(works.kernels[i], works.counted.tensor_operations(activity),
               works.counted.tensor_type(activity), works.counted.memory_bytes(activity),
               context.kernels[i].exclusive_ns);
      sum->fewer_operations = sum->fewer_operations || fewer;
    }
  }
  std::vector<RoofPoint> kernels, operations, layers;
  for (const auto& [name, sum] : by_kernel)
    kernels.push_back(point_of(RoofScope::kernel, name, TrainingPhase::all, sum, roof));
  for (std::size_t group = 0; group < by_layer.size(); ++group)
    layers.push_back(point_of(RoofScope::layer, groups->rows[group].name, groups->rows[group].phase,
                              by_layer[group], roof));
  std::map<std::tuple<std::string, TrainingPhase, std::string>, OperatorWork> by_shape;
  for (const auto& row : operators) {
    if (row.family == WorkFamily::none) continue;
    auto [at, fresh] = by_shape.try_emplace(std::tuple(row.shapes, row.phase, row.name + row.type));
    join(row, fresh, at->second);
  }
  for (const auto& [key, row] : by_shape) {
    operations.push_back(roof_point(row, roof));
    operations.back().name = fmt::format("{} {}", row.name, row.shapes);
  }
  std::vector<RoofPoint> all;
  for (auto* points : {&kernels, &operations, &layers}) {
    std::erase_if(*points, [](const RoofPoint& point) { return point.ns <= 0; });
    keep_longest(*points, rows);
    all.insert(all.end(), points->begin(), points->end());
  }
  return all;
}

std::vector<TransferRate> transfer_rates(const Context& context,
                                         const std::vector<Ceiling>& ceilings) {
  const auto& activities = context.capture.activities;
  std::map<CopyKind, TransferRate> by_kind;
  std::map<CopyKind, Nanos> told;  // time of copies whose bytes are known
  for (const auto& line : context.devices)
    for (std::size_t i = 0; i < line.rows.size(); ++i) {
      const auto row = line.rows[i];
      if (activities.kind[row] != ActivityKind::memcpy) continue;
      const auto kind = activities.copy[row];
      TransferRate& rate = by_kind[kind];
      ++rate.copies;
      rate.ns += line.spans[i].length();
      if (activities.bytes[row] < 0 || activities.duration_ns[row] <= 0) continue;
      // Only the part inside the window counts of a copy that it cuts.
      const double inside = static_cast<double>(line.spans[i].length()) /
                            static_cast<double>(activities.duration_ns[row]);
      rate.bytes = add_bounded(rate.bytes,
                               whole_bounded(static_cast<double>(activities.bytes[row]) * inside));
      told[kind] += line.spans[i].length();
    }
  std::vector<TransferRate> rates;
  for (auto& [kind, rate] : by_kind) {
    rate.direction = name_of(kind);
    if (told[kind] > 0)
      rate.bytes_per_s = static_cast<double>(rate.bytes) * 1e9 / static_cast<double>(told[kind]);
    const auto link = ceiling(ceilings, "link." + rate.direction);
    if (link && rate.bytes_per_s) rate.of_link = *rate.bytes_per_s / *link;
    rates.push_back(std::move(rate));
  }
  return rates;
}

namespace {

Nanos stalled_time(const Analysis& analysis) {
  Nanos sum = 0;
  for (const auto& device : analysis.devices)
    for (const auto& bar : device.waterfall)
      if (bar.id == Bar::stalled) sum += bar.ns;
  return sum;
}

using Cells = std::map<std::pair<std::string_view, std::string>, double>;  // reason, kernel

Cells cells_of(const Context& context, const KernelLevels& levels, const WarpStates& warps,
               double& known, double& all) {
  Cells cells;
  const Capture& capture = context.capture;
  for (std::size_t position = 0; position < context.kernels.size(); ++position) {
    const auto& kernel = context.kernels[position];
    const double stalled = split_kernel(kernel.activity, levels).stalled *
                           static_cast<double>(context.working_ns(position));
    if (!(stalled > 0)) continue;
    all += stalled;
    const auto name = short_kernel_name(capture.text(capture.activities.name[kernel.activity]));
    const auto row = context.matching.report_row[kernel.activity];
    const auto* states = row == kNoRow ? nullptr : warps.of(row);
    double sum = 0;
    if (states)
      for (const auto& [reason, value] : *states) sum += value;
    if (!(sum > 0)) {
      cells[{"unknown", name}] += stalled;
      continue;
    }
    known += stalled;
    for (const auto& [reason, value] : *states) cells[{reason, name}] += stalled * value / sum;
  }
  return cells;
}

}  // namespace

StallUse stall_use(const Context& context, const KernelLevels& levels, const Analysis& analysis) {
  StallUse use;
  const Nanos stalled = stalled_time(analysis);
  const WarpStates warps(context.capture);
  if (stalled <= 0 || warps.empty()) return use;
  double known = 0, all = 0;
  const Cells cells = cells_of(context, levels, warps, known, all);
  if (!(all > 0)) return use;
  use.stalled_ns = stalled;
  use.coverage = known / all;
  std::vector<double> weights;
  for (const auto& [cell, weight] : cells) weights.push_back(weight);
  const auto whole = apportion(stalled, weights);
  std::size_t at = 0;
  for (const auto& [cell, weight] : cells) {
    const Nanos ns = whole[at++];
    if (ns == 0) continue;
    if (use.reasons.empty() || use.reasons.back().id != cell.first)
      use.reasons.push_back(
          {std::string(cell.first), std::string(label_of_stall(cell.first)), 0, {}, {}});
    use.reasons.back().ns += ns;
    use.reasons.back().kernels.push_back({cell.second, ns});
  }
  for (auto& reason : use.reasons) {
    reason.share = static_cast<double>(reason.ns) / static_cast<double>(stalled);
    std::ranges::stable_sort(reason.kernels, std::greater{}, &NamedTime::ns);
  }
  std::ranges::stable_sort(use.reasons, std::greater{}, &StallReason::ns);
  return use;
}

}  // namespace gf::work
