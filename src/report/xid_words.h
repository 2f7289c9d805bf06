// What the driver's XID errors mean, of those that stop work.
#pragma once

#include <cstdint>
#include <string_view>

namespace gf {

/// A few words; empty for a code that is not in the list.
std::string_view xid_words(std::int64_t code);

}  // namespace gf
