// The solved rates of every kernel of a capture with their intervals, as JSON: what
// tests/gpu/rates_against_ncu.py compares with a profiler's counters. Usage: kernel_rates CAPTURE
#include "analyze/kernel_rates/kernel_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "import/importer.h"
#include "report/json.h"

int main(int argc, char** argv) {
  using namespace gf;
  if (argc != 2) return fmt::print(stderr, "usage: kernel_rates CAPTURE\n"), 2;
  auto capture = import_file(argv[1], {});
  if (!capture) return fmt::print(stderr, "{}\n", capture.error().message()), 1;
  const auto began = std::chrono::steady_clock::now();
  const auto solved = solve_kernel_rates(*capture, 0);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const auto& a = capture->activities;
  std::string out = fmt::format(
      "{{\"solve_seconds\":{:.3f},\"samples\":{},\"shift_ns\":{},\"correlation\":{},\"explained\":{"
      "{",
      seconds, solved.samples, solved.shift_ns, solved.fit_of_shift);
  for (std::size_t m = 0; m < solved.metrics.size(); ++m)
    out += fmt::format("{}\"{}\":{}", m ? "," : "", capture->text(solved.metrics[m]),
                       solved.explained[m]);
  out += "},\"kernels\":[";
  for (std::size_t g = 0; g < solved.groups.size(); ++g) {
    const auto row = solved.groups[g].first;
    std::string name;
    json_string(name, capture->text(a.name[row]));
    out += fmt::format(
        "{}\n{{\"name\":{},\"grid\":[{},{},{}],\"block\":[{},{},{}],\"instances\":{},\"ns\":{},"
        "\"rates\":{{",
        g ? "," : "", name, a.grid_x[row], a.grid_y[row], a.grid_z[row], a.block_x[row],
        a.block_y[row], a.block_z[row], solved.groups[g].instances, solved.groups[g].ns);
    for (std::size_t m = 0; m < solved.metrics.size(); ++m) {
      const auto& r = solved.rates[m][g];
      out += fmt::format("{}\"{}\":[{},{},{}]", m ? "," : "", capture->text(solved.metrics[m]),
                         r.value, r.half_width, r.resolvable);
    }
    out += "}}";
  }
  // The sequence of kernels, to be laid over another tool's: group numbers in order of start.
  std::vector<std::uint32_t> order;
  for (std::uint32_t row = 0; row < a.size(); ++row)
    if (solved.group_of[row] != kNoRow) order.push_back(row);
  std::sort(order.begin(), order.end(),
            [&](auto x, auto y) { return a.start_ns[x] < a.start_ns[y]; });
  fmt::print("{}\n],\"order\":[", out);
  const std::size_t from = order.size() / 2;
  for (std::size_t i = from; i < std::min(order.size(), from + 8000); ++i)
    fmt::print("{}{}", i > from ? "," : "", solved.group_of[order[i]]);
  fmt::print("]}}\n");
}
