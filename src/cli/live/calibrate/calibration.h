// The measuring half of a calibration: points of a GPU into a file.
// A calibration as text.
#pragma once

#include <string>
#include <vector>

#include "analyze/energy/calibrate.h"
#include "analyze/energy/population.h"
#include "core/error.h"

namespace gf::cli {

struct MeasureOptions {
  std::string device = "0";
  unsigned clock_mhz = 0;  // held, 0: left alone
  std::vector<std::string> only, skip;
  std::string points;
  bool launch_once = false;
  unsigned seed = 1;
  double seconds = 1.2;
  int repeats = 3;
  bool quick = false;      // the runs of a population instead of the whole calibration
  std::string population;  // its file; empty: the one shipped for the GPU
};

/// Measures on a thread of its own: a driver that hangs leaves this one free to say so, and to hear
/// signals.
Status measure_points(const MeasureOptions& options);

/// The boards of a product as a file has them, or the program. Errors: none of that product, or the
/// model of one board alone.
Result<EnergyModel> population_of(const std::string& path, const std::string& product);
/// All that lies under a prefix: .points.jsonl, .kernels.ncu.csv.gz, .unseen.jsonl and what belongs
/// to it; points may be compressed. Boards without counters of their own take `benches`.
Result<BoardEvidence> read_board(const std::string& prefix,
                                 const std::vector<BenchCounts>& benches);
/// Kernels of programs, measured and counted: what bench/gpu/energy_unseen.sh leaves under a
/// prefix.
Result<std::vector<CountedKernel>> read_unseen(const std::string& prefix);
/// The raw points of a file, compressed or not.
Result<EnergyPointsFile> read_points(const std::string& path);
void print_population(const EnergyModel& model, const std::vector<StrangerBoard>& boards);
/// A board's own model, and its kernels before and after, if any were measured.
void print_adapted(const EnergyModel& model, const StrangerBoard& board);
void print_coefficients(const EnergyModel& model);

void print_calibration(const CalibrationFile& file);
/// Coefficients of two calibrations side by side.
void print_against(const EnergyModel& model, const EnergyModel& other);

}  // namespace gf::cli
