// How much of a kernel sequence lies between two of its positions.
#pragma once

#include <cstddef>
#include <vector>

#include "analyze/steps/outer_loop.h"
#include "model/capture.h"

namespace gf {

/// By the number of kernels, or by the time that they take.
class SequenceShare {
 public:
  explicit SequenceShare(const KernelOrder& sequence) : kernels_(sequence.rows.size()) {}
  SequenceShare(const Capture& capture, const KernelOrder& sequence) : SequenceShare(sequence) {
    before_.reserve(kernels_ + 1);
    before_.push_back(0);
    for (const auto row : sequence.rows)
      before_.push_back(before_.back() + static_cast<double>(capture.activities.duration_ns[row]));
  }

  std::size_t kernels() const { return kernels_; }
  /// Of [from, to) in the whole sequence.
  double of(std::size_t from, std::size_t to) const {
    if (before_.empty() || !(before_.back() > 0))
      return static_cast<double>(to - from) / static_cast<double>(kernels_);
    return (before_[to] - before_[from]) / before_.back();
  }

 private:
  std::size_t kernels_;
  std::vector<double> before_;  // time before each position; empty: kernels count
};

}  // namespace gf
