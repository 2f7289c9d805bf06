// Whether programs that start here share their GPUs through MPS.
#pragma once

namespace gf {

/// CUDA programs find the MPS control daemon by its pipe, in CUDA_MPS_PIPE_DIRECTORY or where it is
/// by default; those that find none take turns on a GPU.
bool mps_serves();

}  // namespace gf
