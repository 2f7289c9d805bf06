// Columns that take memory for each row though all rows are the same.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "model/capture.h"

namespace gf::test {

/// Names of those of the tables of events, of which a capture has millions of rows.
inline std::vector<std::string> unfolded_columns(const Capture& capture) {
  std::vector<std::string> names;
  const auto look = [&](const auto& table) {
    table.each_column([&](const ColumnInfo& info, const auto& column) {
      if (column.size() < 2 || column.folded()) return;
      for (std::size_t row = 1; row < column.size(); ++row) {
        const auto first = column[0], other = column[row];
        if (std::memcmp(&first, &other, sizeof first) != 0) return;
      }
      names.push_back(std::string(table.kName) + "." + info.name);
    });
  };
  look(capture.host_ops);
  look(capture.api_calls);
  look(capture.activities);
  look(capture.syncs);
  look(capture.counter_samples);
  return names;
}

}  // namespace gf::test
