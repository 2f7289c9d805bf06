// What to collect with Nsight Compute for the levels of kernels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/capture.h"
#include "model/levels.h"

namespace gf {

/// The counters to collect for a level on a chip (best formula), joined by commas.
std::string counters_for(KernelLevel level, const Chip* chip);
/// Nsight Compute's command line that collects what the ladder needs on a chip (nullptr: any chip),
/// of one step of `kernels_of_step` kernels after five others; of the first kernels where the steps
/// are not known (0).
std::string ncu_command(const Chip* chip, std::int64_t kernels_of_step = 0);
/// False when a device is of another maker: no command of Nsight Compute helps there.
bool nsight_compute_helps(const Capture& capture);

/// f(name, optional) for every term of "a + b + [c]".
template <class F>
void each_term(std::string_view expression, F&& apply) {
  while (!expression.empty()) {
    const auto plus = expression.find(" + ");
    auto name = expression.substr(0, plus);
    if (plus == std::string_view::npos) {
      expression = std::string_view{};
    } else {
      expression = expression.substr(plus + 3);
    }
    const bool optional = name.starts_with('[');
    apply(optional ? name.substr(1, name.size() - 2) : name, optional);
  }
}

}  // namespace gf
