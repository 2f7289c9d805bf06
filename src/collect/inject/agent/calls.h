// CUPTI's tracing for the library.
//
// Nothing that was switched on is ever switched off but kernels, once and for good (graphs.h). On
// an H200 (CUPTI 13.0, update 1) each way to do so has ended programs or lost their kernels
// (docs/record.md): a copy under way when copies are switched off leaves a record whose list of
// times is freed, and the next flush reads it; with kernels alone switched off, a set between
// windows gets no time, which keeps back the buffer of its thread and all that the thread launches
// in the next window, and one that is being launched when kernels are switched on again reads a
// null pointer.
// Selects the recorded calls of the program: by a callback around each. CUPTI's activity records of
// calls are not asked for: in a program that has used CUDA before it agrees and gives none, and in
// second windows kernels came without times where it did.
// Tracks the threads inside calls that have a callback, and when callbacks may be switched off.
//
// CUPTI sees the end of a call only while the call's callback is on. Where it is switched off while
// a thread is inside, the thread counts as inside for good: each of its later calls gets the number
// of that one, and so do the kernels they launch, in our records and in those of every profiler
// that comes after (CUDA 13.0: docs/record.md). So the program's own threads switch callbacks off,
// at the end of a call while no other thread is inside one.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace gf::inject {

/// Begins to trace, where it is not so already. `anew`: CUPTI is asked for all of it again, as
/// another profiler may have switched off what it had no more use for.
void trace(bool anew);
bool kernels_are_traced();
/// For good, where tracing them on would end the program.
void let_kernels_go();

/// Callbacks around the calls, from now on or no more; in_calls.h says when that is safe. False:
/// CUPTI refused.
bool call_callbacks(CUpti_SubscriberHandle subscriber, bool on);
/// The subscriber's function: counts launches, and writes a record at the end of each call.
void CUPTIAPI on_call(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);
/// Launches since forget_launches().
std::int64_t launches_called();
/// True if a call was made before all that were seen since forget_launches().
bool called_before_window(std::uint32_t correlation);
/// True if a call with this number was seen since forget_launches(); true where none was seen.
bool called_in_window(std::uint32_t correlation);
void forget_launches();

struct Thread;

/// Callbacks are on from here on. Without effect where they still are.
void switch_calls_on(CUpti_SubscriberHandle subscriber);
/// They are to be switched off as soon as it is safe, which may be never.
void let_calls_go();
/// True if none is on.
bool calls_are_off();

/// Around what a callback does of a call's beginning and end.
void enter_call(Thread& thread);
void leave_call(Thread& thread);

}  // namespace gf::inject
