#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "cli/output.h"
#include "cli/verbs.h"
#include "collect/nvml/nvml.h"
#include "core/describe.h"
#include "core/statistics.h"
#include "report/json.h"
#include "report/text/format.h"

namespace gf::cli {

namespace {

struct Options {
  std::vector<std::string> command;
  int rounds = 3;
  bool json = false;
};

/// One way to watch the program.
struct Way {
  std::string name;
  std::vector<std::string> before;  // words in front of the command
  std::vector<std::string> beside;  // a program that runs at its side
};

struct OverheadRow {
  std::string name;
  std::vector<double> seconds;  // wall time of each run
  std::optional<double> median_seconds, slow_down, cpu_seconds;  // CPU of the run, the tool's included
  std::int64_t memory_bytes = 0, disk_bytes = 0;
  std::string failed;
  static constexpr auto fields() {
    using R = OverheadRow;
    return std::tuple{field("name", &R::name, "what watched the program"), field("seconds", &R::seconds, "wall time of each run"), field("median_seconds", &R::median_seconds, "their median"),
                      field("slow_down", &R::slow_down, "median over the median of none, less 1"), field("cpu_seconds", &R::cpu_seconds, "CPU of the program and the tool in front of it, median"),
                      field("memory_bytes", &R::memory_bytes, "most resident memory of one process of the run"), field("disk_bytes", &R::disk_bytes, "files that a run left"),
                      field("failed", &R::failed, "why there are no numbers")};
  }
};

struct OverheadReport {
  std::string schema = "gpufathom.overhead/1";
  std::vector<OverheadRow> rows;
  static constexpr auto fields() { return std::tuple{field("schema", &OverheadReport::schema, "name and version of this layout"), field("rows", &OverheadReport::rows, "one a way to watch")}; }
};

pid_t spawn(std::vector<std::string> words, const std::string& directory, bool quiet) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  if (!directory.empty() && quiet && chdir(directory.c_str()) != 0) _exit(125);
  if (quiet && !std::freopen("/dev/null", "w", stdout)) _exit(125);
  std::vector<char*> argv;
  for (auto& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

bool on_path(const std::string& program) {
  std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find(':', at), path.size());
    if (access((path.substr(at, end - at) + "/" + program).c_str(), X_OK) == 0) return true;
    at = end + 1;
  }
  return false;
}

int overhead(const Options& o) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const std::string self = fs::read_symlink("/proc/self/exe", ignored).string();
  std::string pattern = (fs::temp_directory_path() / "gpufathom-overhead-XXXXXX").string();
  if (!mkdtemp(pattern.data())) return complain("no temporary folder can be made", kBadInput);
  const fs::path work = pattern;
  const std::string out = (work / "out").string();
  std::vector<Way> ways{{"none", {}, {}},
                        {"record", {self, "record", "-q", "-o", out + "/r.gpf", "--"}, {}},
                        {"record --kernels", {self, "record", "-q", "--kernels", "-o", out + "/k.gpf", "--"}, {}},
                        {"monitor", {}, {self, "monitor", "--csv"}}};
  if (on_path("nvidia-smi")) ways.push_back({"nvidia-smi -l 1", {}, {"nvidia-smi", "--query-gpu=utilization.gpu,power.draw", "--format=csv", "-l", "1"}});
  if (on_path("dcgmi")) ways.push_back({"dcgmi dmon", {}, {"dcgmi", "dmon", "-e", "1001,1002,1003,1004,1005"}});
  if (on_path("nsys")) ways.push_back({"nsys", {"nsys", "profile", "-o", out + "/n", "-f", "true"}, {}});
  OverheadReport report;
  std::vector<std::vector<double>> cpu(ways.size());
  for (const auto& w : ways) report.rows.push_back({w.name});
  // Rounds are interleaved, so that a machine that warms up or slows down does so for all.
  for (int round = 0; round < o.rounds; ++round)
    for (std::size_t i = 0; i < ways.size(); ++i) {
      auto& row = report.rows[i];
      if (!row.failed.empty()) continue;
      fs::create_directory(out, ignored);
      const pid_t side = ways[i].beside.empty() ? -1 : spawn(ways[i].beside, {}, true);
      auto words = ways[i].before;
      words.insert(words.end(), o.command.begin(), o.command.end());
      const Nanos start = host_now();
      const pid_t pid = spawn(words, {}, false);
      int status = 0;
      rusage use{};
      wait4(pid, &status, 0, &use);
      const double seconds = static_cast<double>(host_now() - start) * 1e-9;
      if (side > 0) {
        kill(side, SIGTERM);
        waitpid(side, nullptr, 0);
      }
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) row.failed = WIFEXITED(status) ? fmt::format("the run ended with {}", WEXITSTATUS(status)) : fmt::format("the run was killed by signal {}", WTERMSIG(status));
      row.seconds.push_back(seconds);
      cpu[i].push_back(static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) + static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6);
      row.memory_bytes = std::max<std::int64_t>(row.memory_bytes, use.ru_maxrss * 1024);
      std::int64_t disk = 0;
      for (const auto& file : fs::recursive_directory_iterator(out, ignored))
        if (file.is_regular_file(ignored)) disk += static_cast<std::int64_t>(file.file_size(ignored));
      row.disk_bytes = std::max(row.disk_bytes, disk);
      fs::remove_all(out, ignored);
      fmt::print(stderr, "round {} of {}: {} {:.2f} s\n", round + 1, o.rounds, row.name, seconds);
    }
  fs::remove_all(work, ignored);
  if (!report.rows[0].failed.empty()) return complain("the program itself fails: " + report.rows[0].failed, kBadInput);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    auto& row = report.rows[i];
    if (!row.failed.empty()) continue;
    row.median_seconds = median(row.seconds);
    row.cpu_seconds = median(cpu[i]);
    if (report.rows[0].median_seconds) row.slow_down = *row.median_seconds / *report.rows[0].median_seconds - 1;
  }
  std::string text;
  if (o.json) {
    to_json(text, report);
    text += '\n';
  } else {
    text = fmt::format("{:<18}{:>10}{:>12}{:>10}{:>12}{:>12}\n", "watched by", "median s", "slow-down", "CPU s", "memory", "on disk");
    for (const auto& row : report.rows)
      text += row.failed.empty() ? fmt::format("{:<18}{:>10.2f}{:>11.1f}%{:>10.1f}{:>12}{:>12}\n", row.name, *row.median_seconds, *row.slow_down * 100, *row.cpu_seconds, format_bytes(row.memory_bytes), format_bytes(row.disk_bytes))
                                 : fmt::format("{:<18}  {}\n", row.name, row.failed);
  }
  if (const auto written = write_answer({}, text); !written) return complain(written.error());
  return kWhole;
}

}  // namespace

void add_overhead(CLI::App& app, int& exit_code) {
  auto* verb = app.add_subcommand("overhead", "what tools that watch a program cost it: interleaved runs with each");
  auto o = std::make_shared<Options>();
  verb->add_option("--rounds", o->rounds, "runs with each tool (default: 3)")->check(CLI::Range(1, 1000))->option_text("N");
  verb->add_flag("--json", o->json, "as JSON");
  verb->add_option("command", o->command, "the program and its arguments, after --")->required()->option_text("-- COMMAND [ARGUMENT ...]");
  verb->callback([o, &exit_code] { exit_code = overhead(*o); });
}

}  // namespace gf::cli
