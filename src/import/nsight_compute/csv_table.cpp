#include "import/nsight_compute/csv_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "import/csv_cells.h"

namespace gf::ncu {

namespace {

std::string_view line_at(std::string_view text, std::size_t at) {
  std::string_view line = text.substr(at, text.find('\n', at) - at);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool starts_header(std::string_view line) {
  if (line.starts_with("\"ID\""))
    return line.size() > 4 && (line[4] == ',' || line[4] == ';' || line[4] == '\t');
  return line.starts_with("ID,") || line.starts_with("ID;") || line.starts_with("ID\t");
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

}  // namespace

bool is_profiler_line(std::string_view line) {
  return line.starts_with("==") && line.find("==", 2) != line.npos;
}

Result<CsvTable> find_table(std::string_view content, const std::string& path) {
  CsvTable table;
  bool found = false;
  std::size_t permission = content.npos, error = content.npos, no_kernels = content.npos;
  each_line(content, [&](std::string_view line, std::size_t at) {
    if (starts_header(line)) {
      table.separator = line[line[0] == '"' ? 4 : 2];
      std::vector<std::string_view> cells;
      if (CsvReader reader(content.substr(at), table.separator);
          reader.next(cells) && std::ranges::find(cells, "Kernel Name") != cells.end()) {
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
                                                     {"CC", &cc_}};
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
  launch.id = integer(cell(row, id_));
  launch.pid = integer(cell(row, pid_));
  launch.device = integer(cell(row, device_));
  launch.context = integer(cell(row, context_));
  launch.stream = integer(cell(row, stream_));
  launch.name = cell(row, name_);
  launch.grid = parse_dim3(cell(row, grid_));
  launch.block = parse_dim3(cell(row, block_));
  const std::string_view cc = cell(row, cc_);
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

void RowDamage::bad_row(std::size_t offset) {
  if (bad++ == 0) first = offset;
}

void RowDamage::note(Capture& capture) const {
  if (bad > 0)
    capture.note_quality(
        QualityCode::bad_row,
        fmt::format("rows that are not rows of the table, first at byte {} of it", first), bad);
  if (cut)
    capture.note_quality(
        QualityCode::truncated,
        fmt::format("the file ends inside a row, at byte {} of its table", cut_at));
  if (messages > 0)
    capture.note_quality(QualityCode::profiler_message, "lines of the profiler between the rows",
                         messages);
}

bool next_row(CsvReader& reader, const CsvTable& table, std::vector<std::string_view>& row,
              RowDamage& damage) {
  while (reader.next(row)) {
    if (row.size() < table.header.size() && reader.row_was_cut()) {
      damage.cut = true;
      damage.cut_at = reader.row_offset();
      return false;
    }
    if (!is_profiler_line(row[0])) return true;
    ++damage.messages;
  }
  return false;
}

}  // namespace gf::ncu
