#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "analyze/kernel_rates/kernel_rates.h"
#include "model/counter_values.h"
#include "model/launches.h"
#include "model/metrics.h"

namespace gf {

namespace {

/// The counter of a report that a solved metric stands for; nullptr when there is none.
const MetricInput* stand_of(const Capture& capture, Text metric) {
  return find_input(capture.text(metric), MetricSource::solved);
}

/// The row of report_kernels that a group gets.
std::uint32_t add_report_kernel(Capture& capture, std::uint32_t device, const KernelGroup& group) {
  const auto row = group.first;
  const auto& activities = capture.activities;
  auto& report_kernels = capture.report_kernels;
  const auto add = report_kernels.add();
  report_kernels.id[add] = add;
  report_kernels.pid[add] = activities.pid[row];
  report_kernels.device[add] = capture.devices.id[device];
  copy_launch(activities, row, report_kernels, add);
  report_kernels.duration_ns[add] = static_cast<double>(group.ns) /
                                    static_cast<double>(std::max<std::int64_t>(group.instances, 1));
  return add;
}

/// The counters of a report kernel that its group's rates stand for.
void add_counters(Capture& capture, std::uint32_t report_kernel, const KernelRates& solved,
                  std::uint32_t group) {
  for (std::size_t metric = 0; metric < solved.metrics.size(); ++metric) {
    const MetricInput* stand = stand_of(capture, solved.metrics[metric]);
    if (!stand || !solved.rates[metric][group].resolvable) continue;
    const MetricTerm term = term_of(*stand);
    const auto counter = capture.kernel_counters.add();
    capture.kernel_counters.kernel[counter] = report_kernel;
    capture.kernel_counters.metric[counter] = capture.strings.intern(term.counter);
    capture.kernel_counters.value[counter] = solved.rates[metric][group].value / term.factor;
    const bool percent = term.counter.find(".pct") != std::string_view::npos;
    capture.kernel_counters.unit[counter] = capture.strings.intern(percent ? "%" : "inst/cycle");
  }
}

/// Says how much worse the next best shift of the clocks is.
std::string rival_text(const ShiftFound& alignment) {
  if (!std::isfinite(alignment.certainty)) return "no other shift fits";
  return fmt::format("{:.1f} % of the variance left, {:.1f} % at the next best shift of {} ns",
                     100 * alignment.error, 100 * alignment.rival_error, alignment.rival_shift);
}

/// "resolved of kernel time: issue.active 98.1 % (12 of 14 kernels), ...": of the metrics that
/// levels are made of.
std::string solution_text(const Capture& capture, const KernelRates& solved) {
  std::string text;
  for (std::size_t metric = 0; metric < solved.metrics.size(); ++metric) {
    const auto id = capture.text(solved.metrics[metric]);
    if (!stand_of(capture, solved.metrics[metric])) continue;
    std::int64_t resolved = 0;
    Nanos resolved_ns = 0, ns = 0;
    for (std::size_t group = 0; group < solved.groups.size(); ++group) {
      ns += solved.groups[group].ns;
      if (!solved.rates[metric][group].resolvable) continue;
      ++resolved;
      resolved_ns += solved.groups[group].ns;
    }
    text += fmt::format(
        "{}{} {:.1f} % ({} of {} kernels)", text.empty() ? "resolved of kernel time: " : ", ", id,
        100.0 * static_cast<double>(resolved_ns) / static_cast<double>(std::max<Nanos>(ns, 1)),
        resolved, solved.groups.size());
  }
  return fmt::format("{}; {} samples, clocks shifted by {} ns, correlation {:.3f}, {}", text,
                     solved.samples, solved.shift_ns, solved.fit_of_shift,
                     rival_text(solved.alignment));
}

/// The reason why samples could not be aligned with kernels; empty where there was nothing to lay.
std::string refusal_text(const ShiftFound& alignment, I32 device) {
  switch (alignment.verdict) {
    case ShiftVerdict::ambiguous:
      return fmt::format(
          "GPU {}: clocks shifted by {} and by {} ns explain the samples equally well ({:.1f} and "
          "{:.1f} % of their variance left): steps that repeat to the microsecond fit one step "
          "later too",
          device, alignment.shift, alignment.rival_shift, 100 * alignment.error,
          100 * alignment.rival_error);
    case ShiftVerdict::no_fit:
      return fmt::format(
          "GPU {}: no shift of the clocks within 20 ms explains half of how the samples vary",
          device);
    case ShiftVerdict::no_pattern:
      return fmt::format("GPU {}: its levels do not change, so samples cannot be aligned", device);
    case ShiftVerdict::no_samples:
    case ShiftVerdict::found:
      break;
  }
  return {};
}

}  // namespace

std::vector<KernelRates> add_solved_counters(Capture& capture) {
  if (!capture.report_kernels.empty() || capture.activities.empty() ||
      !holds_counter_values(capture))
    return {};
  std::vector<KernelRates> by_device;
  for (std::uint32_t device = 0; device < capture.devices.size(); ++device) {
    const KernelRates& solved = by_device.emplace_back(solve_kernel_rates(capture, device));
    if (const auto why = refusal_text(solved.alignment, capture.devices.id[device]); !why.empty())
      capture.note_quality(QualityCode::samples_not_laid, why);
    if (solved.metrics.empty()) continue;
    for (std::uint32_t group = 0; group < solved.groups.size(); ++group)
      add_counters(capture, add_report_kernel(capture, device, solved.groups[group]), solved,
                   group);
    capture.set_metadata(fmt::format("solved.{}", capture.devices.id[device]),
                         solution_text(capture, solved));
  }
  if (capture.report_kernels.empty()) return {};
  capture.set_metadata("counters.source", "samples");
  return by_device;
}

bool has_solved_counters(const Capture& capture) {
  return capture.metadata_value("counters.source") == "samples";
}

}  // namespace gf
