// The table inside what `ncu --csv` printed: it may follow messages of the profiler and the
// program's own output.
// The columns that both pages begin with: which kernel a row is about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "import/csv_cells.h"
#include "import/nsight_compute/report_builder.h"
#include "import/nsight_compute/units.h"
#include "model/capture.h"

namespace gf::ncu {

struct CsvTable {
  std::string_view text;   // from the header row to the end
  std::size_t offset = 0;  // of the header row in the file
  char separator = ',';
  std::vector<std::string> header;
};

/// Finds the next header row at or behind `from`: "ID", ..., "Kernel Name", ..., or that of a
/// summary, ..., "Metric Name", ..., "Average". Errors name what stands there instead: the
/// permission message ERR_NVGPUCTRPERM, another error of the profiler, an empty export, no table at
/// all.
Result<CsvTable> find_table(std::string_view content, const std::string& path,
                            std::size_t from = 0);

/// The place of a column in a header; -1: not there.
int find_column(const std::vector<std::string>& header, std::string_view name);
inline std::string_view cell_of(const std::vector<std::string_view>& row, int column) {
  if (column < 0 || static_cast<std::size_t>(column) >= row.size()) return {};
  return row[static_cast<std::size_t>(column)];
}

/// True for a line of the profiler between or before rows ("==PROF== ...").
bool is_profiler_line(std::string_view line);
/// Counts ==WARNING== and ==ERROR== lines before the table in the capture's quality.
void note_profiler_messages(Capture& capture, std::string_view before_table);

class LaunchColumns {
 public:
  explicit LaunchColumns(const std::vector<std::string>& header);

  bool owns(std::size_t column) const { return column < owned_.size() && owned_[column]; }
  std::string_view id(const std::vector<std::string_view>& row) const { return cell_of(row, id_); }
  Launch read(const std::vector<std::string_view>& row) const;
  std::string_view process_name(const std::vector<std::string_view>& row) const {
    return cell_of(row, process_name_);
  }
  std::string_view host_name(const std::vector<std::string_view>& row) const {
    return cell_of(row, host_name_);
  }

 private:
  int id_ = -1, pid_ = -1, process_name_ = -1, host_name_ = -1, name_ = -1, context_ = -1,
      stream_ = -1, block_ = -1, grid_ = -1, device_ = -1, cc_ = -1, launches_ = -1;
  std::vector<bool> owned_;
};

/// "(1568, 1, 1)" or "1568x1x1"; -1s when it is neither.
Dim3 parse_dim3(std::string_view text);

/// Adds up what the rounding of a text export costs, for capture.quality.
struct RoundingLoss {
  std::int64_t values = 0;
  std::string first;
  void add(const Number& number, std::string_view metric);
  void note(Capture& capture) const;
};

/// A kind of row that ends before the header does: it has no cells for the columns behind `last`.
struct ShortRow {
  int marked;      // the column that only rows of this kind fill
  int last;        // their last column
  bool separated;  // a separator follows it all the same
};

/// The whole rows of a table, one by one. What is no row of it is counted: lines of the profiler,
/// rows with too few or too many cells, a file that ends inside a row.
class TableRows {
 public:
  explicit TableRows(const CsvTable& table, std::vector<ShortRow> kinds = {});

  /// False at the end of the table: that of the file, or where another header follows.
  bool next(std::vector<std::string_view>& row);
  /// The row that next() gave last is none of the table after all.
  void bad_row();
  /// The place of another header, from the table's first byte; npos: nowhere.
  std::size_t next_table() const { return next_table_; }
  void note(Capture& capture) const;

 private:
  bool is_whole(const std::vector<std::string_view>& row) const;

  const CsvTable& table_;
  const std::vector<ShortRow> kinds_;
  CsvReader reader_;
  std::int64_t bad_ = 0, messages_ = 0;
  std::size_t first_bad_ = 0, cut_at_ = std::string_view::npos,
              next_table_ = std::string_view::npos;
};

/// Tables with one row a kernel and metric (or rule): the details page and the summaries.
bool has_rows_of_metrics(const CsvTable& table);
/// Reads one, and says where another table follows (TableRows::next_table).
Result<std::size_t> read_details_page(Capture& capture, ReportBuilder& builder,
                                      const CsvTable& table, const std::string& path);

/// Cells that say that a value is missing: "", "n/a", "(!) nan".
bool is_no_value(std::string_view cell);
/// parse_number of a cell that may go on with the value's instances: "12.5 (4; 8.5)".
std::optional<Number> parse_cell(std::string_view cell, NumberStyle style, int exponent);

}  // namespace gf::ncu
