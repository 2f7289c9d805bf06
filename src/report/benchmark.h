// A PyTorch script that times one operator of a capture alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "analyze/context.h"
#include "core/error.h"

namespace gf {

/// Takes from the calls of `name` ("aten::conv2d", or "conv2d") in the window: the `cases` sets of
/// shapes, types, strides and other arguments that took most kernel time. What the capture holds is
/// data in the script, never code. Errors: no such operator launched a kernel, its inputs were not
/// recorded.
Result<std::string> operator_benchmark(const Context& context, std::string_view name,
                                       std::size_t cases);

}  // namespace gf
