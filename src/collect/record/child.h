// The program under observation: started as the shell would start it, held until the samplers run,
// its signals and its exit passed through.
// Signals while a program is recorded: those that end or inform a program go to it, and it decides;
// ours arrive as events.
// A process that is not ours: whether it still runs, without mistaking another with its number.
// Sensors on a thread of their own: a driver that hangs in a call costs their readings and nothing
// else.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collect/record/sensors.h"
#include "collect/watched_call.h"
#include "core/error.h"
#include "core/time.h"

namespace gf {

/// True if a command can be started, as far as that can be told before it is tried. `exit_code` is
/// what a shell would give.
Status find_command(const std::string& name, int& exit_code);

class Child {
 public:
  /// Forks now and waits inside the child: call it before any thread or driver is started. Standard
  /// streams, working directory and process group are the caller's own.
  static Result<Child> fork_held(std::vector<std::string> command);
  Child(Child&& other) noexcept;
  ~Child();  // a child that was never released ends; a running one is left alone

  /// Lets it run, with these variables set. Errors: the command cannot be started; `exit_code` is
  /// then what a shell would give.
  Status release(const std::vector<std::pair<std::string, std::string>>& environment,
                 int& exit_code);
  pid_t pid() const { return pid_; }
  /// Reaps every dead child of this process; the exit code (128 + signal when killed) once the
  /// program itself has ended.
  std::optional<int> reap();
  /// The signal that killed it, 0: none.
  int killed_by() const { return killed_by_; }

 private:
  Child() = default;
  pid_t pid_ = -1;
  int gate_ = -1, errors_ = -1, killed_by_ = 0;
};

class Signals {
 public:
  Signals();
  ~Signals();
  /// After the child was forked with the old mask.
  void take_over();
  /// Waits for a signal or the time; signals from processes are passed on to `child`, those of the
  /// terminal's keys reach it without us. True when one asked us to end (there is no child).
  bool wait(Nanos until, pid_t child);
  /// Can be read when a signal has come.
  int fd() const { return fd_; }

 private:
  sigset_t before_{}, wanted_{};
  int fd_ = -1;
};

class WatchedProcess {
 public:
  /// Error: there is no such process.
  static Result<WatchedProcess> open(pid_t pid);
  WatchedProcess(WatchedProcess&& other) noexcept
      : pid_(other.pid_), fd_(std::exchange(other.fd_, -1)) {}
  WatchedProcess& operator=(WatchedProcess&&) = delete;
  ~WatchedProcess();
  bool ended() const;

 private:
  WatchedProcess(pid_t pid, int fd) : pid_(pid), fd_(fd) {}
  pid_t pid_;
  int fd_;  // -1: the kernel is too old for it
};

class WatchedSensors {
 public:
  WatchedSensors(std::shared_ptr<Nvml> nvml, std::vector<GpuInfo> gpus,
                 std::vector<std::uint32_t> device_rows, const std::vector<bool>& with_gpm,
                 bool fine_energy);
  void watch(ActivityWatch& watch);
  void watch_xids() { state_->sensors.watch_xids(state_->nvml); }
  /// Before the first poll.
  void add_instance(const GpuInfo& gpu, const MigInstance& instance, std::uint32_t device_row);
  /// Waits for a second at most, and not while `wake_fd` can be read; rows come with the next call
  /// then.
  void poll(Capture& capture, int wake_fd);
  void finish(Capture& capture);
  /// Nothing of it while the driver hangs.
  void fill(std::size_t gpu, RecordedDevice& out) const;
  bool lost(std::size_t gpu) const;
  /// For how long a call has not returned, 0: the driver answers.
  Nanos hangs_for() const;

 private:
  struct State {
    std::shared_ptr<Nvml> nvml;
    Sensors sensors;
    Capture rows;  // of the calls; what they refer to is the same in the recorder's capture
  };
  void call(Capture& capture, bool last, int wake_fd);
  void move_rows(Capture& capture);
  std::shared_ptr<State> state_;
  WatchedThread thread_;
};

}  // namespace gf
