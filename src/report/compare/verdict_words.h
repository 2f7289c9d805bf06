// The verdict of a comparison in words: text, page, comments and annotations say the same.
#pragma once

#include <cstddef>
#include <string>

#include "analyze/compare/compare.h"

namespace gf {

/// "No difference: a step of B takes +0.3 % against A (95 %: -0.7 to +1.1 %), within 3 %" and its
/// like for an undecided one.
std::string equal_or_undecided(const ComparedChange& change, std::size_t other);

/// "; its kernels take 26.1 % less (95 %: -26.3 to -25.9 %)"; empty where nothing is known of them.
std::string kernel_clause(const ComparedChange& change);

/// Caveats of the interval, each sentence behind a space.
std::string remark_sentences(const ComparedChange& change);

}  // namespace gf
