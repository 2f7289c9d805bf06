#include "report/text/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "report/labels.h"
#include "report/summary.h"
#include "report/text/format.h"
#include "report/text/plot.h"
#include "report/text/table.h"

namespace gf {

std::string matching_section(const Analysis& analysis, const TextStyle& style) {
  const auto& match = analysis.match;
  if (!analysis.counters_source && match.report_kernels == 0) return {};
  std::string text = fmt::format("{} of {} matched", format_count(match.matched),
                                 plural(match.trace_kernels, "trace kernel"));
  if (match.ambiguous) text += fmt::format(", {} ambiguous", format_count(match.ambiguous));
  if (match.trace_only)
    text += fmt::format(", {} only in the trace", format_count(match.trace_only));
  if (match.report_only)
    text += fmt::format(", {} only in the report", format_count(match.report_only));
  text += fmt::format(" ({} in the report", format_count(match.report_kernels));
  if (match.copies_of_report > 1)
    text += fmt::format(", applied to {} steps", match.copies_of_report);
  text += ").";
  if (match.confidence) text += fmt::format(" Mean score {:.3f}.", *match.confidence);
  if (!match.note.empty()) text += " " + match.note;
  return section_title(style, "Counters matched to the trace", name_of(match.verdict)) +
         wrap(text, static_cast<std::size_t>(style.width), 2);
}

namespace {

/// The command that collects what is missing, unless a finding shows it.
std::string_view missing_command(const Analysis& analysis, const TextStyle& style) {
  for (const auto& finding : analysis.findings)
    if (!finding.command.empty())
      return stands_apart(finding, style) ? std::string_view(finding.command) : "";
  for (const auto& level : analysis.levels) {
    const auto command = level.why_missing.find("ncu --");
    if (!level.value && command != std::string::npos)
      return std::string_view(level.why_missing).substr(command);
  }
  return {};
}

}  // namespace

std::string collect_section(const Analysis& analysis, const TextStyle& style) {
  const auto command = missing_command(analysis, style);
  if (command.empty()) return {};
  return section_title(style, kHowToCollect) +
         wrap_command(command, static_cast<std::size_t>(style.width));
}

std::string quality_section(const Analysis& analysis, const TextStyle& style) {
  std::string out = section_title(
      style, "Data quality",
      plural(analysis.source.events, "event") +
          (analysis.source.bytes > 0 ? ", " + format_bytes(analysis.source.bytes) : std::string()));
  if (analysis.quality.empty()) return out + "  no problems found\n";
  for (const auto& quality : analysis.quality) {
    const std::string head = fmt::format("{} x {}", format_count(quality.count), quality.code);
    out += "  " + paint(style, Paint::warn, head) + "\n" +
           wrap(quality.detail, static_cast<std::size_t>(style.width), 4);
  }
  return out;
}

std::string idle_section(const Analysis& analysis, const TextStyle& style, std::size_t rows) {
  const auto causes = idle_of_all(analysis);
  Nanos idle = 0;
  for (const auto& device : analysis.devices) idle += device.idle_ns;
  // Samples know no cause; a finding says so.
  if (causes.empty() || idle == 0 || causes.front().cause == IdleReason::not_recorded ||
      causes.front().cause == IdleReason::no_samples)
    return {};
  TextTable table({{"cause"},
                   {"time", Align::right},
                   {"share", Align::right},
                   {"gaps", Align::right},
                   {"most of it in", Align::left, true},
                   {"", Align::right}});
  for (const auto& cause : causes) {
    if (cause.ns == 0 || rows-- == 0) break;
    const NamedTime* first = cause.operators.empty() ? nullptr : &cause.operators.front();
    table.add({std::string(label_of(cause.cause).text), format_time(cause.ns),
               format_share(share_of(cause.ns, device_time(analysis))), format_count(cause.gaps),
               Cell(first ? first->name : "", Paint::dim),
               Cell(first ? format_share(share_of(first->ns, cause.ns)) : "", Paint::dim)});
  }
  return section_title(style, "GPU idle time by cause", format_time(idle) + " idle") +
         table.render(style);
}

namespace {

constexpr double kWhole = 0.995;  // of the time of kernels that multiply

/// "31.43 TFLOP/s by the recorded sizes of operators (a model): MFU 3.2 % of 989.4 TFLOP/s (bf16)."
std::string operations_text(const WorkHeadline& work) {
  if (!work.flops_per_s) return {};
  std::string text;
  if (work.flops_source == WorkSource::model && work.coverage.value_or(0) < kWhole)
    text += "at least ";
  text += format_rate(*work.flops_per_s, "FLOP/s");
  if (work.flops_source == WorkSource::model)
    text += " from operator shapes (model)";
  else if (!work.measured_flops_per_s)
    text += ", counted (FP32 and FP64 instructions)";
  else
    text += *work.flops_per_s > *work.measured_flops_per_s
                ? ", counted (tensor cores, FP32 and FP64 instructions)"
                : ", counted on tensor cores";
  if (work.mfu)
    text +=
        fmt::format(": MFU (model operations / peak x time) {} of {} in {}", format_share(work.mfu),
                    format_rate(work.peak_flops_per_s.value_or(0), "FLOP/s"), work.peak_type);
  else if (work.peak_flops_per_s)
    text += fmt::format(
        ", more than its kernels had time for at the peak ({} in {}): the sizes or the GPU's name "
        "are not those of this run, and there is no MFU",
        format_rate(*work.peak_flops_per_s, "FLOP/s"), work.peak_type);
  if (work.flops_source == WorkSource::model && work.measured_flops_per_s)
    text += fmt::format("; counted on tensor cores: {}",
                        format_rate(*work.measured_flops_per_s, "FLOP/s"));
  return text + ". ";
}

}  // namespace

std::string throughput_text(const Throughput& of) {
  if (!of.items_per_s) return {};
  std::string text = format_per_second(*of.items_per_s) + " items per second";
  if (of.items)
    text += fmt::format(" ({} per step{})", format_count(*of.items),
                        of.items_source == ItemsSource::shapes ? " from its shapes" : "");
  if (of.tokens_per_s) text += ", " + format_per_second(*of.tokens_per_s) + " tokens per second";
  if (of.flops_per_item) text += ", " + format_rate(*of.flops_per_item, "FLOP") + " per item";
  if (of.joules_per_item) text += fmt::format(", {:.4g} J per item", *of.joules_per_item);
  return text;
}

std::string work_lines(const WorkHeadline& work, const TextStyle& style) {
  std::string text = operations_text(work);
  if (const auto items = throughput_text(work.throughput); !items.empty()) text += items + ". ";
  if (text.empty()) return {};
  const std::string whole =
      text + (work.flops_per_s.has_value() ? "See also: gpufathom work." : "");
  return paint(style, Paint::plain, wrap(whole, static_cast<std::size_t>(style.width), 2));
}

}  // namespace gf
