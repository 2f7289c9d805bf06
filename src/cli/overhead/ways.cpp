#include "cli/overhead/ways.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace gf::cli {

namespace {

bool on_path(const std::string& program) {
  std::string path;
  if (std::getenv("PATH")) path = std::getenv("PATH");
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find(':', at), path.size());
    if (access((path.substr(at, end - at) + "/" + program).c_str(), X_OK) == 0) return true;
    at = end + 1;
  }
  return false;
}

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

/// Whether the command's Python has torch; importing it would take seconds.
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
    if (command[script] == "-X" || command[script] == "-W") {
      script += 2;
    } else {
      script += 1;
    }
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

}  // namespace

std::vector<Way> ways_to_watch(const WaysWanted& wanted) {
  const std::string record = wanted.out + "/record.json", kernels = wanted.out + "/kernels.json";
  std::vector<Way> ways{
      {"none", {}, {}, {}, {}, 0},
      {"record",
       {wanted.self, "record", "-q", "-o", wanted.out + "/r.gpf", "--summary", record, "--"},
       {},
       {},
       record,
       0},
      {"record --kernels",
       {wanted.self, "record", "-q", "--kernels", "-o", wanted.out + "/k.gpf", "--summary", kernels,
        "--"},
       {},
       {},
       kernels,
       0},
      {"kernels whole run",
       {wanted.self, "record", "-q", "--kernels", "--window", "0", "-o", wanted.out + "/k.gpf",
        "--summary", kernels, "--"},
       {},
       {},
       kernels,
       0},
      {"monitor", {}, {wanted.self, "monitor", "--format", "csv"}, {}, {}, 0}};
  if (on_path("nvidia-smi"))
    ways.push_back(
        {"nvidia-smi -l 1",
         {},
         {"nvidia-smi", "--query-gpu=utilization.gpu,power.draw", "--format=csv", "-l", "1"},
         {},
         {},
         0});
  if (on_path("dcgmi"))
    ways.push_back(
        {"dcgmi dmon", {}, {"dcgmi", "dmon", "-e", "1001,1002,1003,1004,1005"}, {}, {}, 0});
  if (auto command = under_torch(wanted); !command.empty())
    ways.push_back({"torch.profiler", {}, {}, std::move(command), {}, 0});
  if (on_path("nsys"))
    ways.push_back(
        {"nsys", {"nsys", "profile", "-o", wanted.out + "/n", "-f", "true"}, {}, {}, {}, 0});
  if (on_path("ncu") && wanted.ncu_kernels > 0)
    ways.push_back({"ncu",
                    {"ncu", "--clock-control", "none", "--launch-count",
                     std::to_string(wanted.ncu_kernels), "-f", "-o", wanted.out + "/c"},
                    {},
                    {},
                    {},
                    wanted.ncu_kernels});
  if (!wanted.only.empty())
    std::erase_if(ways, [&](const Way& way) {
      return way.name != "none" &&
             std::find(wanted.only.begin(), wanted.only.end(), way.name) == wanted.only.end();
    });
  return ways;
}

}  // namespace gf::cli
