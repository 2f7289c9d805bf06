// Columns of a CSV log by their headings, and by the lines below where headings do not tell.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "import/csv_cells.h"
#include "model/capture.h"

namespace gf::telemetry {

/// `calendar` is a date with its time of day, or seconds since 1970; `date` and `clock` are its two
/// halves in columns of their own.
enum class ColumnRole {
  time,
  calendar,
  date,
  clock,
  index,
  uuid,
  bus,
  instance,
  name,
  host,
  skipped,
  value
};

struct LogColumn {
  ColumnRole role = ColumnRole::value;
  int exponent = 0;  // of a time
  Text metric{};
  double factor = 1;
  bool again = false;  // an earlier column has the metric, too
};

ColumnRole column_role(std::string_view header);

constexpr bool is_time(ColumnRole role) {
  return role == ColumnRole::time || role == ColumnRole::calendar || role == ColumnRole::date ||
         role == ColumnRole::clock;
}

/// Facts about columns that only lines tell: which of several is the GPU's number (the others are
/// skipped), and how a date that ends with the year is written.
struct DateOrder {
  bool month_first = false;
  bool known = true;  // a day above 12, or no such date
};
DateOrder look_ahead(CsvReader lines, std::vector<LogColumn>& columns);

}  // namespace gf::telemetry
