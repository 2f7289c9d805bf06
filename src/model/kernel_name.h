// Kernel names as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/capture.h"

namespace gf {

/// Linker names (_Z...) spelled out; other names as they are, and so are linker names that no
/// demangler reads or that would take more than `longest` bytes: a short one can stand for more
/// than any memory holds.
std::string demangled(std::string_view name, std::size_t longest = 64 << 10);

/// A kernel's name without return type, namespaces, arguments and template details:
///   void at::native::vectorized_elementwise_kernel<4, ...>(int, ...)            ->
///   vectorized_elementwise_kernel void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_...>(...) ->
///   cutlass_80_wmma_tensorop_bf16_... void
///   cutlass::device_kernel<flash::FlashAttnFwdSm90<...>>(...)              -> FlashAttnFwdSm90
///   sm90_xmma_fprop_implicit_gemm_bf16bf16_..._kernel__5x_cudnn                 -> as it is
/// Wrappers that run whatever their first type argument says are named by that argument; "kernel"
/// alone keeps its scope (internal::gemvx::kernel<...> -> gemvx::kernel).
std::string short_kernel_name(std::string_view name);

// PyTorch writes its operations as NVTX ranges with everything it knows in one text:
//   aten::bmm, seq = 1234, op_id = 5678, sizes = [[8, 64, 64], [8, 64, 64]], input_op_ids = [...]
// Taken as they are, nearly every range would have a name of its own.

struct NvtxOperation {
  std::string_view name;
  std::int64_t sequence = -1;  // autograd sequence number
  std::string_view shapes;     // as the PyTorch profiler writes "Input Dims"
  bool cut = false;            // the text was one of PyTorch's
};

/// The parts of a range's text; texts of other programs are a name and nothing else.
NvtxOperation cut_nvtx_operation(std::string_view text);

/// The columns of host_ops that a range's text tells.
struct NvtxRange {
  HostKind kind = HostKind::annotation;
  Text name{}, shapes{};
  std::int64_t sequence = -1;
};
NvtxRange describe_nvtx_range(Capture& capture, Text text);

}  // namespace gf
