// What `calibrate` finds, as its file and as text.
#pragma once

#include <string>
#include <vector>

#include "analyze/energy/board_facts.h"
#include "analyze/energy/calibration.h"
#include "analyze/energy/leave_out.h"
#include "analyze/energy/unseen.h"

namespace gf::cli {

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
    visit("unseen", &CalibrationFile::unseen, "kernels that the fit has not seen");
    visit("leave_one_out", &CalibrationFile::leave_one_out,
          "microbenchmarks predicted by fits without them");
    visit("operands", &CalibrationFile::operands, "what operands of zeros save");
    visit("curves", &CalibrationFile::curves, "one regression a level and shape");
    visit("safety", &CalibrationFile::safety, "microbenchmarks whose counters deny their claim");
    visit("left_out", &CalibrationFile::left_out, "points that the fit leaves out, and why");
  }
};

void print_calibration(const CalibrationFile& file);
/// Coefficients of two calibrations side by side.
void print_against(const EnergyModel& model, const EnergyModel& other);

}  // namespace gf::cli
