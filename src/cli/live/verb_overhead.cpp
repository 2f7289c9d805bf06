#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/live/overhead/report.h"
#include "cli/live/overhead/run_way.h"
#include "cli/live/verbs.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "collect/live/live_sampler.h"
#include "collect/nvml/nvml.h"
#include "collect/record/child.h"
#include "core/statistics.h"
#include "core/temporary_folder.h"
#include "report/json.h"

namespace gf::cli {

namespace {

namespace fs = std::filesystem;

struct OverheadArguments {
  std::vector<std::string> command;
  int rounds = 3, ncu_kernels = 200;
  std::string measure, svg, devices = "all";
  std::vector<std::string> only;
  bool shared = false;
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

/// Pairs share what a machine does in a round, so their ratios tell small differences that medians
/// of all runs do not. Geometric means: half and twice as long cancel out.
struct PairedRatio {
  double mean = 0;  // less 1
  std::optional<double> low, high;
};
PairedRatio paired_ratio(const std::vector<double>& ratios) {
  double mean = 0, squares = 0;
  const auto count = static_cast<double>(ratios.size());
  for (const double ratio : ratios) mean += std::log(ratio) / count;
  for (const double ratio : ratios) squares += std::pow(std::log(ratio) - mean, 2);
  PairedRatio paired{std::expm1(mean), {}, {}};
  if (ratios.size() < 2) return paired;
  const double half = student_quantile95(static_cast<std::int64_t>(ratios.size()) - 1) *
                      std::sqrt(squares / (count - 1) / count);
  paired.low = std::expm1(mean - half);
  paired.high = std::expm1(mean + half);
  return paired;
}

void compare(OverheadReport& report) {
  const auto& none = report.rows[0];
  for (auto& row : report.rows) {
    if (row.seconds.empty() && row.failed.empty()) row.failed = "not run: stopped before";
    if (!row.failed.empty()) continue;
    row.median_seconds = median(row.seconds);
    auto noise_of = [&](std::vector<double> OverheadRow::* values) {
      if (&row == &none) return standard_error(row.*values);
      return standard_error(ratios(row.*values, none.*values));
    };
    if (row.kernels > 0) {
      row.seconds_a_kernel =
          (*row.median_seconds - *none.median_seconds) / static_cast<double>(row.kernels);
      continue;
    }
    const auto take = [&](std::vector<double> OverheadRow::* values,
                          std::optional<double>& slow_down) {
      const auto pairs = ratios(row.*values, none.*values);
      if (pairs.empty() || std::ranges::min(pairs) <= 0) return;
      const PairedRatio paired = paired_ratio(pairs);
      slow_down = paired.mean;
      row.low = paired.low;
      row.high = paired.high;
      row.noise = noise_of(values);
    };
    take(&OverheadRow::seconds, row.slow_down);
    if (row.measured.empty() || none.measured.empty()) continue;
    row.measured_median = median(row.measured);
    take(&OverheadRow::measured, row.measured_slow_down);
  }
}

/// The measurements of each run with one tool; the report shows their medians.
struct Figures {
  std::vector<double> cpu, tool, utilization, convert, analyse;

  void add(const WatchedRun& run) {
    cpu.push_back(run.cpu_seconds);
    if (run.tool_cpu_seconds) tool.push_back(*run.tool_cpu_seconds);
    if (run.gpu_utilization) utilization.push_back(*run.gpu_utilization);
    if (run.after.convert_seconds) convert.push_back(*run.after.convert_seconds);
    if (run.after.analyse_seconds) analyse.push_back(*run.after.analyse_seconds);
  }
  void fill(OverheadRow& row) const {
    row.cpu_seconds = middle(cpu);
    row.tool_cpu_seconds = middle(tool);
    row.gpu_utilization = middle(utilization);
    row.convert_seconds = middle(convert);
    row.analyse_seconds = middle(analyse);
  }

 private:
  static std::optional<double> middle(const std::vector<double>& values) {
    if (values.empty()) return {};
    return median(values);
  }
};

/// Starting the program and the tool takes seconds, which only long runs, or the program's own
/// number, leave behind.
std::string start_up_counts(const OverheadReport& report) {
  constexpr double kLong = 30;
  const double alone = report.rows[0].median_seconds.value_or(0);
  if (alone >= kLong) return {};
  std::string_view what = report.measure.empty() ? "slowdowns and the tools' CPU include"
                                                 : "the tools' CPU and GPU utilization include";
  return fmt::format(
      "The program runs for {:.1f} s alone: {} start-up. Run it for {:.0f} s or more, where "
      "start-up is negligible.",
      alone, what, kLong);
}

std::string what_to_doubt(const OverheadReport& report) {
  std::string doubts;
  if (!report.shared.empty())
    doubts = fmt::format("Others used the GPUs ({}): slowdowns and intervals include their work. ",
                         report.shared);
  return doubts + start_up_counts(report);
}

/// The runs of all ways, round by round.
class Rounds {
 public:
  Rounds(const OverheadArguments& options, const WaysWanted& wanted, const std::vector<Way>& ways,
         OverheadReport& report)
      : options_(options), wanted_(wanted), ways_(ways), report_(report), figures_(ways.size()) {
    for (const auto& way : ways) {
      report.rows.emplace_back().name = way.name;
      report.rows.back().kernels = way.kernels;
    }
  }

  /// Rounds are interleaved, so that a machine that warms up or slows down does so for all. The
  /// error of the program alone ends them: there is nothing to compare with.
  Status run(GpuLook& gpus) {
    for (int round = 0; round < options_.rounds && !stop_asked(); ++round)
      for (std::size_t way = 0; way < ways_.size() && !stop_asked(); ++way) {
        auto& row = report_.rows[way];
        if (!row.failed.empty() || (ways_[way].kernels > 0 && round > 0)) continue;
        const auto run = run_watched(ways_[way], wanted_, options_.measure, gpus);
        if (stop_asked()) break;  // the run did not end by itself
        row.failed = run.failed;
        if (way == 0 && !run.failed.empty()) return fail("the program itself fails: " + run.failed);
        keep(way, run);
        std::string measured;
        if (run.measured) measured = fmt::format(", {} {:.4g}", options_.measure, *run.measured);
        fmt::print(stderr, "round {} of {}: {} {:.2f} s{}\n", round + 1, options_.rounds, row.name,
                   run.seconds, measured);
      }
    if (report_.rows[0].seconds.empty()) return fail("stopped before the program ran once");
    for (std::size_t way = 0; way < ways_.size(); ++way)
      if (report_.rows[way].failed.empty()) figures_[way].fill(report_.rows[way]);
    return {};
  }

 private:
  void keep(std::size_t way, const WatchedRun& run) {
    auto& row = report_.rows[way];
    row.seconds.push_back(run.seconds);
    if (run.measured) row.measured.push_back(*run.measured);
    figures_[way].add(run);
    row.memory_bytes = std::max(row.memory_bytes, run.memory_bytes);
    row.tool_memory_bytes = std::max(row.tool_memory_bytes, run.tool_memory_bytes);
    row.disk_bytes = std::max(row.disk_bytes, run.disk_bytes);
    if (run.gpu_memory_bytes)
      row.gpu_memory_bytes = std::max(row.gpu_memory_bytes.value_or(0), *run.gpu_memory_bytes);
  }

  const OverheadArguments& options_;
  const WaysWanted& wanted_;
  const std::vector<Way>& ways_;
  OverheadReport& report_;
  std::vector<Figures> figures_;  // by way
};

Status write_report(const OverheadArguments& options, const OverheadReport& report) {
  if (!options.svg.empty())
    if (auto written = write_answer({"svg", options.svg}, overhead_svg(report)); !written)
      return written;
  std::string text;
  if (chosen_format(options.output) == "json") {
    text = json_line(report);
  } else
    text = overhead_text(report, text_style(options.output.to_file()));
  return write_answer(options.output, text);
}

/// Complains of every way that was asked for and gave no number.
int judge(const OverheadArguments& options, const std::vector<Way>& ways,
          const OverheadReport& report) {
  int exit_code = kWhole;
  for (const auto& name : options.only)
    if (std::none_of(ways.begin(), ways.end(), [&](const Way& way) { return way.name == name; }))
      exit_code = complain(
          fmt::format("incomplete result: {}: not on this machine, or not for this command", name),
          kBadInput);
  for (const auto& row : report.rows)
    if (!row.failed.empty())
      exit_code =
          complain(fmt::format("incomplete result: {}: {}", row.name, row.failed), kBadInput);
  return exit_code;
}

int overhead(const OverheadArguments& options) {
  std::error_code ignored;
  int not_found = 0;
  if (const auto found = find_command(options.command.front(), not_found); !found)
    return complain(found.error());
  const TemporaryFolder scratch("overhead");
  if (scratch.path().empty()) return complain("cannot create a temporary folder", kBadInput);
  const WaysWanted wanted{fs::read_symlink("/proc/self/exe", ignored).string(),
                          scratch.path(),
                          scratch.path() + "/out",
                          options.command,
                          options.only,
                          options.devices,
                          options.ncu_kernels};
  const auto ways = ways_to_watch(wanted);
  const auto nvml = open_nvml().value_or(nullptr);
  std::vector<unsigned> chosen;
  if (nvml) {
    auto selected = select_devices(options.devices, nvml->gpus());
    if (!selected) return complain(selected.error());
    chosen = std::move(*selected);
  }
  GpuLook gpus(nvml, std::move(chosen));
  OverheadReport report;
  report.shared = gpus.others();
  if (!report.shared.empty() && !options.shared)
    return complain(
        fmt::format("others use the GPUs that are measured ({}): their work would count as "
                    "overhead. End it, choose other GPUs with --devices, or pass --shared",
                    report.shared),
        kBadInput);
  report.command = fmt::format("{}", fmt::join(options.command, " "));
  report.measure = options.measure;
  stop_on_signals();
  Rounds rounds(options, wanted, ways, report);
  if (const auto run = rounds.run(gpus); !run) return complain(run.error().what, kBadInput);
  compare(report);
  report.note = what_to_doubt(report);
  if (const auto written = write_report(options, report); !written)
    return complain(written.error());
  if (stop_asked()) return complain("stopped: the table has the runs until then", kBadInput);
  return judge(options, ways, report);
}

}  // namespace

Verb overhead_verb() {
  Verb verb{"overhead", "measure the overhead of profilers and monitors on a program"};
  const auto options = std::make_shared<OverheadArguments>();
  verb.option("--rounds", options->rounds, "N", "runs with each tool (default: 3)").from(1, 1000);
  verb.option("--only", options->only, "NAMES",
              "tools to compare, by the names in the table, separated by commas (default: all)")
      .separated_by(',')
      .suggest(names_of_ways(), ',');
  verb.option("--devices", options->devices, "LIST",
              "GPUs that record and monitor watch, and whose use is measured: 0,2-3 as in "
              "nvidia-smi, UUIDs, or all (default: all)")
      .suggest({"all"});
  verb.flag("--shared", options->shared,
            "measure though other processes use the GPUs; the intervals then include their work");
  verb.option("--measure", options->measure, "KEY",
              "compare a number that the program prints as \"KEY\": NUMBER, such as its step time, "
              "instead of the wall time");
  verb.option(
          "--ncu-kernels", options->ncu_kernels, "N",
          "Nsight Compute replays every kernel: stop it after N (default: 200; 0 leaves it out)")
      .not_negative();
  verb.option("--svg", options->svg, "FILE", "also draw a chart").output();
  add_output_options(verb, options->output, {"text", "json"});
  verb.argument("-- COMMAND [ARGUMENT ...]", options->command,
                "the program and its arguments, after --")
      .must();
  verb.run = [options] { return overhead(*options); };
  return verb;
}

}  // namespace gf::cli
