// Kernel names of different tools in one spelling. Kineto demangles as GCC does, Nsight Compute
// drops inner namespaces, writes parameters as T1, T2, lambdas as [lambda(int) (instance 1)] and
// literals with or without suffix and cast.
#pragma once

#include <string>
#include <string_view>

namespace gf {

/// The name as a chain of tokens that both tools agree on: no parameter lists, no namespaces, no
/// const, no casts; literals without suffix, true and false as 1 and 0, the n-th lambda as "L<n>".
/// Equal results mean the same function, as far as the names can tell. Linker names are demangled
/// first.
std::string canonical_kernel_name(std::string_view name);

/// How much of two canonical names agrees, 0..1: Dice coefficient over pairs of neighbouring
/// tokens. Against a linker name that could not be demangled: the share of its identifiers that the
/// other name has.
double name_similarity(std::string_view left, std::string_view right);

}  // namespace gf
