// Splits a whole number into whole parts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gf {

// Integers of 128 bits, which GCC and Clang have and the standard does not.

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

/// `total` (>= 0) split in proportion to `weights` (negative and NaN count as 0) by the
/// largest-remainder method: the parts sum to `total` exactly and each is within 1 of its exact
/// share. Equal remainders go to the earlier part. All weights zero: everything goes to the first
/// part; no weights: nothing.
std::vector<std::int64_t> apportion(std::int64_t total, std::span<const double> weights);

}  // namespace gf
