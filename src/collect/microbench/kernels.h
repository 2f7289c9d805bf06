// The microbenchmark kernels of the energy calibration, as PTX that the driver compiles. Each
// stresses one level of the memory or one compute class, and knows by arithmetic how often
// (equation 5.7 of Delestrac's thesis, widened to compute): counters only confirm it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gf::microbench {

/// What one warp does in one loop of a kernel, by feature of the energy model (see docs/energy.md
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

}  // namespace gf::microbench
