// What CUPTI traces for the library, and what it goes on tracing between windows.
//
// CUPTI (13.0, update 1) ends the program when copies are no longer to be traced: a copy that is
// under way at that moment leaves a record whose list of times is freed, and the next flush reads
// it (SIGSEGV on CUPTI's own thread, docs/record.md). So copies and sets, once traced, are traced
// until the program ends; kernels, which cost the program time, between windows no more. In a
// program that a recorder came to while it ran nothing is ever switched off.
#pragma once

namespace gf::inject {

/// Whether CUPTI keeps all that it was once asked for: in a program that was started to be recorded
/// later (gpufathom run).
bool tracing_stays();

/// Begins to trace, as far as it is not so already. `anew`: CUPTI is asked for all of it again.
void trace(bool anew);
/// A window ends.
void trace_less();

}  // namespace gf::inject
