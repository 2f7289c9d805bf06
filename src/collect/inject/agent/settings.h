// The recorder's settings, read from the environment while the library is loaded and never
// again: the program may change its environment on any thread at any time. In a program that was
// started to be recorded later (Dormant), a recorder brings it.
#pragma once

#include <atomic>
#include <cstdint>

#include "collect/inject/stream.h"

namespace gf::inject {

struct Settings {
  char directory[4096];                    // where PID.rec goes
  std::atomic<std::int64_t> clock_offset;  // the next recorder's, while others read it
  std::int64_t window_ms, first_ms, every_ms, delay_ms, steps;
  std::uint64_t most_bytes;
  bool own_profiler;  // the program has one, which is to find CUPTI free between windows
};
extern Settings settings;

extern std::atomic<std::uint32_t> session;  // 0: nobody records; else the recorder's number
inline bool recorded() { return session.load(std::memory_order_relaxed) != 0; }
/// True if a recorder may come later. Otherwise one that is not here now never will be.
bool dormant();

/// A recorder has come, a recorder goes. By the library's thread, with the lock.
void take_settings(const Dormant& wanted, std::uint32_t number);
void drop_settings();

/// The page that the recorder speaks through; null when there is none.
const Control* control();

/// Nanoseconds since 1970 on the recorder's clock.
std::uint64_t now_ns();

}  // namespace gf::inject
