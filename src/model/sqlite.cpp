#include "model/sqlite.h"

#include <fmt/format.h>

namespace gf::sqlite {

tl::unexpected<Error> failure(sqlite3* db, std::string what, const std::string& file) {
  int code = 0;
  if (db) {
    code = sqlite3_errcode(db);
  } else {
    code = SQLITE_NOMEM;
  }
  const char* advice = "";
  if (code == SQLITE_CORRUPT)
    advice =
        "the file is damaged: copy it again, or save what is left with \"sqlite3 FILE .recover\"";
  if (code == SQLITE_NOTADB) advice = "the file is not a SQLite database";
  if (code == SQLITE_FULL) advice = "the disk is full";
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) advice = "another program is using the file";
  return fail(fmt::format("{}: {}", what, db ? sqlite3_errmsg(db) : "out of memory"), file, -1,
              advice);
}

Result<Database> open(const std::string& path, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  Database db(raw);
  if (code != SQLITE_OK) return failure(db.get(), "cannot be opened", path);
  sqlite3_extended_result_codes(db.get(), 0);
  return db;
}

Status execute(sqlite3* db, const std::string& sql, const std::string& file) {
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return failure(db, "database error", file);
  return {};
}

Result<Statement> prepare(sqlite3* db, std::string_view sql, const std::string& file) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &raw, nullptr) != SQLITE_OK)
    return failure(db, "database error", file);
  return Statement(raw);
}

std::string_view column_text(sqlite3_stmt* raw, int column) {
  const void* data = sqlite3_column_blob(raw, column);  // of a text: its bytes
  return {static_cast<const char*>(data),
          data ? static_cast<std::size_t>(sqlite3_column_bytes(raw, column)) : 0};
}

Result<std::int64_t> integer(sqlite3* db, std::string_view sql, const std::string& file) {
  auto text = prepare(db, sql, file);
  if (!text) return tl::unexpected(text.error());
  const int code = sqlite3_step(text->get());
  if (code == SQLITE_ROW) return sqlite3_column_int64(text->get(), 0);
  if (code == SQLITE_DONE) return 0;
  return failure(db, "cannot be read", file);
}

std::string quoted(std::string_view name) {
  std::string out = "\"";
  for (char letter : name) out.append(letter == '"' ? 2 : 1, letter);
  return out + '"';
}

}  // namespace gf::sqlite
