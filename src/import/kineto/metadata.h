// What a trace says of itself before and after its events: devices, versions, the time base.
#pragma once

#include <optional>
#include <string>

#include "model/capture.h"

namespace gf::kineto {

/// Reads the members of the file's object ("key": value, ...) into devices and metadata. Returns
/// baseTimeNanoseconds when it is there. Damaged text is searched for the members that matter, and
/// counted in quality unless it is known to be cut.
std::optional<Nanos> read_metadata(Capture& capture, std::string members, bool cut = false);

}  // namespace gf::kineto
