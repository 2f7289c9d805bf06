#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "model/check.h"
#include "model/file.h"
#include "model/file_blocks.h"
#include "model/file_reader.h"
#include "model/file_values.h"

namespace gf {

namespace {

using sqlite::failure;
using sqlite::plain_table;
using sqlite::prepare;

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

/// True if a table of the file has a column.
Result<bool> has_column(sqlite3* db, const std::string& table, const char* column,
                        const std::string& file) {
  auto found = sqlite::integer(
      db,
      fmt::format("SELECT count(*) FROM pragma_table_info('{}') WHERE name = '{}'", table, column),
      file);
  if (!found) return tl::unexpected(found.error());
  return *found > 0;
}

/// Goes over the rows of a table that stand as rows: their number, then these columns. What the
/// file lacks is read as NULL, which stands for the default. `take_row` keeps the row that the
/// statement is at, and gives the column whose value is not possible, if any.
Status read_rows(sqlite3* db, const char* table, const std::vector<const char*>& columns,
                 std::int64_t row, const std::string& file,
                 const std::function<const char*(sqlite3_stmt*)>& take_row) {
  const std::string stored = fmt::format("_{}", table);
  std::string list;
  for (const char* name : columns) {
    const auto has = has_column(db, stored, name, file);
    if (!has) return tl::unexpected(has.error());
    list += *has ? ", " + sqlite::quoted(name) : ", NULL";
  }
  auto statement =
      prepare(db, fmt::format("SELECT row{} FROM {} ORDER BY row", list, stored), file);
  if (!statement) return tl::unexpected(statement.error());
  sqlite3_stmt* raw = statement->get();
  int code;
  for (; (code = sqlite3_step(raw)) == SQLITE_ROW; ++row) {
    if (row >= kNoRow || sqlite3_column_int64(raw, 0) != row)
      return fail(fmt::format("table {} lacks row {}", table, row), file, -1, kDamagedFile);
    if (const char* bad = take_row(raw))
      return fail(fmt::format("table {}, row {}: the value of {} is not possible", table, row, bad),
                  file, -1, kDamagedFile);
  }
  if (code == SQLITE_DONE) return {};
  return failure(db, fmt::format("table {} cannot be read", table), file);
}

/// The enumerators that a block names, by number.
template <class E>
std::vector<std::optional<E>> named(std::string_view names) {
  std::vector<std::optional<E>> found;
  while (!names.empty()) {
    const auto comma = std::min(names.find(','), names.size());
    found.push_back(enum_from<E>(names.substr(0, comma)));
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  return found;
}

/// Turns the values of blocks into those of a column; false when one cannot stand in it.
template <class Declared>
bool convert(std::span<const std::int64_t> stored, const std::string& names,
             const FileStrings& strings, std::span<ValueOf<Declared>> out, std::size_t& done) {
  using Value = ValueOf<Declared>;
  if constexpr (std::is_same_v<Value, F64>) {
    for (const auto bits : stored) out[done++] = std::bit_cast<F64>(bits);
  } else if constexpr (kIsListed<Declared>) {
    const auto listed = named<Value>(names);
    for (const auto number : stored) {
      if (number < 0 || number >= std::ssize(listed) || !listed[static_cast<std::size_t>(number)])
        return false;
      out[done++] = *listed[static_cast<std::size_t>(number)];
    }
  } else if constexpr (kIsText<Declared>) {
    done = strings.texts(stored, out);
    return done == stored.size();
  } else {
    const auto possible = [](std::int64_t number) {
      if constexpr (kIsRef<Declared>) return number >= -1 && number < kNoRow;
      return std::in_range<Value>(number) &&
             (!std::is_same_v<Declared, declared::Bool> || number <= 1);
    };
    std::size_t row = 0;
    for (; row < stored.size() && possible(stored[row]); ++row)
      out[row] = static_cast<Value>(stored[row]);  // of no row: kNoRow
    done = row;
    return row == stored.size();
  }
  return true;
}

}  // namespace

Result<CaptureReader> CaptureReader::open(const std::string& path, std::uint64_t max_bytes) {
  auto db = open_capture_file(path);
  if (!db) return tl::unexpected(db.error());
  CaptureReader reader(path, max_bytes, std::move(*db));
  if (auto ok = reader.start(); !ok) return tl::unexpected(ok.error());
  return reader;
}

Status CaptureReader::start() {
  sqlite3* db = db_.get();
  // One snapshot of a file that may still be written.
  if (auto ok = sqlite::execute(db, "BEGIN", path_); !ok) return ok;
  if (auto ok = strings_.read(db, capture_->strings, budget_, path_); !ok) return ok;
  auto source = prepare(db, "SELECT path, format, framework, events, bytes FROM source", path_);
  if (!source) return tl::unexpected(source.error());
  if (sqlite3_step(source->get()) == SQLITE_ROW) {
    capture_->path = sqlite::column_text(source->get(), 0);
    capture_->format = sqlite::column_text(source->get(), 1);
    capture_->framework = sqlite::column_text(source->get(), 2);
    capture_->events = sqlite3_column_int64(source->get(), 3);
    capture_->bytes = sqlite3_column_int64(source->get(), 4);
  }
  auto packed = find_blocks(db, budget_, path_);
  if (!packed) return tl::unexpected(packed.error());
  packed_ = std::move(*packed);
  const auto sealed = check_seal(db, budget_, path_);
  if (!sealed) return tl::unexpected(sealed.error());
  seal_ = *sealed;
  return {};
}

const PackedRows& CaptureReader::packed(const char* table) const {
  static const PackedRows kNone;
  const auto found = packed_.find(table);
  return found == packed_.end() ? kNone : found->second;
}

Result<CaptureReader::Stored> CaptureReader::stored(const char* table) {
  const std::string rows = fmt::format("_{}", table);
  Stored found;
  found.packed = packed(table).rows;
  auto there = plain_table(db_.get(), rows, path_);
  if (!there) return tl::unexpected(there.error());
  found.has_rows = *there;
  if (*there) {
    auto count = sqlite::integer(db_.get(), fmt::format("SELECT count(*) FROM {}", rows), path_);
    if (!count) return tl::unexpected(count.error());
    found.rows = static_cast<std::size_t>(*count);
  }
  if (found.packed + found.rows >= kNoRow)
    return fail(fmt::format("table {} has more rows than this program supports", table), path_);
  return found;
}

template <class Table>
Status CaptureReader::load(Table& table, std::uint64_t columns) {
  std::uint64_t& loaded = loaded_[static_cast<std::size_t>(Table::kId)];
  const std::uint64_t wanted = columns & ~loaded;
  if (wanted == 0) return {};
  const auto found = stored(Table::kName);
  if (!found) return tl::unexpected(found.error());
  loaded |= wanted;
  if (found->packed + found->rows == 0) return {};
  const auto each_wanted = [&](auto&& apply) {
    unsigned number = 0;
    table.each_column_ref([&](const auto& ref) {
      if (wanted >> column_bit(number++) & 1) apply(ref);
    });
  };
  Status status;
  std::map<std::string, ColumnSink> sinks;
  std::vector<const char*> names;
  each_wanted([&](const auto& ref) {
    using Declared = typename std::remove_cvref_t<decltype(ref)>::Declared;
    using Value = ValueOf<Declared>;
    if (status) status = budget_.spend((found->packed + found->rows) * sizeof(Value));
    names.push_back(ref.info.name);
    auto& column = ref.column;
    ColumnSink& sink = sinks[ref.info.name];
    sink.fill = [&column, rows = found->packed + found->rows](std::size_t until) {
      column.reserve(rows);
      if (until > column.size()) column.resize(until, ColumnType<Declared>::kFallback);
    };
    sink.take = [&column, this](const BlockPlace& place, std::span<const std::int64_t> values,
                                std::size_t& done) {
      if constexpr (std::is_same_v<Value, std::int64_t>) {  // as they stand
        column.append(values);
        done += values.size();
        return true;
      } else {
        return convert<Declared>(values, place.names, strings_, column.extend(values.size()), done);
      }
    };
  });
  if (status) status = read_columns(db_.get(), packed(Table::kName), sinks, path_);
  if (!status || !found->has_rows || found->rows == 0) return status;
  return read_rows(db_.get(), Table::kName, names, static_cast<std::int64_t>(found->packed), path_,
                   [&](sqlite3_stmt* raw) {
                     int at = 1;
                     const char* bad = nullptr;
                     each_wanted([&](const auto& ref) {
                       using Column = std::remove_cvref_t<decltype(ref)>;
                       typename Column::Value value;
                       if (!take<typename Column::Declared>(raw, at++, strings_, value))
                         bad = ref.info.name;
                       ref.column.push_back(value);
                     });
                     return bad;
                   });
}

Status CaptureReader::load(TableId id, std::uint64_t columns) {
  Status status;
  capture_->each_table([&](auto& table) {
    if (table.kId == id) status = load(table, columns);
  });
  if (status && id == TableId::quality && !std::exchange(seal_told_, true)) status = tell_seal();
  return status;
}

/// Writers that wrote the column of quality's times, or packed a table, sealed the file at its end.
Status CaptureReader::tell_seal() {
  switch (seal_) {
    case Seal::whole:
      return {};
    case Seal::broken:
      capture_->note_quality(QualityCode::changed_file,
                             "the file is not as it was when its writer ended: rows were changed, "
                             "added or taken away");
      return {};
    case Seal::open:
      if (auto ok = load(TableId::metadata); !ok) return ok;
      if (capture_->metadata_value("record.complete").empty()) return {};  // still being written
      break;
    case Seal::none:
      break;
  }
  const auto timed = has_column(db_.get(), "_quality", "time_ns", path_);
  if (!timed) return tl::unexpected(timed.error());
  if (*timed || !packed_.empty())
    capture_->note_quality(QualityCode::changed_file,
                           "the file has lost its seal: whether rows were changed, added or taken "
                           "away since it was written cannot be seen");
  else
    capture_->note_quality(QualityCode::no_seal,
                           "the file is from before capture files were sealed: whether it was "
                           "changed since cannot be seen");
  return {};
}

Status CaptureReader::load_samples(const Progress& progress) {
  if (std::exchange(samples_loaded_, true)) return {};
  if (auto ok = load(TableId::devices); !ok) return ok;
  return read_blocks(db_.get(), *capture_, strings_, seal_, max_bytes_, path_, progress);
}

Result<std::size_t> CaptureReader::rows(TableId id) {
  Result<std::size_t> count{0};
  capture_->each_table([&](const auto& table) {
    if (table.kId != id) return;
    auto& known = rows_[static_cast<std::size_t>(id)];
    if (!known) {
      const auto found = stored(table.kName);
      if (!found) {
        count = tl::unexpected(found.error());
        return;
      }
      known = found->packed + found->rows;
    }
    count = *known;
  });
  return count;
}

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
  // A recording without loss has rows of neither, but has the tables.
  for (const char* table : {"strings", "source", "_quality", "_activities"}) {
    auto there = plain_table(db->get(), table, path);
    if (!there) return tl::unexpected(there.error());
    if (!*there) return fail(fmt::format("table {} is missing", table), path, -1, kDamagedFile);
  }
  return db;
}

Result<Capture> read_capture(const std::string& path, const Progress& progress,
                             std::uint64_t max_bytes) {
  auto reader = CaptureReader::open(path, max_bytes);
  if (!reader) return tl::unexpected(reader.error());
  int done = 0;
  Status status;
  Tables{}.each_table([&](const auto& table) {
    if (status) status = reader->load(table.kId);
    if (status && progress && !progress("reading", ++done / double{kTableCount}))
      status = fail("stopped", path);
  });
  if (status) status = reader->load_samples(progress);
  if (status) status = check_references(reader->capture(), path);
  if (!status) return tl::unexpected(status.error());
  return std::move(reader->capture());
}

}  // namespace gf
