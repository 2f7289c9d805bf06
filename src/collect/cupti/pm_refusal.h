// What can stand in the way of PM sampling.
#pragma once

#include "collect/cupti/functions.h"

namespace gf {

/// What stands in the way of sampling one GPU: permission, another sampler, an unsupported chip...
enum class PmRefusal { none, permission, in_use, unsupported, driver, other };

/// Why a session could not start, as text for people: what, and what to do.
const char* advice_for(PmRefusal why);
/// The same of what a call of CUPTI answered.
PmRefusal refusal_of(CUptiResult code);

}  // namespace gf
