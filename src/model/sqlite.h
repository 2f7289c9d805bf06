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
  void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

/// What SQLite says about its last failure, as an error of `file`.
tl::unexpected<Error> failure(sqlite3* db, std::string what, const std::string& file);

/// Opens with sqlite3_open_v2 `flags`. ":memory:" and "" (a temporary file) work as in SQLite.
Result<Database> open(const std::string& path, int flags);
/// Opens an untrusted file for reading: no schema code runs, a journal left by a killed writer is
/// rolled back when the directory allows it. Fails with a clear error when the file is no SQLite
/// database or is damaged at its start.
Result<Database> open_untrusted(const std::string& path);

Status execute(sqlite3* db, const std::string& sql, const std::string& file);
Result<Statement> prepare(sqlite3* db, std::string_view sql, const std::string& file);

/// The text or blob of a column with every byte it has, NUL included.
std::string_view column_text(sqlite3_stmt* s, int column);
/// The first value of the first row of a query, 0 when there is no row.
Result<std::int64_t> integer(sqlite3* db, std::string_view sql, const std::string& file);

/// Quotes an identifier.
std::string quoted(std::string_view name);

}  // namespace gf::sqlite
