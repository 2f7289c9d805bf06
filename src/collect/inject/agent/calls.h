// Which calls of the program are recorded, and how: as CUPTI's activity records, or by a callback
// around each call.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace gf::inject {

/// Activity records of the calls. In a program that has used CUDA before anybody asked for them,
/// CUPTI agrees and gives none: see call_callbacks. False: CUPTI refused.
bool call_records(bool on);

/// Callbacks around the calls, which come whenever they are asked for.
enum class Callbacks { none, counted, recorded };
bool call_callbacks(CUpti_SubscriberHandle subscriber, Callbacks how);
/// The subscriber's function: counts launches, and writes a record at the end of each call where
/// that was asked for.
void CUPTIAPI on_call(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);
/// Whether a call starts kernels.
bool is_launch(CUpti_CallbackDomain domain, CUpti_CallbackId id);
/// Launches seen by callbacks since forget_launches().
std::int64_t launches_called();
/// A call's number, as its record gives it.
void note_call(std::uint32_t correlation);
/// Whether a call with this number was seen since forget_launches(); true where none was seen.
bool called_in_window(std::uint32_t correlation);
void forget_launches();

}  // namespace gf::inject
