// Rows of a table whose existence and columns depend on the version that wrote the file.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "model/sqlite.h"

namespace gf::sqlite {

/// One row of a table, while it is shown. A column that the table lacks is NULL.
class TableRow {
 public:
  bool null(int column) const { return type(column) == SQLITE_NULL; }
  std::int64_t integer(int column, std::int64_t fallback = -1) const {
    const Cell& cell = cells_[at(column)];
    if (cell.type == SQLITE_INTEGER) return cell.integer;
    return cell.type == SQLITE_NULL ? fallback : sqlite3_value_int64(cell.value);
  }
  double real(int column) const {
    return null(column) ? 0 : sqlite3_value_double(cells_[at(column)].value);
  }
  std::string_view text(int column) const;
  /// Bytes of the row's values.
  std::uint64_t bytes() const;

 private:
  friend class RowReader;
  struct Cell {
    int type = SQLITE_NULL;
    std::int64_t integer = 0;  // where that is its type
    sqlite3_value* value = nullptr;
  };
  static std::size_t at(int column) { return static_cast<std::size_t>(column); }
  int type(int column) const { return cells_[at(column)].type; }

  std::vector<Cell> cells_;
  std::vector<std::size_t> present_;  // columns that the table has
};

/// apply(row) for every row of a table; one that is not there has no rows. Errors: a damaged
/// database, or more than the budget allows.
Status each_row(sqlite3* db, std::string_view table,
                std::initializer_list<std::string_view> columns, const std::string& file,
                ReadBudget& budget, const std::function<void(const TableRow&)>& apply);

}  // namespace gf::sqlite
