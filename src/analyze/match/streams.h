// Which stream of the trace is which stream of the report.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/match/symbols.h"
#include "model/capture.h"

namespace gf {

struct StreamPair {
  std::vector<std::uint32_t> trace_rows, report_rows;  // each in order of execution
};

/// Report kernels of one device of the trace. A report of one device serves every device of the
/// trace: each rank of a data-parallel program runs the same kernels.
std::vector<std::uint32_t> report_of_device(const Capture& capture, std::int64_t device);

/// Pairs streams by what they ran (common symbols, counted with repetition), equal stream numbers
/// first where that is a tie.
std::vector<StreamPair> pair_streams(const Capture& capture, const Symbols& symbols,
                                     const std::vector<std::uint32_t>& trace_rows,
                                     const std::vector<std::uint32_t>& report_rows);

bool more_than_one_stream(const Capture& capture, const std::vector<std::uint32_t>& trace_rows,
                          const std::vector<std::uint32_t>& report_rows);

}  // namespace gf
