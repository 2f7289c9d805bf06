#include "import/nsight_compute/csv_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/text.h"
#include "import/csv_cells.h"

namespace gf::ncu {

namespace {

std::string_view line_at(std::string_view text, std::size_t at) {
  std::string_view line = text.substr(at, text.find('\n', at) - at);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// f(line, offset) for every line until it returns false.
template <class F>
void each_line(std::string_view text, F&& apply) {
  for (std::size_t at = 0; at < text.size();) {
    if (!apply(line_at(text, at), at)) return;
    const auto end = text.find('\n', at);
    if (end == text.npos) return;
    at = end + 1;
  }
}

/// The separator of a line's cells, by what stands behind the first one.
char separator_of(std::string_view line) {
  std::size_t at = 0;
  if (line.starts_with('"')) at = line.find('"', 1);
  at = line.find_first_of(",;\t", std::min(at, line.size()));
  return at == line.npos ? ',' : line[at];
}

/// True if the cells of a row are a header: of kernels by their number, or of a summary. Rows of
/// values begin with a number.
bool is_header(const std::vector<std::string_view>& cells) {
  if (cells[0].empty() || (cells[0][0] >= '0' && cells[0][0] <= '9')) return false;
  const auto has = [&](std::string_view name) {
    return std::ranges::find(cells, name) != cells.end();
  };
  return (cells[0] == "ID" && has("Kernel Name")) || (has("Metric Name") && has("Average"));
}

}  // namespace

int find_column(const std::vector<std::string>& header, std::string_view name) {
  const auto at = std::ranges::find(header, name);
  if (at == header.end()) return -1;
  return static_cast<int>(at - header.begin());
}

bool is_no_value(std::string_view cell) {
  if (cell.starts_with("(!)")) cell.remove_prefix(3);
  cell = trimmed(cell, " \t");
  return cell.empty() || cell == "n/a" || cell == "N/A" || cell == "nan" || cell == "-nan";
}

std::optional<Number> parse_cell(std::string_view cell, NumberStyle style, int exponent) {
  if (cell.ends_with(')')) cell = cell.substr(0, cell.find(" ("));
  return parse_number(cell, style, exponent);
}

bool is_profiler_line(std::string_view line) {
  return line.starts_with("==") && line.find("==", 2) != line.npos;
}

Result<CsvTable> find_table(std::string_view content, const std::string& path, std::size_t from) {
  CsvTable table;
  bool found = false;
  std::size_t permission = content.npos, error = content.npos, no_kernels = content.npos;
  each_line(content.substr(from), [&](std::string_view line, std::size_t at) {
    at += from;
    if (line.find("Kernel Name") != line.npos || line.find("Metric Name") != line.npos) {
      table.separator = separator_of(line);
      std::vector<std::string_view> cells;
      if (CsvReader reader(content.substr(at), table.separator);
          reader.next(cells) && is_header(cells)) {
        table.text = content.substr(at);
        table.offset = at;
        table.header.assign(cells.begin(), cells.end());
        found = true;
        return false;
      }
    }
    if (permission == content.npos && line.find("ERR_NVGPUCTRPERM") != line.npos) permission = at;
    if (error == content.npos && line.starts_with("==ERROR==")) error = at;
    if (no_kernels == content.npos && line.find("No kernels were profiled") != line.npos)
      no_kernels = at;
    return true;
  });
  if (found) return table;
  const auto offset = [](std::size_t at) { return static_cast<std::int64_t>(at); };
  if (permission != content.npos)
    return fail(
        "Nsight Compute was not allowed to read the GPU's counters (ERR_NVGPUCTRPERM), so there is "
        "no table",
        path, offset(permission),
        "run ncu as root or with CAP_SYS_ADMIN, or load the NVIDIA module with "
        "NVreg_RestrictProfilingToAdminUsers=0; then profile again");
  if (no_kernels != content.npos)
    return fail("Nsight Compute profiled no kernel, so there is no table", path, offset(no_kernels),
                "check the kernel filter, and with --profile-from-start off that the program calls "
                "cudaProfilerStart");
  if (error != content.npos)
    return fail("Nsight Compute ended with an error instead of a table: " +
                    std::string(line_at(content, error).substr(9, 200)),
                path, offset(error), "solve that and profile again");
  return fail("no Nsight Compute table in the text: no header row with \"ID\" and \"Kernel Name\"",
              path, -1, "export with: ncu --import REPORT.ncu-rep --csv --page raw > REPORT.csv");
}

void note_profiler_messages(Capture& capture, std::string_view before_table) {
  each_line(before_table, [&](std::string_view line, std::size_t) {
    if (line.starts_with("==WARNING==") || line.starts_with("==ERROR=="))
      capture.note_quality(QualityCode::profiler_message,
                           "the profiler said: " + std::string(line.substr(0, 200)));
    return true;
  });
}

namespace {

std::int64_t integer(std::string_view text) {
  std::int64_t value = -1;
  std::string plain;
  for (char letter : text)
    if (letter != ',' && letter != '.' && letter != ' ') plain += letter;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error == std::errc() && end == plain.data() + plain.size()) return value;
  return -1;
}

}  // namespace

LaunchColumns::LaunchColumns(const std::vector<std::string>& header) : owned_(header.size()) {
  const std::pair<std::string_view, int*> known[] = {{"ID", &id_},
                                                     {"Process ID", &pid_},
                                                     {"Process Name", &process_name_},
                                                     {"Host Name", &host_name_},
                                                     {"Kernel Name", &name_},
                                                     {"Context", &context_},
                                                     {"Stream", &stream_},
                                                     {"Block Size", &block_},
                                                     {"Grid Size", &grid_},
                                                     {"Device", &device_},
                                                     {"CC", &cc_},
                                                     {"Invocations", &launches_}};
  for (std::size_t i = 0; i < header.size(); ++i) {
    for (auto [name, column] : known)
      if (header[i] == name && *column < 0) {
        *column = static_cast<int>(i);
        owned_[i] = true;
      }
    if (header[i] == "Kernel Time" || header[i] == "Function Name") owned_[i] = true;
  }
}

Launch LaunchColumns::read(const std::vector<std::string_view>& row) const {
  Launch launch;
  launch.id = integer(cell_of(row, id_));
  launch.pid = integer(cell_of(row, pid_));
  launch.device = integer(cell_of(row, device_));
  launch.context = integer(cell_of(row, context_));
  launch.stream = integer(cell_of(row, stream_));
  launch.name = cell_of(row, name_);
  launch.grid = parse_dim3(cell_of(row, grid_));
  launch.block = parse_dim3(cell_of(row, block_));
  launch.launches = integer(cell_of(row, launches_));
  const std::string_view cc = cell_of(row, cc_);
  if (const auto point = cc.find_first_of(".,"); point != cc.npos && point > 0) {
    launch.compute_major = static_cast<int>(integer(cc.substr(0, point)));
    launch.compute_minor = static_cast<int>(integer(cc.substr(point + 1)));
  }
  return launch;
}

Dim3 parse_dim3(std::string_view text) {
  Dim3 out{-1, -1, -1};
  std::size_t axis = 0;
  for (std::size_t i = 0; i < text.size() && axis < 3;) {
    if (text[i] < '0' || text[i] > '9') {
      ++i;
      continue;
    }
    std::int64_t value = -1;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), value);
    if (error != std::errc()) return {-1, -1, -1};
    i = static_cast<std::size_t>(end - text.data());
    out[axis++] = value;
  }
  if (axis == 3) return out;
  return Dim3{-1, -1, -1};
}

void RoundingLoss::add(const Number& number, std::string_view metric) {
  if (number.resolution <= 1e-6 * std::fabs(number.value)) return;
  if (values++ == 0) first = metric;
}

void RoundingLoss::note(Capture& capture) const {
  if (values > 0)
    capture.note_quality(QualityCode::rounded_counters,
                         fmt::format("the text export keeps fewer than six digits of these values, "
                                     "first of {}; the .ncu-rep file has them exactly",
                                     first),
                         values);
}

TableRows::TableRows(const CsvTable& table, std::vector<ShortRow> kinds)
    : table_(table), kinds_(std::move(kinds)), reader_(table.text, table.separator) {
  std::vector<std::string_view> header;
  reader_.next(header);
}

bool TableRows::is_whole(const std::vector<std::string_view>& row) const {
  // Cells of ncu are quoted: a file that ends right behind a separator ends inside a row, unless
  // its kind ends so.
  const bool cut = reader_.row_was_cut() && table_.text.starts_with('"') &&
                   table_.text.ends_with(table_.separator);
  if (row.size() == table_.header.size()) return !cut;
  if (row.size() > table_.header.size()) return false;
  return std::ranges::any_of(kinds_, [&](const ShortRow& kind) {
    const auto least = static_cast<std::size_t>(kind.last) + 1;
    if (cell_of(row, kind.marked).empty() || row.size() < least) return false;
    return !reader_.row_was_cut() || (cut && kind.separated && row.size() == least + 1);
  });
}

bool TableRows::next(std::vector<std::string_view>& row) {
  while (reader_.next(row)) {
    while (row.size() > table_.header.size() && row.back().empty()) row.pop_back();
    const bool whole = is_whole(row);
    if (reader_.cell_was_cut() ||
        (reader_.row_was_cut() && row.size() <= table_.header.size() && !whole)) {
      cut_at_ = reader_.row_offset();
      return false;
    }
    if (is_profiler_line(row[0])) {
      ++messages_;
    } else if (is_header(row)) {
      next_table_ = reader_.row_offset();
      return false;
    } else if (whole) {
      return true;
    } else {
      bad_row();
    }
  }
  return false;
}

void TableRows::bad_row() {
  if (bad_++ == 0) first_bad_ = reader_.row_offset();
}

void TableRows::note(Capture& capture) const {
  if (bad_ > 0)
    capture.note_quality(
        QualityCode::bad_row,
        fmt::format("rows that are not rows of the table, first at byte {} of it", first_bad_),
        bad_);
  if (cut_at_ != std::string_view::npos)
    capture.note_quality(
        QualityCode::truncated,
        fmt::format("the file ends inside a row, at byte {} of its table", cut_at_));
  if (messages_ > 0)
    capture.note_quality(QualityCode::profiler_message, "lines of the profiler between the rows",
                         messages_);
}

}  // namespace gf::ncu
