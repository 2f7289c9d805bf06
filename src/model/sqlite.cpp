#include "model/sqlite.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/temporary_folder.h"

namespace gf::sqlite {

tl::unexpected<Error> failure(sqlite3* db, std::string what, const std::string& file) {
  int code = db ? sqlite3_errcode(db) : SQLITE_NOMEM;
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

namespace {

namespace fs = std::filesystem;

constexpr int kPatienceMs = 2000;  // with a recorder that appends to the file being read

/// The first 20 bytes of an ordinary file; byte 18 is 2 where a write-ahead log is used.
Result<std::string> first_bytes(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return fail(fmt::format("cannot be opened: {}", std::strerror(errno)), path);
  struct stat status{};
  std::string head(20, '\0');
  const bool regular = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  const auto got = regular ? ::pread(fd, head.data(), head.size(), 0) : 0;
  ::close(fd);
  if (!regular)
    return fail("is not a regular file", path, -1,
                "a database is read from a file on the disk: save it as one");
  head.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return head;
}

enum class Beside { nothing, log, strange };

/// Looks at the file with the name of a database's log; an empty one says nothing.
Beside beside(const std::string& path, const char* suffix) {
  struct stat status{};
  if (::lstat((path + suffix).c_str(), &status) != 0) return Beside::nothing;
  if (!S_ISREG(status.st_mode)) return Beside::strange;
  return status.st_size == 0 ? Beside::nothing : Beside::log;
}

constexpr int kLongestValue = 256 << 20;  // bytes of one text or blob

void distrust(sqlite3* db) {
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  for (const int allowed : {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_VIEW,
                            SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER})
    sqlite3_db_config(db, allowed, 0, nullptr);
}

/// An absolute path as a URI that promises SQLite that nobody writes the file: it then looks for no
/// logs and takes no locks.
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char letter : path) {
    if (letter == '%' || letter == '?' || letter == '#')
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(letter));
    else
      uri += letter;
  }
  return uri + "?immutable=1";
}

/// True if a rollback journal ends with the name of a further file. SQLite recognizes one by these
/// eight bytes.
bool names_further_file(const std::string& journal) {
  constexpr std::array<unsigned char, 8> kMagic{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
  std::array<char, 8> end{};
  std::ifstream in(journal, std::ios::binary);
  in.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
  in.read(end.data(), end.size());
  return !in || std::memcmp(end.data(), kMagic.data(), end.size()) == 0;
}

constexpr const char* kMoveJournal =
    "if the file is not your own, move the -journal away: nothing in it was applied";

/// Rolls back in a private copy what a killed writer left half done. The copy has no name any more
/// when this returns, and ends with the connection.
Result<Database> open_recovered(const std::string& real, const std::string& path) {
  const TemporaryFolder folder("journal");
  const std::string copy = folder.path() + "/capture.gpf";
  std::error_code failed;
  if (!folder.path().empty()) fs::copy_file(real + "-journal", copy + "-journal", failed);
  if (folder.path().empty() || failed)
    return fail("was left half-written, and cannot be copied for recovery", path, -1,
                "TMPDIR must name a folder with room for the file");
  if (names_further_file(copy + "-journal"))
    return fail("its journal names another file, which a rollback would remove", path, -1,
                kMoveJournal);
  fs::copy_file(real, copy, failed);
  if (failed)
    return fail(fmt::format("was left half-written, and cannot be copied for recovery: {}",
                            failed.message()),
                path, -1, "TMPDIR must name a folder with room for the file");
  fs::permissions(copy, fs::perms::owner_read | fs::perms::owner_write, failed);
  auto db = open(copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
  if (!db) return fail(db.error().what, path, -1, db.error().advice);
  distrust(db->get());
  if (auto read = integer(db->get(), "SELECT count(*) FROM sqlite_schema", path); !read)
    return tl::unexpected(read.error());
  return db;
}

}  // namespace

Result<Database> open_untrusted(const std::string& path, HotJournal journal) {
  const auto head = first_bytes(path);
  if (!head) return tl::unexpected(head.error());
  std::error_code failed;
  const std::string real = fs::canonical(path, failed).string();  // logs lie beside the real file
  if (failed) return fail("cannot be opened: " + failed.message(), path);
  if (beside(real, "-wal") != Beside::nothing)
    return fail("it has a write-ahead log: the file alone is incomplete", path, -1,
                "end the program that writes it; \"sqlite3 FILE 'PRAGMA journal_mode = DELETE'\" "
                "then takes the log in, if the file is your own; else move the -wal away");
  if (beside(real, "-journal") == Beside::strange)
    return fail("its journal is not a regular file", path, -1, kMoveJournal);
  const bool write_ahead = head->size() == 20 && ((*head)[18] == 2 || (*head)[19] == 2);
  auto db = write_ahead ? open(immutable_uri(real),
                               SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI)
                        : open(real, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX);
  if (!db) return fail(db.error().what, path, -1, db.error().advice);
  distrust(db->get());
  sqlite3_busy_timeout(db->get(), kPatienceMs);
  const auto read = integer(db->get(), "SELECT count(*) FROM sqlite_schema", path);
  if (read) return db;
  if (sqlite3_extended_errcode(db->get()) != SQLITE_READONLY_ROLLBACK)
    return tl::unexpected(read.error());
  if (journal == HotJournal::refuse)
    return fail(
        "was left half-written: it has a journal", path, -1,
        "write the file anew with the program that made it; or " + std::string(kMoveJournal));
  db->reset();
  return open_recovered(real, path);
}

Result<bool> plain_table(sqlite3* db, std::string_view name, const std::string& file) {
  auto statement = prepare(db,
                           "SELECT type = 'table' AND rootpage > 0 AND NOT EXISTS (SELECT 1 FROM "
                           "pragma_table_xinfo(?1) WHERE hidden <> 0) FROM sqlite_schema WHERE "
                           "name = ?1 AND type IN ('table', 'view')",
                           file);
  if (!statement) return tl::unexpected(statement.error());
  sqlite3_bind_text(statement->get(), 1, name.data(), static_cast<int>(name.size()), SQLITE_STATIC);
  const int step = sqlite3_step(statement->get());
  if (step == SQLITE_DONE) return false;
  if (step != SQLITE_ROW) return failure(db, "the schema cannot be read", file);
  if (sqlite3_column_int(statement->get(), 0) != 0) return true;
  return fail(fmt::format("{} is computed, not stored", name), file, -1,
              "the file was changed by hand: ask for the one that the profiler wrote");
}

namespace {

constexpr std::uint64_t kAlwaysAllowed = 256u << 20, kTimesFileSize = 64;

std::uint64_t sound_size(const std::string& file) {
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  return failed ? kAlwaysAllowed : std::max<std::uint64_t>(kAlwaysAllowed, size * kTimesFileSize);
}

}  // namespace

ReadBudget::ReadBudget(const std::string& file, std::uint64_t max_bytes)
    : file_(file),
      left_(std::min(max_bytes, sound_size(file))),
      asked_(max_bytes <= sound_size(file)) {}

Status ReadBudget::spend(std::uint64_t bytes) {
  if (bytes <= left_) {
    left_ -= bytes;
    return {};
  }
  left_ = 0;
  if (asked_) return fail("unpacks to more than the limit", file_, -1, "raise --max-bytes");
  return fail("unpacks to far more than a file of its size holds", file_, -1,
              "the file is damaged, or was made to fill memory");
}

}  // namespace gf::sqlite
