#include "import/nsight_compute/csv_launch.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

namespace gf::ncu {

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
