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

/// A kernel run back to back: what the board said, and what it did in a second.
struct CountedKernel {
  UnseenRun run;
  std::map<std::string, double> per_second;  // by feature
};

/// `report`: per item the kernels of n calls, then those of 2 n, each behind a kernel that spins.
/// Their difference is n calls in steady state. Errors: the report does not hold what the names
/// say.
Result<std::vector<CountedKernel>> count_kernels(
    const std::vector<UnseenRun>& runs, const std::vector<std::pair<std::string, int>>& names,
    const Capture& report);

/// Counts of a kernel in a second, in the columns of a model brought to its clock.
EnergyWork work_of_a_second(const CountedKernel& kernel, const EnergyEvaluator& evaluator);

std::vector<UnseenKernel> judge_by_unseen(const EnergyModel& model,
                                          const std::vector<CountedKernel>& kernels);

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

/// A kernel of a board, predicted by models that know neither the board nor the kernel's family:
/// as they are, and after the board's quick runs.
struct StrangerKernel {
  std::string name;
  double watts = 0;
  double before = 0, after = 0;
  double dynamic_before = 0, dynamic_after = 0;
  double before_low = 0, before_high = 0, after_low = 0, after_high = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("name", &StrangerKernel::name, "kernel");
    visit("watts", &StrangerKernel::watts, "measured");
    visit("before", &StrangerKernel::before, "(predicted - measured) / measured, uncalibrated");
    visit("after", &StrangerKernel::after, "the same after the quick runs");
    visit("dynamic_before", &StrangerKernel::dynamic_before, "of the energy above static power");
    visit("dynamic_after", &StrangerKernel::dynamic_after, "the same after the quick runs");
    visit("before_low", &StrangerKernel::before_low, "2.5 % bound in watts, uncalibrated");
    visit("before_high", &StrangerKernel::before_high, "97.5 % bound in watts, uncalibrated");
    visit("after_low", &StrangerKernel::after_low, "2.5 % bound in watts, after the quick runs");
    visit("after_high", &StrangerKernel::after_high, "97.5 % bound in watts, likewise");
  }
};

/// A board that the others' model meets.
struct StrangerBoard {
  std::string uuid;
  int quick = 0;
  double gain = 1, dram = 1;
  std::vector<StrangerKernel> kernels;
  int benches = 0;
  double bench_before = 0, bench_after = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("uuid", &StrangerBoard::uuid, "board");
    visit("quick", &StrangerBoard::quick, "quick runs that it made");
    visit("gain", &StrangerBoard::gain, "its dynamic energy over the others', by these");
    visit("dram", &StrangerBoard::dram, "of DRAM in addition, by these");
    visit("kernels", &StrangerBoard::kernels, "its kernels");
    visit("benches", &StrangerBoard::benches, "microbenchmarks that were no quick run");
    visit("bench_before", &StrangerBoard::bench_before, "their mean absolute error, uncalibrated");
    visit("bench_after", &StrangerBoard::bench_after, "the same after the quick runs");
  }
};

/// The file that `energy` reads: the model, with all that speaks for and against it.
struct CalibrationFile {
  EnergyModel model;
  BoardFacts board;
  std::vector<UnseenKernel> unseen;
  std::vector<LeftOutBench> leave_one_out;
  std::vector<StrangerBoard> strangers;
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
    visit("strangers", &CalibrationFile::strangers,
          "boards of a population and their kernels, predicted without them");
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
