// Samples that never arrived, told by the gaps that they leave: a sample spans from its
// predecessor's end to its own.
#pragma once

#include <cstdint>

namespace gf {

class PmGaps {
 public:
  explicit PmGaps(std::int64_t interval_ns = 1) : interval_(interval_ns) {}

  /// The first sample of a session covers an undefined span.
  void begin_session() { first_ = true; }
  /// Whether a sample is a new one and has a start, on the GPU's clock. A longer gap before it is
  /// samples that are missing.
  bool follows(std::int64_t start, std::int64_t end) {
    if (first_) {
      first_ = false;
      if (last_end_ != 0)
        lost_ += intervals_in(end - last_end_);  // an overflow ended the one before
      last_end_ = end;
      return false;
    }
    if (end <= start || end <= last_end_) return false;
    if (start - last_end_ > interval_ / 2) lost_ += intervals_in(start - last_end_);
    last_end_ = end;
    return true;
  }
  /// One that arrived and cannot be read.
  void lose() { ++lost_; }
  std::int64_t lost() const { return lost_; }

 private:
  std::int64_t intervals_in(std::int64_t gap) const { return (gap + interval_ / 2) / interval_; }

  std::int64_t interval_ = 1, last_end_ = 0, lost_ = 0;
  bool first_ = true;
};

}  // namespace gf
