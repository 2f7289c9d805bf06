// Which calls of the program are recorded: by a callback around each. CUPTI's activity records of
// calls are not asked for: in a program that has used CUDA before it agrees and gives none, and in
// second windows kernels came without times where it did.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace gf::inject {

/// Callbacks around the calls, from now on or no more; in_calls.h says when that is safe. False:
/// CUPTI refused.
bool call_callbacks(CUpti_SubscriberHandle subscriber, bool on);
/// The subscriber's function: counts launches, and writes a record at the end of each call.
void CUPTIAPI on_call(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);
/// Launches since forget_launches().
std::int64_t launches_called();
/// Whether a call was made before all that were seen since forget_launches().
bool called_before_window(std::uint32_t correlation);
/// Whether a call with this number was seen since forget_launches(); true where none was seen.
bool called_in_window(std::uint32_t correlation);
void forget_launches();

}  // namespace gf::inject
