#include "collect/flight/kernel_windows.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "collect/record/kernels.h"

extern char** environ;

namespace gf {

namespace {

constexpr std::size_t kMostAtOnce = 16;         // recorders: a node's ranks
constexpr Nanos kPatience = 15 * kNsPerSecond;  // for a recorder, beside its window
constexpr int kEndTries = 150, kEndTryMicroseconds = 20'000;

}  // namespace

pid_t start_this_program(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t process = 0;
  if (::posix_spawn(&process, "/proc/self/exe", &files, &attributes, pointers.data(), environ) != 0)
    process = 0;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return process;
}

void KernelWindows::holders(std::int32_t gpu, const std::set<std::int64_t>& processes) {
  holders_[gpu] = processes;
}

bool KernelWindows::records(std::int64_t program) const {
  return std::any_of(open_.begin(), open_.end(),
                     [&](const Window& window) { return window.program == program; });
}

std::string KernelWindows::record(Nanos now, const std::string& stamp, std::int32_t gpu) {
  std::string why;
  if (length_ns_ == 0) return why;
  for (const auto& [number, programs] : holders_) {
    if (gpu >= 0 && number != gpu) continue;
    for (const auto program : programs) {
      if (open_.size() >= kMostAtOnce || records(program)) continue;
      if (auto of_it = begin(now, stamp, program); !of_it.empty()) why = std::move(of_it);
    }
  }
  if (under_way()) return {};
  return why;
}

std::string KernelWindows::begin(Nanos now, const std::string& stamp, std::int64_t program) {
  using State = DormantAgent::State;
  const auto process = static_cast<pid_t>(program);
  const State state = DormantAgent::find(process).state;
  if (state == State::none) return why_no_agent(process);
  if (state == State::taken)
    return fmt::format("another recorder has the kernels of process {}", program);
  if (state == State::strange)
    return fmt::format("process {} was started by another version of gpufathom", program);
  const std::string path = fmt::format("{}/{}_kernels_{}.gpf", folder_, stamp, program);
  const double seconds = static_cast<double>(length_ns_) * 1e-9;
  const pid_t recorder = start_this_program(
      {"gpufathom", "record", "-q", "--kernels", "--window", "0", "--source", "nvml", "--duration",
       fmt::format("{:.3f}", seconds), "--pid", std::to_string(program), "-o", path});
  if (recorder <= 0) return "no process can be started";
  open_.push_back({path, now, 0, recorder, program});
  return {};
}

std::vector<KernelWindows::Window> KernelWindows::finished(Nanos now, bool at_once) {
  std::vector<Window> ended;
  if (at_once)
    for (const auto& window : open_) ::kill(window.recorder, SIGINT);
  std::erase_if(open_, [&](Window& window) {
    if (now > window.start + length_ns_ + kPatience) ::kill(window.recorder, SIGKILL);
    int status = 0, tries = at_once ? kEndTries : 0;
    while (::waitpid(window.recorder, &status, WNOHANG) == 0) {
      if (!at_once) return false;
      if (--tries == 0) ::kill(window.recorder, SIGKILL);
      ::usleep(kEndTryMicroseconds);
    }
    window.end = now;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      ended.push_back(window);
    else
      ::unlink(window.path.c_str());  // no kernel came
    return true;
  });
  return ended;
}

}  // namespace gf
