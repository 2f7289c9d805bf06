#include <fmt/format.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/output.h"
#include "cli/overhead/report.h"
#include "cli/overhead/run_way.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "collect/nvml/open.h"
#include "collect/record/child.h"
#include "core/statistics.h"
#include "core/when.h"
#include "report/json.h"

namespace gf::cli {

namespace {

struct Options {
  std::vector<std::string> command;
  int rounds = 3, ncu_kernels = 200;
  std::string measure, svg;
  std::vector<std::string> only;
  OutputOptions output;
};

/// Standard error of the mean of ratios.
std::optional<double> standard_error(const std::vector<double>& values) {
  if (values.size() < 2) return {};
  double mean = 0, sum = 0;
  for (double value : values) mean += value / static_cast<double>(values.size());
  for (double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1) /
                   static_cast<double>(values.size())) /
         mean;
}

/// Each run over the run of none in the same round.
std::vector<double> ratios(const std::vector<double>& values, const std::vector<double>& none) {
  std::vector<double> out;
  for (std::size_t i = 0; i < std::min(values.size(), none.size()); ++i)
    if (none[i] > 0) out.push_back(values[i] / none[i]);
  return out;
}

void compare(OverheadReport& report) {
  const auto& none = report.rows[0];
  for (auto& row : report.rows) {
    if (row.seconds.empty() && row.failed.empty()) row.failed = "not run: stopped before";
    if (!row.failed.empty()) continue;
    row.median_seconds = median(row.seconds);
    const bool itself = &row == &none;
    if (row.kernels > 0) {
      row.seconds_a_kernel =
          (*row.median_seconds - *none.median_seconds) / static_cast<double>(row.kernels);
      continue;
    }
    row.slow_down = *row.median_seconds / *none.median_seconds - 1;
    row.noise = standard_error(itself ? row.seconds : ratios(row.seconds, none.seconds));
    if (row.measured.empty() || none.measured.empty()) continue;
    row.measured_median = median(row.measured);
    row.measured_slow_down = median(ratios(row.measured, none.measured)) - 1;
    row.noise = standard_error(itself ? row.measured : ratios(row.measured, none.measured));
  }
}

int overhead(const Options& options) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  int not_found = 0;
  if (const auto found = find_command(options.command.front(), not_found); !found)
    return complain(found.error());
  std::string pattern = (fs::temp_directory_path() / "gpufathom-overhead-XXXXXX").string();
  if (!mkdtemp(pattern.data())) return complain("no temporary folder can be made", kBadInput);
  WaysWanted wanted{fs::read_symlink("/proc/self/exe", ignored).string(),
                    pattern,
                    pattern + "/out",
                    options.command,
                    options.only,
                    options.ncu_kernels};
  const auto ways = ways_to_watch(wanted);
  std::vector<std::string> missing;
  for (const auto& name : options.only)
    if (std::none_of(ways.begin(), ways.end(), [&](const Way& way) { return way.name == name; }))
      missing.push_back(name);
  auto nvml = open_nvml();
  GpuMemory gpus(nvml ? *nvml : nullptr);
  OverheadReport report;
  for (const auto& word : options.command)
    report.command += when(!report.command.empty(), " ") + word;
  report.measure = options.measure;
  std::vector<std::vector<double>> cpu(ways.size()), tool(ways.size());
  for (const auto& way : ways) {
    report.rows.emplace_back().name = way.name;
    report.rows.back().kernels = way.kernels;
  }
  stop_on_signals();
  // Rounds are interleaved, so that a machine that warms up or slows down does so for all.
  for (int round = 0; round < options.rounds && !stop_asked(); ++round)
    for (std::size_t i = 0; i < ways.size() && !stop_asked(); ++i) {
      auto& row = report.rows[i];
      if (!row.failed.empty() || (ways[i].kernels > 0 && round > 0)) continue;
      const auto run = run_watched(ways[i], wanted, options.measure, gpus);
      if (stop_asked()) break;  // the run did not end by itself
      row.failed = run.failed;
      if (i == 0 && !run.failed.empty()) {  // there is nothing to compare with
        fs::remove_all(pattern, ignored);
        return complain("the program itself fails: " + run.failed, kBadInput);
      }
      row.seconds.push_back(run.seconds);
      if (run.measured) row.measured.push_back(*run.measured);
      cpu[i].push_back(run.cpu_seconds);
      if (run.tool_cpu_seconds) tool[i].push_back(*run.tool_cpu_seconds);
      row.memory_bytes = std::max(row.memory_bytes, run.memory_bytes);
      row.tool_memory_bytes = std::max(row.tool_memory_bytes, run.tool_memory_bytes);
      row.disk_bytes = std::max(row.disk_bytes, run.disk_bytes);
      if (run.gpu_memory_bytes)
        row.gpu_memory_bytes = std::max(row.gpu_memory_bytes.value_or(0), *run.gpu_memory_bytes);
      fmt::print(stderr, "round {} of {}: {} {:.2f} s{}\n", round + 1, options.rounds, row.name,
                 run.seconds,
                 run.measured ? fmt::format(", {} {:.4g}", options.measure, *run.measured) : "");
    }
  fs::remove_all(pattern, ignored);
  if (report.rows[0].seconds.empty())
    return complain("stopped before the program ran once", kBadInput);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (!report.rows[i].failed.empty() || cpu[i].empty()) continue;
    report.rows[i].cpu_seconds = median(cpu[i]);
    if (!tool[i].empty()) report.rows[i].tool_cpu_seconds = median(tool[i]);
  }
  compare(report);
  if (!options.svg.empty())
    if (const auto written = write_answer({"svg", options.svg}, overhead_svg(report)); !written)
      return complain(written.error());
  std::string text;
  if (chosen_format(options.output) == "json") {
    to_json(text, report);
    text += '\n';
  } else
    text = overhead_text(report, text_style(options.output.to_file()));
  if (const auto written = write_answer(options.output, text); !written)
    return complain(written.error());
  if (stop_asked()) return complain("stopped: the table holds the runs until then", kBadInput);
  int exit_code = kWhole;
  for (const auto& name : missing)
    exit_code = complain(
        fmt::format("the answer is not whole: {}: not on this machine, or not for this command",
                    name),
        kBadInput);
  for (const auto& row : report.rows)
    if (!row.failed.empty())
      exit_code =
          complain(fmt::format("the answer is not whole: {}: {}", row.name, row.failed), kBadInput);
  return exit_code;
}

}  // namespace

Verb overhead_verb() {
  Verb verb{"overhead", "what tools that watch a program cost it: interleaved runs with each"};
  const auto options = std::make_shared<Options>();
  verb.option("--rounds", options->rounds, "N", "runs with each tool (default: 3)").from(1, 1000);
  verb.option("--only", options->only, "NAMES",
              "tools to compare, by the names in the table, separated by commas (default: all)")
      .separated_by(',');
  verb.option("--measure", options->measure, "KEY",
              "compare a number that the program prints as \"KEY\": NUMBER, such as its step time, "
              "instead of the wall time");
  verb.option(
          "--ncu-kernels", options->ncu_kernels, "N",
          "Nsight Compute replays every kernel: stop it after N (default: 200; 0 leaves it out)")
      .not_negative();
  verb.option("--svg", options->svg, "FILE", "also draw a chart").output();
  add_output_options(verb, options->output, {"text", "json"});
  add_format_flags(verb, options->output.format, {"json"});
  verb.argument("-- COMMAND [ARGUMENT ...]", options->command,
                "the program and its arguments, after --")
      .must();
  verb.run = [options] { return overhead(*options); };
  return verb;
}

}  // namespace gf::cli
