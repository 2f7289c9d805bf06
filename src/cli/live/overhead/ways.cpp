#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/live/overhead/run_way.h"
#include "core/time.h"

namespace gf::cli {

namespace {

bool on_path(const std::string& program) {
  std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find(':', at), path.size());
    if (access((path.substr(at, end - at) + "/" + program).c_str(), X_OK) == 0) return true;
    at = end + 1;
  }
  return false;
}

constexpr const char* kRecord = "record";
constexpr const char* kKernels = "record --kernels";
constexpr const char* kWholeRun = "kernels whole run";
constexpr const char* kMonitor = "monitor";
constexpr const char* kTop = "top";
constexpr const char* kNvidiaSmi = "nvidia-smi -l 1";
constexpr const char* kDcgmi = "dcgmi dmon";
constexpr const char* kTorch = "torch.profiler";
constexpr const char* kNsys = "nsys";
constexpr const char* kNcu = "ncu";

/// Runs a Python program as the interpreter would, inside torch.profiler.
constexpr const char* kTorchRunner = R"(import os, runpy, sys
from torch.profiler import ProfilerActivity, profile
out, sys.argv = sys.argv[1], sys.argv[2:]
code = 0
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
    try:
        if sys.argv[0] == "-m":
            sys.argv.pop(0)
            sys.path[0] = os.getcwd()
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
            runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else 0 if e.code is None else 1
profiler.export_chrome_trace(out)
sys.stdout.flush()
os._exit(code)
)";

/// True if the command's Python has torch; importing it would take seconds.
bool has_torch(const std::string& python) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (const int null = open("/dev/null", O_WRONLY); null >= 0) {
      dup2(null, 1);
      dup2(null, 2);
    }
    execlp(python.c_str(), python.c_str(), "-c",
           "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)",
           static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 1;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::vector<std::string> analysis_of(const WaysWanted& wanted) {
  return {wanted.self, "analyze", "{FILE}", "--format", "json"};
}

/// The command with the runner between the interpreter with its options and the script; empty when
/// it runs no script.
std::vector<std::string> under_torch(const WaysWanted& wanted) {
  const auto& command = wanted.command;
  const auto slash = command.empty() ? 0 : command[0].rfind('/') + 1;
  if (command.size() < 2 || command[0].compare(slash, 6, "python") != 0) return {};
  std::size_t script = 1;
  while (script < command.size() && command[script].size() > 1 && command[script][0] == '-' &&
         command[script] != "-m") {
    if (command[script] == "-c") return {};
    script += command[script] == "-X" || command[script] == "-W" ? 2U : 1U;
  }
  if (script >= command.size() || !has_torch(command[0])) return {};
  const std::string runner = wanted.work + "/torch_runner.py";
  std::ofstream(runner) << kTorchRunner;
  std::vector<std::string> out(command.begin(),
                               command.begin() + static_cast<std::ptrdiff_t>(script));
  out.insert(out.end(), {runner, wanted.out + "/trace.json"});
  out.insert(out.end(), command.begin() + static_cast<std::ptrdiff_t>(script), command.end());
  return out;
}

Way recorded(const WaysWanted& wanted, const char* name, const std::vector<std::string>& more,
             const std::string& stem) {
  Way way{.name = name, .summary = wanted.out + "/" + stem + ".json"};
  way.before = {wanted.self, "record", "-q", "--devices", wanted.devices};
  way.before.insert(way.before.end(), more.begin(), more.end());
  for (const auto& word : {std::string("-o"), wanted.out + "/" + stem + ".gpf",
                           std::string("--summary"), way.summary, std::string("--")})
    way.before.push_back(word);
  way.after = {".gpf", {}, {}, analysis_of(wanted)};
  return way;
}

/// Tools that run beside the program, where they are installed.
void add_monitors(const WaysWanted& wanted, std::vector<Way>& ways) {
  ways.push_back(
      {.name = kMonitor,
       .beside = {wanted.self, "monitor", "--format", "csv", "--devices", wanted.devices}});
  if (on_path("top")) ways.push_back({.name = kTop, .beside = {"top", "-b", "-d", "1"}});
  if (on_path("nvidia-smi"))
    ways.push_back({.name = kNvidiaSmi,
                    .beside = {"nvidia-smi", "--query-gpu=utilization.gpu,power.draw",
                               "--format=csv", "-l", "1"}});
  if (on_path("dcgmi"))
    ways.push_back({.name = kDcgmi,
                    .beside = {"dcgmi", "dmon", "-e", "1001,1002,1003,1004,1005"},
                    .daemons = {"nv-hostengine"}});
}

/// Tools that the program runs in, or under.
void add_profilers(const WaysWanted& wanted, std::vector<Way>& ways) {
  if (auto command = under_torch(wanted); !command.empty())
    ways.push_back({.name = kTorch,
                    .command = std::move(command),
                    .after = {"trace.json", {}, {}, analysis_of(wanted)}});
  if (on_path("nsys"))
    ways.push_back({.name = kNsys,
                    .before = {"nsys", "profile", "-o", wanted.out + "/n", "-f", "true"},
                    .after = {".nsys-rep",
                              {"nsys", "export", "--type", "sqlite", "--force-overwrite", "true",
                               "-o", wanted.out + "/n.sqlite", "{FILE}"},
                              ".sqlite",
                              analysis_of(wanted)}});
  if (on_path("ncu") && wanted.ncu_kernels > 0)
    ways.push_back({.name = kNcu,
                    .before = {"ncu", "--clock-control", "none", "--launch-count",
                               std::to_string(wanted.ncu_kernels), "-f", "-o", wanted.out + "/c"},
                    .kernels = wanted.ncu_kernels,
                    .after = {".ncu-rep",
                              {"ncu", "--import", "{FILE}", "--csv", "--page", "raw"},
                              ".ncu-rep",
                              analysis_of(wanted)}});
}

}  // namespace

std::vector<std::string> names_of_ways() {
  return {kRecord, kKernels, kWholeRun, kMonitor, kTop, kNvidiaSmi, kDcgmi, kTorch, kNsys, kNcu};
}

std::vector<Way> ways_to_watch(const WaysWanted& wanted) {
  std::vector<Way> ways{{.name = "none"},
                        recorded(wanted, kRecord, {}, "record"),
                        recorded(wanted, kKernels, {"--kernels"}, "kernels"),
                        recorded(wanted, kWholeRun, {"--kernels", "--window", "0"}, "kernels")};
  add_monitors(wanted, ways);
  add_profilers(wanted, ways);
  if (!wanted.only.empty())
    std::erase_if(ways, [&](const Way& way) {
      return way.name != "none" &&
             std::find(wanted.only.begin(), wanted.only.end(), way.name) == wanted.only.end();
    });
  return ways;
}

namespace {

std::string largest(const std::string& folder, const std::string& ending) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::string found;
  std::uintmax_t most = 0;
  for (const auto& file : fs::recursive_directory_iterator(folder, ignored)) {
    const auto size = file.is_regular_file(ignored) ? file.file_size(ignored) : 0;
    if (size > most && file.path().string().ends_with(ending)) {
      most = size;
      found = file.path();
    }
  }
  return found;
}

/// Exit codes of 1 count: an answer that is not whole took its time as well.
std::optional<double> time_of(std::vector<std::string> words, const std::string& file) {
  std::vector<char*> argv;
  for (auto& word : words) {
    if (word == "{FILE}") word = file;
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  const Nanos start = host_now();
  const pid_t pid = fork();
  if (pid == 0) {
    if (const int null = open("/dev/null", O_RDWR); null >= 0)
      for (int stream = 0; stream < 3; ++stream) dup2(null, stream);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return {};
  const double seconds = static_cast<double>(host_now() - start) * 1e-9;
  if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) return {};
  return seconds;
}

}  // namespace

AfterRunTimes time_after_run(const AfterRun& after, const std::string& folder) {
  AfterRunTimes times;
  std::string file = largest(folder, after.ending);
  if (file.empty()) return times;
  if (!after.convert.empty()) {
    times.convert_seconds = time_of(after.convert, file);
    file = largest(folder, after.converted);
  }
  if (after.analyse.empty() || file.empty()) return times;
  auto words = after.analyse;
  const std::string answer = folder + "/answer.json";
  words.insert(words.end(), {"-o", answer});
  const auto seconds = time_of(words, file);
  std::error_code ignored;
  if (std::filesystem::exists(answer, ignored)) times.analyse_seconds = seconds;
  return times;
}

}  // namespace gf::cli
