// Who is inside a call that has a callback, and when callbacks may be switched off.
//
// CUPTI sees the end of a call only while the call's callback is on. Where it is switched off while
// a thread is inside, the thread counts as inside for good: each of its later calls gets the number
// of that one, and so do the kernels they launch, in our records and in those of every profiler
// that comes after (CUDA 13.0: docs/record.md). So the program's own threads switch callbacks off,
// at the end of a call while no other thread is inside one.
#pragma once

#include <cupti.h>

namespace gf::inject {

struct Thread;

/// Callbacks are on from here on. Without effect where they still are.
void switch_calls_on(CUpti_SubscriberHandle subscriber);
/// They are to be switched off as soon as it is safe, which may be never.
void let_calls_go();
/// Whether none is on.
bool calls_are_off();

/// Around what a callback does of a call's beginning and end.
void enter_call(Thread& thread);
void leave_call(Thread& thread);

}  // namespace gf::inject
