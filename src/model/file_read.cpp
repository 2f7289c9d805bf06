#include <fmt/format.h>

#include <atomic>
#include <deque>
#include <limits>
#include <vector>

#include "core/cores.h"
#include "core/pipeline.h"
#include "model/file.h"
#include "model/file_values.h"

namespace gf {

namespace {

using sqlite::failure;
using sqlite::prepare;

constexpr unsigned kMostWorkers = 8;  // that check blocks: reading feeds no more
constexpr const char* kDamaged = "the file is damaged, or was changed by another program";

/// The file's string ids as texts of the capture. Ids from 0 up are nearly dense, those below 0
/// name enumerators.
class FileStrings {
 public:
  Status read(sqlite3* db, StringPool& pool, const std::string& file) {
    auto count = sqlite::integer(db, "SELECT count(*) FROM strings", file);
    if (!count) return tl::unexpected(count.error());
    const std::int64_t limit = *count + 1;
    texts_.assign(static_cast<std::size_t>(limit), kMissing);
    auto s = prepare(db, "SELECT id, text FROM strings ORDER BY id", file);
    if (!s) return tl::unexpected(s.error());
    int code;
    while ((code = sqlite3_step(s->get())) == SQLITE_ROW) {
      const std::int64_t id = sqlite3_column_int64(s->get(), 0);
      const Text text = id < 0 ? Text::none : pool.intern(sqlite::column_text(s->get(), 1));
      if (id < 0 && -id <= limit)
        names_.resize(std::max<std::size_t>(names_.size(), static_cast<std::size_t>(-id)));
      if (id < 0 && -id <= limit)
        names_[static_cast<std::size_t>(-id - 1)] = sqlite::column_text(s->get(), 1);
      else if (id >= 0 && id < limit)
        texts_[static_cast<std::size_t>(id)] = text;
      else
        return fail(fmt::format("string number {} is out of order", id), file, -1, kDamaged);
    }
    if (code != SQLITE_DONE) return failure(db, "cannot be read", file);
    return {};
  }
  const Text* text(std::int64_t id) const {
    if (id < 0 || id >= static_cast<std::int64_t>(texts_.size())) return nullptr;
    const Text& t = texts_[static_cast<std::size_t>(id)];
    return t == kMissing ? nullptr : &t;
  }
  template <class E>
  std::optional<E> listed(std::int64_t id) const {
    if (id >= 0 || -id > static_cast<std::int64_t>(names_.size())) return std::nullopt;
    return enum_from<E>(names_[static_cast<std::size_t>(-id - 1)]);
  }

 private:
  static constexpr Text kMissing{UINT32_MAX};
  std::vector<Text> texts_;
  std::vector<std::string> names_;
};

/// Reads one value; false when it cannot stand in this column.
template <class T>
bool take(sqlite3_stmt* s, int at, const FileStrings& strings, T fallback, T& out) {
  const int type = sqlite3_column_type(s, at);
  out = fallback;
  if (type == SQLITE_NULL) return true;
  if constexpr (std::is_same_v<T, F64>) {
    out = sqlite3_column_double(s, at);
    return type == SQLITE_FLOAT || type == SQLITE_INTEGER;
  } else {
    if (type != SQLITE_INTEGER) return false;
    const std::int64_t v = sqlite3_column_int64(s, at);
    if constexpr (is_listed<T>) {
      const auto e = strings.listed<T>(v);
      if (e) out = *e;
      return e.has_value();
    } else if constexpr (is_text<T>) {
      const Text* t = strings.text(v);
      if (t) out = *t;
      return t != nullptr;
    } else {
      out = static_cast<T>(v);
      return std::in_range<T>(v);
    }
  }
}

/// Whether the schema has an ordinary table of this name (not a view or a virtual table, which
/// could run code).
Result<bool> has_table(sqlite3* db, std::string_view name, const std::string& file) {
  auto n = sqlite::integer(db,
                           fmt::format("SELECT count(*) FROM sqlite_schema WHERE type = 'table' "
                                       "AND name = '{}' AND rootpage > 0",
                                       name),
                           file);
  if (!n) return tl::unexpected(n.error());
  return *n == 1;
}

template <class Table>
Status read_table(sqlite3* db, Table& table, const FileStrings& strings, const std::string& file) {
  const std::string stored = fmt::format("_{}", Table::kName);
  auto there = has_table(db, stored, file);
  if (!there) return tl::unexpected(there.error());
  if (!*there) return {};  // written before the model had this table
  auto n = sqlite::integer(db, fmt::format("SELECT count(*) FROM {}", stored), file);
  if (!n) return tl::unexpected(n.error());
  if (*n >= kNoRow)
    return fail(fmt::format("table {} has more rows than this program can hold", Table::kName),
                file);
  // Columns that the file lacks are read as NULL, which stands for the default.
  std::string columns;
  Status status;
  table.each_column_ref([&](const auto& c) {
    auto has = sqlite::integer(
        db,
        fmt::format("SELECT count(*) FROM pragma_table_info('{}') WHERE name = '{}'", stored,
                    c.info.name),
        file);
    if (!has) status = tl::unexpected(has.error());
    columns += (has && *has > 0) ? ", " + sqlite::quoted(c.info.name) : std::string(", NULL");
  });
  if (!status) return status;
  auto statement =
      prepare(db, fmt::format("SELECT row{} FROM {} ORDER BY row", columns, stored), file);
  if (!statement) return tl::unexpected(statement.error());
  sqlite3_stmt* s = statement->get();
  table.reserve(static_cast<std::size_t>(*n));
  int code;
  while ((code = sqlite3_step(s)) == SQLITE_ROW) {
    const std::uint32_t row =
        table.size() < kNoRow ? static_cast<std::uint32_t>(table.size()) : kNoRow;
    if (sqlite3_column_int64(s, 0) != row)
      return fail(fmt::format("table {} lacks row {}", Table::kName, row), file, -1, kDamaged);
    int at = 1;
    const char* bad = nullptr;
    table.each_column_ref([&](const auto& c) {
      std::remove_cvref_t<decltype(c.fallback)> value;
      if (!take(s, at++, strings, c.fallback, value)) bad = c.info.name;
      c.column.push_back(value);
    });
    if (bad)
      return fail(
          fmt::format("table {}, row {}: the value of {} is not possible", Table::kName, row, bad),
          file, -1, kDamaged);
  }
  if (code != SQLITE_DONE)
    return failure(db, fmt::format("table {} cannot be read", Table::kName), file);
  return {};
}

/// Looks at every byte of every block, so that nobody finds damage later: a damaged block costs
/// that block and is counted.
Status read_blocks(sqlite3* db, Capture& c, const FileStrings& strings, const std::string& file,
                   const Progress& progress) {
  auto there = has_table(db, "sample_blocks", file);
  if (!there) return tl::unexpected(there.error());
  if (!*there) return {};
  auto total = sqlite::integer(db, "SELECT count(*) FROM sample_blocks", file);
  if (!total) return tl::unexpected(total.error());
  auto statement =
      prepare(db, "SELECT device, samples, metrics, data FROM sample_blocks ORDER BY row", file);
  if (!statement) return tl::unexpected(statement.error());
  sqlite3_stmt* s = statement->get();
  struct Slot {
    std::int64_t device, samples;
    std::vector<Text> metrics;
    std::string data;
    std::optional<PackedBlock> block;
  };
  const Text no_text = Text::none;
  int code = SQLITE_ROW;
  auto produce = [&](Slot& slot) {
    if ((code = sqlite3_step(s)) != SQLITE_ROW) return false;
    slot.device = sqlite3_column_int64(s, 0), slot.samples = sqlite3_column_int64(s, 1);
    slot.metrics.clear();
    if (slot.device < 0 || slot.device >= static_cast<std::int64_t>(c.devices.size()))
      slot.samples = 0;
    for (std::string_view ids = sqlite::column_text(s, 2); slot.samples > 0 && !ids.empty();) {
      const auto comma = std::min(ids.find(','), ids.size());
      const auto id = parse_decimal(ids.substr(0, comma), 0);
      const Text* text = id == 0 ? &no_text : id ? strings.text(*id) : nullptr;
      if (text)
        slot.metrics.push_back(*text);
      else
        slot.samples = 0;
      ids.remove_prefix(std::min(comma + 1, ids.size()));
    }
    slot.data = sqlite::column_text(s, 3);
    return true;
  };
  const unsigned workers = std::min(usable_cores(), kMostWorkers);
  std::deque<BlockUnpacker> unpackers(workers);
  auto check = [&](Slot& slot, unsigned worker) {
    slot.block.reset();
    if (slot.samples > 0)
      slot.block = unpackers[worker].checked_block(
          static_cast<std::uint32_t>(slot.device), slot.metrics,
          static_cast<std::uint64_t>(slot.samples), std::move(slot.data));
  };
  std::int64_t seen = 0;
  std::atomic<bool> stopped{false};
  auto keep = [&](Slot& slot) {
    if (++seen % 256 == 0 && progress &&
        !progress("reading samples", static_cast<double>(seen) / static_cast<double>(*total)))
      stopped = true;
    if (slot.block)
      c.sample_blocks.push_back(std::move(*slot.block));
    else
      c.note_quality("bad_sample_block",
                     "a block of packed samples is damaged: its samples are missing");
  };
  std::deque<Slot> slots(2 * workers);
  run_in_order(slots, workers, [&](Slot& slot) { return !stopped && produce(slot); }, check, keep);
  if (stopped) return fail("stopped", file);
  if (code != SQLITE_DONE) return failure(db, "sample_blocks cannot be read", file);
  return {};
}

/// References to other tables must point into them.
Status check_references(const Capture& c, const std::string& file) {
  Status status;
  c.each_table([&](const auto& table) {
    table.each_column([&](const ColumnInfo& info, const auto& column) {
      if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(column)>::value_type,
                                   U32>) {
        const std::string_view name = info.name;
        const std::size_t limit = name == "device"     ? c.devices.size()
                                  : name == "thread"   ? c.threads.size()
                                  : name == "activity" ? c.activities.size()
                                  : name == "kernel"   ? c.report_kernels.size()
                                                       : kNoRow;
        for (std::size_t row = 0; row < column.size() && status; ++row)
          if (column[row] != kNoRow && column[row] >= limit)
            status = fail(
                fmt::format("table {}, row {}: {} {} does not exist",
                            std::remove_cvref_t<decltype(table)>::kName, row, name, column[row]),
                file, -1, kDamaged);
      }
    });
  });
  return status;
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
    return fail(fmt::format("capture format {} does not exist", *version), path, -1, kDamaged);
  for (const char* table : {"strings", "source"}) {
    auto there = has_table(db->get(), table, path);
    if (!there) return tl::unexpected(there.error());
    if (!*there) return fail(fmt::format("table {} is missing", table), path, -1, kDamaged);
  }
  return db;
}

namespace {

/// `wanted` says which tables are read, by name; devices must be.
template <class Wanted>
Result<Capture> read_tables(const std::string& path, const Progress& progress, Wanted wanted) {
  auto opened = open_capture_file(path);
  if (!opened) return tl::unexpected(opened.error());
  sqlite3* db = opened->get();
  // One snapshot of a file that may still be written.
  if (auto ok = sqlite::execute(db, "BEGIN", path); !ok) return tl::unexpected(ok.error());
  Capture c;
  FileStrings strings;
  Status status = strings.read(db, c.strings, path);
  if (!status) return tl::unexpected(status.error());
  auto source = prepare(db, "SELECT path, format, framework, events, bytes FROM source", path);
  if (!source) return tl::unexpected(source.error());
  if (sqlite3_step(source->get()) == SQLITE_ROW) {
    c.path = sqlite::column_text(source->get(), 0);
    c.format = sqlite::column_text(source->get(), 1);
    c.framework = sqlite::column_text(source->get(), 2);
    c.events = sqlite3_column_int64(source->get(), 3);
    c.bytes = sqlite3_column_int64(source->get(), 4);
  }
  int done = 0;
  c.each_table([&](auto& table) {
    if (status && wanted(std::string_view(table.kName)))
      status = read_table(db, table, strings, path);
    if (status && progress && !progress("reading", ++done / 15.0)) status = fail("stopped", path);
  });
  if (status) status = read_blocks(db, c, strings, path, progress);
  if (status) status = check_references(c, path);
  if (!status) return tl::unexpected(status.error());
  return c;
}

}  // namespace

Result<Capture> read_capture(const std::string& path, const Progress& progress) {
  return read_tables(path, progress, [](std::string_view) { return true; });
}

Result<Capture> read_samples(const std::string& path, const Progress& progress) {
  return read_tables(path, progress, [](std::string_view table) {
    return table == "devices" || table == "counter_samples";
  });
}

}  // namespace gf
