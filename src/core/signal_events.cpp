#include "core/signal_events.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace gf {

SignalEvents::SignalEvents(std::initializer_list<int> signals) {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int number : signals) sigaddset(&wanted, number);
  pthread_sigmask(SIG_BLOCK, &wanted, &before_);
  descriptor_ = ::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

SignalEvents::~SignalEvents() {
  while (take() != 0) {  // one that came as we ended has done its work
  }
  ::close(descriptor_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int SignalEvents::take() {
  signalfd_siginfo info{};
  const bool came = ::read(descriptor_, &info, sizeof info) == static_cast<ssize_t>(sizeof info);
  return came ? static_cast<int>(info.ssi_signo) : 0;
}

bool SignalEvents::wait(Nanos limit) const {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::nanoseconds(std::max<Nanos>(limit, 0));
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{descriptor_, POLLIN, 0};
    const auto limited = std::clamp<std::int64_t>(left, 0, 60'000);
    if (::poll(&waiting, 1, static_cast<int>(limited)) > 0) return true;
    if (left <= 0) return false;
  }
}

}  // namespace gf
