// Each instant of a rank's window gets one label.
#pragma once

#include <array>
#include <vector>

#include "analyze/context.h"
#include "analyze/ranks/names.h"

namespace gf {

/// Unions of a device's work by kind, inside its window.
struct DeviceWork {
  Intervals compute, copies, collectives;
};
DeviceWork device_work(const Capture& capture, const DeviceTimeline& line);

struct LabelledSpan {
  Interval span;
  RankTime label = RankTime::unknown;
};

/// The window of `line` in pieces in order of time, without a gap.
std::vector<LabelledSpan> label_time(const DeviceTimeline& line, const DeviceWork& work);

using LabelSums = std::array<Nanos, kRankTimes>;

/// Sums of labels up to any instant, asked in any order. O(log n) a question.
class LabelIntegral {
 public:
  explicit LabelIntegral(std::vector<LabelledSpan> spans);
  /// Time of each label before `at`.
  LabelSums before(Nanos at) const;
  /// The same within a span.
  LabelSums within(Interval span) const;
  const std::vector<LabelledSpan>& spans() const { return spans_; }

 private:
  static constexpr std::size_t kStride = 64;  // spans between two stored sums
  std::vector<LabelledSpan> spans_;
  std::vector<LabelSums> sums_;
};

}  // namespace gf
