// The solved rates of every kernel of a capture with their intervals, as JSON: what
// bench/gpu/rates_against_ncu.py compares with a profiler's counters. Usage: kernel_rates CAPTURE
#include "analyze/kernel_rates/kernel_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/text.h"
#include "import/importer.h"
#include "report/json.h"

int main(int argc, char** argv) {
  using namespace gf;
  if (argc != 2) {
    fmt::print(stderr, "usage: kernel_rates CAPTURE\n");
    return 2;
  }
  auto capture = import_file(argv[1], {});
  if (!capture) {
    fmt::print(stderr, "{}\n", capture.error().message());
    return 1;
  }
  const auto began = std::chrono::steady_clock::now();
  const auto solved = solve_kernel_rates(*capture, 0);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const auto& activities = capture->activities;
  std::string out = fmt::format(
      "{{\"solve_seconds\":{:.3f},\"samples\":{},\"shift_ns\":{},\"correlation\":{},\"alignment\":{"
      "{"
      "\"verdict\":{},\"error\":{},\"rival_error\":{},\"rival_shift_ns\":{},\"certainty\":{}}},"
      "\"explained\":{{",
      seconds, solved.samples, solved.shift_ns, solved.fit_of_shift,
      static_cast<int>(solved.alignment.verdict), solved.alignment.error,
      solved.alignment.rival_error, solved.alignment.rival_shift,
      std::min(solved.alignment.certainty, 1e9));
  for (std::size_t metric = 0; metric < solved.metrics.size(); ++metric)
    out += fmt::format("{}\"{}\":{}", metric > 0 ? "," : "", capture->text(solved.metrics[metric]),
                       solved.explained[metric]);
  out += "},\"kernels\":[";
  for (std::size_t group = 0; group < solved.groups.size(); ++group) {
    const auto row = solved.groups[group].first;
    std::string name;
    json_string(name, capture->text(activities.name[row]));
    out += fmt::format(
        "{}\n{{\"name\":{},\"grid\":[{},{},{}],\"block\":[{},{},{}],\"instances\":{},\"ns\":{},"
        "\"rates\":{{",
        group > 0 ? "," : "", name, activities.grid_x[row], activities.grid_y[row],
        activities.grid_z[row], activities.block_x[row], activities.block_y[row],
        activities.block_z[row], solved.groups[group].instances, solved.groups[group].ns);
    for (std::size_t metric = 0; metric < solved.metrics.size(); ++metric) {
      const auto& rate = solved.rates[metric][group];
      out += fmt::format("{}\"{}\":[{},{},{}]", metric > 0 ? "," : "",
                         capture->text(solved.metrics[metric]), rate.value, rate.half_width,
                         rate.resolvable);
    }
    out += "}}";
  }
  // The sequence of kernels, to be laid over another tool's: group numbers in order of start.
  std::vector<std::uint32_t> order;
  for (std::uint32_t row = 0; row < activities.size(); ++row)
    if (solved.group_of[row] != kNoRow) order.push_back(row);
  std::sort(order.begin(), order.end(), [&](auto left, auto right) {
    return activities.start_ns[left] < activities.start_ns[right];
  });
  fmt::print("{}\n],\"order\":[", out);
  const std::size_t from = order.size() / 2;
  for (std::size_t i = from; i < std::min(order.size(), from + 8000); ++i)
    fmt::print("{}{}", i > from ? "," : "", solved.group_of[order[i]]);
  fmt::print("]}}\n");
}
