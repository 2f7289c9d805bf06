// The capture file (.gpf): a SQLite database with one table for each table of tables.def, so that
// any SQLite tool reads it.
//
//   strings(id, text)       every distinct text once
//   _NAME(row, columns…)    the rows of table NAME; texts and enumeration names as ids of strings;
//   NULL where the
//                           value is not known (-1, empty, NaN, no row)
//   NAME                    a view of it with readable texts; a few more views join what belongs
//   together source                  where the capture came from sample_blocks           packed
//   samples of a recording (sample_block.h); counter_values.h reads both
//
// application_id says that it is ours, user_version is the format's version. A column may be added
// to tables.def without a new version: readers give missing columns their default and ignore those
// they do not know. Changing a meaning raises it.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/progress.h"
#include "model/capture.h"
#include "model/file_kept.h"
#include "model/sqlite.h"

namespace gf {

inline constexpr std::uint32_t kCaptureFileId = 0x67706661;  // "gpfa", at byte 68 of the file
inline constexpr int kRowsVersion = 1;  // without packed tables: older programs read it
inline constexpr int kCaptureFileVersion = 2;

inline constexpr std::uint64_t kMostBytes = 64ull << 30;  // that may be made of a file, unless told

/// True if the first bytes of a file are those of a capture file (of any version).
bool is_capture_file(std::string_view head);

/// Writes a capture as a new file, whole or not at all: it appears under its name only when
/// complete, replacing the capture that was there. What is no capture is never replaced. `keep` is
/// asked when all rows are written: the capture is not needed any more.
Status write_capture(const Capture& capture, const std::string& path, const Progress& progress = {},
                     const KeepMore& keep = {});

/// Reads a whole capture file. Fails with a clear error when it is damaged, of a newer version or
/// another program's, or makes more than `max_bytes`, unpacked samples included.
Result<Capture> read_capture(const std::string& path, const Progress& progress = {},
                             std::uint64_t max_bytes = kMostBytes);

/// Puts a capture into a database that is open and empty, schema and views included.
Status store_capture(sqlite3* db, const Capture& capture, const Progress& progress = {},
                     const KeepMore& keep = {});

/// Opens a capture file, after checking that it is one.
Result<sqlite::Database> open_capture_file(const std::string& path);

/// Writes a capture file while it is being recorded. Each append is one transaction: a process that
/// is killed leaves a file that holds everything appended before. The first append makes the file.
class CaptureWriter {
 public:
  /// Makes a new file, or begins the capture that was there anew. Errors: what is there is no
  /// capture, or another process writes it.
  static Result<CaptureWriter> create(const std::string& path);

  /// Appends what `capture` holds, in one transaction, and then clears its blocks and event tables
  /// (all but those with keys, such as devices and threads, which are kept and written anew each
  /// time, as are the source fields). References between event tables (collectives.activity,
  /// kernel_counters.kernel) are row numbers within one append. Always pass the same capture: its
  /// string pool and its rows of devices and threads must only grow.
  ///
  /// Rows of a table stay rows until they are enough to be packed as columns; the `last` append
  /// seals the file.
  Status append(Capture& capture, bool last = false);

  /// The time that an append waits for another program that reads the file: 10 s unless told.
  static constexpr int kPatienceMs = 10'000;
  void be_patient(int milliseconds) { sqlite3_busy_timeout(db_.get(), milliseconds); }

  /// Rows written so far, all event tables together.
  std::uint64_t rows() const { return rows_; }

 private:
  struct CloseFile {
    void operator()(const int* fd) const;
  };
  using OpenFile = std::unique_ptr<int, CloseFile>;
  CaptureWriter(std::string path, OpenFile claim, sqlite::Database db)
      : path_(std::move(path)), claim_(std::move(claim)), db_(std::move(db)) {}
  std::string path_;
  OpenFile claim_;  // locked while this writer lives; closed after the database, whose locks end
                    // with any descriptor of the file
  sqlite::Database db_;
  std::uint32_t strings_ = 0;  // texts written so far
  Tables tail_;                // rows of event tables that stand as rows
  PerTable packed_{};          // rows of each before them, packed
  std::uint64_t rows_ = 0;
};

/// The table of packed samples; made when the first block is written.
inline constexpr const char* kSampleBlocksSchema =
    "CREATE TABLE IF NOT EXISTS sample_blocks(row INTEGER PRIMARY KEY, device INTEGER, start_ns "
    "INTEGER, end_ns INTEGER, samples INTEGER, \"values\" INTEGER, metrics TEXT, hash INTEGER, "
    "data BLOB)";

/// A view that the capture file has besides those of the tables.
struct CaptureView {
  const char* name;
  const char* about;
  const char* sql;
};
std::span<const CaptureView> capture_views();
/// The statements that make an empty capture file.
std::string capture_schema();

}  // namespace gf
