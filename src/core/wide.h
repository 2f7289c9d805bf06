// Integers of 128 bits, which GCC and Clang have and the standard does not.
#pragma once

namespace gf {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

}  // namespace gf
