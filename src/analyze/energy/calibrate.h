// From the raw points of a calibration to the energy model, with what tells how far to trust it.
#pragma once

#include <string>
#include <vector>

#include "analyze/energy/board_facts.h"
#include "analyze/energy/calibration.h"
#include "analyze/energy/model.h"
#include "analyze/energy/model_file.h"
#include "model/capture.h"

namespace gf {

// Judges a model by kernels that its calibration never saw: what it predicts from their counters
// against what the board measured.
// Judges the form of a model by its own points: each microbenchmark predicted by a fit that has not
// seen it.

/// One kernel (or short sequence of kernels) run back to back: what the board said, and what the
/// model says.
struct UnseenKernel {
  std::string name;
  double calls_per_s = 0, sm_mhz = 0, watts = 0;
  double measured_j = 0, predicted_j = 0;  // of one call, above static power
  double relative = 0;                     // (predicted - measured) / measured
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("name", &UnseenKernel::name, "kernel");
    visit("calls_per_s", &UnseenKernel::calls_per_s, "rate");
    visit("sm_mhz", &UnseenKernel::sm_mhz, "mean SM clock");
    visit("watts", &UnseenKernel::watts, "board power");
    visit("measured_j", &UnseenKernel::measured_j, "energy of a call above static power");
    visit("predicted_j", &UnseenKernel::predicted_j, "the same by the model");
    visit("relative", &UnseenKernel::relative, "(predicted - measured) / measured");
  }
};

struct UnseenRun {
  std::string name;
  double seconds = 0, energy_j = 0, calls_per_s = 0, sm_mhz = 0, temperature_c = 0;
};

/// Reads measurements, one JSON object a line.
Result<std::vector<UnseenRun>> read_unseen_runs(const std::string& path);
/// Reads "name n" lines: each item was counted twice, as n calls and as 2 n calls.
Result<std::vector<std::pair<std::string, int>>> read_unseen_names(const std::string& path);

/// `report`: per item the kernels of n calls, then those of 2 n, each behind a kernel that spins.
/// Their difference is n calls in steady state. Errors: the report does not hold what the names
/// say.
Result<std::vector<UnseenKernel>> judge_by_unseen(
    const EnergyModel& model, const std::vector<UnseenRun>& runs,
    const std::vector<std::pair<std::string, int>>& names, const Capture& report);

double mean_absolute_error(const std::vector<UnseenKernel>& kernels);

struct LeftOutBench {
  std::string bench;
  double relative =
      0;  // mean of (predicted - measured) / measured, of the energy above static power
  int points = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("bench", &LeftOutBench::bench, "microbenchmark");
    visit("relative", &LeftOutBench::relative,
          "mean of (predicted - measured) / measured, above static power");
    visit("points", &LeftOutBench::points, "its points");
  }
};

/// Only microbenchmarks whose every feature another one has too, at a tenth of the rate at least:
/// no fit knows what it has never seen.
std::vector<LeftOutBench> leave_one_out(const std::vector<EnergyPoint>& points);

/// The file that `energy` reads: the model, with all that speaks for and against it.
struct CalibrationFile {
  EnergyModel model;
  BoardFacts board;
  std::vector<UnseenKernel> unseen;
  std::vector<LeftOutBench> leave_one_out;
  std::vector<OperandEffect> operands;
  std::vector<LevelCurve> curves;
  std::vector<SafetyFinding> safety;
  std::vector<std::string> left_out;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("model", &CalibrationFile::model, "the energy model");
    visit("board", &CalibrationFile::board, "caches and sensor");
    visit("unseen", &CalibrationFile::unseen, "kernels unseen by the fit");
    visit("leave_one_out", &CalibrationFile::leave_one_out,
          "microbenchmarks predicted by fits without them");
    visit("operands", &CalibrationFile::operands, "what operands of zeros save");
    visit("curves", &CalibrationFile::curves, "one regression a level and shape");
    visit("safety", &CalibrationFile::safety,
          "microbenchmarks whose counters contradict their claim");
    visit("left_out", &CalibrationFile::left_out, "points that the fit leaves out, and why");
  }
};

struct CalibrationWanted {
  bool leave_one_out = false;     // predict each microbenchmark by a fit without it
  std::string* system = nullptr;  // receives the least-squares system as CSV
};

/// Fits the points of a file; kernels unseen by the fit are judged apart. `benches`: the
/// microbenchmarks that take part, with their counters where a report gave them. Errors: too few
/// points.
Result<CalibrationFile> fit_calibration(const EnergyPointsFile& raw,
                                        const std::vector<BenchCounts>& benches,
                                        const CalibrationWanted& wanted);

}  // namespace gf
