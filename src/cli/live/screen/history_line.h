// One reading with its history, as a line of a terminal.
#pragma once

#include <deque>
#include <string>

#include "report/text/style.h"

namespace gf::cli {

struct HistoryLabel {
  const char* name;
  const char* unit;
  double full;  // what a full column means; 0: the highest reading
};
/// Name, newest, lowest and highest reading, and a column for each of the newest readings; empty
/// when there is no reading at all. A reading without data (NaN) is a blank.
std::string history_line(const std::deque<double>& readings, const HistoryLabel& label,
                         const TextStyle& style);

}  // namespace gf::cli
