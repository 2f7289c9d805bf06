// Items and tokens per second.
#pragma once

#include "analyze/work/kernel_work.h"
#include "analyze/work/result.h"

namespace gf::work {

/// Items of a step are what --batch says, or else the leading size of the first layer's input:
/// indices of an embedding (then each index is a token), images of a convolution, the input of
/// a linear layer. A guess from shapes is only made when every step that shows one shows the same.
Throughput throughput(const Context& context, const Analysis& analysis, const KernelWorks& works);

}  // namespace gf::work
