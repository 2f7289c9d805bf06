// A GPU's activities in a few classes (kernels of one name, grid and block, the largest by time;
// the rest; copies), and how long each ran within a span. What classes ran explains what counters
// read well enough to see how the two clocks lie.
#pragma once

#include <cstdint>
#include <vector>

#include "core/time.h"
#include "model/capture.h"

namespace gf {

class ClassTimes {
 public:
  ClassTimes(const Capture& capture, std::uint32_t device, std::size_t most_classes);

  std::size_t classes() const { return classes_; }
  /// By row of activities; kNoRow for what is not the device's.
  const std::vector<std::uint32_t>& class_of() const { return class_of_; }

  struct Share {
    std::uint32_t column;
    double share;  // of the span; over 1 where a class ran several times at once
  };
  /// Replaces `out` with the classes that ran within the span, each once.
  void shares(Interval span, std::vector<Share>& out) const;

 private:
  struct Run {
    Nanos start, end;
    std::uint32_t column;
  };
  std::size_t classes_ = 0;
  std::vector<std::uint32_t> class_of_;
  std::vector<Run> runs_;          // by start
  std::vector<Nanos> latest_end_;  // of the runs up to each
};

}  // namespace gf
