#include "cli/live/overhead/run_way.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/files.h"
#include "core/format.h"
#include "core/time.h"

namespace gf::cli {

namespace {

/// Finds them by an environment variable that everything started by a run has, also what leaves its
/// parent; the program is the one that runs the command, and what that starts.
class RunProcesses {
 public:
  /// `marker`: VARIABLE=VALUE. `command`: the program's words. `daemons`: names of processes that
  /// work for the tool and run already.
  RunProcesses(std::string marker, std::vector<std::string> command,
               std::vector<std::string> daemons);

  /// Reads /proc; what ended since the last look is known as it was then.
  void look();
  /// Empty when no process was seen that is the tool's alone.
  std::optional<double> tool_cpu_seconds() const;
  std::int64_t tool_memory_bytes() const { return memory_; }

 private:
  struct Use {
    double first = 0, last = 0;  // CPU seconds
    bool daemon = false;
  };
  std::string marker_;
  std::string command_;  // as /proc shows it
  std::vector<std::string> daemons_;
  std::map<pid_t, Use> tool_;
  std::int64_t memory_ = 0;  // most resident memory of the tool's processes together
};

struct Process {
  pid_t parent = 0;
  std::string name;
  double cpu_seconds = 0;
  std::int64_t memory_bytes = 0;
};

/// Reads /proc/PID/stat: the name stands in brackets and may hold anything.
std::optional<Process> read_process(const std::string& folder) {
  const std::string stat = text_of_file(folder + "/stat");
  const auto open = stat.find('('), close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  Process out;
  out.name = stat.substr(open + 1, close - open - 1);
  std::istringstream fields(stat.substr(close + 1));
  std::string state;
  fields >> state >> out.parent;
  long long value = 0, user = 0, system = 0, pages = 0;
  constexpr int kUser = 14, kSystem = 15, kResident = 24;  // numbers of proc(5)
  for (int field = 5; field <= kResident && fields >> value; ++field) {
    if (field == kUser) user = value;
    if (field == kSystem) system = value;
    if (field == kResident) pages = value;
  }
  out.cpu_seconds = static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  out.memory_bytes = pages * sysconf(_SC_PAGESIZE);
  return out;
}

bool holds(const std::string& environment, const std::string& marker) {
  const auto at = ('\0' + environment).find('\0' + marker + '\0');
  return at != std::string::npos;
}

RunProcesses::RunProcesses(std::string marker, std::vector<std::string> command,
                           std::vector<std::string> daemons)
    : marker_(std::move(marker)), daemons_(std::move(daemons)) {
  for (const auto& word : command) command_ += word + '\0';
}

void RunProcesses::look() {
  std::map<pid_t, Process> all;
  std::set<pid_t> of_run, programs;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto pid = static_cast<pid_t>(std::atol(entry.path().filename().c_str()));
    if (pid <= 0) continue;
    auto process = read_process(entry.path());
    if (!process) continue;
    if (holds(text_of_file(entry.path().string() + "/environ"), marker_)) of_run.insert(pid);
    if (of_run.contains(pid) && text_of_file(entry.path().string() + "/cmdline") == command_)
      programs.insert(pid);
    all.emplace(pid, std::move(*process));
  }
  auto program_holds = [&](pid_t pid) {
    for (auto at = all.find(pid); at != all.end(); at = all.find(at->second.parent))
      if (programs.contains(at->first)) return true;
    return false;
  };
  std::int64_t memory = 0;
  for (const auto& [pid, process] : all) {
    const bool daemon = std::find(daemons_.begin(), daemons_.end(), process.name) != daemons_.end();
    // Before the program's own process is there, nothing is known to be the tool's.
    const bool tool = of_run.contains(pid) && !programs.empty() && !program_holds(pid);
    if (!daemon && !tool) continue;
    const auto [use, added] = tool_.try_emplace(pid);
    if (added) use->second = {daemon ? process.cpu_seconds : 0, 0, daemon};
    use->second.last = process.cpu_seconds;
    memory += process.memory_bytes;
  }
  memory_ = std::max(memory_, memory);
}

std::optional<double> RunProcesses::tool_cpu_seconds() const {
  if (tool_.empty()) return {};
  double seconds = 0;
  for (const auto& [pid, use] : tool_) seconds += use.last - use.first;
  return seconds;
}

constexpr int kLookEveryMs = 500;
constexpr const char* kMarker = "GPUFATHOM_OVERHEAD";  // all that a run starts inherits it
constexpr Nanos kPatience = 10 * kNsPerSecond;         // with a tool that was asked to end

volatile sig_atomic_t stopped = 0, running = 0;

void stop(int number, siginfo_t* info, void*) {
  stopped = 1;
  if (running > 0 && info->si_code != SI_KERNEL)
    kill(running, number);  // the terminal's keys reach the program without us
}

constexpr int kStopping[] = {SIGINT, SIGTERM, SIGHUP};

/// Starts a program. Signals wait until it no longer has our handler: one that came in between
/// would be lost on it.
pid_t spawn(std::vector<std::string> words, const std::string& output) {
  sigset_t stopping, before;
  sigemptyset(&stopping);
  for (const int number : kStopping) sigaddset(&stopping, number);
  sigprocmask(SIG_BLOCK, &stopping, &before);
  const pid_t pid = fork();
  if (pid == 0)
    for (const int number : kStopping) signal(number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid != 0) return pid;
  if (!output.empty()) {
    const int fd = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || dup2(fd, 1) < 0) _exit(125);
  }
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

double seconds_of(const rusage& use) {
  return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

/// The last `"key": number` of a text.
std::optional<double> number_after(const std::string& text, const std::string& key) {
  const std::string quoted = '"' + key + '"';
  for (auto at = text.rfind(quoted); at != std::string::npos;
       at = at == 0 ? std::string::npos : text.rfind(quoted, at - 1)) {
    auto from = at + quoted.size();
    while (from < text.size() && (text[from] == ' ' || text[from] == ':')) ++from;
    double value = 0;
    if (std::from_chars(text.data() + from, text.data() + text.size(), value).ec == std::errc())
      return value;
  }
  return {};
}

/// Asks a program to end, and makes it when it does not listen.
void end(pid_t pid, int& status, rusage& use) {
  kill(pid, SIGTERM);
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  const Nanos until = host_now() + kPatience;
  pollfd watched{handle, POLLIN, 0};
  while (handle >= 0 && poll(&watched, 1, 100) <= 0)
    if (host_now() > until) kill(pid, SIGKILL);
  if (handle >= 0) close(handle);
  wait4(pid, &status, 0, &use);
}

}  // namespace

void stop_on_signals() {
  struct sigaction action{};
  action.sa_sigaction = stop;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int number : kStopping) sigaction(number, &action, nullptr);
}

bool stop_asked() { return stopped != 0; }

std::optional<GpuLook::State> GpuLook::now() {
  constexpr Nanos kAnswerWithin = kNsPerSecond;
  if (!nvml_) return {};
  return thread_.ask(
      [nvml = nvml_, chosen = chosen_] {
        State state;
        for (const unsigned number : chosen) {
          const auto reading = nvml->read(nvml->gpus()[number], {false, false, true, false});
          state.memory_bytes += reading.memory_used_bytes.value_or(0);
          state.utilization.push_back(reading.utilization_gpu.value_or(NAN));
        }
        return state;
      },
      kAnswerWithin);
}

std::string GpuLook::others() {
  constexpr Nanos kAnswerWithin = 2 * kNsPerSecond;
  constexpr std::int64_t kOfAContext = 128 << 20;  // one that runs kernels holds more
  constexpr double kWorks = 0.05;
  constexpr int kLooks = 3;  // what has just ended is still in the first
  if (!nvml_) return {};
  const auto told = thread_.ask(
      [nvml = nvml_, chosen = chosen_] {
        std::string text;
        for (const unsigned number : chosen) {
          const auto& gpu = nvml->gpus()[number];
          const auto begin = text.size();
          const auto say = [&](std::string what) {
            text += fmt::format("{}GPU {}: {}", text.empty() ? "" : "; ", number, what);
          };
          double least = 1;
          for (int look = 0; look < kLooks; ++look) {
            if (look > 0) std::this_thread::sleep_for(std::chrono::milliseconds(200));
            const bool last = look + 1 == kLooks;
            const auto reading = nvml->read(gpu, {false, false, true, last});
            least = std::min(least, reading.utilization_gpu.value_or(0));
            if (!last || !reading.processes) continue;
            for (const auto& process : *reading.processes)
              if (process.memory_bytes < 0 || process.memory_bytes >= kOfAContext)
                say(fmt::format(
                    "{} ({}) holds {}",
                    process.name.empty() ? "a process out of sight" : process.name, process.pid,
                    process.memory_bytes < 0 ? "memory" : format_bytes(process.memory_bytes)));
          }
          if (text.size() == begin && least >= kWorks)
            say(fmt::format("{:.0f} % utilization", 100 * least));
        }
        return text;
      },
      kAnswerWithin);
  return told.value_or("");
}

namespace {

/// The GPUs over a run.
class GpuRun {
 public:
  explicit GpuRun(GpuLook& gpus) : gpus_(gpus), before_(gpus.now()) {}
  void look() {
    const auto state = gpus_.now();
    if (!state) return;
    most_ = std::max(most_, state->memory_bytes);
    used_.resize(std::max(used_.size(), state->utilization.size()));
    for (std::size_t i = 0; i < state->utilization.size(); ++i)
      if (std::isfinite(state->utilization[i])) used_[i].push_back(state->utilization[i]);
  }
  void finish(WatchedRun& run) const {
    if (before_) run.gpu_memory_bytes = std::max(most_ - before_->memory_bytes, std::int64_t{0});
    for (const auto& looks : used_) {
      if (looks.empty()) continue;
      double mean = 0;
      for (const double look : looks) mean += look / static_cast<double>(looks.size());
      run.gpu_utilization = std::max(run.gpu_utilization.value_or(0), mean);
    }
  }

 private:
  GpuLook& gpus_;
  std::optional<GpuLook::State> before_;
  std::int64_t most_ = 0;
  std::vector<std::vector<double>> used_;  // by GPU
};

/// The tool at the program's side has done its work.
void end_side(pid_t side, WatchedRun& run) {
  int status = 0;
  rusage use{};
  const bool early = wait4(side, &status, WNOHANG, &use) == side;
  if (!early) end(side, status, use);
  if (early) run.failed = "the tool ended before the program";
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
    run.failed = fmt::format("the tool ended with {}", WEXITSTATUS(status));
  run.tool_cpu_seconds = seconds_of(use);
  run.tool_memory_bytes = use.ru_maxrss * 1024;
}

/// The overhead that a tool reports itself, or that /proc has of its processes.
void measure_tool(const Way& way, const RunProcesses& processes, WatchedRun& run) {
  if (!way.summary.empty()) {
    const auto summary = text_of_file(way.summary);
    run.tool_cpu_seconds = number_after(summary, "recorder_cpu_seconds");
    run.tool_memory_bytes =
        static_cast<std::int64_t>(number_after(summary, "recorder_memory_bytes").value_or(0));
  } else if (!way.before.empty() || !way.daemons.empty()) {
    if (const auto seconds = processes.tool_cpu_seconds())
      run.tool_cpu_seconds = run.tool_cpu_seconds.value_or(0) + *seconds;
    run.tool_memory_bytes += processes.tool_memory_bytes();
  }
}

}  // namespace

WatchedRun run_watched(const Way& way, const WaysWanted& wanted, const std::string& measure,
                       GpuLook& gpus) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  WatchedRun run;
  fs::create_directory(wanted.out, ignored);
  const std::string printed = wanted.work + "/printed";
  setenv(kMarker, wanted.work.c_str(), 1);
  const auto& command = way.command.empty() ? wanted.command : way.command;
  RunProcesses processes(fmt::format("{}={}", kMarker, wanted.work), command, way.daemons);
  GpuRun gpu_run(gpus);
  pid_t side = way.beside.empty() ? -1 : spawn(way.beside, "/dev/null");
  auto words = way.before;
  words.insert(words.end(), command.begin(), command.end());
  const Nanos start = host_now();
  const pid_t pid = spawn(words, measure.empty() ? "" : printed);
  running = pid;
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  int status = 0;
  rusage use{};
  const bool look_at_tool = way.summary.empty() && (!way.before.empty() || !way.daemons.empty());
  for (pollfd watched{handle, POLLIN, 0};
       handle >= 0 && poll(&watched, 1, kLookEveryMs) <=
                          0;) {  // 0: time to look; less: a signal, which has been passed on
    gpu_run.look();
    if (look_at_tool) processes.look();
  }
  wait4(pid, &status, 0, &use);
  running = 0;
  run.seconds = static_cast<double>(host_now() - start) * 1e-9;
  if (handle >= 0) close(handle);
  if (!way.daemons.empty()) processes.look();
  run.cpu_seconds = seconds_of(use);
  run.memory_bytes = use.ru_maxrss * 1024;
  gpu_run.finish(run);
  if (side > 0) end_side(side, run);
  if (!WIFEXITED(status))
    run.failed = fmt::format("the run was killed by signal {}", WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    run.failed = fmt::format("the run ended with {}", WEXITSTATUS(status));
  if (!measure.empty())
    run.measured =
        number_after(text_of_file(printed, std::numeric_limits<std::uint64_t>::max()), measure);
  if (!measure.empty() && !run.measured && run.failed.empty())
    run.failed = fmt::format("it printed no \"{}\": NUMBER", measure);
  measure_tool(way, processes, run);
  for (const auto& file : fs::recursive_directory_iterator(wanted.out, ignored))
    if (file.is_regular_file(ignored) && file.path() != way.summary)
      run.disk_bytes += static_cast<std::int64_t>(file.file_size(ignored));
  if (run.failed.empty() && !stop_asked()) run.after = time_after_run(way.after, wanted.out);
  fs::remove_all(wanted.out, ignored);
  return run;
}

}  // namespace gf::cli
