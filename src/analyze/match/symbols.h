// Every kernel instance of a trace and of a report as a small number: equal numbers are launches of
// the same kernel with the same shape, whichever tool recorded them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/capture.h"

namespace gf {

struct Symbols {
  std::vector<std::uint32_t> trace;   // by row of capture.activities; kNoRow for copies and sets
  std::vector<std::uint32_t> report;  // by row of capture.report_kernels
  std::vector<float>
      certainty;  // by symbol, 0..1: how sure it is that equal symbols are the same kernel
  std::uint32_t trace_names = 0, report_names = 0,
                shared_names = 0;  // distinct canonical names on either side and on both
};

/// `rows` are the trace's kernels that matter, rows of activities. Launch attributes are compared
/// where both sides know them. Names that only one side has are paired by similarity when their
/// short names agree (two demanglers may still differ).
Symbols make_symbols(const Capture& capture, const std::vector<std::uint32_t>& rows);

}  // namespace gf
