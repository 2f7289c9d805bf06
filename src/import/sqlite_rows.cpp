#include "import/sqlite_rows.h"

#include <algorithm>
#include <set>

namespace gf::sqlite {

Result<TableRows> TableRows::open(sqlite3* db, std::string_view table,
                                  std::initializer_list<std::string_view> columns,
                                  const std::string& file) {
  TableRows rows;
  rows.db_ = db;
  rows.file_ = file;
  const auto there = plain_table(db, table, file);
  if (!there) return tl::unexpected(there.error());
  if (!*there) return rows;
  auto info = prepare(db, "PRAGMA table_info(" + quoted(table) + ")", file);
  if (!info) return tl::unexpected(info.error());
  std::set<std::string, std::less<>> present;
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(info->get())) == SQLITE_ROW)
    present.emplace(column_text(info->get(), 1));
  if (step != SQLITE_DONE) return failure(db, "its schema cannot be read", file);
  std::string sql = "SELECT ";
  for (std::string_view column : columns)
    sql += (sql.size() > 7 ? ", " : "") +
           (present.contains(column) ? quoted(column) : std::string("NULL"));
  sql += " FROM " + quoted(table);
  auto statement = prepare(db, sql, file);
  if (!statement) return tl::unexpected(statement.error());
  rows.statement_ = std::move(*statement);
  rows.values_.resize(columns.size());
  return rows;
}

Result<bool> TableRows::next() {
  if (!statement_) return false;
  switch (sqlite3_step(statement_.get())) {
    case SQLITE_ROW:
      for (std::size_t i = 0; i < values_.size(); ++i)
        values_[i] = sqlite3_column_value(statement_.get(), static_cast<int>(i));
      return true;
    case SQLITE_DONE:
      return false;
    default:
      return failure(db_, "a table is damaged", file_);
  }
}

}  // namespace gf::sqlite
