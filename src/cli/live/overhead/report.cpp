#include "cli/live/overhead/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "report/text/format.h"
#include "report/text/plot.h"
#include "report/text/table.h"

namespace gf::cli {

namespace {

constexpr int kBar = 24;

/// The quantity that rows are compared by: the program's own number if it prints one.
std::optional<double> cost(const OverheadRow& row) {
  return row.measured_slow_down ? row.measured_slow_down : row.slow_down;
}

double largest(const OverheadReport& report) {
  double most = 0.05;
  for (const auto& row : report.rows)
    if (row.failed.empty() && row.kernels == 0 && cost(row)) most = std::max(most, *cost(row));
  return most;
}

std::string amount(std::int64_t bytes) { return bytes > 0 ? format_bytes(bytes) : "-"; }

std::string percent(double share) { return fmt::format("{:+.1f} %", share * 100); }

/// "-1.2 to +6.0 %".
std::string interval_of(const OverheadRow& row) {
  if (!row.low || !row.high) return "-";
  return fmt::format("{:+.1f} to {:+.1f} %", *row.low * 100, *row.high * 100);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '<') {
      out += "&lt;";
    } else if (letter == '&') {
      out += "&amp;";
    } else {
      out += std::string(1, letter);
    }
  }
  return out;
}

}  // namespace

namespace {

std::string seconds_text(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.2f} s", *seconds) : "-";
}

/// Use of the GPU meanwhile, and the time to process what a tool leaves.
std::string afterwards(const OverheadReport& report, const TextStyle& style) {
  TextTable table({{"watched by", Align::left, true},
                   {"GPU used", Align::right},
                   {"GPU mem", Align::right},
                   {"CPU in all", Align::right},
                   {"convert", Align::right},
                   {"analyse", Align::right}});
  for (const auto& row : report.rows) {
    if (!row.failed.empty()) continue;
    const std::string used =
        row.gpu_utilization ? fmt::format("{:.1f} %", *row.gpu_utilization * 100) : "-";
    table.add({row.name, used, known_or("-", row.gpu_memory_bytes, amount),
               row.cpu_seconds ? fmt::format("{:.1f} s", *row.cpu_seconds) : "-",
               seconds_text(row.convert_seconds), seconds_text(row.analyse_seconds)});
  }
  return table.render(style);
}

}  // namespace

std::string overhead_text(const OverheadReport& report, const TextStyle& style) {
  TextTable table({{"watched by", Align::left, true},
                   {"wall", Align::right},
                   {"slower", Align::right},
                   {"95 %", Align::right},
                   {"tool CPU", Align::right},
                   {"tool mem", Align::right},
                   {"on disk", Align::right}});
  std::string failed;
  for (const auto& row : report.rows) {
    if (!row.failed.empty()) {
      failed += "  " + row.name + ": " + row.failed + "\n";
      continue;
    }
    const bool bounded = row.kernels > 0;
    std::optional<double> slow_down;
    if (!bounded && row.name != "none") slow_down = cost(row);
    table.add({row.name, fmt::format("{:.2f} s", row.median_seconds.value_or(0)),
               known_or("-", slow_down, percent),
               bounded || row.name == "none" ? "-" : interval_of(row),
               known_or("-", row.tool_cpu_seconds,
                        [](double cpu) { return fmt::format("{:.1f} s", cpu); }),
               amount(row.tool_memory_bytes), amount(row.disk_bytes)});
  }
  std::string out = table.render(style) + failed + "\n" + afterwards(report, style) + "\n";
  const double most = largest(report);
  TextTable bars({{""}, {""}, {"", Align::right}});
  for (const auto& row : report.rows) {
    if (!row.failed.empty() || row.name == "none") continue;
    if (row.kernels > 0 && row.seconds_a_kernel)
      bars.add({row.name, fmt::format("{:.1f} ms a kernel, of its first {}",
                                      *row.seconds_a_kernel * 1e3, row.kernels)});
    else if (const auto cost_of = cost(row))
      bars.add({row.name,
                Cell::painted(bar(style, {0, std::max(*cost_of, 0.0) / most, 0}, kBar), kBar),
                percent(*cost_of)});
  }
  if (!bars.empty()) out += bars.render(style);
  out += "  ";
  if (report.measure.empty()) {
    out += "slower: wall time against none of the same round; the program's start counts\n";
  } else {
    out += fmt::format("slower: \"{}\" as the program prints it, against none of the same round\n",
                       report.measure);
  }
  if (!report.note.empty()) out += wrap(report.note, static_cast<std::size_t>(style.width), 2);
  return out;
}

std::string overhead_svg(const OverheadReport& report) {
  constexpr int kRow = 26, kLeft = 170, kWidth = 420;
  std::string body;
  int top = 44;
  const double most = largest(report);
  for (const auto& row : report.rows) {
    const auto column = cost(row);
    if (row.name == "none") continue;
    body += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kLeft - 8,
                        top + 15, escaped(row.name));
    int width = column && row.kernels == 0
                    ? static_cast<int>(std::lround(std::max(*column, 0.0) / most * kWidth))
                    : 0;
    if (row.failed.empty() && row.kernels == 0 && column)
      body += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"18\" fill=\"#3a6ea5\"/>\n",
                          kLeft, top, std::max(width, 1));
    std::string label = "no data";
    if (!row.failed.empty()) {
      label = row.failed;
    } else if (row.kernels > 0 && row.seconds_a_kernel) {
      label = fmt::format("{:.1f} ms for each kernel", *row.seconds_a_kernel * 1e3);
    } else if (column) {
      label = percent(*column);
      if (row.low) label += fmt::format(" ({})", interval_of(row));
    }
    body += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", kLeft + width + 6, top + 15,
                        escaped(label));
    top += kRow;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"12\" "
      "y=\"24\" font-size=\"15\">Profiler and monitor overhead: slowdown of {}</text>\n{}</svg>\n",
      kLeft + kWidth + 130, top + 10,
      escaped(std::string(text_or(report.measure, "the whole run"))), body);
}

}  // namespace gf::cli
