#include "collect/watched_call.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace gf {

namespace {

std::atomic<int> abandoned{0};

Nanos steady_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The thread, and those that the driver starts in it, leave every signal to the others.
std::thread start_without_signals(std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

struct WatchedThread::State {
  std::mutex mutex;
  std::condition_variable work;
  std::function<void()> call;  // the next one
  bool busy = false;           // one was handed over and has not returned
  bool given_up = false;       // its owner did not wait for it to the end
  bool ending = false;
  Nanos since = 0;                                          // when it was handed over
  int returned = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);  // readable when the call has returned
  std::thread thread;

  ~State() { ::close(returned); }

  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      work.wait(lock, [&] { return call || ending; });
      if (!call) return;
      auto running = std::exchange(call, nullptr);
      lock.unlock();
      running();
      running = nullptr;  // what it owns goes before anybody hears that it returned
      lock.lock();
      busy = false;
      if (given_up) --abandoned;
      given_up = false;
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = ::write(returned, &one, sizeof one);
    }
  }

  void forget_return() const {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(returned, &count, sizeof count);
  }

  void give_up() {
    const std::lock_guard lock(mutex);
    if (busy && !given_up) ++abandoned;
    given_up = busy;
  }
};

WatchedThread::WatchedThread() : state_(std::make_shared<State>()) {}
WatchedThread::WatchedThread(WatchedThread&&) noexcept = default;

WatchedThread::~WatchedThread() {
  if (!state_ || !state_->thread.joinable()) return;
  state_->give_up();
  bool runs = false;
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
    runs = state_->busy;
  }
  state_->work.notify_one();
  if (runs)
    state_->thread.detach();
  else
    state_->thread.join();
}

bool WatchedThread::start(std::function<void()> call) {
  auto& state = *state_;
  {
    const std::lock_guard lock(state.mutex);
    if (state.busy) return false;
    state.forget_return();
    state.call = std::move(call);
    state.busy = true;
    state.since = steady_now();
  }
  if (!state.thread.joinable())
    state.thread = start_without_signals([shared = state_] { shared->serve(); });
  state.work.notify_one();
  return true;
}

CallEnd WatchedThread::wait(Nanos limit, int wake_fd) {
  const Nanos deadline = steady_now() + limit;
  for (;;) {
    {
      const std::lock_guard lock(state_->mutex);
      if (!state_->busy) return CallEnd::returned;
    }
    const Nanos left = std::max<Nanos>(deadline - steady_now(), 0);
    const Nanos ms = std::min<Nanos>((left + kNsPerMs - 1) / kNsPerMs, 60'000);
    pollfd waiting[] = {{state_->returned, POLLIN, 0}, {wake_fd, POLLIN, 0}};
    const int ready = ::poll(waiting, 2, static_cast<int>(ms));
    if (ready < 0 && errno != EINTR) break;
    if (waiting[0].revents == 0 && waiting[1].revents != 0) {
      state_->give_up();
      return CallEnd::interrupted;
    }
    if (ready == 0 && left == 0) break;
  }
  state_->give_up();
  const std::lock_guard lock(state_->mutex);
  return state_->busy ? CallEnd::late : CallEnd::returned;
}

CallEnd WatchedThread::run(std::function<void()> call, Nanos limit, int wake_fd) {
  return start(std::move(call)) ? wait(limit, wake_fd) : CallEnd::late;
}

Nanos WatchedThread::running_for() const {
  const std::lock_guard lock(state_->mutex);
  return state_->busy ? steady_now() - state_->since : 0;
}

int abandoned_calls() { return abandoned.load(); }

}  // namespace gf
