// What CUPTI traces for the library.
//
// Nothing that was switched on is ever switched off. On an H200 (CUPTI 13.0, update 1) each way to
// do so has ended programs or lost their kernels (docs/record.md): a copy under way when copies are
// switched off leaves a record whose list of times is freed, and the next flush reads it; with
// kernels alone switched off, a set between windows gets no time, which keeps back the buffer of
// its thread and all that the thread launches in the next window, and one that is being launched
// when kernels are switched on again reads a null pointer.
#pragma once

namespace gf::inject {

/// Begins to trace, where it is not so already. `anew`: CUPTI is asked for all of it again, as
/// another profiler may have switched off what it had no more use for.
void trace(bool anew);

}  // namespace gf::inject
