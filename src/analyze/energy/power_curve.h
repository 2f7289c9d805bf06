// Energy of a device over time, from what its sensors said.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/names.h"
#include "core/intervals.h"
#include "model/capture.h"

namespace gf {

struct PowerReading {
  Nanos time = 0;
  double watts = 0;
};

/// The energy counter says how much; between two of its values the instant power says when. Without
/// a counter the power's integral says both.
class PowerCurve {
 public:
  PowerCurve(const Capture& capture, std::uint32_t device);

  /// "energy_counter", "power_instant", "power_average", or empty without any reading.
  EnergySource source() const { return source_; }
  /// From the first to the last reading.
  Interval known() const { return known_; }
  /// Nanojoules over a span. Spans that follow each other add up exactly. Beyond the readings the
  /// last power is taken to go on until the next reading would have come, 250 ms at least; empty
  /// for a span that reaches further.
  std::optional<std::int64_t> nanojoules(Interval span) const;
  /// Power over time, one value a span between readings, at most `most` of them.
  std::vector<PowerReading> readings(Interval span, std::size_t most) const;
  /// The uncertainty of a span's end: the sensor's update period, as the readings show it.
  Nanos period() const { return period_; }

 private:
  double joules_until(Nanos time) const;
  void bend();
  EnergySource source_ = EnergySource::none;
  Interval known_{0, 0};
  Nanos period_ = 0, reach_ = 0;
  std::vector<Nanos> times_;    // knots
  std::vector<double> joules_;  // since the first knot
  std::vector<double> bends_;   // joules by which a line between two knots bends; empty: none does
  std::vector<PowerReading> power_;
};

}  // namespace gf
