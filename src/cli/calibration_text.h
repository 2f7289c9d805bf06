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
  static constexpr auto fields() {
    using C = CalibrationFile;
    return std::tuple{
        field("model", &C::model, "the energy model"),
        field("board", &C::board, "caches and sensor"),
        field("unseen", &C::unseen, "kernels that the fit has not seen"),
        field("leave_one_out", &C::leave_one_out, "microbenchmarks predicted by fits without them"),
        field("operands", &C::operands, "what operands of zeros save"),
        field("curves", &C::curves, "one regression a level and shape"),
        field("safety", &C::safety, "microbenchmarks whose counters deny their claim"),
        field("left_out", &C::left_out, "points that the fit leaves out, and why")};
  }
};

void print_calibration(const CalibrationFile& file);
/// Coefficients of two calibrations side by side.
void print_against(const EnergyModel& model, const EnergyModel& other);

}  // namespace gf::cli
