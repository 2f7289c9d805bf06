// Ranges that are open, and what is written when they end. A thread's open ranges live until the
// thread is gone, with nothing that a destructor takes down before: the program's own destructors
// push and pop as well.
#pragma once

#include <cstdint>

namespace gf::inject {

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
