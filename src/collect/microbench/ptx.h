// What the PTX of all microbenchmarks shares, and the families of kernels that kernels.cpp puts
// together.
#pragma once

#include <string>
#include <vector>

#include "collect/microbench/kernels.h"

namespace gf::microbench {

/// The first lines of a PTX module for this chip.
std::string target(const ChipTraits& chip);

/// A module with the entry bench(data, sink, loops, bytes_per_warp, zero): setup, then the body
/// `loops` times, then `end`. The loop itself costs three instructions. `zero` is a runtime 0 that
/// keeps the compiler from folding or hoisting what must happen in every loop; `sink` is written
/// under a condition that never holds. Registers: %r, %f, %q, %d by number, and %thread, %lane,
/// %warp, %loop, %zero, %acc, %base (of this warp's region), %region, %sink.
std::string kernel(const ChipTraits& chip, const std::string& setup, const std::string& body,
                   const std::string& end, const std::string& globals = {});

/// Writes %acc to the sink if it has a value it never has: what led to it cannot be left out.
inline constexpr const char* kKeepAcc =
    "  setp.eq.u32 %p1, %acc, 0x5bd1e995;\n  @%p1 st.global.u32 [%sink], %acc;\n";

std::vector<Microbench> memory_kernels(
    const ChipTraits& chip);  // loads and stores of every level, and the DIV cross-check
std::vector<Microbench> compute_kernels(const ChipTraits& chip);  // pipes, and warps that sleep
std::vector<Microbench> tensor_kernels(const ChipTraits& chip);   // mma.sync and wgmma
std::vector<Microbench> copy_kernels(const ChipTraits& chip);     // bulk copies

}  // namespace gf::microbench
