#include <fmt/format.h>

#include <atomic>
#include <deque>
#include <functional>
#include <limits>
#include <vector>

#include "core/cores.h"
#include "core/pipeline.h"
#include "model/check.h"
#include "model/file.h"
#include "model/file_values.h"

namespace gf {

namespace {

using sqlite::failure;
using sqlite::plain_table;
using sqlite::prepare;
using sqlite::ReadBudget;

constexpr unsigned kMostWorkers = 8;     // that check blocks: reading feeds no more
constexpr std::uint64_t kTextCost = 48;  // bytes that a text takes besides its own
constexpr const char* kDamaged = "the file is damaged, or was changed by another program";

/// The file's string ids as texts of the capture. Ids from 0 up are nearly dense, those below 0
/// name enumerators.
class FileStrings {
 public:
  Status read(sqlite3* db, StringPool& pool, ReadBudget& budget, const std::string& file) {
    auto count = sqlite::integer(db, "SELECT count(*) FROM strings", file);
    if (!count) return tl::unexpected(count.error());
    const std::int64_t limit = *count + 1;
    texts_.assign(static_cast<std::size_t>(limit), kMissing);
    auto sample = prepare(db, "SELECT id, text FROM strings ORDER BY id", file);
    if (!sample) return tl::unexpected(sample.error());
    int code;
    while ((code = sqlite3_step(sample->get())) == SQLITE_ROW) {
      const std::int64_t id = sqlite3_column_int64(sample->get(), 0);
      if (auto ok = budget.spend(kTextCost + sqlite::column_text(sample->get(), 1).size()); !ok)
        return ok;
      Text text = Text::none;
      if (!(id < 0)) text = pool.intern(sqlite::column_text(sample->get(), 1));
      if (id < 0 && id >= -limit)
        names_.resize(std::max<std::size_t>(names_.size(), static_cast<std::size_t>(-id)));
      if (id < 0 && id >= -limit)
        names_[static_cast<std::size_t>(-id - 1)] = sqlite::column_text(sample->get(), 1);
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
    const Text& text = texts_[static_cast<std::size_t>(id)];
    if (text == kMissing) return nullptr;
    return &text;
  }
  template <class E>
  std::optional<E> listed(std::int64_t id) const {
    if (id >= 0 || id < -static_cast<std::int64_t>(names_.size())) return std::nullopt;
    return enum_from<E>(names_[static_cast<std::size_t>(-id - 1)]);
  }

 private:
  static constexpr Text kMissing{UINT32_MAX};
  std::vector<Text> texts_;
  std::vector<std::string> names_;
};

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
      return fail(fmt::format("table {} lacks row {}", table.name, row), file, -1, kDamaged);
    if (const char* bad = take_row())
      return fail(
          fmt::format("table {}, row {}: the value of {} is not possible", table.name, row, bad),
          file, -1, kDamaged);
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

std::uint64_t unpacked_bytes(const PackedBlock& block) {
  return std::uint64_t{block.samples} * (block.metrics.size() * sizeof(float) + 2 * sizeof(I64));
}

/// A row of sample_blocks on its way through the workers.
struct BlockSlot {
  std::int64_t device = 0, samples = 0;  // no samples: the row names a device or a text in vain
  std::vector<Text> metrics;
  std::string data;
  std::optional<PackedBlock> block;
};

/// The metrics of a row, texts by their numbers in the file; empty when one of them does not exist.
std::optional<std::vector<Text>> metrics_of_block(std::string_view ids,
                                                  const FileStrings& strings) {
  std::vector<Text> metrics;
  while (!ids.empty()) {
    const auto comma = std::min(ids.find(','), ids.size());
    const auto id = parse_decimal(ids.substr(0, comma), 0);
    if (!id) return std::nullopt;
    if (*id == 0) {
      metrics.push_back(Text::none);
    } else if (const Text* text = strings.text(*id)) {
      metrics.push_back(*text);
    } else {
      return std::nullopt;
    }
    ids.remove_prefix(std::min(comma + 1, ids.size()));
  }
  return metrics;
}

void take_block_row(sqlite3_stmt* row, std::size_t devices, const FileStrings& strings,
                    BlockSlot& slot) {
  slot.device = sqlite3_column_int64(row, 0);
  slot.samples = sqlite3_column_int64(row, 1);
  slot.metrics.clear();
  if (slot.device < 0 || slot.device >= static_cast<std::int64_t>(devices)) slot.samples = 0;
  if (slot.samples > 0) {
    auto metrics = metrics_of_block(sqlite::column_text(row, 2), strings);
    if (!metrics) slot.samples = 0;
    slot.metrics = std::move(metrics).value_or(std::vector<Text>{});
  }
  slot.data = sqlite::column_text(row, 3);
}

/// Keeps blocks in their order, and says when it is enough.
class BlockKeeper {
 public:
  BlockKeeper(Capture& capture, std::int64_t total, std::uint64_t max_bytes,
              const Progress& progress)
      : capture_(capture), total_(total), max_bytes_(max_bytes), progress_(progress) {}
  void keep(BlockSlot& slot) {
    if (++seen_ % 256 == 0 && progress_ &&
        !progress_("reading samples", static_cast<double>(seen_) / static_cast<double>(total_)))
      stopped_ = true;
    if (slot.block) unpacked_ += unpacked_bytes(*slot.block);
    if (too_large()) stopped_ = true;
    if (slot.block)
      capture_.sample_blocks.push_back(std::move(*slot.block));
    else
      capture_.note_quality(QualityCode::bad_sample_block,
                            "a block of packed samples is damaged: its samples are missing");
  }
  bool too_large() const { return unpacked_ > max_bytes_; }
  bool stopped() const { return stopped_; }

 private:
  Capture& capture_;
  std::int64_t total_, seen_ = 0;
  std::uint64_t max_bytes_, unpacked_ = 0;
  const Progress& progress_;
  std::atomic<bool> stopped_{false};
};

/// Looks at every byte of every block, so that nobody finds damage later: a damaged block costs
/// that block and is counted.
Status read_blocks(sqlite3* db, Capture& capture, const FileStrings& strings,
                   std::uint64_t max_bytes, const std::string& file, const Progress& progress) {
  auto there = plain_table(db, "sample_blocks", file);
  if (!there) return tl::unexpected(there.error());
  if (!*there) return {};
  auto total = sqlite::integer(db, "SELECT count(*) FROM sample_blocks", file);
  if (!total) return tl::unexpected(total.error());
  auto statement =
      prepare(db, "SELECT device, samples, metrics, data FROM sample_blocks ORDER BY row", file);
  if (!statement) return tl::unexpected(statement.error());
  sqlite3_stmt* raw = statement->get();
  BlockKeeper keeper(capture, *total, max_bytes, progress);
  int code = SQLITE_ROW;
  auto produce = [&](BlockSlot& slot) {
    if (keeper.stopped() || (code = sqlite3_step(raw)) != SQLITE_ROW) return false;
    take_block_row(raw, capture.devices.size(), strings, slot);
    return true;
  };
  const unsigned workers = std::min(usable_cores(), kMostWorkers);
  std::deque<BlockUnpacker> unpackers(workers);
  auto check = [&](BlockSlot& slot, unsigned worker) {
    slot.block.reset();
    if (slot.samples > 0)
      slot.block = unpackers[worker].checked_block(
          static_cast<std::uint32_t>(slot.device), slot.metrics,
          static_cast<std::uint64_t>(slot.samples), std::move(slot.data));
  };
  std::deque<BlockSlot> slots(2 * workers);
  run_in_order(slots, workers, produce, check, [&](BlockSlot& slot) { keeper.keep(slot); });
  if (keeper.too_large())
    return fail("its samples unpack to more than the limit", file, -1, "raise --max-bytes");
  if (keeper.stopped()) return fail("stopped", file);
  if (code != SQLITE_DONE) return failure(db, "sample_blocks cannot be read", file);
  return {};
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
    auto there = plain_table(db->get(), table, path);
    if (!there) return tl::unexpected(there.error());
    if (!*there) return fail(fmt::format("table {} is missing", table), path, -1, kDamaged);
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
