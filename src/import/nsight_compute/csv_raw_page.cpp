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

/// The kernels of a raw page: one row each, below a row of units.
class RawPage {
 public:
  RawPage(Capture& capture, const CsvTable& table)
      : capture_(capture),
        table_(table),
        columns_(table.header),
        style_(number_style(table, columns_)),
        builder_(capture),
        printed_units_(table.header.size()) {}

  void read() {
    CsvReader reader(table_.text, table_.separator);
    std::vector<std::string_view> row;
    reader.next(row);
    while (next_row(reader, table_, row, damage_)) {
      if (row.size() != table_.header.size()) {
        damage_.bad_row(reader.row_offset());
        continue;
      }
      if (row[0] == "ID") continue;  // a second table of the same run
      if (columns_.id(row).empty())
        take_units(row);
      else
        add_kernel(row);
    }
    builder_.finish();
  }

  void note_doubts() {
    if (!units_seen_ && !capture_.report_kernels.empty())
      capture_.note_quality(QualityCode::no_units,
                            "the table has no row of units; base units are assumed");
    damage_.note(capture_);
    rounding_.note(capture_);
  }

 private:
  void take_units(const std::vector<std::string_view>& row) {
    if (!units_seen_)
      for (std::size_t column = 0; column < row.size(); ++column)
        printed_units_[column] = row[column];
    units_seen_ = true;
  }

  void list_metrics() {
    for (std::size_t column = 0; column < table_.header.size(); ++column) {
      if (columns_.owns(column) || table_.header[column].empty()) continue;
      Unit unit{metric_unit(table_.header[column])};
      if (units_seen_) unit = parse_unit(printed_units_[column]);
      metrics_.push_back({column, builder_.metric(table_.header[column], unit.base), unit});
    }
  }

  void add_kernel(const std::vector<std::string_view>& row) {
    if (metrics_.empty()) list_metrics();
    builder_.begin_kernel(columns_.read(row));
    for (const ColumnMetric& metric : metrics_) {
      const std::string_view cell = row[metric.column];
      if (cell.empty() || cell == "n/a" || cell == "N/A" || cell == "nan" || cell == "-nan")
        continue;  // no data: no row
      if (const auto number = parse_number(cell, style_, metric.unit.exponent)) {
        rounding_.add(*number, table_.header[metric.column]);
        builder_.number(metric.metric, number->value * metric.unit.factor);
      } else {
        builder_.text(metric.metric, cell);
      }
    }
    if (capture_.report_kernels.size() == 1) {
      capture_.set_metadata("process", columns_.process_name(row));
      capture_.set_metadata("host", columns_.host_name(row));
    }
  }

  Capture& capture_;
  const CsvTable& table_;
  const LaunchColumns columns_;
  const NumberStyle style_;
  ReportBuilder builder_;
  std::vector<ColumnMetric> metrics_;
  RowDamage damage_;
  RoundingLoss rounding_;
  std::vector<std::string> printed_units_;
  bool units_seen_ = false;
};

}  // namespace

Status read_raw_page(Capture& capture, const CsvTable& table, const std::string&) {
  RawPage page(capture, table);
  page.read();
  page.note_doubts();
  return {};
}

}  // namespace gf::ncu
