#include "analyze/utilization/waterfall.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "core/apportion.h"
#include "model/kernel_name.h"

namespace gf {
namespace {

constexpr std::size_t kParts = 24;  // parts listed of a bar; the rest is one part "(n others)"

/// Names with real-valued times that are made whole numbers summing to `ns`; largest first, the
/// small ones joined.
std::vector<NamedTime> named_parts(Nanos ns, std::vector<std::pair<std::string, double>> weights) {
  std::erase_if(weights, [](const auto& weight) { return !(weight.second > 0); });
  std::stable_sort(weights.begin(), weights.end(),
                   [](const auto& left, const auto& right) { return left.second > right.second; });
  std::vector<double> values(weights.size());
  std::transform(weights.begin(), weights.end(), values.begin(),
                 [](const auto& weight) { return weight.second; });
  const auto whole = apportion(ns, values);
  std::vector<NamedTime> parts;
  Nanos rest = 0;
  std::size_t others = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (parts.size() < kParts || weights.size() == kParts + 1) {
      if (whole[i] > 0) parts.push_back({std::move(weights[i].first), whole[i]});
    } else {
      rest += whole[i];
      ++others;
    }
  }
  if (rest > 0) parts.push_back({fmt::format("({} others)", others), rest});
  return parts;
}

std::string_view copy_label(CopyKind kind, ActivityKind activity) {
  if (activity == ActivityKind::memset) return "set";
  switch (kind) {
    case CopyKind::host_to_device:
      return "host to device";
    case CopyKind::device_to_host:
      return "device to host";
    case CopyKind::device_to_device:
      return "device to device";
    case CopyKind::host_to_host:
      return "host to host";
    case CopyKind::peer:
      return "device to another device";
    default:
      return "copy";
  }
}

/// Time with copies or sets and no kernel, by direction: in proportion to how long each one covers
/// of it.
std::vector<NamedTime> copy_parts(const Context& context, const DeviceTimeline& line, Nanos ns) {
  const Intervals& alone = line.copying;
  std::map<std::string_view, double> by_label;
  const auto& activities = context.capture.activities;
  for (std::size_t i = 0; i < line.rows.size() && !alone.empty(); ++i) {
    const auto activity = line.rows[i];
    if (activities.kind[activity] == ActivityKind::kernel) continue;
    auto at = std::partition_point(alone.begin(), alone.end(), [&](const Interval& span) {
      return span.end <= line.spans[i].start;
    });
    for (; at != alone.end() && at->start < line.spans[i].end; ++at)
      by_label[copy_label(activities.copy[activity], activities.kind[activity])] +=
          static_cast<double>(std::min(at->end, line.spans[i].end) -
                              std::max(at->start, line.spans[i].start));
  }
  std::vector<std::pair<std::string, double>> weights;
  for (const auto& [label, time] : by_label) weights.emplace_back(label, time);
  return named_parts(ns, std::move(weights));
}

/// Kernels that share a short name are one part.
std::vector<NamedTime> kernel_parts(const Capture& capture, Nanos ns,
                                    const std::vector<Text>& names,
                                    const std::vector<double>& times) {
  std::map<std::string, double> by_short_name;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (times[i] > 0) by_short_name[short_kernel_name(capture.text(names[i]))] += times[i];
  return named_parts(ns, {by_short_name.begin(), by_short_name.end()});
}

/// Time of collectives that only wait, by the rank that they wait for.
WaterfallBar waiting_bar(const Capture& capture, const DeviceTimeline& line) {
  WaterfallBar bar = waterfall_bar(Bar::waiting, line.waiting_ns());
  std::vector<std::pair<std::string, double>> ranks;
  for (const auto& rank : line.waiting->ranks)
    ranks.emplace_back(rank.name, static_cast<double>(rank.ns));
  bar.parts = named_parts(bar.ns, std::move(ranks));
  std::vector<Text> names;
  std::vector<double> times;
  for (std::size_t i = 0; i < line.rows.size(); ++i) {
    if (line.waiting->ns[i] == 0) continue;
    names.push_back(capture.activities.name[line.rows[i]]);
    times.push_back(static_cast<double>(line.waiting->ns[i]));
  }
  bar.kernels = kernel_parts(capture, bar.ns, names, times);
  return bar;
}

}  // namespace

WaterfallBar waterfall_bar(Bar bar, Nanos ns) {
  return {bar, std::string(long_label(bar)), ns, {}, {}};
}

KernelSplit split_kernel(std::uint32_t activity, const KernelLevels& levels) {
  using enum KernelLevel;
  return split_busy(levels.of(activity, sm_active), levels.of(activity, issue_active),
                    levels.of(activity, tensor_active), levels.of(activity, tensor_issue));
}

KernelSplit split_busy(double active, double issue, double tensor, double tensor_slots) {
  KernelSplit split;
  if (std::isnan(active)) {
    split.unknown = 1;
    return split;
  }
  split.sm_inactive = 1 - active;
  if (std::isnan(issue) && std::isnan(tensor)) {
    split.unknown = active;
    return split;
  }
  // Tensor work comes first: one instruction keeps the tensor pipe busy for many cycles (32 to 128
  // for wgmma), in which the sub-partition may issue others or none. The counters do not say which,
  // so slots of other instructions are taken to lie outside the tensor cycles as far as they can:
  // other_instructions is at most, stalled at least, what is shown.
  if (std::isnan(tensor)) {
    // A kernel without tensor instructions has no tensor cycles. Of another nobody knows what of
    // the time without an issued instruction was tensor work and what a stall.
    const double slots = std::isnan(tensor_slots) ? 0 : tensor_slots;
    split.other_instructions = std::clamp(issue - slots, 0.0, active);
    (tensor_slots == 0 ? split.stalled : split.unknown) = active - split.other_instructions;
    return split;
  }
  split.tensor = tensor;
  if (std::isnan(issue)) {
    split.unknown = active - tensor;
    return split;
  }
  // Tensor instructions that were not counted (ncu --set full) may have been as few as none: one of
  // wgmma lasts up to 128 cycles.
  const double others = issue - (std::isnan(tensor_slots) ? 0 : tensor_slots);
  split.other_instructions = std::clamp(others, 0.0, active - tensor);
  split.stalled = std::max(0.0, active - tensor - split.other_instructions);
  return split;
}

std::vector<WaterfallBar> waterfall(const Context& context, const DeviceTimeline& line,
                                    const DeviceUse& use, const KernelLevels& kernel_levels) {
  const Capture& capture = context.capture;
  std::vector<WaterfallBar> bars{waterfall_bar(Bar::idle, use.idle_ns),
                                 waterfall_bar(Bar::copy, use.copy_only_ns)};
  for (const auto& cause : use.idle)
    bars[0].parts.push_back({std::string(name_of(cause.cause)), cause.ns});
  std::stable_sort(bars[0].parts.begin(), bars[0].parts.end(),
                   [](const auto& left, const auto& right) { return left.ns > right.ns; });
  bars[1].parts = copy_parts(context, line, use.copy_only_ns);
  if (line.waiting) bars.push_back(waiting_bar(capture, line));

  std::array<double, kKernelBars.size()> whole{};
  std::array<std::vector<double>, kKernelBars.size()> by_layer, by_kernel;
  constexpr std::uint32_t kNotYet = UINT32_MAX;
  std::vector<std::uint32_t> place_of(capture.strings.size(), kNotYet);  // in kernel_names
  std::vector<Text> kernel_names;
  for (auto& value : by_layer) value.assign(EnumNames<LayerType>::names.size(), 0);
  for (std::size_t i = 0; i < line.rows.size(); ++i) {
    const auto activity = line.rows[i];
    const Nanos working = line.working_ns(i);
    if (working <= 0) continue;
    const auto split = split_kernel(activity, kernel_levels);
    const std::array<double, kKernelBars.size()> parts{
        split.sm_inactive, split.stalled, split.other_instructions, split.tensor, split.unknown};
    const Text name = capture.activities.name[activity];
    auto& kernel = place_of[static_cast<std::uint32_t>(name)];
    if (kernel == kNotYet) {
      kernel = static_cast<std::uint32_t>(kernel_names.size());
      kernel_names.push_back(name);
      for (auto& value : by_kernel) value.push_back(0);
    }
    std::size_t layer = 0;
    if (activity < context.attribution.layer.size())
      layer = static_cast<std::size_t>(context.attribution.layer[activity]);
    for (std::size_t bar = 0; bar < kKernelBars.size(); ++bar) {
      if (parts[bar] == 0) continue;  // all but one, of a kernel without counters
      const double time = parts[bar] * static_cast<double>(working);
      whole[bar] += time;
      by_layer[bar][layer] += time;
      by_kernel[bar][kernel] += time;
    }
  }
  const auto ns = apportion(use.kernel_busy_ns - line.waiting_ns(), whole);
  for (std::size_t rung = 0; rung < kKernelBars.size(); ++rung) {
    WaterfallBar bar = waterfall_bar(kKernelBars[rung], ns[rung]);
    std::vector<std::pair<std::string, double>> layers;
    for (std::size_t layer = 0; layer < by_layer[rung].size(); ++layer)
      if (by_layer[rung][layer] > 0)
        layers.emplace_back(EnumNames<LayerType>::names[layer], by_layer[rung][layer]);
    bar.parts = named_parts(bar.ns, std::move(layers));
    bar.kernels = kernel_parts(capture, bar.ns, kernel_names, by_kernel[rung]);
    if (bar.id == Bar::unknown && use.unrecorded_ns > 0) {
      bar.ns += use.unrecorded_ns;
      bar.parts.push_back({std::string(kUnrecordedWork), use.unrecorded_ns});
      bar.kernels.push_back(bar.parts.back());
    }
    bars.push_back(std::move(bar));
  }
  return bars;
}

std::vector<NamedTime> kernel_types_without_counters(const Analysis& analysis) {
  std::vector<NamedTime> types, kernels;
  Nanos all = 0;
  const auto add = [](std::vector<NamedTime>& sums, const NamedTime& part) {
    const auto same = std::ranges::find(sums, part.name, &NamedTime::name);
    if (same == sums.end())
      sums.push_back(part);
    else
      same->ns += part.ns;
  };
  for (const auto& device : analysis.devices)
    for (const auto& bar : device.waterfall) {
      if (bar.id != Bar::unknown) continue;
      all += bar.ns;
      for (const auto& part : bar.parts) add(types, part);
      for (const auto& kernel : bar.kernels) add(kernels, kernel);
    }
  std::ranges::stable_sort(types, std::ranges::greater{}, &NamedTime::ns);
  const auto longest = std::ranges::max_element(kernels, {}, &NamedTime::ns);
  // A kernel of more than half of the time is of the type that has more than half of it, and its
  // name says more than that it is of no known type.
  if (longest != kernels.end() && longest->ns * 2 > all &&
      types.front().name == name_of(LayerType::other))
    types.front().name = short_kernel_name(longest->name);
  return types;
}

}  // namespace gf
