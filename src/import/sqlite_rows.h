// Rows of a table whose existence and columns depend on the version that wrote the file.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "model/sqlite.h"

namespace gf::sqlite {

/// Reads some columns of a table. A table that is not there has no rows; a column that is not there
/// is NULL on all of them.
class TableRows {
 public:
  static Result<TableRows> open(sqlite3* db, std::string_view table,
                                std::initializer_list<std::string_view> columns,
                                const std::string& file);

  /// False behind the last row. Errors: a damaged database.
  Result<bool> next();
  bool null(int column) const { return type(column) == SQLITE_NULL; }
  std::int64_t integer(int column, std::int64_t fallback = -1) const {
    return null(column) ? fallback : sqlite3_value_int64(values_[at(column)]);
  }
  double real(int column) const { return sqlite3_column_double(statement_.get(), column); }
  std::string_view text(int column) const { return column_text(statement_.get(), column); }
  /// Bytes of the row's values.
  std::uint64_t bytes() const {
    std::uint64_t total = values_.size() * sizeof(std::int64_t);
    for (int column = 0; at(column) < values_.size(); ++column)
      if (type(column) == SQLITE_TEXT) total += text(column).size();
    return total;
  }

 private:
  static std::size_t at(int column) { return static_cast<std::size_t>(column); }
  int type(int column) const { return sqlite3_value_type(values_[at(column)]); }

  Statement statement_;
  // Of this row, asked for once a column: SQLite's functions of columns each check the statement.
  std::vector<sqlite3_value*> values_;
  sqlite3* db_ = nullptr;
  std::string file_;
};

/// apply(rows) for every row of a table.
template <class F>
Status each_row(sqlite3* db, std::string_view table,
                std::initializer_list<std::string_view> columns, const std::string& file,
                ReadBudget& budget, F&& apply) {
  auto rows = TableRows::open(db, table, columns, file);
  if (!rows) return tl::unexpected(rows.error());
  for (;;) {
    const auto more = rows->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
    if (auto ok = budget.spend(rows->bytes()); !ok) return ok;
    apply(*rows);
  }
}

}  // namespace gf::sqlite
