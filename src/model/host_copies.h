// Copies from host to host that went through a device's stream: the host makes them, and the device
// does nothing for them.
#pragma once

#include <cstring>

#include "model/capture.h"

namespace gf {

/// True if there are any; few captures have some, and a look at a byte each is cheaper than a
/// question for every activity.
inline bool copies_on_the_host(const Capture& capture) {
  const auto& copies = capture.activities.copy;
  static_assert(sizeof(CopyKind) == 1);
  if (copies.empty() || copies.folded())  // folded it stays
    return !copies.empty() && copies[0] == CopyKind::host_to_host;
  return std::memchr(copies.data(), static_cast<int>(CopyKind::host_to_host), copies.size()) !=
         nullptr;
}

}  // namespace gf
