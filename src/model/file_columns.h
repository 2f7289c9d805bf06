// Rows of tables that a capture file holds as blocks of columns (column_block.h): tables of many
// rows. A row of column_blocks is some thousand values of one column, from row `row` on. A column
// that is at its default in all these rows has no block, unless it is the table's first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "model/file_values.h"
#include "model/sqlite.h"
#include "model/tables.h"

// Some thousand values of one column as bytes of a capture file. Numbers are little-endian:
//
//   byte 0       0: v[i] = base + u[i];  1: v[i] = v[i-1] + base + u[i], the first from `before`
//   byte 1       bytes of one u: 0 (every u is 0), 1, 2, 4 or 8, without sign
//   byte 2       0: the u follow as they are;  1: as one zstd frame
//   bytes 3-10   base;  bytes 11-18  before (signed; sums wrap around)
//
// A real number is the integer of its bits.

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace gf {

inline constexpr std::size_t kMostBlockRows = 1 << 20;  // one of more is none of ours

class ColumnPacker {
 public:
  ColumnPacker();
  ~ColumnPacker();
  ColumnPacker(const ColumnPacker&) = delete;
  std::string pack(std::span<const std::int64_t> values);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  std::string plain_, packed_;  // room, as much as was ever needed
};

/// With memory that is used again from block to block.
class ColumnUnpacker {
 public:
  ColumnUnpacker();
  ~ColumnUnpacker();
  ColumnUnpacker(const ColumnUnpacker&) = delete;
  /// False: these bytes are no block of so many values, of which there may be kMostBlockRows.
  bool unpack(std::string_view data, std::span<std::int64_t> values);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::string plain_;
};

inline constexpr std::size_t kPackedFrom = 8192;  // rows; fewer stand as rows
inline constexpr std::size_t kBlockRows = 32768;

inline constexpr const char* kColumnBlocksSchema =
    "CREATE TABLE IF NOT EXISTS column_blocks(block INTEGER PRIMARY KEY, \"table\" TEXT, "
    "\"column\" TEXT, row INTEGER, rows INTEGER, names TEXT, hash INTEGER, data BLOB)";

/// A block without its data.
struct BlockPlace {
  std::int64_t block = 0;
  std::string table, column;
  std::uint32_t row = 0, rows = 0;
  std::string names;  // of the enumerators that the values number, with commas between
  std::uint64_t hash = 0;
};

/// The value in `hash`: that of the data, seeded with the hash of where it belongs.
std::uint64_t block_hash(const BlockPlace& place, std::string_view data);

/// Values of a column as the file numbers them.
struct ColumnValues {
  const char* column;
  std::string names;
  std::int64_t fallback = 0;  // their default
  /// Puts the values from a row on in place; false when all are at their default, and not in place.
  std::function<bool(std::size_t from, std::span<std::int64_t> out)> copy;
};

/// Writes rows as blocks, packed by so many threads.
Status insert_column_values(sqlite3* db, const char* table, std::size_t rows, std::uint32_t first,
                            const std::vector<ColumnValues>& columns, unsigned threads,
                            const std::string& file);

/// Positions of a table's blocks.
struct PackedRows {
  std::size_t rows = 0;
  std::map<std::string, std::vector<BlockPlace>, std::less<>> columns;  // in order of rows
};
using PackedTables = std::map<std::string, PackedRows, std::less<>>;
/// Error: what the blocks say of themselves does not fit together.
Result<PackedTables> find_blocks(sqlite3* db, sqlite::ReadBudget& budget, const std::string& file);

/// Takes the values of a column in order of rows. False: one of them is not possible; `done` then
/// says how many were.
struct ColumnSink {
  std::function<bool(const BlockPlace& place, std::span<const std::int64_t> values,
                     std::size_t& done)>
      take;
  std::function<void(std::size_t rows)> fill;  // up to this row with the default
};

/// Reads columns of one table, each from its blocks.
Status read_columns(sqlite3* db, const PackedRows& packed,
                    const std::map<std::string, ColumnSink>& sinks, const std::string& file);

std::string joined_names(std::span<const std::string_view> names);

/// Writes the rows of a table, of which the first is row `first` of the file, as blocks.
template <class Table>
Status insert_columns(sqlite3* db, const Table& table, std::uint32_t first, unsigned threads,
                      const std::string& file) {
  std::vector<ColumnValues> columns;
  table.each_column_ref([&](const auto& ref) {
    using Declared = typename std::remove_cvref_t<decltype(ref)>::Declared;
    using Value = ValueOf<Declared>;
    ColumnValues& values = columns.emplace_back();
    values.column = ref.info.name;
    if constexpr (kIsListed<Declared>) values.names = joined_names(EnumNames<Value>::names);
    const std::int64_t fallback = stored_value<Declared>(ColumnType<Declared>::kFallback);
    values.fallback = fallback;
    values.copy = [&column = ref.column, fallback](std::size_t from, std::span<std::int64_t> out) {
      if (column.folded()) {
        const std::int64_t all = stored_value<Declared>(column[0]);
        if (all != fallback) std::fill(out.begin(), out.end(), all);
        return all != fallback;
      }
      bool any = false;
      const auto put = [&](const auto& rows) {
        for (std::size_t i = 0; i < out.size(); ++i) {
          out[i] = stored_value<Declared>(static_cast<Value>(rows[from + i]));
          any |= out[i] != fallback;
        }
      };
      if constexpr (std::is_same_v<Value, std::int64_t>)
        put(column);  // which may be narrow, and stays so
      else
        put(column.span());
      return any;
    };
  });
  return insert_column_values(db, Table::kName, table.size(), first, columns, threads, file);
}

}  // namespace gf
