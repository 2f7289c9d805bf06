// Ladder, waterfall, devices: how deep the GPU is used and where the rest of the time goes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/files.h"
#include "model/metrics.h"
#include "report/labels.h"
#include "report/summary.h"
#include "report/text/format.h"
#include "report/text/plot.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

namespace {

constexpr int kLabelWidth = 24, kValueWidth = 12;

std::string padded(std::string text, std::size_t width, bool right = false) {
  const std::size_t count = columns_of(text);
  if (count >= width) return text;
  return right ? std::string(width - count, ' ') + text : text + std::string(width - count, ' ');
}

int bar_width(const TextStyle& style, int values) {
  return style.width - 2 - kLabelWidth - 2 - values * kValueWidth;
}

/// The first clause of a reason; a list of counters becomes their number.
std::string short_reason(std::string reason) {
  const auto command = reason.find("; collect with");
  const bool told = command != std::string::npos;
  reason = reason.substr(0, command);
  const auto commas = std::count(reason.begin(), reason.end(), ',');
  if (const auto lacks = reason.find("lacks "); lacks != std::string::npos && commas > 0)
    reason = reason.substr(0, lacks) + fmt::format("lacks {} counters", commas + 1);
  return told ? reason + " (how to collect them: see below)" : reason;
}

/// Both readings of the first rung differ when kernels overlap; then the report says so.
bool worth_a_line(const Analysis& analysis, const Level& level) {
  if (level.id != "gpu.kernel_time"_metric)
    return level.unit == "ratio" &&
           !level.id.ends_with("hit_rate");  // a rate of accesses, no share of time
  if (!level.value) return false;
  for (const auto& busy : analysis.levels)
    if (busy.id == "gpu.busy"_metric && busy.value)
      return std::abs(*busy.value - *level.value) >= 0.0005;
  return true;
}

Share known(const Analysis& analysis, std::string_view id) {
  const auto found = std::ranges::find(analysis.levels, id, &Level::id);
  return found == analysis.levels.end() ? Share() : found->value;
}

/// Use of the tensor cores lies between two quotients (DATE 2024, IV): of the cycles
/// with a warp, and of the instructions issued.
std::string tensor_line(const Analysis& analysis, const TextStyle& style) {
  const Share sm = known(analysis, "sm.active"_metric),
              issue = known(analysis, "issue.active"_metric),
              tensor = known(analysis, "tensor.active"_metric),
              slots = known(analysis, "tensor.issue"_metric),
              matrix = known(analysis, "matrix.issue"_metric);
  if (!sm || !issue || !tensor || !slots || *sm <= 0 || *issue <= 0 || *slots <= 0) return {};
  std::string text = fmt::format(
      "Tensor pipes are active {} of the cycles with a warp; {} of the instructions issued are "
      "tensor instructions",
      format_share(*tensor / *sm), format_share(*slots / *issue));
  if (matrix && *matrix < *slots)
    text += fmt::format(", of which {} are packed 16-bit arithmetic and multiply no matrices",
                        format_share(1 - *matrix / *slots));
  text += ".";
  return paint(style, Paint::dim, wrap(text, static_cast<std::size_t>(style.width), 2));
}

}  // namespace

std::string title_line(const SourceInfo& source, const std::optional<SourceInfo>& counters,
                       const std::string& subject, const TextStyle& style) {
  constexpr std::size_t kLeastOfFiles = 30;
  const auto width = static_cast<std::size_t>(style.width);
  std::string files(file_name(source.path));
  if (counters && counters->path != source.path)
    files += " + " + std::string(file_name(counters->path));
  if (subject.empty()) return paint(style, Paint::dim, shorten_middle(files, width)) + "\n";
  const std::size_t taken = columns_of(subject) + 2;
  if (width < taken + kLeastOfFiles)
    return paint(style, Paint::dim, shorten_middle(files, width)) + "\n" +
           paint(style, Paint::dim, shorten_middle(subject, width)) + "\n";
  const std::string shown = shorten_middle(files, width - taken);
  return paint(
             style, Paint::dim,
             shown + std::string(width - columns_of(shown) - columns_of(subject), ' ') + subject) +
         "\n";
}

std::string section_title(const TextStyle& style, std::string_view title, std::string_view remark) {
  std::string line(1, '\n');
  line += paint(style, Paint::title, title);
  const std::size_t used = columns_of(title) + columns_of(remark) + 2,
                    width = static_cast<std::size_t>(style.width);
  if (!remark.empty() && used <= width)
    line += std::string(width - used + 2, ' ') + paint(style, Paint::dim, remark);
  return line += '\n';
}

std::string ladder_section(const Analysis& analysis, const TextStyle& style) {
  if (analysis.levels.empty()) return {};
  std::string out = section_title(style, "Utilization by level",
                                  "share of " + format_time(device_time(analysis)));
  std::string missing, lacking;
  bool estimated = false;
  const int width = bar_width(style, 1);
  for (const auto& level : analysis.levels) {
    if (!worth_a_line(analysis, level)) continue;
    const Label label = label_of_metric(level.id);
    if (!level.value && !level.low) {
      if (!lacking.empty()) lacking += ", ";
      lacking += label.text;
      if (missing.empty()) missing = level.why_missing;
      continue;
    }
    const double low = level.low.value_or(level.value.value_or(0)), high = level.high.value_or(low);
    out += "  " + padded(shorten_middle(label.text, kLabelWidth), kLabelWidth) + "  " +
           bar(style, {0, low, high}, width) + padded(format_level(level), kValueWidth, true) +
           "\n";
    estimated = estimated || level.estimated;
  }
  out += tensor_line(analysis, style);
  out += work_lines(analysis.work, style);
  const auto paragraph = [&](const std::string& text) {
    return paint(style, Paint::dim, wrap(text, static_cast<std::size_t>(style.width), 2));
  };
  if (estimated)
    out += paragraph("~ estimated from the launches' grids, blocks, registers and shared memory");
  if (!lacking.empty()) {
    const std::string why = missing.empty() ? "" : ": " + short_reason(missing);
    out += paragraph("no data for " + lacking + why);
  }
  return out;
}

namespace {

Paint paint_of(Bar bar) {
  switch (bar) {
    case Bar::tensor:
      return Paint::good;
    case Bar::other_instructions:
      return Paint::used;
    case Bar::unknown:
      return Paint::unknown;
    case Bar::idle:
      return Paint::bad;
    default:
      return Paint::warn;
  }
}

/// Kernels without counters by layer type, under their bar and where they lie in it.
std::string kernel_type_lines(const WaterfallBar& bar_of_kernels, Nanos before, Nanos whole,
                              const TextStyle& style) {
  constexpr std::size_t kTypes = 6;
  std::vector<NamedTime> shown = bar_of_kernels.parts;
  if (shown.size() > kTypes + 1) {
    NamedTime rest{fmt::format("{} more", shown.size() - kTypes), 0};
    for (std::size_t i = kTypes; i < shown.size(); ++i) rest.ns += shown[i].ns;
    shown.resize(kTypes);
    shown.push_back(rest);
  }
  std::string out;
  const int width = bar_width(style, 2);
  for (const auto& type : shown) {
    const double from = *share_of(before, whole), to = *share_of(before += type.ns, whole);
    out += "    " + padded(shorten_middle(type.name, kLabelWidth - 2), kLabelWidth - 2) + "  " +
           bar(style, {from, to, 0}, width, Paint::unknown) +
           padded(format_time(type.ns), kValueWidth, true) +
           padded(format_share(share_of(type.ns, whole)), kValueWidth, true) + "\n";
  }
  return out;
}

}  // namespace

std::string waterfall_section(const Analysis& analysis, const TextStyle& style) {
  const auto bars = waterfall_of_all(analysis);
  const Nanos whole = device_time(analysis);
  if (bars.empty() || whole <= 0) return {};
  std::string out = section_title(style, "Time breakdown", "parts add up to " + format_time(whole));
  const int width = bar_width(style, 2);
  Nanos before = 0;
  for (const auto& one : bars) {
    const Label label = label_of(one.id);
    const double from = *share_of(before, whole), to = *share_of(before += one.ns, whole);
    const Paint how = paint_of(one.id);
    if (one.ns == 0) continue;
    out += "  " + padded(std::string(label.text), kLabelWidth) + "  " +
           bar(style, {from, to, 0}, width, how) + padded(format_time(one.ns), kValueWidth, true) +
           padded(format_share(share_of(one.ns, whole)), kValueWidth, true) + "\n";
    if (shows_kernel_types(one, whole))
      out += kernel_type_lines(one, before - one.ns, whole, style);
  }
  return out;
}

namespace {

bool did_the_same(const DeviceUse& left, const DeviceUse& right) {
  const auto near = [](Nanos one, Nanos other) {
    return nearly_equal(static_cast<double>(one), static_cast<double>(other));
  };
  return left.name == right.name && near(left.span_ns, right.span_ns) &&
         near(left.busy_ns, right.busy_ns) && near(left.kernel_busy_ns, right.kernel_busy_ns) &&
         near(left.kernels, right.kernels) && near(left.idle_ns, right.idle_ns);
}

}  // namespace

std::string devices_section(const Analysis& analysis, const TextStyle& style) {
  if (analysis.devices.size() < 2) return {};
  TextTable table({{"device"},
                   {"", Align::left, true},
                   {"window", Align::right},
                   {"busy", Align::right},
                   {"in kernels", Align::right},
                   {"kernels", Align::right},
                   {"idle", Align::right}});
  const auto runs = runs_alike(analysis.devices, did_the_same);
  for (const auto& run : runs) {
    const auto& device = run.front();
    table.add({gpu_numbers(device.id, run.back().id), device.name, format_time(device.span_ns),
               format_share(share_of(device.busy_ns, device.span_ns)),
               format_share(share_of(device.kernel_busy_ns, device.span_ns)),
               device.gpu_events > 0 ? format_count(device.kernels) : std::string("-"),
               format_time(device.idle_ns)});
  }
  const bool shared = runs.size() < analysis.devices.size();
  return section_title(style, "Devices", shared ? "alike within 2 %: the first of them" : "") +
         table.render(style);
}

}  // namespace gf
