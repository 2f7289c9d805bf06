#include "cli/overhead/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/text/bar.h"
#include "report/text/format.h"
#include "report/text/table.h"

namespace gf::cli {

namespace {

constexpr int kBar = 24;

/// What the rows are compared by: the program's own number where it has one.
std::optional<double> cost(const OverheadRow& r) {
  return r.measured_slow_down ? r.measured_slow_down : r.slow_down;
}

double largest(const OverheadReport& report) {
  double most = 0.05;
  for (const auto& r : report.rows)
    if (r.failed.empty() && r.kernels == 0 && cost(r)) most = std::max(most, *cost(r));
  return most;
}

std::string amount(std::int64_t bytes) { return bytes > 0 ? format_bytes(bytes) : "-"; }

std::string percent(double share) { return fmt::format("{:+.1f} %", share * 100); }

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

}  // namespace

std::string overhead_text(const OverheadReport& report, const TextStyle& style) {
  TextTable table({{"watched by", Align::left, true},
                   {"wall", Align::right},
                   {"slower", Align::right},
                   {"noise", Align::right},
                   {"tool CPU", Align::right},
                   {"tool mem", Align::right},
                   {"GPU mem", Align::right},
                   {"on disk", Align::right}});
  std::string failed;
  for (const auto& r : report.rows) {
    if (!r.failed.empty()) {
      failed += "  " + r.name + ": " + r.failed + "\n";
      continue;
    }
    const bool bounded = r.kernels > 0;
    table.add({r.name, fmt::format("{:.2f} s", r.median_seconds.value_or(0)),
               bounded || r.name == "none" || !cost(r) ? "-" : percent(*cost(r)),
               r.noise ? fmt::format("{:.1f} %", *r.noise * 100) : "-",
               r.tool_cpu_seconds ? fmt::format("{:.1f} s", *r.tool_cpu_seconds) : "-",
               amount(r.tool_memory_bytes), r.gpu_memory_bytes ? amount(*r.gpu_memory_bytes) : "-",
               amount(r.disk_bytes)});
  }
  std::string out = table.render(style) + failed + "\n";
  const double most = largest(report);
  TextTable bars({{""}, {""}, {"", Align::right}});
  for (const auto& r : report.rows) {
    if (!r.failed.empty() || r.name == "none") continue;
    if (r.kernels > 0 && r.seconds_a_kernel)
      bars.add({r.name, fmt::format("{:.1f} ms a kernel, of its first {}",
                                    *r.seconds_a_kernel * 1e3, r.kernels)});
    else if (const auto c = cost(r))
      bars.add({r.name, Cell::painted(bar(style, {0, std::max(*c, 0.0) / most, 0}, kBar), kBar),
                percent(*c)});
  }
  if (!bars.empty()) out += bars.render(style);
  out += "  ";
  out +=
      report.measure.empty()
          ? "slower: median wall time against none; the program's start counts\n"
          : fmt::format("slower: \"{}\" as the program prints it, against none of the same round\n",
                        report.measure);
  return out;
}

std::string overhead_svg(const OverheadReport& report) {
  constexpr int kRow = 26, kLeft = 170, kWidth = 420;
  std::string body;
  int y = 44;
  const double most = largest(report);
  for (const auto& r : report.rows) {
    const auto c = cost(r);
    if (r.name == "none") continue;
    body += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kLeft - 8,
                        y + 15, escaped(r.name));
    const int x =
        static_cast<int>(c && r.kernels == 0 ? std::lround(std::max(*c, 0.0) / most * kWidth) : 0);
    if (r.failed.empty() && r.kernels == 0 && c)
      body += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"18\" fill=\"#3a6ea5\"/>\n",
                          kLeft, y, std::max(x, 1));
    const std::string label =
        !r.failed.empty() ? r.failed
        : r.kernels > 0 && r.seconds_a_kernel
            ? fmt::format("{:.1f} ms for each kernel", *r.seconds_a_kernel * 1e3)
        : c ? percent(*c) + (r.noise ? fmt::format(" ± {:.1f}", *r.noise * 100) : "")
            : "no data";
    body +=
        fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", kLeft + x + 6, y + 15, escaped(label));
    y += kRow;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"12\" y=\"24\" font-size=\"15\">What watching costs: slow-down of "
      "{}</text>\n{}</svg>\n",
      kLeft + kWidth + 130, y + 10,
      escaped(report.measure.empty() ? "the whole run" : report.measure), body);
}

}  // namespace gf::cli
