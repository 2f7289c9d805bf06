#include "collect/record/watched_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace gf {

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

}  // namespace gf
