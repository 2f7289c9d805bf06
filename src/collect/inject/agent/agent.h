// The library that goes into the recorded program (CUDA_INJECTION64_PATH): kernels, copies, sets
// and launches through CUPTI Activity, in bounded windows, with bounded memory. It never ends,
// slows on purpose or prints into the program; when another profiler holds CUPTI it stands aside
// and leaves a message for the recorder.
// The library in a program that nobody records yet (gpufathom run): it waits in the kernel until a
// recorder comes, and costs nothing until then.
#pragma once

#include <cstdint>

#include "collect/inject/stream.h"

namespace gf::inject {

/// Between two windows, or before the first: nothing but steps is recorded.
bool between_windows();

/// Makes the page through which recorders ask (stream.h, Dormant). False: there is no room for it.
bool show_page();

/// The number of the last recorder's wish; odd: somebody wants to record.
std::uint32_t asked();
/// Sleeps until it is another than `known`; the answer is that number.
std::uint32_t wait_for_ask(std::uint32_t known);
/// The recorder's request; valid while asked() stays odd.
const Dormant& wanted();
/// All that was asked for is done, and nothing is left of it: the number that was answered.
std::uint32_t answer();

// Ranges that are open, and what is written when they end. A thread's open ranges live until the
// thread is gone, with nothing that a destructor takes down before: the program's own destructors
// push and pop as well.

/// A step of the program ended (step.h, or an NVTX range or mark named gpufathom.step).
void count_step();
std::int64_t steps_so_far();

/// The names are numbers of the writer's texts; `domain` is any number that tells domains apart:
/// each has a stack of its own in each thread. The answers are NVTX's: the depth before and after.
int push_range(std::uint64_t domain, std::uint32_t name);
int pop_range(std::uint64_t domain);
void mark(std::uint32_t name);
/// Ranges that may end on another thread.
std::uint64_t start_range(std::uint32_t name);
void end_range(std::uint64_t id);

/// Steps that begin and end apart from the ranges, which the program may leave open inside a step.
void begin_step();
void end_step();

}  // namespace gf::inject
