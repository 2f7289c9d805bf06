#include "collect/record/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "core/time.h"

namespace gf {

namespace {

constexpr int kNotFound = 127, kNotExecutable = 126, kNeverStarted = 125;

/// Reads NAME=VALUE texts, each ended by NUL, until an empty one. False when the recorder went
/// away.
bool read_environment(int gate) {
  std::string text;
  for (char letter; ::read(gate, &letter, 1) == 1;) {
    if (letter != '\0') {
      text += letter;
      continue;
    }
    if (text.empty()) return true;
    const auto equals = text.find('=');
    ::setenv(text.substr(0, equals).c_str(), text.substr(equals + 1).c_str(), 1);
    text.clear();
  }
  return false;
}

[[noreturn]] void run(std::vector<std::string>& command, int gate, int errors) {
  if (!read_environment(gate)) _exit(kNeverStarted);
  std::vector<char*> argv;
  for (auto& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(errors, &error, sizeof error);
  _exit(error == ENOENT ? kNotFound : kNotExecutable);
}

/// The error of a command that cannot be started, and its exit code.
tl::unexpected<Error> not_started(const std::string& name, int error, int& exit_code) {
  exit_code = error == ENOENT ? kNotFound : kNotExecutable;
  return fail(error == ENOENT ? "the command is not found"
                              : fmt::format("the command cannot be run: {}", std::strerror(error)),
              name);
}

}  // namespace

Status find_command(const std::string& name, int& exit_code) {
  int error = ENOENT;
  auto usable = [&](const std::string& path) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return false;
    const bool executable = S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
    if (!executable) error = EACCES;
    return executable;
  };
  if (name.empty()) return not_started(name, ENOENT, exit_code);
  if (name.find('/') != std::string::npos) {
    if (usable(name)) return {};
    return not_started(name, error, exit_code);
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/bin:/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (usable((folder.empty() ? "." : folder) + "/" + name)) return {};
  return not_started(name, error, exit_code);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      gate_(std::exchange(other.gate_, -1)),
      errors_(std::exchange(other.errors_, -1)) {}

Child::~Child() {
  const bool held = gate_ >= 0;
  if (gate_ >= 0) ::close(gate_);
  if (errors_ >= 0) ::close(errors_);
  if (held && pid_ > 0) ::waitpid(pid_, nullptr, 0);  // it sees the closed gate and ends
}

Result<Child> Child::fork_held(std::vector<std::string> command) {
  int gate[2], errors[2];
  if (::pipe2(gate, O_CLOEXEC) != 0) return fail(fmt::format("no pipe: {}", std::strerror(errno)));
  if (::pipe2(errors, O_CLOEXEC) != 0)
    return fail(fmt::format("no pipe: {}", std::strerror(errno)));
  // Grandchildren whose parents end stay in sight this way, and are reaped here.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t mask;
  ::sigprocmask(SIG_SETMASK, nullptr, &mask);
  const pid_t pid = ::fork();
  if (pid < 0) return fail(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (pid == 0) {
    ::close(gate[1]);
    ::close(errors[0]);
    run(command, gate[0], errors[1]);
  }
  ::close(gate[0]);
  ::close(errors[1]);
  Child child;
  child.pid_ = pid;
  child.gate_ = gate[1];
  child.errors_ = errors[0];
  return child;
}

Status Child::release(const std::vector<std::pair<std::string, std::string>>& environment,
                      int& exit_code) {
  std::string text;
  for (const auto& [name, value] : environment) text += name + "=" + value + '\0';
  text += '\0';
  const bool sent = ::write(gate_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(std::exchange(gate_, -1));
  int error = 0;
  const auto got = ::read(errors_, &error, sizeof error);  // ends empty when exec closed the pipe
  ::close(std::exchange(errors_, -1));
  if (sent && got == 0) return {};
  int status = 0;
  ::waitpid(pid_, &status, 0);
  auto why = not_started({}, error, exit_code);
  exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return why;
}

std::optional<int> Child::reap() {
  std::optional<int> code;
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
    if (pid == pid_) {
      killed_by_ = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      code = killed_by_ > 0 ? 128 + killed_by_ : WEXITSTATUS(status);
    }
  return code;
}

Signals::Signals() {
  sigemptyset(&wanted_);
  for (int sigusr2 : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
    sigaddset(&wanted_, sigusr2);
  sigprocmask(SIG_BLOCK, nullptr, &before_);
}

Signals::~Signals() {
  signalfd_siginfo info;
  while (fd_ >= 0 && read(fd_, &info, sizeof info) == sizeof info) {
    // A second interrupt that came as the recording ended has done its work.
  }
  if (fd_ >= 0) close(fd_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

void Signals::take_over() {
  sigprocmask(SIG_BLOCK, &wanted_, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // a closed terminal must not end the recording
  fd_ = signalfd(-1, &wanted_, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool Signals::wait(Nanos until, pid_t child) {
  bool asked = false;
  pollfd watched{fd_, POLLIN, 0};
  const Nanos left = until - host_now();
  poll(&watched, 1, left > 0 ? static_cast<int>(left / kNsPerMs + 1) : 0);
  signalfd_siginfo info;
  while (read(fd_, &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) continue;
    asked = true;
    if (child > 0 && info.ssi_code != SI_KERNEL) ::kill(child, number);
  }
  return asked;
}

Result<WatchedProcess> WatchedProcess::open(pid_t pid) {
  if (::kill(pid, 0) != 0 && errno == ESRCH)
    return fail(fmt::format("there is no process {}", pid), {}, -1,
                "give --pid the number that ps or nvidia-smi shows on this machine");
  // By its number: the function is newer than the C libraries that this program runs with.
  return WatchedProcess(pid, static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

WatchedProcess::~WatchedProcess() {
  if (fd_ >= 0) ::close(fd_);
}

bool WatchedProcess::ended() const {
  if (fd_ < 0) return ::kill(pid_, 0) != 0 && errno == ESRCH;
  pollfd watched{fd_, POLLIN, 0};
  return ::poll(&watched, 1, 0) > 0;
}

namespace {

constexpr Nanos kSensorPatience = kNsPerSecond;
constexpr Nanos kHangs = 500 * kNsPerMs;  // a call that takes longer does not come back soon

}  // namespace

WatchedSensors::WatchedSensors(std::shared_ptr<Nvml> nvml, std::vector<GpuInfo> gpus,
                               std::vector<std::uint32_t> device_rows,
                               const std::vector<bool>& with_gpm, bool fine_energy)
    : state_(std::shared_ptr<State>(
          new State{nvml,
                    Sensors(*nvml, std::move(gpus), std::move(device_rows), with_gpm, fine_energy),
                    {}})) {}

void WatchedSensors::watch(ActivityWatch& watch) { state_->sensors.watch(watch); }

void WatchedSensors::add_instance(const GpuInfo& gpu, const MigInstance& instance,
                                  std::uint32_t device_row) {
  state_->sensors.add_instance(gpu, instance, device_row);
}

void WatchedSensors::call(Capture& capture, bool last, int wake_fd) {
  if (thread_.wait(0) == CallEnd::returned) move_rows(capture);  // of a call that took long
  const auto end = thread_.run(
      [state = state_, last] {
        if (last)
          state->sensors.finish(state->rows);
        else
          state->sensors.poll(state->rows);
      },
      kSensorPatience, wake_fd);
  if (end == CallEnd::returned) move_rows(capture);
}

void WatchedSensors::poll(Capture& capture, int wake_fd) { call(capture, false, wake_fd); }
void WatchedSensors::finish(Capture& capture) { call(capture, true, -1); }

void WatchedSensors::move_rows(Capture& capture) {
  auto& from = state_->rows.counter_samples;
  auto& to = capture.counter_samples;
  for (std::uint32_t row = 0; row < from.size(); ++row) {
    const auto added = to.add();
    to.start_ns[added] = from.start_ns[row];
    to.duration_ns[added] = from.duration_ns[row];
    to.device[added] = from.device[row];
    to.metric[added] = capture.strings.intern(state_->rows.text(from.metric[row]));
    to.value[added] = from.value[row];
  }
  from.clear();
  capture.add_quality(state_->rows);
  state_->rows.quality.clear();
}

Nanos WatchedSensors::hangs_for() const {
  const Nanos since = thread_.running_for();
  return since > kHangs ? since : 0;
}

void WatchedSensors::fill(std::size_t gpu, RecordedDevice& out) const {
  if (thread_.running_for() == 0) state_->sensors.fill(gpu, out);
}

bool WatchedSensors::lost(std::size_t gpu) const {
  return thread_.running_for() == 0 && state_->sensors.lost(gpu);
}

}  // namespace gf
