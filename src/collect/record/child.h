// The program under observation: started as the shell would start it, held until the samplers run,
// its signals and its exit passed through.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace gf {

/// Whether a command can be started, as far as that can be told before it is tried. `exit_code` is
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

}  // namespace gf
