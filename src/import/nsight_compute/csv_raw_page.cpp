#include <fmt/format.h>

#include "import/csv_cells.h"
#include "import/nsight_compute/csv_launch.h"
#include "import/nsight_compute/csv_pages.h"
#include "import/nsight_compute/units.h"

namespace gf::ncu {

namespace {

struct ColumnMetric {
  std::size_t column;
  ReportBuilder::Metric metric;
  Unit unit;
};

/// Numbers that decide how the file writes numbers: all metric cells of the first rows.
NumberStyle number_style(const CsvTable& table, const LaunchColumns& launch) {
  NumberStyleVote vote;
  CsvReader reader(table.text, table.separator);
  std::vector<std::string_view> row;
  reader.next(row);
  for (int i = 0; i < 100 && reader.next(row); ++i)
    for (std::size_t column = 0; column < row.size(); ++column)
      if (!launch.owns(column)) vote.add(row[column]);
  return vote.style();
}

}  // namespace

Status read_raw_page(Capture& capture, const CsvTable& table, const std::string&) {
  const LaunchColumns columns(table.header);
  const NumberStyle style = number_style(table, columns);
  ReportBuilder builder(capture);
  std::vector<ColumnMetric> metrics;
  RowDamage damage;
  RoundingLoss rounding;
  std::vector<std::string> printed_units(table.header.size());
  bool units_seen = false;

  CsvReader reader(table.text, table.separator);
  std::vector<std::string_view> row;
  reader.next(row);
  while (reader.next(row)) {
    if (row.size() < table.header.size() && reader.row_was_cut()) {
      damage.cut = true;
      damage.cut_at = reader.row_offset();
      break;
    }
    if (is_profiler_line(row[0])) {
      ++damage.messages;
      continue;
    }
    if (row.size() != table.header.size()) {
      if (damage.bad++ == 0) damage.first = reader.row_offset();
      continue;
    }
    if (row[0] == "ID") continue;  // a second table of the same run
    if (columns.id(row).empty()) {
      if (!units_seen)
        for (std::size_t column = 0; column < row.size(); ++column)
          printed_units[column] = row[column];
      units_seen = true;
      continue;
    }
    if (metrics.empty())
      for (std::size_t column = 0; column < table.header.size(); ++column) {
        if (columns.owns(column) || table.header[column].empty()) continue;
        const Unit unit = units_seen ? parse_unit(printed_units[column])
                                     : Unit{metric_unit(table.header[column])};
        metrics.push_back({column, builder.metric(table.header[column], unit.base), unit});
      }
    builder.begin_kernel(columns.read(row));
    for (const ColumnMetric& metric : metrics) {
      const std::string_view cell = row[metric.column];
      if (cell.empty() || cell == "n/a" || cell == "N/A" || cell == "nan" || cell == "-nan")
        continue;  // no data: no row
      if (const auto number = parse_number(cell, style, metric.unit.exponent)) {
        rounding.add(*number, table.header[metric.column]);
        builder.number(metric.metric, number->value * metric.unit.factor);
      } else {
        builder.text(metric.metric, cell);
      }
    }
    if (capture.report_kernels.size() == 1) {
      capture.set_metadata("process", columns.process_name(row));
      capture.set_metadata("host", columns.host_name(row));
    }
  }
  builder.finish();
  if (!units_seen && !capture.report_kernels.empty())
    capture.note_quality(QualityCode::no_units,
                         "the table has no row of units; base units are assumed");
  damage.note(capture);
  rounding.note(capture);
  return {};
}

}  // namespace gf::ncu
