// From the raw points of a calibration to the energy model, with what tells how far to trust it.
#pragma once

#include <string>
#include <vector>

#include "analyze/energy/board_facts.h"
#include "analyze/energy/calibration.h"
#include "analyze/energy/model.h"
#include "analyze/energy/model_file.h"
#include "analyze/energy/unseen.h"

namespace gf {

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
