// What the fake CUDA driver tells the fake CUPTI, when that is loaded.
#pragma once

#include <cstdint>

struct FakeRun {
  const char* name;     // of a kernel; lives as long as the program
  std::uint64_t bytes;  // of a copy, 0: a kernel
  std::uint32_t device, grid;
  std::int64_t called, start, end;  // host clock
};
extern "C" void fake_ran(const FakeRun* run);
