#include "import/sqlite_rows.h"

#include <set>
#include <utility>

namespace gf::sqlite {

std::string_view TableRow::text(int column) const {
  if (null(column)) return {};
  sqlite3_value* const value = cells_[at(column)].value;
  const void* data = sqlite3_value_blob(value);  // of a text: its bytes
  return {static_cast<const char*>(data),
          data ? static_cast<std::size_t>(sqlite3_value_bytes(value)) : 0};
}

std::uint64_t TableRow::bytes() const {
  std::uint64_t total = cells_.size() * sizeof(std::int64_t);
  for (const auto column : present_)
    if (cells_[column].type == SQLITE_TEXT) total += text(static_cast<int>(column)).size();
  return total;
}

/// Takes the rows as the arguments of an SQL function: SQLite's functions of a statement's columns
/// check the statement for each value of each row, those of arguments do not.
class RowReader {
 public:
  RowReader(std::size_t columns, ReadBudget& budget,
            const std::function<void(const TableRow&)>& apply)
      : budget_(budget), apply_(apply) {
    row_.cells_.resize(columns);
  }
  void has(std::size_t column) { row_.present_.push_back(column); }

  /// The function of SQL: of no row makes it a result.
  static void take(sqlite3_context* context, int, sqlite3_value** values) {
    static_cast<RowReader*>(sqlite3_user_data(context))->take(context, values);
  }
  static void nothing(sqlite3_context*) {}
  const Status& status() const { return status_; }

 private:
  void take(sqlite3_context* context, sqlite3_value** values) {
    for (const auto column : row_.present_) {
      TableRow::Cell& cell = row_.cells_[column];
      cell.value = *values++;
      cell.type = sqlite3_value_type(cell.value);
      if (cell.type == SQLITE_INTEGER) cell.integer = sqlite3_value_int64(cell.value);
    }
    if (status_) status_ = budget_.spend(row_.bytes());
    if (status_)
      apply_(row_);
    else
      sqlite3_result_error(context, "too much", -1);  // ends the statement
  }

  TableRow row_;
  ReadBudget& budget_;
  const std::function<void(const TableRow&)>& apply_;
  Status status_;
};

Status each_row(sqlite3* db, std::string_view table,
                std::initializer_list<std::string_view> columns, const std::string& file,
                ReadBudget& budget, const std::function<void(const TableRow&)>& apply) {
  const auto there = plain_table(db, table, file);
  if (!there) return tl::unexpected(there.error());
  if (!*there) return {};
  auto info = prepare(db, "PRAGMA table_info(" + quoted(table) + ")", file);
  if (!info) return tl::unexpected(info.error());
  std::set<std::string, std::less<>> present;
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(info->get())) == SQLITE_ROW)
    present.emplace(column_text(info->get(), 1));
  if (step != SQLITE_DONE) return failure(db, "its schema cannot be read", file);
  RowReader reader(columns.size(), budget, apply);
  std::string list;
  std::size_t number = 0;
  for (std::string_view column : columns) {
    if (present.contains(column)) {
      reader.has(number);
      list += (list.empty() ? "" : ", ") + quoted(column);
    }
    ++number;
  }
  constexpr const char* kTake = "gpufathom_take";
  if (sqlite3_create_function_v2(db, kTake, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, &reader, nullptr,
                                 RowReader::take, RowReader::nothing, nullptr) != SQLITE_OK)
    return failure(db, "database error", file);
  auto statement =
      prepare(db, std::string("SELECT ") + kTake + "(" + list + ") FROM " + quoted(table), file);
  if (!statement) return tl::unexpected(statement.error());
  step = sqlite3_step(statement->get());
  if (!reader.status()) return reader.status();
  if (step != SQLITE_ROW && step != SQLITE_DONE) return failure(db, "a table is damaged", file);
  return {};
}

}  // namespace gf::sqlite
