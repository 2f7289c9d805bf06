// Every kernel instance of a trace and of a report as a small number: equal numbers are launches of
// the same kernel with the same shape, whichever tool recorded them.
// Kernel names of different tools in one spelling. Kineto demangles as GCC does, Nsight Compute
// drops inner namespaces, writes parameters as T1, T2, lambdas as [lambda(int) (instance 1)] and
// literals with or without suffix and cast.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/capture.h"

namespace gf {

struct Symbols {
  std::vector<std::uint32_t> trace;   // by row of capture.activities; kNoRow for copies and sets
  std::vector<std::uint32_t> report;  // by row of capture.report_kernels
  std::vector<float>
      certainty;  // by symbol, 0..1: how sure it is that equal symbols are the same kernel
  std::uint32_t trace_names = 0, report_names = 0,
                shared_names = 0;  // distinct canonical names on either side and on both
};

/// `rows` are the trace's kernels that matter, rows of activities. Launch attributes are compared
/// where both sides know them. Names that only one side has are paired by similarity when their
/// short names agree (two demanglers may still differ).
Symbols make_symbols(const Capture& capture, const std::vector<std::uint32_t>& rows);

/// The name as a chain of tokens that both tools agree on: no parameter lists, no namespaces, no
/// const, no casts; literals without suffix, true and false as 1 and 0, the n-th lambda as "L<n>".
/// Equal results mean the same function, as far as the names can tell. Linker names are demangled
/// first.
std::string canonical_kernel_name(std::string_view name);

/// Similarity of two canonical names, 0..1: Dice coefficient over pairs of neighboring
/// tokens. Against a linker name that could not be demangled: the share of its identifiers that the
/// other name has.
double name_similarity(std::string_view left, std::string_view right);

}  // namespace gf
