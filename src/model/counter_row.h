// A row of counter_samples in one piece.
#pragma once

#include <cstdint>

#include "model/tables.h"

namespace gf {

/// One value of one metric; without a duration a reading at an instant, without a device the
/// host's.
struct CounterRow {
  Nanos start_ns = 0;
  Nanos duration_ns = 0;
  std::uint32_t device = kNoRow;
  Text metric{};
  double value = 0;
};

inline void add_row(counter_samples_table& table, const CounterRow& value) {
  const auto row = table.add();
  table.start_ns[row] = value.start_ns;
  table.duration_ns[row] = value.duration_ns;
  table.device[row] = value.device;
  table.metric[row] = value.metric;
  table.value[row] = value.value;
}

}  // namespace gf
