// Tables of all GPU work in order of time: nvprof --print-gpu-trace --csv, whose second row has the
// units, and nsys stats --report cuda_gpu_trace --format csv, whose headings have them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>

#include "core/text.h"
#include "import/csv_cells.h"
#include "import/formats.h"
#include "import/importer.h"
#include "import/trace_rows.h"

namespace gf::gpu_trace_csv {

namespace {

/// A known column: its names in either table.
struct Known {
  std::string_view nvprof, nsys;
};
enum Role {
  kStart,
  kDuration,
  kGrid,
  kBlock = kGrid + 3,
  kRegisters = kBlock + 3,
  kBytes,
  kFrom,
  kTo,
  kDevice,
  kContext,
  kStream,
  kName,
  kCorrelation,
  kRoles
};
constexpr std::array<Known, kRoles> kColumns{{{"start", "start"},
                                              {"duration", "duration"},
                                              {"grid x", "grdx"},
                                              {"grid y", "grdy"},
                                              {"grid z", "grdz"},
                                              {"block x", "blkx"},
                                              {"block y", "blky"},
                                              {"block z", "blkz"},
                                              {"registers per thread", "reg/trd"},
                                              {"size", "bytes"},
                                              {"srcmemtype", "srcmemkd"},
                                              {"dstmemtype", "dstmemkd"},
                                              {"device", "device"},
                                              {"context", "ctx"},
                                              {"stream", "strm"},
                                              {"name", "name"},
                                              {"correlation_id", "corrid"}}};

/// The exponent of ten from a unit of time to nanoseconds.
std::optional<int> exponent_of(std::string_view unit) {
  if (unit == "s") return 9;
  if (unit == "ms") return 6;
  if (unit == "us") return 3;
  if (unit == "ns" || unit == "ts_ns" || unit == "dur_ns") return 0;
  return {};
}

/// nvprof counts in powers of 1024.
double bytes_of(std::string_view unit, bool nvprof) {
  const double step = nvprof ? 1024 : 1000;
  if (unit == "KB") return step;
  if (unit == "MB") return step * step;
  return unit == "GB" ? step * step * step : 1;
}

/// "Start (ns)" and "Start:ts_ns" -> start, ns.
std::pair<std::string, std::string> split_heading(std::string_view heading) {
  heading = trimmed(heading);
  const auto open = heading.find_first_of("(:");
  if (open == heading.npos) return {lower_case(heading), ""};
  auto unit = heading.substr(open + 1);
  if (unit.ends_with(')')) unit.remove_suffix(1);
  return {lower_case(trimmed(heading.substr(0, open))), std::string(unit)};
}

struct Columns {
  std::array<std::size_t, kRoles> at{};  // kNone: the table has none
  std::array<std::string, kRoles> unit;
  std::size_t width = 0;
  bool nvprof = false;
};
constexpr std::size_t kNone = SIZE_MAX;

std::optional<Columns> columns_of(const std::vector<std::string_view>& heading) {
  Columns columns;
  columns.at.fill(kNone);
  columns.width = heading.size();
  for (std::size_t i = 0; i < heading.size(); ++i) {
    const auto [name, unit] = split_heading(heading[i]);
    columns.nvprof |= name == "grid x";
    for (std::size_t role = 0; role < kRoles; ++role)
      if ((name == kColumns[role].nvprof || name == kColumns[role].nsys) &&
          columns.at[role] == kNone) {
        columns.at[role] = i;
        columns.unit[role] = unit;
      }
  }
  for (const Role needed : {kStart, kDuration, kDevice, kName, kGrid})
    if (columns.at[needed] == kNone) return {};
  return columns;
}

/// The text from its heading on; empty where it has none. Before it stands what the tools say.
std::string_view from_heading(std::string_view text, std::size_t most_lines) {
  for (std::size_t line = 0; line < most_lines && !text.empty(); ++line) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto first = text.substr(0, end);
    if (first.find("Duration") != first.npos && first.find("Name") != first.npos) {
      CsvReader reader(text.substr(0, std::min(end + 1, text.size())));
      std::vector<std::string_view> heading;
      if (reader.next(heading) && columns_of(heading)) return text;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

class Table {
 public:
  explicit Table(Capture& capture) : c_(capture), rows_(capture) {}

  Status run(std::string_view text) {
    CsvReader reader(text);
    std::vector<std::string_view> row;
    if (!reader.next(row)) return fail("has no heading");
    columns_ = *columns_of(row);
    if (columns_.nvprof && reader.next(row))
      for (std::size_t role = 0; role < kRoles; ++role)
        if (columns_.at[role] < row.size()) columns_.unit[role] = row[columns_.at[role]];
    start_ = exponent_of(columns_.unit[kStart]);
    duration_ = exponent_of(columns_.unit[kDuration]);
    if (!start_ || !duration_) return fail("has times without their units");
    while (reader.next(row)) {
      if (row.size() < columns_.width && reader.row_was_cut()) {
        c_.note_quality(
            QualityCode::truncated,
            fmt::format("the file ends inside a line, at byte {}", reader.row_offset()));
        break;
      }
      if (row.size() == 1 || row[0].starts_with("==")) continue;  // what nvprof says in between
      if (row.size() != columns_.width || !add(row)) rows_.bad_row();
    }
    rows_.finish();
    return {};
  }

 private:
  std::string_view cell(const std::vector<std::string_view>& row, std::size_t role) const {
    const auto at = columns_.at[role];
    return at < row.size() ? trimmed(row[at]) : std::string_view{};
  }
  std::int64_t number(const std::vector<std::string_view>& row, std::size_t role) const {
    const auto text = cell(row, role);
    std::int64_t value = -1;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
    return wrong == std::errc() && end == text.data() + text.size() ? value : -1;
  }

  bool add(const std::vector<std::string_view>& row) {
    const auto start = parse_decimal(cell(row, kStart), *start_);
    const auto length = parse_decimal(cell(row, kDuration), *duration_);
    if (!start || !length) return false;
    const auto end = checked_add(*start, *length);
    const auto device = device_of(cell(row, kDevice));
    if (!end || device == kNoRow) return false;
    DeviceWork work;
    work.start = *start;
    work.end = *end;
    work.device = device;
    work.context = number(row, kContext);
    work.stream = number(row, kStream);
    work.correlation = number(row, kCorrelation);
    const auto name = cell(row, kName);
    if (name.starts_with("[CUDA memcpy") || name.starts_with("[CUDA Unified Memory memcpy")) {
      work.kind = ActivityKind::memcpy;
      work.copy = copy_direction(name);
      work.bytes = bytes(row);
      if (!cell(row, kFrom).empty())
        work.name = c_.strings.intern(
            fmt::format("{} ({} -> {})", copy_name(work.copy), cell(row, kFrom), cell(row, kTo)));
    } else if (name.starts_with("[CUDA memset")) {
      work.kind = ActivityKind::memset;
      work.bytes = bytes(row);
      work.name = c_.strings.intern("Memset");
    } else {
      work.name = c_.strings.intern(name);
      work.registers = number(row, kRegisters);
      for (std::size_t i = 0; i < 3; ++i) {
        work.grid[i] = number(row, kGrid + i);
        work.block[i] = number(row, kBlock + i);
      }
    }
    rows_.work(work);
    return true;
  }

  std::int64_t bytes(const std::vector<std::string_view>& row) const {
    const auto text = cell(row, kBytes);
    double value = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
    value *= bytes_of(columns_.unit[kBytes], columns_.nvprof);
    return wrong == std::errc() && value >= 0 && value < 9e18 ? static_cast<std::int64_t>(value)
                                                              : -1;
  }

  /// "NVIDIA H100 80GB HBM3 (0)".
  std::uint32_t device_of(std::string_view cell) {
    const auto open = cell.rfind('(');
    std::int32_t number = -1;
    if (open == cell.npos || !cell.ends_with(')')) return kNoRow;
    std::from_chars(cell.data() + open + 1, cell.data() + cell.size() - 1, number);
    if (number < 0) return kNoRow;
    const auto row = rows_.device(number, "nvidia");
    if (row != kNoRow) c_.devices.name[row] = c_.strings.intern(trimmed(cell.substr(0, open)));
    return row;
  }

  Capture& c_;
  TraceRows rows_;
  Columns columns_;
  std::optional<int> start_, duration_;
};

Result<Capture> parse(std::string_view content, const std::string& path) {
  constexpr std::size_t kAllLines = 100'000;
  Capture capture;
  capture.path = path;
  capture.format = "gpu_trace_csv";
  capture.bytes = static_cast<std::int64_t>(content.size());
  const auto table = from_heading(content, kAllLines);
  if (table.empty()) return fail("has no table of GPU work", path);
  if (auto done = Table(capture).run(table); !done) {
    done.error().file = path;
    return tl::unexpected(done.error());
  }
  capture.note_quality(QualityCode::no_absolute_time,
                       "the table counts from the program's start: a power log cannot be laid "
                       "beside it");
  return capture;
}

}  // namespace

int sniff(std::string_view, std::string_view head) {
  constexpr std::size_t kLines = 50;
  if (head.starts_with('{') || head.starts_with('[')) return 0;
  return from_heading(head.substr(0, 64 << 10), kLines).empty() ? 0 : 93;
}

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  return load_text(path, options, parse);
}

}  // namespace gf::gpu_trace_csv
