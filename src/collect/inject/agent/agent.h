// The library that goes into the recorded program (CUDA_INJECTION64_PATH): kernels, copies, sets
// and launches through CUPTI Activity, in bounded windows, with bounded memory. It never ends,
// slows on purpose or prints into the program; when another profiler holds CUPTI it stands aside
// and leaves a message for the recorder.
#pragma once

namespace gf::inject {

/// Between two windows, or before the first: nothing but steps is recorded.
bool between_windows();

}  // namespace gf::inject
