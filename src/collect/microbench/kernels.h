// The microbenchmark kernels of the energy calibration, as PTX that the driver compiles. Each
// stresses one level of the memory or one compute class, and knows by arithmetic how often
// (equation 5.7 of Delestrac's thesis, widened to compute): counters only confirm it.
// The common PTX of all microbenchmarks, and the families of kernels that kernels.cpp puts
// together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gf::microbench {

/// The work of one warp in one loop of a kernel, by feature of the energy model (see docs/energy.md
/// for the list): memory features in 32-byte accesses, compute in operations of a thread (an FMA is
/// one), tensor in floating-point operations (a multiply-add is two), "inst" in warp instructions.
using Counts = std::map<std::string, double>;

enum class Space { none, shared, l1, l2, dram };

struct Microbench {
  std::string id;       // l2_load, fma_fp32, wgmma_bf16, ...
  std::string feature;  // the feature it is there for
  Space space = Space::none;
  bool writes = false;        // stores instead of loads
  bool zeros = false;         // operands are zeros instead of random bits
  int unroll = 1;             // operations a loop
  unsigned shared_bytes = 0;  // dynamic shared memory a block
  unsigned fixed_threads =
      0;  // threads a block when the kernel needs that many (warpgroups), else 0: swept
  std::uint64_t bytes_per_warp = 0;  // region each warp walks through in global memory; 0: none
  bool chase = false;                // the region holds a pointer chain
  bool addresses = false;  // what it moves are addresses, of which few bits change: for levels and
                           // curves, not for the joint fit
  Counts per_warp_loop;
  std::string ptx;
  std::string entry() const {
    return "bench_" + id;
  }  // the kernel's name, by which a counter report knows it
};

struct ChipTraits {
  int compute = 90;  // major * 10 + minor
};

/// All microbenchmarks that this chip can run.
std::vector<Microbench> microbenches(const ChipTraits& chip);

/// Fills a region array with pointer chains: entry "fill_chain"(base, words, words_per_warp).
std::string chain_filler_ptx(const ChipTraits& chip);
/// Fills memory with random bits that are also ordinary bf16, fp16 and fp32 numbers around one:
/// entry "fill_random"(base, words, seed).
std::string random_filler_ptx(const ChipTraits& chip);

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
