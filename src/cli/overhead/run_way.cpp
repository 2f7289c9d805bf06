#include "cli/overhead/run_way.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace gf::cli {

namespace {

constexpr int kLookEveryMs = 500;
constexpr Nanos kPatience = 10 * kNsPerSecond;  // with a tool that was asked to end

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

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
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

std::optional<std::int64_t> GpuMemory::used() {
  constexpr Nanos kPatience = kNsPerSecond;
  if (!nvml_) return {};
  return thread_.ask(
      [nvml = nvml_] {
        std::int64_t sum = 0;
        for (const auto& gpu : nvml->gpus()) {
          const auto reading = nvml->read(gpu, {false, false, true, false});
          sum += static_cast<std::int64_t>(reading.memory_used_bytes.value_or(0));
        }
        return sum;
      },
      kPatience);
}

WatchedRun run_watched(const Way& way, const WaysWanted& wanted, const std::string& measure,
                       GpuMemory& gpus) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  WatchedRun run;
  fs::create_directory(wanted.out, ignored);
  const std::string printed = wanted.work + "/printed";
  const auto gpu_before = gpus.used();
  pid_t side = -1;
  if (!way.beside.empty()) side = spawn(way.beside, "/dev/null");
  auto words = way.before;
  const auto& command = way.command.empty() ? wanted.command : way.command;
  words.insert(words.end(), command.begin(), command.end());
  const Nanos start = host_now();
  const pid_t pid = spawn(words, measure.empty() ? "" : printed);
  running = pid;
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  std::int64_t gpu_most = gpu_before.value_or(0);
  int status = 0;
  rusage use{};
  for (pollfd watched{handle, POLLIN, 0};
       handle >= 0 && poll(&watched, 1, kLookEveryMs) <=
                          0;)  // 0: time to look; less: a signal, which has been passed on
    if (const auto now = gpus.used()) gpu_most = std::max(gpu_most, *now);
  wait4(pid, &status, 0, &use);
  running = 0;
  run.seconds = static_cast<double>(host_now() - start) * 1e-9;
  if (handle >= 0) close(handle);
  run.cpu_seconds = seconds_of(use);
  run.memory_bytes = use.ru_maxrss * 1024;
  if (gpu_before) run.gpu_memory_bytes = gpu_most - *gpu_before;
  if (side > 0) {
    int side_status = 0;
    rusage side_use{};
    const bool early = wait4(side, &side_status, WNOHANG, &side_use) == side;
    if (!early) end(side, side_status, side_use);
    if (early) run.failed = "the tool beside it ended before the program";
    if (WIFEXITED(side_status) && WEXITSTATUS(side_status) != 0)
      run.failed = fmt::format("the tool beside it ended with {}", WEXITSTATUS(side_status));
    run.tool_cpu_seconds = seconds_of(side_use);
    run.tool_memory_bytes = side_use.ru_maxrss * 1024;
  }
  if (!WIFEXITED(status))
    run.failed = fmt::format("the run was killed by signal {}", WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    run.failed = fmt::format("the run ended with {}", WEXITSTATUS(status));
  if (!measure.empty()) run.measured = number_after(text_of(printed), measure);
  if (!measure.empty() && !run.measured && run.failed.empty())
    run.failed = fmt::format("it printed no \"{}\": NUMBER", measure);
  if (!way.summary.empty()) {
    const auto summary = text_of(way.summary);
    run.tool_cpu_seconds = number_after(summary, "recorder_cpu_seconds");
    run.tool_memory_bytes =
        static_cast<std::int64_t>(number_after(summary, "recorder_memory_bytes").value_or(0));
  }
  for (const auto& file : fs::recursive_directory_iterator(wanted.out, ignored))
    if (file.is_regular_file(ignored) && file.path() != way.summary)
      run.disk_bytes += static_cast<std::int64_t>(file.file_size(ignored));
  fs::remove_all(wanted.out, ignored);
  return run;
}

}  // namespace gf::cli
