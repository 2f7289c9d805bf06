#include "import/sqlite_file.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/files.h"
#include "import/input.h"
#include "model/file.h"

namespace gf {

namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::size_t kMostSchema = 256 << 10;

Result<std::string> schema_of(sqlite3* db, const std::string& path) {
  std::string all;
  auto statement = sqlite::prepare(db, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL", path);
  if (!statement) return tl::unexpected(statement.error());
  while (all.size() < kMostSchema && sqlite3_step(statement->get()) == SQLITE_ROW)
    all.append(sqlite::column_text(statement->get(), 0)) += '\n';
  return all;
}

}  // namespace

std::string with_schema(const std::string& path, std::string head) {
  if (!head.starts_with(kMagic) || is_capture_file(head)) return head;
  // Without unpacking, only the beginning of a compressed file is known.
  auto db = sqlite::open_untrusted(path);
  if (!db) return head;
  auto schema = schema_of(db->get(), path);
  if (!schema || schema->empty()) return head;
  return head.append(*schema);
}

bool is_database_with(std::string_view head, std::initializer_list<std::string_view> words) {
  return head.starts_with(kMagic) && std::ranges::all_of(words, [&](std::string_view word) {
           return head.find(word) != head.npos;
         });
}

bool SqliteSource::has(std::string_view table) const {
  return std::ranges::find(tables, table) != tables.end();
}

namespace {

Result<std::vector<std::string>> tables_of(sqlite3* db, const std::string& path) {
  constexpr std::size_t kMostTables = 10'000;
  std::vector<std::string> tables;
  auto statement = sqlite::prepare(
      db, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", path);
  if (!statement) return tl::unexpected(statement.error());
  while (tables.size() < kMostTables && sqlite3_step(statement->get()) == SQLITE_ROW)
    tables.emplace_back(sqlite::column_text(statement->get(), 0));
  return tables;
}

Status read_with(const std::string& file, const std::string& path, Capture& capture,
                 std::uint64_t max_bytes,
                 const std::function<Status(const SqliteSource&, Capture&)>& read) {
  auto db = sqlite::open_untrusted(file);
  if (!db) return tl::unexpected(db.error());
  auto tables = tables_of(db->get(), path);
  if (!tables) return tl::unexpected(tables.error());
  // Tables are read once, from front to back: pages that are kept serve nobody.
  if (auto small = sqlite::execute(db->get(), "PRAGMA cache_size = -256", path); !small)
    return small;
  sqlite::ReadBudget budget(file, max_bytes);
  return read({db->get(), path, budget, std::move(*tables)}, capture);
}

}  // namespace

Result<Capture> load_sqlite(const std::string& path, const ImportOptions& options,
                            std::string_view format,
                            const std::function<Status(const SqliteSource&, Capture&)>& read) {
  TemporaryFile unpacked;
  const auto file = plain_file(path, options.max_bytes, unpacked);
  if (!file) return tl::unexpected(file.error());
  Capture capture;
  capture.path = path;
  capture.format = format;
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(*file, failed);
  if (failed) return fail("cannot be read: " + failed.message(), path);
  if (bytes > options.max_bytes)
    return fail("is larger than the limit for inputs", path, -1, "raise the limit");
  capture.bytes = static_cast<std::int64_t>(bytes);
  if (const auto done = read_with(*file, path, capture, options.max_bytes, read); !done) {
    Error error = done.error();
    error.file = path;
    return tl::unexpected(error);
  }
  return capture;
}

}  // namespace gf
