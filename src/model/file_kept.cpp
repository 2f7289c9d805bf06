#include "model/file_kept.h"

#include <fmt/format.h>

#include <array>
#include <fstream>

#include "core/xxh64.h"
#include "model/file.h"
#include "model/file_columns.h"
#include "model/file_seal.h"

namespace gf {

namespace {

std::uint64_t hash_of(std::string_view name, std::string_view key, std::string_view data) {
  return xxh64(data, xxh64(fmt::format("{} {}", name, key)));
}

void bind_text(sqlite3_stmt* raw, int at, std::string_view text) {
  sqlite3_bind_text64(raw, at, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

/// A table that has blocks with hashes, if it is there: true if each has its own.
bool whole_blocks(sqlite3* db, const std::string& table, const std::string& columns,
                  const std::function<std::uint64_t(sqlite3_stmt*)>& hash,
                  const std::string& file) {
  const auto there = sqlite::plain_table(db, table, file);
  if (!there || !*there) return there.has_value();
  auto rows = sqlite::prepare(db, fmt::format("SELECT hash, data{} FROM {}", columns, table), file);
  if (!rows) return false;
  int code;
  while ((code = sqlite3_step(rows->get())) == SQLITE_ROW)
    if (sqlite3_column_type(rows->get(), 0) != SQLITE_INTEGER ||
        static_cast<std::uint64_t>(sqlite3_column_int64(rows->get(), 0)) != hash(rows->get()))
      return false;
  return code == SQLITE_DONE;
}

/// Not what blocks mean, only that their bytes are those of the writer.
bool whole_blocks(sqlite3* db, const std::string& file) {
  const auto of_column = [](sqlite3_stmt* raw) {
    const BlockPlace place{0,
                           std::string(sqlite::column_text(raw, 2)),
                           std::string(sqlite::column_text(raw, 3)),
                           static_cast<std::uint32_t>(sqlite3_column_int64(raw, 4)),
                           static_cast<std::uint32_t>(sqlite3_column_int64(raw, 5)),
                           std::string(sqlite::column_text(raw, 6)),
                           0};
    return block_hash(place, sqlite::column_text(raw, 1));
  };
  const auto of_samples = [](sqlite3_stmt* raw) { return xxh64(sqlite::column_text(raw, 1)); };
  return whole_blocks(db, "column_blocks", R"(, "table", "column", row, rows, names)", of_column,
                      file) &&
         whole_blocks(db, "sample_blocks", "", of_samples, file);
}

}  // namespace

Status insert_kept(sqlite3* db, const Kept& kept, const std::string& file) {
  auto ok = sqlite::execute(db,
                            "CREATE TABLE IF NOT EXISTS kept(row INTEGER PRIMARY KEY, name TEXT, "
                            "\"key\" TEXT, hash INTEGER, data BLOB)",
                            file);
  if (!ok) return ok;
  auto row =
      sqlite::prepare(db, "INSERT INTO kept(name, \"key\", hash, data) VALUES(?,?,?,?)", file);
  if (!row) return tl::unexpected(row.error());
  sqlite3_stmt* raw = row->get();
  bind_text(raw, 1, kept.name);
  bind_text(raw, 2, kept.key);
  sqlite3_bind_int64(raw, 3, static_cast<std::int64_t>(hash_of(kept.name, kept.key, kept.data)));
  sqlite3_bind_blob64(raw, 4, kept.data.data(), kept.data.size(), SQLITE_STATIC);
  if (sqlite3_step(raw) != SQLITE_DONE) return sqlite::failure(db, "cannot be written", file);
  return {};
}

std::optional<FoundKept> read_kept(const std::string& path, std::string_view name,
                                   std::string_view key) {
  std::array<char, 100> head{};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  if (!is_capture_file({head.data(), head.size()})) return std::nullopt;
  auto opened = open_capture_file(path);
  if (!opened) return std::nullopt;
  sqlite3* db = opened->get();
  if (!sqlite::execute(db, "BEGIN", path)) return std::nullopt;
  const auto there = sqlite::plain_table(db, "kept", path);
  if (!there || !*there) return std::nullopt;
  auto row = sqlite::prepare(
      db, "SELECT hash, data FROM kept WHERE name = ? AND \"key\" = ? LIMIT 1", path);
  if (!row) return std::nullopt;
  bind_text(row->get(), 1, name);
  bind_text(row->get(), 2, key);
  if (sqlite3_step(row->get()) != SQLITE_ROW) return std::nullopt;
  std::string data(sqlite::column_text(row->get(), 1));
  if (static_cast<std::uint64_t>(sqlite3_column_int64(row->get(), 0)) != hash_of(name, key, data))
    return std::nullopt;
  row->reset();
  sqlite::ReadBudget budget(path, kMostBytes);
  FoundKept found{std::move(data)};
  const auto sealed = check_seal(db, budget, path, &found.rows);
  if (!sealed || *sealed != Seal::whole || !whole_blocks(db, path)) return std::nullopt;
  return found;
}

}  // namespace gf
