// PyTorch writes its operations as NVTX ranges with everything it knows in one text:
//   aten::bmm, seq = 1234, op_id = 5678, sizes = [[8, 64, 64], [8, 64, 64]], input_op_ids = [...]
// Taken as they are, nearly every range would have a name of its own.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/capture.h"

namespace gf {

struct NvtxOperation {
  std::string_view name;
  std::int64_t sequence = -1;  // autograd sequence number
  std::string_view shapes;     // as the PyTorch profiler writes "Input Dims"
  bool cut = false;            // the text was one of PyTorch's
};

/// The parts of a range's text; texts of other programs are a name and nothing else.
NvtxOperation cut_nvtx_operation(std::string_view text);

/// Gives a row of host_ops the range's name and kind, and what else its text says.
void name_nvtx_range(Capture& capture, std::uint32_t host_op, Text text);

}  // namespace gf
