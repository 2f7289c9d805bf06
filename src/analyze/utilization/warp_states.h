// Stall reasons of a report's kernels, by its counters.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>

#include "model/capture.h"

namespace gf {

/// "long_scoreboard" -> "data from L1, L2 or device memory"; what is not known is its own label.
std::string_view label_of_stall(std::string_view reason);

/// The states of each report kernel, of its best family.
class WarpStates {
 public:
  using States = std::map<std::string_view, double>;

  explicit WarpStates(const Capture& capture);
  bool empty() const { return by_kernel_.empty(); }
  const States* of(std::uint32_t report_row) const {
    const auto at = by_kernel_.find(report_row);
    return at == by_kernel_.end() ? nullptr : &at->second.states;
  }

 private:
  struct OfKernel {
    int family = 0;
    States states;
  };
  std::unordered_map<std::uint32_t, OfKernel> by_kernel_;
};

}  // namespace gf
