// What the recorder asked for, read from the environment while the library is loaded and never
// again: the program may change its environment on any thread at any time.
#pragma once

#include <cstdint>

#include "collect/inject/stream.h"

namespace gf::inject {

struct Settings {
  char directory[4096];  // where PID.rec goes; empty: the program is not recorded
  std::int64_t clock_offset;
  std::int64_t window_ms, first_ms, every_ms, delay_ms, steps;
  std::uint64_t most_bytes;
};
extern Settings settings;
inline bool recorded() { return settings.directory[0] != '\0'; }

/// The page that the recorder speaks through; null when there is none.
const Control* control();

/// Nanoseconds since 1970 on the recorder's clock.
std::uint64_t now_ns();

}  // namespace gf::inject
