#include "analyze/energy/calibrate.h"

#include <algorithm>
#include <utility>

namespace gf {

Result<CalibrationFile> fit_calibration(const EnergyPointsFile& raw,
                                        const std::vector<BenchCounts>& benches,
                                        const CalibrationWanted& wanted) {
  double sms = 0;
  for (const auto& point : raw.points) sms = std::max(sms, point.active_sms);
  CalibrationFile file;
  file.safety = check_counts(benches);
  const auto points =
      fit_points(raw.points, benches, file.safety, static_cast<unsigned>(sms), &file.left_out);
  auto model = fit_energy(points, 400, 1, wanted.system);
  if (!model) return tl::unexpected(model.error());
  file.model = std::move(*model);
  file.model.gpu = raw.board.gpu;
  file.model.uuid = raw.board.uuid;
  file.model.driver = raw.board.driver;
  file.model.date = raw.board.date;
  file.model.dropped = static_cast<int>(file.left_out.size());
  file.curves = level_curves(raw.points, benches, file.model.context_w);
  file.operands = operand_effects(file.curves);
  file.board = board_facts(raw, benches);
  if (wanted.leave_one_out) file.leave_one_out = leave_one_out(points);
  return file;
}

}  // namespace gf
