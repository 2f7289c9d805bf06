// Stretches in which a host thread captures a graph: what it launches there does not run.
#pragma once

#include <span>
#include <vector>

#include "analyze/context.h"
#include "core/intervals.h"

namespace gf {

class GraphCaptures {
 public:
  explicit GraphCaptures(const Context& context);
  /// Whether one of the threads (rows of threads) captures a graph at this time.
  bool at(std::span<const std::uint32_t> threads, Nanos time) const;

 private:
  /// By row of threads: from the end of the call or frame that begins a capture
  /// (cudaStreamBeginCapture, capture_begin) to the start of the one that ends it. Empty without
  /// captures.
  std::vector<Intervals> of_thread_;
};

}  // namespace gf
