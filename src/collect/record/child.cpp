#include "collect/record/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

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
  if (error == ENOENT) {
    exit_code = kNotFound;
  } else {
    exit_code = kNotExecutable;
  }
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
  if (WIFEXITED(status)) {
    exit_code = WEXITSTATUS(status);
  } else {
    exit_code = 128 + WTERMSIG(status);
  }
  return why;
}

std::optional<int> Child::reap() {
  std::optional<int> code;
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
    if (pid == pid_) {
      if (WIFSIGNALED(status)) {
        killed_by_ = WTERMSIG(status);
      } else {
        killed_by_ = 0;
      }
      if (killed_by_ > 0) {
        code = 128 + killed_by_;
      } else {
        code = WEXITSTATUS(status);
      }
    }
  return code;
}

}  // namespace gf
