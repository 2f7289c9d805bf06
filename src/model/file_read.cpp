#include <fmt/format.h>

#include <functional>
#include <limits>
#include <vector>

#include "model/check.h"
#include "model/file.h"
#include "model/file_blocks.h"
#include "model/file_strings.h"
#include "model/file_values.h"

namespace gf {

namespace {

using sqlite::failure;
using sqlite::plain_table;
using sqlite::prepare;
using sqlite::ReadBudget;

/// Reads one value; false when it cannot stand in this column.
template <class Declared>
bool take(sqlite3_stmt* raw, int at, const FileStrings& strings, ValueOf<Declared>& out) {
  using Value = ValueOf<Declared>;
  const int type = sqlite3_column_type(raw, at);
  out = ColumnType<Declared>::kFallback;
  if (type == SQLITE_NULL) return true;
  if constexpr (std::is_same_v<Value, F64>) {
    out = sqlite3_column_double(raw, at);
    return type == SQLITE_FLOAT || type == SQLITE_INTEGER;
  } else {
    if (type != SQLITE_INTEGER) return false;
    const std::int64_t value = sqlite3_column_int64(raw, at);
    if constexpr (kIsListed<Declared>) {
      const auto listed = strings.listed<Value>(value);
      if (listed) out = *listed;
      return listed.has_value();
    } else if constexpr (kIsText<Declared>) {
      const Text* text = strings.text(value);
      if (text) out = *text;
      return text != nullptr;
    } else {
      if (!std::in_range<Value>(value)) return false;
      out = static_cast<Value>(value);
      return !std::is_same_v<Declared, declared::Bool> || out <= 1;
    }
  }
}

/// A table as the file should hold it.
struct StoredTable {
  const char* name;
  std::uint64_t row_bytes;
  std::vector<const char*> columns;
};

template <class Table>
StoredTable stored_table(const Table& table) {
  StoredTable stored{Table::kName, 0, {}};
  table.each_column([&](const ColumnInfo& info, const auto& column) {
    stored.row_bytes += sizeof(typename std::remove_cvref_t<decltype(column)>::value_type);
    stored.columns.push_back(info.name);
  });
  return stored;
}

struct StoredRows {
  sqlite::Statement statement;  // none: written before the model had this table
  std::size_t count = 0;
};

/// The rows of a table: their number, then the columns. What the file lacks is read as NULL, which
/// stands for the default.
Result<StoredRows> select_rows(sqlite3* db, const StoredTable& table, ReadBudget& budget,
                               const std::string& file) {
  const std::string stored = fmt::format("_{}", table.name);
  auto there = plain_table(db, stored, file);
  if (!there) return tl::unexpected(there.error());
  if (!*there) return StoredRows{};
  auto count = sqlite::integer(db, fmt::format("SELECT count(*) FROM {}", stored), file);
  if (!count) return tl::unexpected(count.error());
  if (*count >= kNoRow)
    return fail(fmt::format("table {} has more rows than this program can hold", table.name), file);
  const auto rows = static_cast<std::size_t>(*count);
  if (auto ok = budget.spend(rows * table.row_bytes); !ok) return tl::unexpected(ok.error());
  std::string columns;
  for (const char* name : table.columns) {
    auto has = sqlite::integer(
        db,
        fmt::format("SELECT count(*) FROM pragma_table_info('{}') WHERE name = '{}'", stored, name),
        file);
    if (!has) return tl::unexpected(has.error());
    if (*has > 0) {
      columns += ", " + sqlite::quoted(name);
    } else {
      columns += ", NULL";
    }
  }
  auto statement =
      prepare(db, fmt::format("SELECT row{} FROM {} ORDER BY row", columns, stored), file);
  if (!statement) return tl::unexpected(statement.error());
  return StoredRows{std::move(*statement), rows};
}

/// `take_row` keeps the row that the statement is at, and gives the column whose value is not
/// possible, if any.
Status read_rows(sqlite3* db, const StoredTable& table, sqlite3_stmt* raw, const std::string& file,
                 const std::function<const char*()>& take_row) {
  std::int64_t row = 0;
  int code;
  while ((code = sqlite3_step(raw)) == SQLITE_ROW) {
    if (row >= kNoRow || sqlite3_column_int64(raw, 0) != row)
      return fail(fmt::format("table {} lacks row {}", table.name, row), file, -1, kDamagedFile);
    if (const char* bad = take_row())
      return fail(
          fmt::format("table {}, row {}: the value of {} is not possible", table.name, row, bad),
          file, -1, kDamagedFile);
    ++row;
  }
  if (code == SQLITE_DONE) return {};
  return failure(db, fmt::format("table {} cannot be read", table.name), file);
}

template <class Table>
Status read_table(sqlite3* db, Table& table, const FileStrings& strings, ReadBudget& budget,
                  const std::string& file) {
  const StoredTable stored = stored_table(table);
  auto rows = select_rows(db, stored, budget, file);
  if (!rows) return tl::unexpected(rows.error());
  sqlite3_stmt* raw = rows->statement.get();
  if (!raw) return {};
  table.reserve(rows->count);
  return read_rows(db, stored, raw, file, [&] {
    int at = 1;
    const char* bad = nullptr;
    table.each_column_ref([&](const auto& column) {
      using Column = std::remove_cvref_t<decltype(column)>;
      typename Column::Value value;
      if (!take<typename Column::Declared>(raw, at++, strings, value)) bad = column.info.name;
      column.column.push_back(value);
    });
    return bad;
  });
}

}  // namespace

Result<sqlite::Database> open_capture_file(const std::string& path) {
  auto db = sqlite::open_untrusted(path, sqlite::HotJournal::recover_copy);
  if (!db) return db;
  auto id = sqlite::integer(db->get(), "PRAGMA application_id", path);
  if (!id) return tl::unexpected(id.error());
  if (static_cast<std::uint32_t>(*id) != kCaptureFileId)
    return fail("a SQLite database, but not a gpufathom capture", path, -1,
                "gpufathom import TRACE -o run.gpf makes one");
  auto version = sqlite::integer(db->get(), "PRAGMA user_version", path);
  if (!version) return tl::unexpected(version.error());
  if (*version > kCaptureFileVersion)
    return fail(
        fmt::format("written by a newer gpufathom: capture format {}, this program reads up to {}",
                    *version, kCaptureFileVersion),
        path, -1, "update gpufathom");
  if (*version < 1)
    return fail(fmt::format("capture format {} does not exist", *version), path, -1, kDamagedFile);
  // What was recorded without loss has rows of neither, but has the tables.
  for (const char* table : {"strings", "source", "_quality", "_activities"}) {
    auto there = plain_table(db->get(), table, path);
    if (!there) return tl::unexpected(there.error());
    if (!*there) return fail(fmt::format("table {} is missing", table), path, -1, kDamagedFile);
  }
  return db;
}

namespace {

using Wanted = bool (*)(std::string_view table);

/// `wanted` says which tables are read, by name; with sample_blocks, devices must be.
Result<Capture> read_tables(const std::string& path, const Progress& progress,
                            std::uint64_t max_bytes, Wanted wanted) {
  auto opened = open_capture_file(path);
  if (!opened) return tl::unexpected(opened.error());
  sqlite3* db = opened->get();
  // One snapshot of a file that may still be written.
  if (auto ok = sqlite::execute(db, "BEGIN", path); !ok) return tl::unexpected(ok.error());
  Capture capture;
  FileStrings strings;
  ReadBudget budget(path, max_bytes);
  Status status = strings.read(db, capture.strings, budget, path);
  if (!status) return tl::unexpected(status.error());
  auto source = prepare(db, "SELECT path, format, framework, events, bytes FROM source", path);
  if (!source) return tl::unexpected(source.error());
  if (sqlite3_step(source->get()) == SQLITE_ROW) {
    capture.path = sqlite::column_text(source->get(), 0);
    capture.format = sqlite::column_text(source->get(), 1);
    capture.framework = sqlite::column_text(source->get(), 2);
    capture.events = sqlite3_column_int64(source->get(), 3);
    capture.bytes = sqlite3_column_int64(source->get(), 4);
  }
  int done = 0;
  capture.each_table([&](auto& table) {
    if (status && wanted(std::string_view(table.kName)))
      status = read_table(db, table, strings, budget, path);
    if (status && progress && !progress("reading", ++done / double{kTableCount}))
      status = fail("stopped", path);
  });
  if (status && wanted("sample_blocks"))
    status = read_blocks(db, capture, strings, max_bytes, path, progress);
  if (status) status = check_references(capture, path);
  if (!status) return tl::unexpected(status.error());
  return capture;
}

}  // namespace

Result<Capture> read_capture(const std::string& path, const Progress& progress,
                             std::uint64_t max_bytes) {
  return read_tables(path, progress, max_bytes, [](std::string_view) { return true; });
}

Result<Capture> read_samples(const std::string& path, const Progress& progress,
                             std::uint64_t max_bytes) {
  return read_tables(path, progress, max_bytes, [](std::string_view table) {
    return table == "devices" || table == "counter_samples" || table == "sample_blocks";
  });
}

Result<Capture> read_quality(const std::string& path) {
  auto read = read_tables(path, {}, kMostBytes, [](std::string_view table) {
    return table == "quality" || table == "metadata";
  });
  if (read) read->note_unfinished_recording();
  return read;
}

}  // namespace gf
