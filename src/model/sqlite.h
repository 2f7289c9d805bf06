// SQLite as values: handles that close themselves, statements, errors as gf::Error.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"

namespace gf::sqlite {

struct CloseDatabase {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* raw) const { sqlite3_finalize(raw); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

/// SQLite's words about its last failure, as an error of `file`.
tl::unexpected<Error> failure(sqlite3* db, std::string what, const std::string& file);

/// Opens with sqlite3_open_v2 `flags`. ":memory:" and "" (a temporary file) work as in SQLite.
Result<Database> open(const std::string& path, int flags);

/// Treatment of a file whose writer was killed in the middle of a change. The journal that it
/// left beside the file may come from a stranger, and what it says is SQLite's to do: it can name
/// files that rolling back removes.
enum class HotJournal {
  refuse,
  recover_copy,  // rolled back in a private copy, unless the journal names a further file
};
/// Opens an untrusted file for reading: no schema code runs, and nothing is written, made or
/// removed beside it, whatever lies there. Fails with a clear error when the file is no SQLite
/// database, is damaged at its start, or is not complete without a log beside it.
Result<Database> open_untrusted(const std::string& path, HotJournal journal = HotJournal::refuse);

/// True if a stranger's database has this table. Only a table whose rows are stored is one: what a
/// view, a virtual table or a computed column makes can be without end. Those are an error.
Result<bool> plain_table(sqlite3* db, std::string_view name, const std::string& file);

/// Limits on what is read from a database. Pages of a hostile file can be referred to again and
/// again, so that a small file has rows without end; rows of a sound one take a few times its size.
class ReadBudget {
 public:
  ReadBudget() = default;  // of a file that this program writes: no limit
  ReadBudget(const std::string& file, std::uint64_t max_bytes);
  /// Error: what was made until now is more than allowed.
  Status spend(std::uint64_t bytes);

 private:
  std::string file_;
  std::uint64_t left_ = UINT64_MAX;
  bool asked_ = false;  // the limit is the caller's, not what the file's size allows
};

Status execute(sqlite3* db, const std::string& sql, const std::string& file);
Result<Statement> prepare(sqlite3* db, std::string_view sql, const std::string& file);

/// The text or blob of a column with every byte it has, NUL included.
std::string_view column_text(sqlite3_stmt* raw, int column);
/// The first value of the first row of a query, 0 when there is no row.
Result<std::int64_t> integer(sqlite3* db, std::string_view sql, const std::string& file);

/// Quotes an identifier.
std::string quoted(std::string_view name);

/// A column's name as statements write it without quotes: SQL keeps some words for itself.
constexpr std::string_view plain_name(std::string_view column) {
  if (column == "index") return "number";
  if (column == "values") return "arguments";
  return column == "group" ? "gain_group" : column;
}

}  // namespace gf::sqlite
