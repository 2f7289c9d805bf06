// Running means of a device's samples, for the summary at the end of a recording: bounded memory however long it is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/record_summary.h"

namespace gf {

class LevelSummary {
 public:
  /// `ids` and whether each is a count (summed) or a share (averaged over time).
  void define(std::vector<std::string> ids, std::vector<bool> counts);
  bool defined() const { return !ids_.empty(); }
  void add(Nanos start, Nanos end, const double* values);
  /// Fills shares, totals, span_ns, samples and the step of `out`.
  void fill(RecordedDevice& out) const;
  /// First and last moment with work; empty when there was none.
  std::optional<Interval> active() const;

 private:
  struct Sums {
    std::vector<double> values;
    Nanos time = 0;
  };
  void fold(Sums& into, const Sums& from);
  std::vector<std::string> ids_;
  std::vector<bool> counts_;
  std::size_t busy_ = 0;        // column of gpu.busy
  Sums inside_, pending_;       // up to the last sample with work; idle samples since
  Nanos first_ = 0, last_ = 0;
  bool any_ = false;
  std::int64_t samples_ = 0;
  void remember(double busy, Nanos length);
  std::vector<float> recent_;   // ring of the newest busy values, evenly spaced: samples that never arrived are filled in
  std::size_t recent_at_ = 0;
  Nanos recent_time_ = 0, recent_end_ = 0;  // sum of the spans of all that were remembered, for the mean interval; where the last ended
  std::int64_t remembered_ = 0;
  double recent_busy_ = 0;
};

}  // namespace gf
