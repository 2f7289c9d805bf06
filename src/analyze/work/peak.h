// The peak that work is measured against.
#pragma once

#include <span>
#include <string_view>

#include "analyze/work/ceilings.h"
#include "analyze/work/kernel_work.h"

namespace gf::work {

/// The data type that a device's peak is of: the fastest that products of these kernels ran in,
/// at least 16 bits, in which every product could run.
std::string_view peak_type(const gf::Product& product, std::span<const KernelWork> kernels);

}  // namespace gf::work
