#include "model/file_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <set>

#include "core/machine.h"
#include "core/pipeline.h"
#include "core/xxh64.h"
#include "model/check.h"

namespace gf {

namespace {

using I64 = std::int64_t;
using U64 = std::uint64_t;

constexpr std::size_t kHeader = 19;
constexpr int kLevel = 1;  // of zstd: reads as fast as any, and packs fastest

/// Differences and sums wrap around, so that every pair of values survives.
constexpr I64 minus(I64 left, I64 right) {
  return static_cast<I64>(static_cast<U64>(left) - static_cast<U64>(right));
}
constexpr I64 plus(I64 left, U64 right) { return static_cast<I64>(static_cast<U64>(left) + right); }

struct Range {
  I64 low = 0, high = 0;
  U64 span() const { return static_cast<U64>(minus(high, low)); }
  void take(I64 value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

unsigned width_of(U64 span) {
  if (span == 0) return 0;
  if (span <= UINT8_MAX) return 1;
  if (span <= UINT16_MAX) return 2;
  return span <= UINT32_MAX ? 4 : 8;
}

template <class U>
void put_values(char* out, std::span<const I64> values, I64 base) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto unit = static_cast<U>(minus(values[i], base));
    std::memcpy(out + i * sizeof unit, &unit, sizeof unit);
  }
}
template <class U>
void put_differences(char* out, std::span<const I64> values, I64 base) {
  I64 last = minus(values[0], base);  // the first difference is base, whatever came before
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto unit = static_cast<U>(minus(minus(values[i], last), base));
    last = values[i];
    std::memcpy(out + i * sizeof unit, &unit, sizeof unit);
  }
}

/// apply(U{}) with the unsigned integer of so many bytes.
template <class F>
void with_width(unsigned width, F&& apply) {
  if (width == 1) apply(std::uint8_t{});
  if (width == 2) apply(std::uint16_t{});
  if (width == 4) apply(std::uint32_t{});
  if (width == 8) apply(std::uint64_t{});
}

template <class U>
U unit_at(const char* data, std::size_t i) {
  U unit;
  std::memcpy(&unit, data + i * sizeof unit, sizeof unit);
  return unit;
}

}  // namespace

void ColumnPacker::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
ColumnPacker::ColumnPacker() : context_(ZSTD_createCCtx()) {}
ColumnPacker::~ColumnPacker() = default;

std::string ColumnPacker::pack(std::span<const I64> values) {
  if (values.empty()) return {};
  Range range{values[0], values[0]}, step{};
  if (values.size() > 1) step = {minus(values[1], values[0]), minus(values[1], values[0])};
  for (std::size_t i = 1; i < values.size(); ++i) {
    range.take(values[i]);
    step.take(minus(values[i], values[i - 1]));
  }
  const bool differences = step.span() < range.span() / 4;
  const I64 base = differences ? step.low : range.low;
  const unsigned width = width_of(differences ? step.span() : range.span());
  const std::size_t size = width * values.size();
  plain_.resize(std::max(plain_.size(), size));
  with_width(width, [&]<class U>(U) {
    if (differences)
      put_differences<U>(plain_.data(), values, base);
    else
      put_values<U>(plain_.data(), values, base);
  });
  packed_.resize(std::max(packed_.size(), ZSTD_compressBound(size)));
  const std::size_t packed = ZSTD_compressCCtx(context_.get(), packed_.data(), packed_.size(),
                                               plain_.data(), size, kLevel);
  const bool smaller = !ZSTD_isError(packed) && packed < size - size / 8;
  std::string out;
  out.reserve(kHeader + size);
  out.resize(kHeader);
  out.append(smaller ? packed_ : plain_, 0, smaller ? packed : size);
  out[0] = static_cast<char>(differences);
  out[1] = static_cast<char>(width);
  out[2] = static_cast<char>(smaller);
  const I64 before = differences ? minus(values[0], base) : 0;
  std::memcpy(out.data() + 3, &base, sizeof base);
  std::memcpy(out.data() + 11, &before, sizeof before);
  return out;
}

void ColumnUnpacker::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }
ColumnUnpacker::ColumnUnpacker() : context_(ZSTD_createDCtx()) {}
ColumnUnpacker::~ColumnUnpacker() = default;

bool ColumnUnpacker::unpack(std::string_view data, std::span<I64> values) {
  if (data.size() < kHeader || values.empty() || values.size() > kMostBlockRows) return false;
  const auto differences = static_cast<unsigned char>(data[0]),
             width = static_cast<unsigned char>(data[1]),
             packed = static_cast<unsigned char>(data[2]);
  if (differences > 1 || packed > 1 || width > 8 || (width & (width - 1u)) != 0) return false;
  I64 base = 0, last = 0;
  std::memcpy(&base, data.data() + 3, sizeof base);
  std::memcpy(&last, data.data() + 11, sizeof last);
  data.remove_prefix(kHeader);
  const std::size_t size = width * values.size();
  if (packed == 1) {
    if (ZSTD_getFrameContentSize(data.data(), data.size()) != size) return false;
    plain_.resize(std::max(plain_.size(), size));
    if (ZSTD_decompressDCtx(context_.get(), plain_.data(), size, data.data(), data.size()) != size)
      return false;
    data = {plain_.data(), size};
  }
  if (data.size() != size) return false;
  if (width == 0 && differences == 0) std::fill(values.begin(), values.end(), base);
  if (width == 0 && differences == 1)
    for (I64& value : values) value = last = plus(last, static_cast<U64>(base));
  with_width(width, [&]<class U>(U) {
    if (differences == 0)
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = plus(base, unit_at<U>(data.data(), i));
    else
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = last = plus(last, static_cast<U64>(base) + unit_at<U>(data.data(), i));
  });
  return true;
}

namespace {

constexpr unsigned kMostPackers = 8;       // reading and writing the file feeds no more
constexpr std::uint64_t kPlaceCost = 256;  // bytes that knowing of a block takes

/// A block on its way through the workers.
struct Slot {
  const ColumnValues* source = nullptr;
  const ColumnSink* sink = nullptr;
  std::size_t from = 0;
  BlockPlace place;
  std::string data;
  std::vector<std::int64_t> values;
  bool whole = false;
};

std::string where(const BlockPlace& place) {
  return fmt::format("block {} ({}.{}, rows {} to {})", place.block, place.table, place.column,
                     place.row, place.row + place.rows - 1);
}

Status insert_block(sqlite3* db, sqlite3_stmt* raw, const BlockPlace& place, std::string_view data,
                    const std::string& file) {
  const auto text = [&](int at, const std::string& value) {
    sqlite3_bind_text(raw, at, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
  };
  text(1, place.table);
  text(2, place.column);
  sqlite3_bind_int64(raw, 3, place.row);
  sqlite3_bind_int64(raw, 4, place.rows);
  if (place.names.empty())
    sqlite3_bind_null(raw, 5);
  else
    text(5, place.names);
  sqlite3_bind_int64(raw, 6, static_cast<std::int64_t>(block_hash(place, data)));
  sqlite3_bind_blob64(raw, 7, data.data(), data.size(), SQLITE_STATIC);
  if (sqlite3_step(raw) != SQLITE_DONE) return sqlite::failure(db, "cannot be written", file);
  sqlite3_reset(raw);
  return {};
}

}  // namespace

std::string joined_names(std::span<const std::string_view> names) {
  return fmt::format("{}", fmt::join(names, ","));
}

std::uint64_t block_hash(const BlockPlace& place, std::string_view data) {
  const std::string belongs =
      fmt::format("{}.{} {} {} {}", place.table, place.column, place.row, place.rows, place.names);
  return xxh64(data, xxh64(belongs));
}

Status insert_column_values(sqlite3* db, const char* table, std::size_t rows, std::uint32_t first,
                            const std::vector<ColumnValues>& columns, unsigned threads,
                            const std::string& file) {
  // Past the first version, whose programs would see no rows; and what other programs would call
  // the table has not all of them any more.
  std::string sql = fmt::format("{}; PRAGMA user_version = 2; DROP VIEW IF EXISTS {};",
                                kColumnBlocksSchema, table);
  for (const char* joined : {"kernels", "launches", "counters"})
    sql += fmt::format("DROP VIEW IF EXISTS {};", joined);
  if (auto ok = sqlite::execute(db, sql, file); !ok) return ok;
  auto statement = sqlite::prepare(
      db,
      "INSERT INTO column_blocks(\"table\", \"column\", row, rows, names, hash, data) "
      "VALUES(?,?,?,?,?,?,?)",
      file);
  if (!statement) return tl::unexpected(statement.error());
  const unsigned workers = std::min(threads, kMostPackers);
  std::deque<Slot> slots(2 * std::size_t{workers});
  std::deque<ColumnPacker> packers(workers);
  Status status;
  std::atomic<bool> failed{false};
  std::size_t next = 0, from = 0;
  run_in_order(
      slots, workers,
      [&](Slot& slot) {
        if (next == columns.size()) {
          next = 0;
          from += kBlockRows;
        }
        if (from >= rows || failed) return false;
        slot.source = &columns[next++];
        slot.from = from;
        const auto count = std::min(kBlockRows, rows - from);
        slot.place = {0,
                      table,
                      slot.source->column,
                      first + static_cast<std::uint32_t>(from),
                      static_cast<std::uint32_t>(count),
                      slot.source->names,
                      0};
        return true;
      },
      [&](Slot& slot, unsigned worker) {
        slot.values.resize(slot.place.rows);
        slot.whole = slot.source->copy(slot.from, slot.values);
        if (!slot.whole && slot.source == columns.data()) {
          std::ranges::fill(slot.values, slot.source->fallback);
          slot.whole = true;
        }
        if (slot.whole) slot.data = packers[worker].pack(slot.values);
      },
      [&](Slot& slot) {
        if (!slot.whole || failed) return;
        status = insert_block(db, statement->get(), slot.place, slot.data, file);
        if (!status) failed = true;
      });
  return status;
}

namespace {

/// Rows that blocks of a table hold: the same for all of its columns.
Status count_rows(const std::string& table, PackedRows& packed, const std::string& file) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> groups;
  for (auto& [column, places] : packed.columns) {
    std::ranges::sort(places, {}, &BlockPlace::row);
    for (const BlockPlace& place : places) groups.emplace(place.row, place.rows);
    const auto same = [](const BlockPlace& left, const BlockPlace& right) {
      return left.row == right.row;
    };
    if (const auto twice = std::adjacent_find(places.begin(), places.end(), same);
        twice != places.end())
      return fail(where(*twice) + " stands in the file twice", file, -1, kDamagedFile);
  }
  for (const auto& [row, rows] : groups) {
    if (row != packed.rows)
      return fail(fmt::format("table {} lacks row {}, or has it twice", table,
                              std::min<std::size_t>(row, packed.rows)),
                  file, -1, kDamagedFile);
    packed.rows += rows;
  }
  return {};
}

}  // namespace

Result<PackedTables> find_blocks(sqlite3* db, sqlite::ReadBudget& budget, const std::string& file) {
  PackedTables tables;
  auto there = sqlite::plain_table(db, "column_blocks", file);
  if (!there) return tl::unexpected(there.error());
  if (!*there) return tables;
  auto statement = sqlite::prepare(
      db, "SELECT block, \"table\", \"column\", row, rows, names, hash FROM column_blocks", file);
  if (!statement) return tl::unexpected(statement.error());
  sqlite3_stmt* raw = statement->get();
  int code;
  while ((code = sqlite3_step(raw)) == SQLITE_ROW) {
    const std::int64_t row = sqlite3_column_int64(raw, 3), rows = sqlite3_column_int64(raw, 4);
    BlockPlace place{sqlite3_column_int64(raw, 0),
                     std::string(sqlite::column_text(raw, 1)),
                     std::string(sqlite::column_text(raw, 2)),
                     0,
                     0,
                     std::string(sqlite::column_text(raw, 5)),
                     static_cast<std::uint64_t>(sqlite3_column_int64(raw, 6))};
    if (row < 0 || rows < 1 || rows > static_cast<std::int64_t>(kMostBlockRows) ||
        row >= kNoRow - rows)
      return fail(fmt::format("block {} ({}.{}) says that it holds {} rows from {} on", place.block,
                              place.table, place.column, rows, row),
                  file, -1, kDamagedFile);
    place.row = static_cast<std::uint32_t>(row);
    place.rows = static_cast<std::uint32_t>(rows);
    if (auto ok = budget.spend(kPlaceCost + place.names.size()); !ok)
      return tl::unexpected(ok.error());
    auto& places = tables[place.table].columns[place.column];
    places.push_back(std::move(place));
  }
  if (code != SQLITE_DONE) return sqlite::failure(db, "column_blocks cannot be read", file);
  for (auto& [table, packed] : tables)
    if (auto ok = count_rows(table, packed, file); !ok) return tl::unexpected(ok.error());
  return tables;
}

Status read_columns(sqlite3* db, const PackedRows& packed,
                    const std::map<std::string, ColumnSink>& sinks, const std::string& file) {
  if (packed.rows == 0) return {};
  struct Wanted {
    const ColumnSink* sink;
    const BlockPlace* place;
  };
  std::vector<Wanted> wanted;
  for (const auto& [column, sink] : sinks)
    if (const auto places = packed.columns.find(column); places != packed.columns.end())
      for (const BlockPlace& place : places->second) wanted.push_back({&sink, &place});
  // In the order of the file, which for one column is that of its rows.
  std::ranges::stable_sort(wanted, {}, [](const Wanted& one) { return one.place->block; });
  auto statement = sqlite::prepare(db, "SELECT data FROM column_blocks WHERE block = ?", file);
  if (!statement) return tl::unexpected(statement.error());
  sqlite3_stmt* raw = statement->get();
  const unsigned workers = std::min(usable_cores(), kMostPackers);
  std::deque<Slot> slots(2 * std::size_t{workers});
  std::deque<ColumnUnpacker> unpackers(workers);
  Status status, reading;
  std::atomic<bool> failed{false};
  std::size_t next = 0;
  run_in_order(
      slots, workers,
      [&](Slot& slot) {
        if (next == wanted.size() || failed) return false;
        slot.sink = wanted[next].sink;
        slot.place = *wanted[next++].place;
        sqlite3_bind_int64(raw, 1, slot.place.block);
        const bool got = sqlite3_step(raw) == SQLITE_ROW;
        if (got)
          slot.data = sqlite::column_text(raw, 0);
        else
          reading = sqlite::failure(db, where(slot.place) + " cannot be read", file);
        sqlite3_reset(raw);
        return got;
      },
      [&](Slot& slot, unsigned worker) {
        slot.values.resize(slot.place.rows);
        slot.whole = block_hash(slot.place, slot.data) == slot.place.hash &&
                     unpackers[worker].unpack(slot.data, slot.values);
      },
      [&](Slot& slot) {
        if (failed) return;
        std::size_t done = 0;
        slot.sink->fill(slot.place.row);
        if (!slot.whole)
          status = fail(where(slot.place) + " is damaged", file, -1, kDamagedBlock);
        else if (!slot.sink->take(slot.place, slot.values, done))
          status = fail(fmt::format("table {}, row {}: the value of {} is not possible",
                                    slot.place.table, slot.place.row + done, slot.place.column),
                        file, -1, kDamagedFile);
        if (!status) failed = true;
      });
  if (!reading) return reading;
  if (status)
    for (const auto& [column, sink] : sinks) sink.fill(packed.rows);
  return status;
}

}  // namespace gf
