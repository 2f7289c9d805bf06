// A capture file that is open: reads what is asked for, and that once.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/progress.h"
#include "model/capture.h"
#include "model/file.h"
#include "model/file_blocks.h"
#include "model/file_columns.h"
#include "model/file_seal.h"
#include "model/sqlite.h"

namespace gf {

inline constexpr std::uint64_t kAllColumns = UINT64_MAX;
/// The bit of a table's column in a set of columns; those from 63 on share the last one.
inline unsigned column_bit(unsigned column) { return std::min(column, 63u); }

class CaptureReader {
 public:
  /// Reads texts and source, and where the rest is.
  static Result<CaptureReader> open(const std::string& path, std::uint64_t max_bytes = kMostBytes);

  /// Reads columns of a table into capture(). Its other columns stay empty.
  Status load(TableId table, std::uint64_t columns = kAllColumns);
  /// Reads the packed samples and the devices that they are of; quality says what is damaged.
  Status load_samples(const Progress& progress = {});
  /// Rows that the file holds of a table, whether loaded or not.
  Result<std::size_t> rows(TableId table);

  Capture& capture() { return *capture_; }
  std::shared_ptr<Capture> shared_capture() { return capture_; }

 private:
  struct Stored {
    std::size_t packed = 0, rows = 0;
    bool has_rows = false;  // the table itself is there
  };
  CaptureReader(std::string path, std::uint64_t max_bytes, sqlite::Database db)
      : path_(std::move(path)),
        max_bytes_(max_bytes),
        db_(std::move(db)),
        budget_(path_, max_bytes) {}
  Status start();
  template <class Table>
  Status load(Table& table, std::uint64_t columns);
  Status tell_seal();
  const PackedRows& packed(const char* table) const;
  Result<Stored> stored(const char* table);

  std::string path_;
  std::uint64_t max_bytes_;
  sqlite::Database db_;
  sqlite::ReadBudget budget_;
  FileStrings strings_;
  PackedTables packed_;
  Seal seal_ = Seal::none;
  bool seal_told_ = false;
  std::array<std::uint64_t, kTableCount> loaded_{};
  std::array<std::optional<std::size_t>, kTableCount> rows_{};
  bool samples_loaded_ = false;
  std::shared_ptr<Capture> capture_ = std::make_shared<Capture>();
};

}  // namespace gf
