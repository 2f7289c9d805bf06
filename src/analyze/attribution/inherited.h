// Values of operations that follow from the values of the operations around them.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/context.h"

namespace gf {

/// Works each value out once, when it is asked for, so that questions about operations nested n
/// deep take time in proportion to n together.
class Inherited {
 public:
  explicit Inherited(const Attribution& attribution)
      : parent_(attribution.op_parent), value_(parent_.size(), kNoRow) {}

  /// The value of `op`; `step(outer, op)` gives it from that of the operation around, kNoRow where
  /// there is none.
  template <class Step>
  std::uint32_t of(std::uint32_t op, Step&& step) {
    path_.clear();
    for (; op != kNoRow && value_[op] == kNoRow; op = parent_[op]) path_.push_back(op);
    std::uint32_t value = op != kNoRow ? value_[op] : kNoRow;
    for (; !path_.empty(); path_.pop_back())
      value = value_[path_.back()] = step(value, path_.back());
    return value;
  }

 private:
  const std::vector<std::uint32_t>& parent_;
  std::vector<std::uint32_t> value_;  // kNoRow: not asked yet
  std::vector<std::uint32_t> path_;
};

}  // namespace gf
