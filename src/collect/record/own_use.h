// What the recorder itself takes.
#pragma once

#include <cstdint>

namespace gf {

struct OwnUse {
  double cpu_seconds = 0;
  std::int64_t memory_bytes = 0;       // resident now, pages of files included
  std::int64_t peak_memory_bytes = 0;  // most that was resident
  std::int64_t private_bytes = 0;      // resident and backed by no file
};
OwnUse own_use();

/// Gives back what only the start needed: pages of libraries that were read to link and initialise
/// them (they stay in the page cache, and come back when they are used) and free memory of the
/// allocator.
void drop_start_up_memory();

}  // namespace gf
