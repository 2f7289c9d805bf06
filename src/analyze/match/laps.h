// Lays a report, which usually holds one step, over a trace, which holds several: the report's
// sequence may start over as often as the trace repeats it, be cut at either end, and miss or have
// additional kernels anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace gf {

struct Laying {
  std::vector<std::uint32_t>
      partner;  // by position in the trace: position in the report, or Alignment::kNone
  std::vector<bool> ambiguous;  // by position in the trace, as in Alignment
  std::size_t laps = 0;         // how often the report was laid over the trace
};

/// cost as for align_exactly. Small problems are solved exactly; large ones are cut at stretches
/// that repeat the report word for word and solved exactly in between.
Laying lay_over(std::span<const std::uint32_t> trace, std::span<const std::uint32_t> report,
                const std::function<double(std::size_t, std::size_t)>& cost);

}  // namespace gf
