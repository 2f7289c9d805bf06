#include "collect/inject/agent/in_calls.h"

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "collect/inject/agent/calls.h"
#include "collect/inject/agent/thread.h"
#include "collect/inject/agent/writer.h"

namespace gf::inject {

namespace {

enum class Calls { off, on, asked, switching };

constinit std::atomic<Calls> calls{Calls::off};
constinit CUpti_SubscriberHandle subscriber = nullptr;

// Calls that began so far, times kOne, and the threads that are inside one now.
constexpr std::uint64_t kOne = 1 << 16, kInside = kOne - 1;
constinit std::atomic<std::uint64_t> begun_and_inside{0};

// A thread beside which no other began or ended a call for so long is taken to be alone for the
// some 40 us that switching takes: the forward and the backward thread of a training take turns of
// many ms.
constexpr std::uint64_t kAlone = 2'000'000;  // ns
constinit std::atomic<const Thread*> last_thread{nullptr};
constinit std::atomic<std::uint64_t> alone_since{0};

void seen(const Thread& thread) {
  if (last_thread.exchange(&thread) != &thread) alone_since = now_ns();
}

bool switched(Calls from, Calls to) { return calls.compare_exchange_strong(from, to); }

bool is_alone(const Thread& thread) {
  return last_thread == &thread && now_ns() - alone_since >= kAlone &&
         (begun_and_inside & kInside) == 1;
}

/// On the program's thread, at the end of a call.
void switch_off() {
  const std::uint64_t before = begun_and_inside;
  call_callbacks(subscriber, false);
  if (begun_and_inside / kOne == before / kOne) {
    calls = Calls::off;
    return;
  }
  // Another thread came by meanwhile: the end of its call must be seen.
  call_callbacks(subscriber, true);
  calls = Calls::asked;
}

}  // namespace

void switch_calls_on(CUpti_SubscriberHandle of) {
  for (;;) {
    if (calls == Calls::on || switched(Calls::asked, Calls::on)) return;
    if (switched(Calls::off, Calls::switching)) break;
    sched_yield();  // a thread of the program is switching them off
  }
  subscriber = of;
  call_callbacks(subscriber, true);
  calls = Calls::on;
}

void let_calls_go() { switched(Calls::on, Calls::asked); }

bool calls_are_off() { return calls == Calls::off; }

void enter_call(Thread& thread) {
  if (thread.calls++ > 0) return;
  begun_and_inside += kOne + 1;
  seen(thread);
}

void leave_call(Thread& thread) {
  if (thread.calls == 0) return;  // it began before callbacks were on
  if (--thread.calls > 0) return;
  if (calls == Calls::asked && is_alone(thread) && switched(Calls::asked, Calls::switching))
    switch_off();
  seen(thread);
  --begun_and_inside;
}

}  // namespace gf::inject
