// The library that goes into the recorded program (CUDA_INJECTION64_PATH): kernels, copies, sets
// and launches through CUPTI Activity, in bounded windows, with bounded memory. It never ends,
// slows on purpose or prints into the program; when another profiler holds CUPTI it stands aside
// and leaves a message for the recorder.
// The library in a program that nobody records yet (gpufathom run): it waits in the kernel until a
// recorder comes, and costs nothing until then.
#pragma once

#include <cstdint>

#include "collect/inject/stream.h"

namespace gf::inject {

/// Between two windows, or before the first: nothing but steps is recorded.
bool between_windows();

/// Makes the page through which recorders ask (stream.h, Dormant). False: there is no room for it.
bool show_page();

/// The number of the last recorder's wish; odd: somebody wants to record.
std::uint32_t asked();
/// Sleeps until it is another than `known`; the answer is that number.
std::uint32_t wait_for_ask(std::uint32_t known);
/// What the recorder wants; valid while asked() stays odd.
const Dormant& wanted();
/// All that was asked for is done, and nothing is left of it: the number that was answered.
std::uint32_t answer();

}  // namespace gf::inject
