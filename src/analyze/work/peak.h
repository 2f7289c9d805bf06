// The peak that work is measured against.
#pragma once

#include <span>
#include <string_view>

#include "analyze/context.h"
#include "analyze/work/ceilings.h"
#include "analyze/work/kernel_work.h"

namespace gf::work {

/// The data type that a device's peak is of: the fastest that products of these kernels ran in,
/// at least 16 bits, in which every product could run.
std::string_view peak_type(const gf::Product& product, std::span<const KernelWork> kernels);

/// The device of a number in Context::devices as a product; nullptr when unknown.
const gf::Product* product_of(const Context& context, std::size_t number);

/// Whether kernels could do so many operations in their time. If not, the sizes are those of
/// another run, or the GPU is not the one that is named.
bool is_possible(double flops, double peak, double kernel_ns);

}  // namespace gf::work
