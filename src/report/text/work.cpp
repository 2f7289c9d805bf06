#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "core/text.h"
#include "report/summary.h"
#include "report/text/format.h"
#include "report/text/plot.h"
#include "report/text/reports.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

namespace {

std::string plain_rate(double rate) { return format_rate(rate, ""); }

std::string account_lines(const WorkAccount& account, const TextStyle& style) {
  const double seconds = static_cast<double>(account.span_ns) * 1e-9;
  const auto coverage = account.coverage.value_or(0);
  std::string line =
      fmt::format("MFU {} (HFU {}) of {} in {} on {}: {}.", format_share(account.mfu),
                  format_share(account.hfu), format_rate(account.peak_flops_per_s, "FLOP/s"),
                  account.peak_type, account.name, format_rate(account.flops / seconds, "FLOP/s"));
  constexpr double kEnough = 0.995;
  if (coverage < kEnough)
    line += fmt::format(" At least: sizes are known of {} of the time of kernels that multiply.",
                        format_share(coverage));
  std::string out =
      paint(style, Paint::plain, wrap(line, static_cast<std::size_t>(style.width), 2));
  TextTable table(
      {{"peak x time"}, {"", Align::right}, {"", Align::right}, {"most under", Align::left, true}});
  for (const auto& part : account.parts) {
    if (part.share.value_or(0) < 0.0005) continue;
    std::string owner = part.owners.empty() ? "" : part.owners.front().name;
    table.add({part.label, format_time(part.ns), format_share(part.share), owner});
  }
  out += table.render(style);
  for (const auto& cause : account.causes)
    if (cause.share.value_or(0) >= 0.01)
      out += paint(style, Paint::warn,
                   wrap(fmt::format("{} ({}): {}", format_share(cause.share), format_time(cause.ns),
                                    cause.text),
                        static_cast<std::size_t>(style.width), 2));
  return out;
}

std::string throughput_line(const Throughput& of, const TextStyle& style) {
  std::string line = throughput_text(of);
  if (line.empty()) return {};
  if (of.items_source == ItemsSource::shapes)
    line += "; items by the shapes of " + of.items_from + " (override with --batch N)";
  return paint(style, Paint::plain, wrap(line + ".", static_cast<std::size_t>(style.width), 2));
}

std::string memory_lines(const std::vector<DeviceMemory>& devices, const TextStyle& style) {
  std::string out;
  for (const auto& memory : devices) {
    std::string line = fmt::format("Memory of device {}:", memory.device);
    const char* comma = memory.peak_allocated.has_value() ? "," : "";
    if (memory.peak_allocated)
      line += fmt::format(" {} allocated at most", format_bytes(*memory.peak_allocated));
    if (memory.peak_reserved)
      line += fmt::format("{} {} reserved", comma, format_bytes(*memory.peak_reserved));
    if (memory.peak_used)
      line += fmt::format("{} {} of the board in use", comma, format_bytes(*memory.peak_used));
    if (memory.capacity) line += fmt::format(" of {}", format_bytes(*memory.capacity));
    if (memory.fitting_batch)
      line += fmt::format(" ({} items per step would fit)", *memory.fitting_batch);
    std::size_t shown = 0;
    for (const auto& holder : memory.holders) {
      if (shown == 4) break;
      line +=
          fmt::format("{} {}{} {}", shown++ == 0 ? ":" : ",", name_of(holder.kind),
                      holder.name.empty() ? "" : " of " + holder.name, format_bytes(holder.bytes));
    }
    out += paint(style, Paint::plain, wrap(line + ".", static_cast<std::size_t>(style.width), 2));
  }
  return out;
}

std::string stall_lines(const StallUse& stalls, const TextStyle& style) {
  if (stalls.reasons.empty()) return {};
  TextTable table(
      {{"stalled for"}, {"", Align::right}, {"", Align::right}, {"most in", Align::left, true}});
  for (const auto& reason : stalls.reasons)
    if (reason.share.value_or(0) >= 0.005)
      table.add({reason.label, format_time(reason.ns), format_share(reason.share),
                 reason.kernels.empty() ? std::string() : reason.kernels.front().name});
  return table.render(style);
}

}  // namespace

namespace {

std::string done_section(const WorkUse& use, const TextStyle& style) {
  std::string out;
  for (const auto& account : use.accounts) out += account_lines(account, style);
  for (const auto& level : use.levels)
    out += paint(style, Paint::plain,
                 wrap(fmt::format("Achieved tensor operations: {} of their peak (model).",
                                  format_level(level)),
                      static_cast<std::size_t>(style.width), 2));
  out += throughput_line(use.throughput, style);
  if (out.empty()) return {};
  return section_title(style, "Work done", "from recorded shapes (model)") + out;
}

/// The share of its ceiling, or what is known where there is none.
std::string share_of_roof(Share share, NoShare why) {
  if (share) return format_share(share);
  if (why == NoShare::fewer_operations) return "no share";
  if (why == NoShare::none) return "-";
  return why == NoShare::cache ? "> 100 %, L2" : "> 100 %";
}

std::string tera(double rate) { return fmt::format("{:.3g}", rate * 1e-12); }

/// The spread of calls with the same inputs; empty if there is none.
std::string spread_of(const OperatorWork& row) {
  if (!row.ns_min || row.ns_min == row.ns_max) return {};
  std::string text =
      fmt::format("a call {} to {}", format_time(*row.ns_min), format_time(*row.ns_max));
  if (row.flops_per_s_min)
    text +=
        fmt::format(", {} to {} TFLOP/s", tera(*row.flops_per_s_min), tera(*row.flops_per_s_max));
  if (row.bytes_per_s_min)
    text += fmt::format(", {} to {} TB/s", tera(*row.bytes_per_s_min), tera(*row.bytes_per_s_max));
  return text;
}

/// Details that fit no column, in full: inputs, place and kernels.
std::string details_of(const OperatorWork& row, const TextStyle& style) {
  std::string text = row.shapes;
  const auto add = [&](std::string_view before, std::string_view what) {
    if (!what.empty()) text += fmt::format("{}{}{}", text.empty() ? "" : "; ", before, what);
  };
  add("", row.types);
  add("", spread_of(row));
  add("strides ", row.strides);
  add("arguments ", row.arguments);
  add("in ", row.module);
  add("under ", row.path);
  add("from ", row.python);
  if (row.no_share == NoShare::fewer_operations)
    add("", "by FFT or Winograd, which take fewer operations than these");
  constexpr std::size_t kKernels = 3;
  std::string kernels;
  for (std::size_t i = 0; i < std::min(kKernels, row.by_kernel.size()); ++i)
    kernels += fmt::format("{}{}", i > 0 ? ", " : "", row.by_kernel[i].name);
  if (row.by_kernel.size() > kKernels)
    kernels += fmt::format(" and {} more", row.by_kernel.size() - kKernels);
  add("kernels ", kernels);
  return paint(style, Paint::dim, wrap(text, static_cast<std::size_t>(style.width), 6));
}

std::string operators_section(const WorkUse& use, const TextStyle& style, std::size_t rows) {
  if (use.operators.empty()) return {};
  TextTable table({{"operator", Align::left, true},
                   {"phase", Align::left, false, 1},
                   {"calls", Align::right, false, 2},
                   {"time", Align::right},
                   {"share", Align::right},
                   {"a call", Align::right, false, 3},
                   {"TFLOP/s", Align::right},
                   {"TB/s", Align::right},
                   {"of roof", Align::right}});
  const auto shown = std::min(rows, use.operators.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& row = use.operators[i];
    std::string name = row.name;
    if (name.starts_with("aten::")) name.erase(0, 6);
    std::string roof = share_of_roof(row.of_ceiling, row.no_share);
    if (row.of_ceiling) roof += row.ceiling == RoofLimit::compute ? " c" : " m";
    table.add({name, std::string(name_of(row.phase)), format_count(row.calls),
               row.kernels > 0 ? format_time(row.ns) : std::string("-"), format_share(row.share),
               known_or("-", row.ns_median, format_time),
               known_or("-", row.flops_per_s_median, tera),
               known_or("-", row.bytes_per_s_median, tera), roof});
  }
  const std::string lines = table.render(style);
  std::string out;
  std::size_t from = 0, line = 0;
  for (std::size_t end = 0; (end = lines.find('\n', from)) != lines.npos; from = end + 1, ++line) {
    out += lines.substr(from, end + 1 - from);
    if (line > 0 && line <= shown) out += details_of(use.operators[line - 1], style);
  }
  return section_title(style, "Operators by shape",
                       "median call; of roof: c compute, m memory, L2 cache") +
         out;
}

std::string sequences_section(const WorkUse& use, const TextStyle& style, std::size_t rows) {
  if (use.sequences.empty()) return {};
  constexpr std::size_t kShown = 5;
  TextTable table({{"kernels in a row", Align::left, true},
                   {"phase", Align::left, false, 1},
                   {"times", Align::right},
                   {"time", Align::right},
                   {"gaps", Align::right, false, 2},
                   {"gain, at most", Align::right}});
  for (std::size_t i = 0; i < std::min({rows, kShown, use.sequences.size()}); ++i) {
    const auto& row = use.sequences[i];
    const auto& what = row.operators.empty() ? row.names : row.operators;
    std::string text;
    for (const auto& name : what)
      text += fmt::format("{}{}", text.empty() ? "" : " > ",
                          name.starts_with("aten::") ? name.substr(6) : name);
    if (row.names.size() == 1)
      text += fmt::format(" x {:.0f}",
                          static_cast<double>(row.kernels) / static_cast<double>(row.times));
    table.add({text, std::string(name_of(row.phase)), format_count(row.times), format_time(row.ns),
               format_time(row.gap_ns), format_time(row.gain_ns)});
  }
  return section_title(style, "Repeated sequences", "what one kernel could do instead") +
         table.render(style);
}

std::string roof_section(const WorkUse& use, const TextStyle& style, std::size_t rows) {
  TextTable table({{"kernel", Align::left, true},
                   {"time", Align::right},
                   {"FLOP", Align::right, false, 3},
                   {"bytes", Align::right, false, 2},
                   {"FLOP/s", Align::right},
                   {"bytes/s", Align::right},
                   {"of its ceiling", Align::right},
                   {"ceiling"},
                   {"by", Align::left, false, 1}});
  std::size_t shown = 0;
  for (const auto& point : use.roofline) {
    if (point.scope != RoofScope::kernel || shown == rows) continue;
    ++shown;
    const char* source =
        point.flops_source == WorkSource::measured || point.bytes_source == WorkSource::measured
            ? "counters"
            : "model";
    const bool flops = point.flops_source != WorkSource::none;
    const bool bytes = point.bytes_source != WorkSource::none;
    table.add({point.name, format_time(point.ns), flops ? plain_rate(point.flops) : "-",
               bytes ? plain_rate(point.bytes) : "-", known_or("-", point.flops_per_s, plain_rate),
               known_or("-", point.bytes_per_s, plain_rate),
               share_of_roof(point.of_ceiling, point.no_share), std::string(name_of(point.limit)),
               source});
  }
  if (table.empty()) return {};
  std::string remark = "ceilings of the data sheet";
  for (const auto& ceiling : use.ceilings)
    if (ceiling.source == WorkSource::measured) remark = "measured ceilings";
  return section_title(style, "Roofline", remark) + table.render(style);
}

std::string transfer_lines(const WorkUse& use, const TextStyle& style) {
  if (use.transfers.empty()) return {};
  TextTable table({{"copies"},
                   {"number", Align::right},
                   {"bytes", Align::right},
                   {"time", Align::right},
                   {"rate", Align::right},
                   {"of the link", Align::right}});
  for (const auto& rate : use.transfers)
    table.add(
        {rate.direction, format_count(rate.copies), format_bytes(rate.bytes), format_time(rate.ns),
         known_or("-", rate.bytes_per_s, [](double bytes) { return format_rate(bytes, "B/s"); }),
         format_share(rate.of_link)});
  return section_title(style, "Copies") + table.render(style);
}

}  // namespace

std::string work_text(const WorkUse& use, const TextStyle& style, std::size_t rows) {
  const bool timed = use.window.duration_ns > 0;
  std::string out = title_line(use.source, use.counters_source,
                               timed ? window_label(use.window) : std::string(), style) +
                    done_section(use, style) + operators_section(use, style, rows) +
                    sequences_section(use, style, rows) + roof_section(use, style, rows) +
                    transfer_lines(use, style);
  if (!use.memory.empty()) out += section_title(style, "Memory") + memory_lines(use.memory, style);
  if (const auto stalls = stall_lines(use.stalls, style); !stalls.empty())
    out += section_title(style, "Stalled") + stalls;
  if (!use.why_missing.empty())
    out += paint(style, Paint::dim,
                 "\n" + wrap("no data: " + use.why_missing, static_cast<std::size_t>(style.width)));
  return out;
}

}  // namespace gf
