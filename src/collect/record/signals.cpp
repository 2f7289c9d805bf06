#include "collect/record/signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/host_clock.h"

namespace gf {

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

}  // namespace gf
