// Results of a calibration beside the energies, about the chip and the board's sensor: cache
// sizes, how the power reading follows a load, what the memory's own power says, and whether a
// division costs the same at every level.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/energy/model_file.h"
#include "core/describe.h"

namespace gf {

/// A level of the memory by the latency of dependent loads.
struct CacheLevel {
  std::string level;
  std::optional<double> bytes;  // largest region that it holds; empty for DRAM
  double ns = 0;                // of one load, median over the level
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("level", &CacheLevel::level, "level");
    visit("bytes", &CacheLevel::bytes, "largest region that it holds");
    visit("ns", &CacheLevel::ns, "latency of a dependent load");
  }
};

/// The response of the instantaneous power reading to a load.
struct SensorFacts {
  int steps = 0;
  double period_s = 0;  // median time between two changes of the reading
  double delay_s = 0, delay_low = 0, delay_high = 0;  // from the load's start until the reading
                                                      // passed half of the step; mean, least, most
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("steps", &SensorFacts::steps, "loads switched on");
    visit("period_s", &SensorFacts::period_s, "time between changes of the reading");
    visit("delay_s", &SensorFacts::delay_s, "mean delay to half of a step");
    visit("delay_low", &SensorFacts::delay_low, "least");
    visit("delay_high", &SensorFacts::delay_high, "most");
  }
};

/// Energy of one division of a thread, added to a chase at one level. A chase at any rate has a
/// power of its own beside what its accesses cost: where the line of power over rate, through all
/// numbers of threads, meets rate 0. The division slows the chase down, so that this power must be
/// taken off before the two are compared.
struct DivisionEnergy {
  std::string level;
  std::int64_t threads = 0;
  double picojoules = 0, offset_w = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("level", &DivisionEnergy::level, "level of the chase");
    visit("threads", &DivisionEnergy::threads, "threads of a block");
    visit("picojoules", &DivisionEnergy::picojoules, "energy of a division");
    visit("offset_w", &DivisionEnergy::offset_w, "power of the chase at rate 0");
  }
};

/// The cost of a DRAM access above idle, on the whole board and by the memory's own power
/// reading alone.
struct MemoryShare {
  std::string bench;
  double board_pj = 0, memory_pj = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("bench", &MemoryShare::bench, "microbenchmark");
    visit("board_pj", &MemoryShare::board_pj,
          "energy above idle of an access of 32 bytes, whole board");
    visit("memory_pj", &MemoryShare::memory_pj, "the same by the power of the memory scope");
  }
};

struct BoardFacts {
  std::vector<CacheLevel> caches;
  std::optional<double>
      dram_granularity_bytes;  // what DRAM gives for scattered accesses of 32 bytes
  std::optional<SensorFacts> sensor;
  double counter_over_power = 0,
         counter_over_power_sd =
             0;  // energy counter / integrated instantaneous power, over the points
  std::vector<MemoryShare> memory;  // empty on boards without a reading of the memory's power
  std::vector<DivisionEnergy> divisions;
  double division_spread = 0;  // (most - least) / mean, with the most threads a block
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("caches", &BoardFacts::caches, "levels by latency");
    visit("dram_granularity_bytes", &BoardFacts::dram_granularity_bytes,
          "bytes that DRAM reads for an access of 32");
    visit("sensor", &BoardFacts::sensor, "power reading");
    visit("counter_over_power", &BoardFacts::counter_over_power,
          "energy counter over integrated power, mean of the points");
    visit("counter_over_power_sd", &BoardFacts::counter_over_power_sd,
          "standard deviation of a point");
    visit("memory", &BoardFacts::memory, "DRAM by the memory's own power");
    visit("divisions", &BoardFacts::divisions, "DIV cross-check");
    visit("division_spread", &BoardFacts::division_spread,
          "(most - least) / mean, with the most threads");
  }
};

BoardFacts board_facts(const EnergyPointsFile& file, const std::vector<BenchCounts>& benches);

/// Levels of memory from latencies by region size, smallest region first: a level ends where the
/// latency jumps.
std::vector<CacheLevel> cache_levels(const std::vector<LatencyStep>& steps);

}  // namespace gf
