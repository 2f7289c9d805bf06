// A counter report as maps, for tests that compare two readings of it.
#pragma once

#include <map>
#include <string>

#include "model/capture.h"

namespace gf::test {

struct CounterCell {
  double value = 0;
  std::string text, unit;
  bool operator==(const CounterCell&) const = default;
};

/// Counters of one report kernel by metric name.
inline std::map<std::string, CounterCell> counters_of(const Capture& c, std::uint32_t kernel) {
  std::map<std::string, CounterCell> out;
  for (std::size_t i = 0; i < c.kernel_counters.size(); ++i)
    if (c.kernel_counters.kernel[i] == kernel)
      out[std::string(c.text(c.kernel_counters.metric[i]))] = {
          c.kernel_counters.value[i], std::string(c.text(c.kernel_counters.text[i])),
          std::string(c.text(c.kernel_counters.unit[i]))};
  return out;
}

inline std::map<std::string, long> quality_of(const Capture& c) {
  std::map<std::string, long> out;
  for (std::size_t i = 0; i < c.quality.size(); ++i)
    out[std::string(c.text(c.quality.code[i]))] = c.quality.count[i];
  return out;
}

}  // namespace gf::test
