// Work as counters of a report saw it: tensor operations and bytes of device memory.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "analyze/context.h"
#include "model/chips.h"

namespace gf::work {

class CountedWork {
 public:
  CountedWork() = default;
  explicit CountedWork(const Context& context);

  /// Of a kernel instance; NaN without counters.
  double tensor_operations(std::uint32_t activity) const { return at(operations_, activity); }
  double memory_bytes(std::uint32_t activity) const { return at(bytes_, activity); }

 private:
  double at(const std::vector<double>& values, std::uint32_t activity) const {
    if (values.empty() || activity >= report_row_->size()) return NAN;
    const auto row = (*report_row_)[activity];
    return row < values.size() ? values[row] : NAN;
  }
  const std::vector<std::uint32_t>* report_row_ = nullptr;  // of the context
  std::vector<double> operations_, bytes_;                  // by row of report_kernels
};

}  // namespace gf::work
