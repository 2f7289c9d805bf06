#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/files.h"
#include "core/machine.h"
#include "core/secrets.h"
#include "core/text.h"
#include "core/xxh64.h"
#include "model/file.h"
#include "model/file_columns.h"
#include "model/file_seal.h"
#include "model/file_values.h"

namespace gf {

namespace {

using sqlite::execute;
using sqlite::failure;
using sqlite::prepare;

/// String ids of the enumerators of E, by value.
template <class E>
const auto& enum_ids() {
  static const auto ids = [] {
    std::array<std::int64_t, EnumNames<E>::names.size()> left;
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = enum_string_id(static_cast<E>(i));
    return left;
  }();
  return ids;
}

template <class Declared>
void bind(sqlite3_stmt* raw, int at, ValueOf<Declared> value_of) {
  if (is_unknown<Declared>(value_of))
    sqlite3_bind_null(raw, at);
  else if constexpr (std::is_same_v<ValueOf<Declared>, F64>)
    sqlite3_bind_double(raw, at, value_of);
  else if constexpr (kIsListed<Declared>)
    sqlite3_bind_int64(raw, at, enum_ids<ValueOf<Declared>>()[static_cast<std::size_t>(value_of)]);
  else
    sqlite3_bind_int64(raw, at, static_cast<std::int64_t>(value_of));
}

/// True if a column has one value in two rows.
template <class Declared, class Values>
bool alike(const Values& values, std::size_t row, std::size_t other) {
  const auto now = values[row], before = values[other];
  return now == before || (is_unknown<Declared>(now) && is_unknown<Declared>(before));
}

// One statement for many rows costs a quarter less a row than a statement for each.
constexpr std::size_t kTogether = 16;

struct Rows {
  std::size_t from, to;
  std::size_t together;  // in one statement; a divisor of their number
};

template <class Table>
std::string insertion(std::size_t rows) {
  std::string marks = "(?", all;
  Table().each_column_ref([&](const auto&) { marks += ",?"; });
  marks += ')';
  for (std::size_t i = 0; i < rows; ++i) all += (i > 0 ? "," : "") + marks;
  return fmt::format("INSERT INTO _{} VALUES{}", Table::kName, all);
}

/// `first` is the number of the table's row 0 in the file.
template <class Table>
Status insert(sqlite3* db, const Table& table, Rows rows, std::uint32_t first,
              const std::string& file) {
  if (rows.from == rows.to) return {};
  auto statement = prepare(db, insertion<Table>(rows.together), file);
  if (!statement) return tl::unexpected(statement.error());
  sqlite3_stmt* raw = statement->get();
  int at = 0;
  for (std::size_t row = rows.from; row < rows.to; ++row) {
    const std::size_t place = (row - rows.from) % rows.together;
    if (place == 0) at = 1;
    sqlite3_bind_int64(raw, at++, first + static_cast<std::int64_t>(row));
    // Values bound for the row in the same place of the previous statement stay bound.
    const bool bound = row - rows.from >= rows.together;
    table.each_column_ref([&](const auto& column) {
      using Declared = typename std::remove_cvref_t<decltype(column)>::Declared;
      if (!bound || !alike<Declared>(column.column, row, row - rows.together))
        bind<Declared>(raw, at, column.column[row]);
      ++at;
    });
    if (place + 1 < rows.together) continue;
    if (sqlite3_step(raw) != SQLITE_DONE) return failure(db, "cannot be written", file);
    sqlite3_reset(raw);
  }
  return {};
}

/// Inserts the rows of a table from one on.
template <class Table>
Status insert(sqlite3* db, const Table& table, std::size_t from, std::uint32_t first,
              const std::string& file) {
  const std::size_t whole = from + (table.size() - from) / kTogether * kTogether;
  auto status = insert(db, table, {from, whole, kTogether}, first, file);
  if (status) status = insert(db, table, {whole, table.size(), 1}, first, file);
  return status;
}

Status insert_strings(sqlite3* db, const StringPool& strings, std::uint32_t from,
                      const std::string& file) {
  auto statement = prepare(db, "INSERT INTO strings VALUES(?,?)", file);
  if (!statement) return tl::unexpected(statement.error());
  sqlite3_stmt* raw = statement->get();
  for (std::uint32_t id = from; id < strings.size(); ++id) {
    const std::string_view text = strings.view(Text{id});
    sqlite3_bind_int64(raw, 1, id);
    sqlite3_bind_text64(raw, 2, text.data() ? text.data() : "", text.size(), SQLITE_STATIC,
                        SQLITE_UTF8);
    if (sqlite3_step(raw) != SQLITE_DONE) return failure(db, "cannot be written", file);
    sqlite3_reset(raw);
  }
  return {};
}

Status replace_source(sqlite3* db, const Capture& capture, const std::string& file) {
  if (auto ok = execute(db, "DELETE FROM source", file); !ok) return ok;
  auto statement = prepare(
      db, "INSERT INTO source(path, format, framework, events, bytes) VALUES(?,?,?,?,?)", file);
  if (!statement) return tl::unexpected(statement.error());
  sqlite3_stmt* raw = statement->get();
  int at = 1;
  const std::string path = without_secrets(capture.path);
  for (const std::string* text : {&path, &capture.format, &capture.framework})
    sqlite3_bind_text(raw, at++, text->data(), static_cast<int>(text->size()), SQLITE_STATIC);
  sqlite3_bind_int64(raw, at++, capture.events);
  sqlite3_bind_int64(raw, at++, capture.bytes);
  if (sqlite3_step(raw) != SQLITE_DONE) return failure(db, "cannot be written", file);
  return {};
}

Status insert_blocks(sqlite3* db, std::span<const PackedBlock> blocks, const std::string& file) {
  if (blocks.empty()) return {};
  if (auto ok = execute(db, kSampleBlocksSchema, file); !ok) return ok;
  auto statement = prepare(db,
                           "INSERT INTO sample_blocks(device, start_ns, end_ns, samples, metrics, "
                           "data, hash, \"values\") VALUES(?,?,?,?,?,?,?,?)",
                           file);
  if (!statement) return tl::unexpected(statement.error());
  sqlite3_stmt* raw = statement->get();
  for (const PackedBlock& block : blocks) {
    if (block.samples == 0) continue;
    std::string metrics;
    for (Text id : block.metrics)
      metrics += fmt::format("{}{}", metrics.empty() ? "" : ",", static_cast<std::uint32_t>(id));
    sqlite3_bind_int64(raw, 1, block.device);
    sqlite3_bind_int64(raw, 2, block.first_ns);
    sqlite3_bind_int64(raw, 3, block.last_ns);
    sqlite3_bind_int64(raw, 4, block.samples);
    sqlite3_bind_text(raw, 5, metrics.data(), static_cast<int>(metrics.size()), SQLITE_STATIC);
    sqlite3_bind_blob64(raw, 6, block.data.data(), block.data.size(), SQLITE_STATIC);
    sqlite3_bind_int64(raw, 7, static_cast<std::int64_t>(xxh64(block.data)));
    if (block.backwards)  // whoever reads it shall look
      sqlite3_bind_null(raw, 8);
    else
      sqlite3_bind_int64(raw, 8, static_cast<std::int64_t>(block.values));
    if (sqlite3_step(raw) != SQLITE_DONE) return failure(db, "cannot be written", file);
    sqlite3_reset(raw);
  }
  return {};
}

/// Runs `body` in a transaction; rolls it back when it fails.
template <class F>
Status transaction(sqlite3* db, const std::string& file, F&& body) {
  if (auto ok = execute(db, "BEGIN", file); !ok) return ok;
  Status done = body();
  if (done) done = execute(db, "COMMIT", file);
  if (!done) sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr);
  return done;
}

/// Writes a file's pages to the disk, so that a rename after it never shows a half-written file.
Status sync_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool ok = fd >= 0 && ::fsync(fd) == 0;
  if (fd >= 0) ::close(fd);
  if (!ok) return fail("cannot be written to the disk", path);
  return {};
}

/// Whether an open file may become a capture: it is empty or holds one. A device, a folder or a
/// program is not written over.
Status replaceable(int fd, const std::string& path) {
  struct stat status{};
  char head[96] = {};
  if (::fstat(fd, &status) != 0) return fail(std::strerror(errno), path);
  if (!S_ISREG(status.st_mode))
    return fail("is not a regular file", path, -1, "-o requires a file name");
  const auto got = ::pread(fd, head, sizeof head, 0);
  if (status.st_size == 0 || (got > 0 && is_capture_file({head, static_cast<std::size_t>(got)})))
    return {};
  return fail("exists and is not a capture: it is not overwritten", path, -1,
              "give another name, or remove it");
}

}  // namespace

Status store_capture(sqlite3* db, const Capture& capture, const Progress& progress,
                     const KeepMore& keep) {
  const std::string file = capture.path;
  std::size_t total = 1, done = 0;
  capture.each_table([&](const auto& table) { total += table.size(); });
  return transaction(db, file, [&]() -> Status {
    Status status = execute(db, capture_schema(), file);
    if (status) status = insert_strings(db, capture.strings, 1, file);
    if (status) status = replace_source(db, capture, file);
    if (status) status = insert_blocks(db, capture.sample_blocks, file);
    capture.each_table([&](const auto& table) {
      using Table = std::remove_cvref_t<decltype(table)>;
      if (!status) return;
      if (!Table::kHasKey && table.size() >= kPackedFrom)
        status = insert_columns(db, table, 0, usable_cores(), file);
      else
        status = insert(db, table, 0, 0, file);
      done += table.size();
      if (status && progress &&
          !progress("writing", static_cast<double>(done) / static_cast<double>(total)))
        status = fail("stopped", file);
    });
    if (!status) return status;
    if (keep) {
      const auto rows = sum_of_rows(db, file);
      if (!rows) return tl::unexpected(rows.error());
      if (const auto kept = keep(*rows))
        if (auto ok = insert_kept(db, *kept, file); !ok) return ok;
    }
    return seal(db, file);
  });
}

Status write_capture(const Capture& capture, const std::string& path, const Progress& progress,
                     const KeepMore& keep) {
  if (const int old = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); old >= 0) {
    const auto may = replaceable(old, path);
    ::close(old);
    if (!may) return may;
  }
  auto file = OutFile::open(path);
  if (!file) return tl::unexpected<Error>(file.error());
  auto write = [&]() -> Status {
    auto db = sqlite::open(file->temporary(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
    if (!db) return tl::unexpected<Error>(db.error());
    // Nobody sees the file before it is complete, so a journal would protect nothing. Every table
    // takes a page at least: large pages are for large captures.
    int page = 4096;
    if (capture.activities.size() + capture.host_ops.size() + capture.counter_samples.size() +
            100 * capture.sample_blocks.size() >
        100'000)
      page = 16384;
    auto ok = execute(db->get(),
                      fmt::format("PRAGMA page_size = {}; PRAGMA journal_mode = OFF; PRAGMA "
                                  "synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;",
                                  page),
                      path);
    if (ok) ok = store_capture(db->get(), capture, progress, keep);
    return ok;
  };
  Status done = write();
  if (done) done = sync_file(file->temporary());
  if (done) done = file->commit();
  if (!done) done.error().file = path;
  return done;
}

void CaptureWriter::CloseFile::operator()(const int* fd) const {
  ::close(*fd);
  delete fd;
}

Result<CaptureWriter> CaptureWriter::create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (fd < 0)
    return fail(fmt::format("cannot be written: {}", std::strerror(errno)), path, -1,
                "does the directory exist, and may you write there?");
  OpenFile claim(new int(fd));
  if (const auto may = replaceable(fd, path); !may) return tl::unexpected(may.error());
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return fail("is being written by another process", path, -1,
                "give each recorder a file of its own");
  for (const char* rest : {"-journal", "-wal", "-shm"}) std::remove((path + rest).c_str());
  if (::ftruncate(fd, 0) != 0)
    return fail(fmt::format("cannot be written: {}", std::strerror(errno)), path);
  auto db = sqlite::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
  if (!db)
    return fail(db.error().what, path, -1, "does the directory exist, and may you write there?");
  CaptureWriter writer(path, std::move(claim), std::move(*db));
  writer.be_patient(kPatienceMs);  // with somebody who looks whether there is anything yet
  sqlite3* raw = writer.db_.get();
  // A rollback journal, not a write-ahead log: between appends the file is complete by itself, and
  // may be copied or read.
  auto ok = execute(
      raw, "PRAGMA page_size = 16384; PRAGMA journal_mode = DELETE; PRAGMA synchronous = NORMAL;",
      path);
  if (ok) ok = transaction(raw, path, [&] { return execute(raw, capture_schema(), path); });
  if (!ok) return tl::unexpected(ok.error());
  writer.strings_ = 1;
  return writer;
}

namespace {

/// Rows of an append behind those before: what they refer to moves behind that of `before`.
template <class Table>
void append_moved(Table& rows, const Table& more, const PerTable& before) {
  rows.visit_ref_pairs(more, [&](const auto& mine, const auto& theirs) {
    using Declared = typename std::remove_cvref_t<decltype(mine)>::Declared;
    if constexpr (kIsRef<Declared>) {
      for (std::size_t row = 0; row < theirs.size(); ++row)
        mine.column.push_back(
            theirs[row] == kNoRow ? kNoRow : theirs[row] + of(before, kRefTable<Declared>));
    } else {
      mine.column.append(theirs.span());
    }
  });
}

}  // namespace

Status CaptureWriter::append(Capture& capture, bool last) {
  sqlite3* db = db_.get();
  PerTable before = packed_;
  tail_.each_table([&](const auto& table) {
    of(before, table.kId) += static_cast<std::uint32_t>(table.size());
  });
  Tables tail = tail_;
  PerTable packed = packed_;
  auto ok = transaction(db, path_, [&]() -> Status {
    Status status = insert_strings(db, capture.strings, strings_, path_);
    if (status) status = replace_source(db, capture, path_);
    if (status) status = insert_blocks(db, capture.sample_blocks, path_);
    tail.each_table_pair(capture, [&](auto& mine, const auto& theirs) {
      using Table = std::remove_cvref_t<decltype(mine)>;
      const std::size_t stored = mine.size();
      std::uint32_t& first = of(packed, Table::kId);
      if (!status) return;
      if (Table::kHasKey || mine.size() + theirs.size() >= kPackedFrom)
        status = execute(db, fmt::format("DELETE FROM _{}", Table::kName), path_);
      if (!status) return;
      if (Table::kHasKey) {
        status = insert(db, theirs, 0, 0, path_);
        return;
      }
      append_moved(mine, theirs, before);
      if (mine.size() < kPackedFrom) {
        status = insert(db, mine, stored, first, path_);
        return;
      }
      status = insert_columns(db, mine, first, 1, path_);  // a recorder leaves the cores alone
      first += static_cast<std::uint32_t>(mine.size());
      mine.clear();
    });
    if (status && last) status = seal(db, path_);
    return status;
  });
  if (!ok) return ok;
  tail_ = std::move(tail);
  packed_ = packed;
  strings_ = static_cast<std::uint32_t>(capture.strings.size());
  capture.sample_blocks.clear();
  capture.each_table([&](auto& table) {
    if (std::remove_cvref_t<decltype(table)>::kHasKey) return;
    rows_ += table.size();
    table.clear();
  });
  return {};
}

}  // namespace gf
