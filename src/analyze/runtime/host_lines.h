// What a host thread was in over a span, in words a person recognises: the Python line where the capture has stacks, else
// the operation or annotation.
#pragma once

#include <string>
#include <vector>

#include "analyze/context.h"

namespace gf {

class HostLines {
 public:
  HostLines(const Context& context, std::uint32_t thread);

  /// Rows of host_ops at an instant; kNoRow when there is none.
  struct At {
    std::uint32_t python = kNoRow, operation = kNoRow;  // innermost of each
  };
  At at(Nanos time) const;
  /// What covers most of the span, by name; empty when nothing does.
  std::string most_of(Interval span) const;

 private:
  struct Piece { Nanos start; At what; };
  const Capture* capture_;
  std::vector<Piece> pieces_;  // each until the next one
};

}  // namespace gf
