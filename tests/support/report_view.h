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
inline std::map<std::string, CounterCell> counters_of(const Capture& capture,
                                                      std::uint32_t kernel) {
  std::map<std::string, CounterCell> out;
  for (std::size_t i = 0; i < capture.kernel_counters.size(); ++i)
    if (capture.kernel_counters.kernel[i] == kernel)
      out[std::string(capture.text(capture.kernel_counters.metric[i]))] = {
          capture.kernel_counters.value[i],
          std::string(capture.text(capture.kernel_counters.text[i])),
          std::string(capture.text(capture.kernel_counters.unit[i]))};
  return out;
}

inline std::map<std::string, long> quality_of(const Capture& capture) {
  std::map<std::string, long> out;
  for (std::size_t i = 0; i < capture.quality.size(); ++i)
    out[std::string(capture.text(capture.quality.code[i]))] = capture.quality.count[i];
  return out;
}

}  // namespace gf::test
