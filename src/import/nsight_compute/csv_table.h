// The table inside what `ncu --csv` printed: it may follow messages of the profiler and the
// program's own output.
// The columns that both pages begin with: which kernel a row is about.
#pragma once

#include <cstdint>
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

/// Finds the header row ("ID", ..., "Kernel Name", ...). Errors name what stands there instead: the
/// permission message ERR_NVGPUCTRPERM, another error of the profiler, an empty export, no table at
/// all.
Result<CsvTable> find_table(std::string_view content, const std::string& path);

/// True for a line of the profiler between or before rows ("==PROF== ...").
bool is_profiler_line(std::string_view line);
/// Counts ==WARNING== and ==ERROR== lines before the table in the capture's quality.
void note_profiler_messages(Capture& capture, std::string_view before_table);

class LaunchColumns {
 public:
  explicit LaunchColumns(const std::vector<std::string>& header);

  bool owns(std::size_t column) const { return column < owned_.size() && owned_[column]; }
  std::string_view id(const std::vector<std::string_view>& row) const { return cell(row, id_); }
  Launch read(const std::vector<std::string_view>& row) const;
  std::string_view process_name(const std::vector<std::string_view>& row) const {
    return cell(row, process_name_);
  }
  std::string_view host_name(const std::vector<std::string_view>& row) const {
    return cell(row, host_name_);
  }

 private:
  static std::string_view cell(const std::vector<std::string_view>& row, int column) {
    if (column >= 0 && static_cast<std::size_t>(column) < row.size())
      return row[static_cast<std::size_t>(column)];
    return std::string_view{};
  }
  int id_ = -1, pid_ = -1, process_name_ = -1, host_name_ = -1, name_ = -1, context_ = -1,
      stream_ = -1, block_ = -1, grid_ = -1, device_ = -1, cc_ = -1;
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

/// Counts rows that are not rows of the table.
struct RowDamage {
  std::int64_t bad = 0, messages = 0;
  std::size_t first = 0, cut_at = 0;
  bool cut = false;
  void bad_row(std::size_t offset);
  void note(Capture& capture) const;
};

/// Reads the next row of a table that is no message of the profiler; false at the table's end and
/// where the file is cut inside a row.
bool next_row(CsvReader& reader, const CsvTable& table, std::vector<std::string_view>& row,
              RowDamage& damage);

}  // namespace gf::ncu
