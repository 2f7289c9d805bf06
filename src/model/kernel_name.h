// Kernel names as people read them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gf {

/// Linker names (_Z...) spelled out; other names as they are, and so are linker names that no
/// demangler reads or that would take more than 64 KiB.
std::string demangled(std::string_view name);

/// A kernel's name without return type, namespaces, arguments and template details:
///   void at::native::vectorized_elementwise_kernel<4, ...>(int, ...)            ->
///   vectorized_elementwise_kernel void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_...>(...) ->
///   cutlass_80_wmma_tensorop_bf16_... void
///   cutlass::device_kernel<flash::FlashAttnFwdSm90<...>>(...)              -> FlashAttnFwdSm90
///   sm90_xmma_fprop_implicit_gemm_bf16bf16_..._kernel__5x_cudnn                 -> as it is
/// Wrappers that run whatever their first type argument says are named by that argument; "kernel"
/// alone keeps its scope (internal::gemvx::kernel<...> -> gemvx::kernel).
std::string short_kernel_name(std::string_view name);

}  // namespace gf
