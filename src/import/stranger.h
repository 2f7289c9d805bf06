// Files of related tools that people take for traces.
#pragma once

#include <string_view>

namespace gf {

/// A file that holds nothing to analyze, and what to give instead.
struct Stranger {
  std::string_view what, advice;
};

/// Knows files of Nsight Systems in its own format and execution traces of PyTorch; `what` is empty
/// for all others. `head`: the first bytes of the content.
Stranger describe_stranger(std::string_view path, std::string_view head);

}  // namespace gf
