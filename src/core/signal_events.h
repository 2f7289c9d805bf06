// Signals as events of the main loop instead of interruptions anywhere in it.
#pragma once

#include <signal.h>

#include <initializer_list>

#include "core/time.h"

namespace gf {

/// Takes signals from the program as long as it lives. Made before any thread, so that all inherit
/// the mask; a program that is forked later must get before() back.
class SignalEvents {
 public:
  explicit SignalEvents(std::initializer_list<int> signals);
  ~SignalEvents();
  SignalEvents(const SignalEvents&) = delete;
  SignalEvents& operator=(const SignalEvents&) = delete;

  /// Readable while a signal waits to be taken.
  int descriptor() const { return descriptor_; }
  /// The next signal that came; 0: none did.
  int take();
  /// Waits for a signal, and leaves it to be taken; false: `limit` has passed.
  bool wait(Nanos limit) const;
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

}  // namespace gf
