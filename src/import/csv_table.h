// A table of CSV whose columns are found by their names.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "core/text.h"
#include "import/csv_cells.h"

namespace gf {

class CsvTable {
 public:
  explicit CsvTable(std::string_view content) : reader_(content) { good_ = reader_.next(heading_); }
  const std::vector<std::string_view>& heading() const { return heading_; }
  bool has(std::string_view name) const { return column(name) < heading_.size(); }
  /// The first of this name; the number of columns when there is none.
  std::size_t column(std::string_view name) const {
    const auto found = std::ranges::find(heading_, name);
    return static_cast<std::size_t>(found - heading_.begin());
  }
  /// False at the end.
  bool next() {
    if (!good_ || !reader_.next(cells_)) return false;
    whole_ = cells_.size() == heading_.size() && !reader_.cell_was_cut();
    return true;
  }
  /// The row has as many cells as the heading; otherwise it is damaged, or the file ends in it.
  bool whole() const { return whole_; }
  bool was_cut() const { return reader_.row_was_cut(); }
  std::size_t offset() const { return reader_.row_offset(); }

  /// Empty: there is no such column.
  std::string_view text(std::size_t column) const {
    return column < cells_.size() ? trimmed(cells_[column]) : std::string_view{};
  }
  std::optional<std::int64_t> number(std::size_t column) const {
    const auto cell = text(column);
    std::int64_t value = 0;
    const auto [end, wrong] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (cell.empty() || wrong != std::errc() || end != cell.data() + cell.size()) return {};
    return value;
  }
  std::int64_t known(std::size_t column) const { return number(column).value_or(-1); }
  std::optional<double> real(std::size_t column) const {
    const auto cell = text(column);
    double value = 0;
    const auto [end, wrong] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (cell.empty() || wrong != std::errc() || end != cell.data() + cell.size()) return {};
    return value;
  }

 private:
  CsvReader reader_;
  std::vector<std::string_view> heading_, cells_;
  bool good_ = false, whole_ = false;
};

/// The heading of a file that begins with a table.
inline CsvTable table_heading(std::string_view head) {
  const auto end = head.find('\n');
  return CsvTable(head.substr(0, end == head.npos ? end : end + 1));
}

}  // namespace gf
