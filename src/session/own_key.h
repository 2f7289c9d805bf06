// A key of the user, by which the program knows what it wrote itself: a file that only the user can
// read, ~/.local/state/gpufathom/key, or the same below XDG_STATE_HOME.
#pragma once

#include <optional>

#include "core/siphash.h"

namespace gf {

enum class OwnKey { read, make };  // make: a new one where there is none

/// Empty: there is none, or others could have read or written it.
std::optional<SecretKey> own_key(OwnKey how);

}  // namespace gf
