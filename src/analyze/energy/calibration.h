// From the raw points of a calibration, and the counters of each microbenchmark, to the points of
// the fit.
#pragma once

#include <string>
#include <vector>

#include "analyze/energy/model.h"
#include "model/capture.h"

namespace gf {

/// One raw measurement, as `gpufathom calibrate` writes it.
struct RawEnergyPoint {
  std::string bench;
  std::int64_t threads = 0, blocks = 0, repeat = 0;
  double seconds = 0, energy_j = 0, sm_mhz = 0, temperature_c = 0, throttled = 0;
  double instant_w = 0, memory_w = 0,
         memory_end_w = 0;  // means of the board's power readings, and the last; NaN without
  double loops_per_s = 0, warps = 0, active_sms = 0;
  std::string dropped;                          // why it could not be measured
  std::vector<double> edge_t_s, edge_energy_j;  // counter updates inside the window, the first at 0
};

/// The counted work of one warp in one loop: two launches of a kernel, of n and 2 n loops, differ
/// by n loops in steady state.
struct BenchCounts {
  std::string bench, feature;        // feature: the one that the microbenchmark is there for
  unsigned threads = 0, blocks = 0;  // of the counted launch
  std::map<std::string, double> by_arithmetic;  // per warp and loop
  bool addresses = false;                       // what it moves are addresses
  std::map<std::string, double> counted{};      // per warp and loop; empty without a counter report
};

/// Takes the counters of the two rounds of launches (`calibrate --launch-once` under a profiler).
/// Errors: the report's kernels are not two rounds of these microbenchmarks.
Status take_counters(std::vector<BenchCounts>& benches, const Capture& report, double loops);

/// A microbenchmark whose counters deny what it claims: over 1 % from the arithmetic at its level,
/// under 99 % hits.
struct SafetyFinding {
  std::string bench, what;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("bench", &SafetyFinding::bench, "microbenchmark");
    visit("what", &SafetyFinding::what, "what the counters say");
  }
};
std::vector<SafetyFinding> check_counts(const std::vector<BenchCounts>& benches);

/// The points of the joint fit. Left out, and why: operands of zeros or addresses, fewer than a
/// warp a block, kernels that failed the checks. Runs under a power cap stay: their clocks are what
/// the voltage curve is fitted to.
std::vector<EnergyPoint> fit_points(const std::vector<RawEnergyPoint>& raw,
                                    const std::vector<BenchCounts>& benches,
                                    const std::vector<SafetyFinding>& findings, unsigned sm_count,
                                    std::vector<std::string>* left_out);

/// The regression of the paper, one level at a time: energy above idle against the number of
/// accesses.
struct LevelCurve {
  std::string bench, feature;
  std::int64_t threads = 0, blocks = 0, points = 0;
  double picojoules = 0;  // slope: energy of one access, active power included
  double offset_j = 0, r2 = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("bench", &LevelCurve::bench, "microbenchmark");
    visit("feature", &LevelCurve::feature, "what is counted");
    visit("threads", &LevelCurve::threads, "threads a block");
    visit("blocks", &LevelCurve::blocks, "blocks");
    visit("points", &LevelCurve::points, "counter updates of all runs");
    visit("picojoules", &LevelCurve::picojoules, "slope: energy above idle of one access");
    visit("offset_j", &LevelCurve::offset_j, "offset");
    visit("r2", &LevelCurve::r2, "R^2");
  }
};
std::vector<LevelCurve> level_curves(const std::vector<RawEnergyPoint>& raw,
                                     const std::vector<BenchCounts>& benches, double idle_w);

/// The energy that operands of zeros save: the same microbenchmark with zeros and with random
/// operands, at full occupancy.
struct OperandEffect {
  std::string bench, feature;
  double random_pj = 0, zeros_pj = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("bench", &OperandEffect::bench, "microbenchmark");
    visit("feature", &OperandEffect::feature, "what is counted");
    visit("random_pj", &OperandEffect::random_pj, "slope with random operands");
    visit("zeros_pj", &OperandEffect::zeros_pj, "slope with zeros");
  }
};
std::vector<OperandEffect> operand_effects(const std::vector<LevelCurve>& curves);

}  // namespace gf
