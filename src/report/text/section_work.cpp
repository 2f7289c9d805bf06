// What came out: operations, items and tokens a second.
#include <fmt/format.h>

#include "core/when.h"
#include "report/text/format.h"
#include "report/text/paint.h"
#include "report/text/sections.h"

namespace gf {

namespace {

constexpr double kWhole = 0.995;  // of the time of kernels that multiply

/// "31.43 TFLOP/s by the recorded sizes of operators (a model): MFU 3.2 % of 989.4 TFLOP/s (bf16)."
std::string operations_text(const WorkHeadline& work) {
  if (!work.flops_per_s) return {};
  std::string text;
  if (work.flops_source == WorkSource::model && work.coverage.value_or(0) < kWhole)
    text += "at least ";
  text += format_rate(*work.flops_per_s, "FLOP/s");
  if (work.flops_source == WorkSource::measured)
    text += ", counted";
  else
    text += " by recorded sizes of operators, a model";
  if (work.mfu)
    text += fmt::format(": MFU (operations asked for / peak x time) {} of {} in {}",
                        format_share(work.mfu),
                        format_rate(work.peak_flops_per_s.value_or(0), "FLOP/s"), work.peak_type);
  if (work.flops_source == WorkSource::model && work.measured_flops_per_s)
    text += fmt::format("; counted on tensor cores: {}",
                        format_rate(*work.measured_flops_per_s, "FLOP/s"));
  return text + ". ";
}

/// "1 284 items a second (64 a step by its shapes), 164.4 k tokens a second."
std::string items_text(const Throughput& of) {
  if (!of.items_per_s) return {};
  std::string text = format_per_second(*of.items_per_s) + " items a second";
  if (of.items)
    text += fmt::format(" ({} a step{})", format_count(*of.items),
                        when(of.items_source == ItemsSource::shapes, " by its shapes"));
  if (of.tokens_per_s) text += ", " + format_per_second(*of.tokens_per_s) + " tokens a second";
  if (of.flops_per_item) text += ", " + format_rate(*of.flops_per_item, "FLOP") + " an item";
  if (of.joules_per_item) text += fmt::format(", {:.4g} J an item", *of.joules_per_item);
  return text + ". ";
}

}  // namespace

std::string work_lines(const WorkHeadline& work, const TextStyle& style) {
  const std::string text = operations_text(work) + items_text(work.throughput);
  if (text.empty()) return {};
  const std::string whole = text + when(work.flops_per_s.has_value(), "See also: gpufathom work.");
  return paint(style, Paint::plain, wrap(whole, static_cast<std::size_t>(style.width), 2));
}

}  // namespace gf
