// Calls into a driver, each with a deadline. A driver can hang in any call, and nothing takes a
// thread out of it: so the calls run on a thread of their own, and whoever asked goes on without.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/time.h"

namespace gf {

enum class CallEnd {
  returned,     // in time
  late,         // it still runs: now, or since a call before this one
  interrupted,  // the caller's descriptor became readable first; the call still runs
};

/// One thread that runs the calls given to it, one after the other. What a call touches must live
/// as long as the call, which may be for ever: captured by value or by shared_ptr, never by
/// reference.
class WatchedThread {
 public:
  WatchedThread();
  /// Ends the thread; one that is still in a call is left behind.
  ~WatchedThread();
  WatchedThread(const WatchedThread&) = delete;
  WatchedThread& operator=(const WatchedThread&) = delete;
  WatchedThread(WatchedThread&&) noexcept;
  WatchedThread& operator=(WatchedThread&&) = delete;

  /// Hands `call` over without waiting. False, and nothing happens, while an earlier one still
  /// runs.
  bool start(std::function<void()> call);
  /// Waits for the call that runs, until it returns, `limit` has passed, or `wake_fd` (a signalfd,
  /// say; -1: none) can be read. At once `returned` when none runs.
  CallEnd wait(Nanos limit, int wake_fd = -1);
  /// start() and wait(). An earlier call that still runs is not waited for again: `late` at once.
  CallEnd run(std::function<void()> call, Nanos limit, int wake_fd = -1);

  /// run(), with what the call returned; empty when it did not return in time.
  template <class F, class T = std::invoke_result_t<F>>
  std::optional<T> ask(F call, Nanos limit, int wake_fd = -1) {
    auto answer = std::make_shared<std::optional<T>>();
    const auto end =
        run([answer, call = std::move(call)] { answer->emplace(call()); }, limit, wake_fd);
    if (end != CallEnd::returned) return {};  // the thread may write into the answer at any time
    return std::move(*answer);
  }

  /// The time for which the current call has been running; 0 when none does.
  Nanos running_for() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Calls of watched threads that their owners gave up on and that have not returned since. While
/// there are any, the program must end with std::_Exit: destructors of static objects would pull
/// the driver from under them.
int abandoned_calls();

}  // namespace gf
