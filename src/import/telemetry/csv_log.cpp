#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/text.h"
#include "import/csv_cells.h"
#include "import/formats.h"
#include "import/importer.h"
#include "import/telemetry/csv_columns.h"
#include "import/telemetry/log_devices.h"
#include "import/telemetry/quantities.h"
#include "import/telemetry/timestamps.h"
#include "model/counter_values.h"

namespace gf::telemetry {

namespace {

/// Seconds since 1970, or thousandths, millionths, billionths of them: no log is of another
/// century.
std::optional<Nanos> parse_epoch(std::string_view cell) {
  const auto digits = std::min(cell.find('.'), cell.size());
  return parse_decimal(cell, digits < 12 ? 9 : digits < 15 ? 6 : digits < 18 ? 3 : 0);
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

/// Without a byte order mark, blank lines, and the line that amd-smi prints first: 'CTRL' + 'C' to
/// stop watching output.
std::string_view from_heading(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.starts_with("'CTRL'"))
    text.remove_prefix(std::min(first_line(text).size() + 1, text.size()));
  while (text.starts_with('\n') || text.starts_with("\r\n"))
    text.remove_prefix(text.front() == '\r' ? 2 : 1);
  return text;
}

/// Quantities that only AMD's tools log under these names.
bool is_of_amd(std::string_view header) {
  return header == "gfx_activity" || header == "umc_activity" || header == "socket_power";
}

}  // namespace

int sniff_csv(std::string_view, std::string_view head) {
  head = from_heading(head);
  const std::string_view line = first_line(head);
  if (line.size() > 8192 || line.find('\0') != line.npos) return 0;  // not a line of text
  if (line.empty() || std::string_view("{[<").find(line.front()) != std::string_view::npos ||
      line.find("\"ID\"") != line.npos)
    return 0;
  if (parse_calendar(trimmed(line.substr(0, line.find(',')))))
    return 45;  // readings without their headings
  bool time = false, renamed = false;
  int known = 0;
  for (std::size_t at = 0; at <= line.size();) {
    const auto end = std::min(line.find(',', at), line.size());
    const std::string_view cell = trimmed(line.substr(at, end - at));
    const ColumnRole role = column_role(cell);
    time |= is_time(role);
    at = end + 1;
    if (role != ColumnRole::value || cell.empty()) continue;
    const std::string metric = quantity_of_column(cell).metric;
    if (metric.find('.') == std::string::npos) continue;
    ++known;
    renamed |= metric != cell;  // of the catalog, not any name with a dot
  }
  if (known == 0) return 0;
  const bool table = line.find(',') != line.npos;
  if (time) return table ? 85 : 0;
  // Its error names the column that is missing. One column is a log where nvidia-smi wrote its
  // unit.
  return known > 1 || (renamed && (table || line.find(" [") != line.npos)) ? 40 : 0;
}

namespace {

/// Reads a log line by line.
class CsvLog {
 public:
  CsvLog(std::string_view content, const std::string& path) : reader_(content), devices_(capture_) {
    capture_.path = path;
    capture_.format = "telemetry_csv";
    capture_.bytes = static_cast<std::int64_t>(content.size());
  }
  Result<Capture> parse();

 private:
  void read_heading();
  Status check_heading() const;
  bool is_heading() const;
  bool has_decimal_commas() const;
  void read_line();
  std::optional<Nanos> read_time();
  std::optional<Nanos> read_calendar(std::string_view cell);
  DeviceCells device_cells() const;
  void note_doubts();

  CsvReader reader_;
  std::vector<std::string_view> row_;
  Capture capture_;
  LogDevices devices_;
  UnnamedLines unnamed_;
  std::vector<LogColumn> columns_;
  bool has_time_ = false, local_ = false, named_ = false;
  std::string_view vendor_ = "nvidia";
  DateOrder dates_;
  std::int64_t bad_ = 0, missing_ = 0;
  std::int64_t wide_ = 0;  // lines with decimal commas
  std::size_t first_bad_ = 0;
  std::string first_time_;  // that could not be read
};

void CsvLog::read_heading() {
  columns_.assign(row_.size(), {});
  has_time_ = named_ = false;
  for (std::size_t at = 0; at < row_.size(); ++at) {
    const std::string_view header = trimmed(row_[at]);
    auto& column = columns_[at];
    column.role = column_role(header);
    if (column.role == ColumnRole::time)
      column.exponent = *time_column_exponent(lower_case(header));
    has_time_ |= is_time(column.role);
    named_ |= column.role == ColumnRole::index || column.role == ColumnRole::uuid ||
              column.role == ColumnRole::bus || column.role == ColumnRole::instance;
    if (column.role != ColumnRole::value) continue;
    if (is_of_amd(header)) vendor_ = "amd";
    const Quantity quantity = quantity_of_column(header);
    column.metric = capture_.strings.intern(quantity.metric);
    column.factor = quantity.factor;
    column.again =
        std::any_of(columns_.begin(), columns_.begin() + static_cast<std::ptrdiff_t>(at),
                    [&](const LogColumn& earlier) {
                      return earlier.role == ColumnRole::value && earlier.metric == column.metric;
                    });
  }
  dates_ = look_ahead(reader_, columns_);
}

Status CsvLog::check_heading() const {
  if (has_time_) return {};
  if (std::ranges::any_of(
          row_, [](std::string_view cell) { return parse_calendar(trimmed(cell)).has_value(); }))
    return fail("the log has no headings: its columns are unknown", capture_.path, 0,
                "log without noheader, or write the names that were queried as its first line");
  for (const char other : {';', '\t'})
    if (std::ranges::any_of(row_, [&](auto cell) { return cell.find(other) != cell.npos; }))
      return fail(fmt::format("its columns are parted by {}", other == ';' ? "semicolons" : "tabs"),
                  capture_.path, 0, "part them by commas, and write numbers with a decimal point");
  return fail(
      "the log has no column of time (timestamp)", capture_.path, 0,
      "query it too: nvidia-smi --query-gpu=timestamp,index,power.draw.instant,... --format=csv");
}

/// True if the line is a heading: a logger that was started again writes it again.
bool CsvLog::is_heading() const {
  return std::ranges::any_of(
      row_, [](std::string_view cell) { return is_time(column_role(trimmed(cell))); });
}

/// The time of the present line.
std::optional<Nanos> CsvLog::read_time() {
  std::string date, clock;
  for (std::size_t at = 0; at < row_.size(); ++at) {
    const std::string_view cell = trimmed(row_[at]);
    switch (columns_[at].role) {
      case ColumnRole::time:
        return parse_decimal(cell, columns_[at].exponent);
      case ColumnRole::calendar:
        return read_calendar(cell);
      case ColumnRole::date:
        date = cell;
        break;
      case ColumnRole::clock:
        clock = cell;
        break;
      default:
        break;
    }
  }
  if (!date.empty() && !clock.empty()) date += ' ';
  return read_calendar(date + clock);
}

std::optional<Nanos> CsvLog::read_calendar(std::string_view cell) {
  bool zoned = false;
  if (const auto time = parse_date_and_time(cell, dates_.month_first, &zoned)) {
    local_ |= !zoned;
    return time;
  }
  const auto time = parse_epoch(cell);
  if (!time && first_time_.empty()) first_time_ = cell;
  return time;
}

DeviceCells CsvLog::device_cells() const {
  DeviceCells cells;
  for (std::size_t column = 0; column < row_.size(); ++column) {
    const std::string_view cell = trimmed(row_[column]);
    switch (columns_[column].role) {
      case ColumnRole::index:
        cells.index = cell;
        break;
      case ColumnRole::uuid:
        cells.uuid = cell;
        break;
      case ColumnRole::bus:
        cells.bus = cell;
        break;
      case ColumnRole::instance:
        cells.instance = cell;
        break;
      case ColumnRole::name:
        cells.name = cell;
        break;
      case ColumnRole::host:
        cells.host = cell;
        break;
      default:
        break;
    }
  }
  return cells;
}

/// True if commas inside numbers make more cells of the line than the heading has: behind each
/// whole number then stand the digits of its fraction.
bool CsvLog::has_decimal_commas() const {
  const auto values = std::ranges::count(columns_, ColumnRole::value, &LogColumn::role);
  return row_.size() > columns_.size() &&
         row_.size() <= columns_.size() + static_cast<std::size_t>(values) &&
         std::ranges::all_of(trimmed(row_.back()),
                             [](char letter) { return letter >= '0' && letter <= '9'; });
}

void CsvLog::read_line() {
  std::optional<Nanos> time;
  if (row_.size() == columns_.size()) time = read_time();
  if (!time) {
    if (is_heading()) return read_heading();
    if (bad_++ == 0) first_bad_ = reader_.row_offset();
    wide_ += has_decimal_commas();
    return;
  }
  ++capture_.events;
  const DeviceCells cells = device_cells();
  const auto device = devices_.row(cells);
  auto& devices = capture_.devices;
  if (!cells.uuid.empty()) devices.uuid[device] = capture_.strings.intern(cells.uuid);
  if (!cells.name.empty() && cells.instance.empty())
    devices.name[device] = capture_.strings.intern(cells.name);
  devices.vendor[device] = capture_.strings.intern(vendor_);
  auto& samples = capture_.counter_samples;
  if (!named_) unnamed_.add(*time, samples.size());
  const auto first = samples.size();
  for (std::size_t column = 0; column < row_.size(); ++column) {
    if (columns_[column].role != ColumnRole::value) continue;
    // power.draw and power.draw.average are one metric: a line says it once.
    const Text metric = columns_[column].metric;
    const auto is_said = [&] {
      for (auto row = first; row < samples.size(); ++row)
        if (std::as_const(samples).metric[row] == metric) return true;
      return false;
    };
    if (columns_[column].again && is_said()) continue;
    const auto value = parse_reading(row_[column]);
    if (!value) {
      ++missing_;
      continue;
    }
    add_row(samples, {*time, 0, device, metric, *value * columns_[column].factor});
  }
}

void CsvLog::note_doubts() {
  if (bad_ > 0)
    capture_.note_quality(
        QualityCode::bad_row,
        fmt::format("lines without a time or with another number of cells, first at byte {}",
                    first_bad_),
        bad_);
  if (missing_ > 0)
    capture_.note_quality(QualityCode::no_reading, "cells without a number, such as [N/A]: no data",
                          missing_);
  if (local_)
    capture_.note_quality(
        QualityCode::local_time,
        fmt::format("the log gives the time of day without a zone; it is taken as UTC, so it may "
                    "be hours off a trace{}",
                    dates_.known ? "" : "; its dates are taken as day, month, year"));
}

Result<Capture> CsvLog::parse() {
  if (!reader_.next(row_)) return fail("the log is empty", capture_.path);
  read_heading();
  if (auto ok = check_heading(); !ok) return tl::unexpected(ok.error());
  while (reader_.next(row_)) {
    if (row_.size() < columns_.size() && reader_.row_was_cut()) {
      capture_.note_quality(
          QualityCode::truncated,
          fmt::format("the file ends inside a line, at byte {}", reader_.row_offset()));
      break;
    }
    read_line();
  }
  // With a fraction of 0 a line may have as many cells as the heading.
  if (wide_ * 2 > capture_.events)
    return fail("its numbers are written with decimal commas, and commas part its columns too",
                capture_.path, static_cast<std::int64_t>(first_bad_),
                "write numbers with a decimal point");
  if (capture_.events == 0 && !first_time_.empty())
    return fail(fmt::format("no line has a time that can be read: '{}'", first_time_.substr(0, 40)),
                capture_.path, static_cast<std::int64_t>(first_bad_),
                "write times as 2026/11/20 12:34:56.789 or as seconds since 1970");
  if (!named_)
    if (auto ok = unnamed_.assign(capture_); !ok) return tl::unexpected(ok.error());
  note_doubts();
  return std::move(capture_);
}

}  // namespace

Result<Capture> parse_csv(std::string_view content, const std::string& path) {
  return CsvLog(from_heading(content), path).parse();
}

Result<Capture> load_csv(const std::string& path, const ImportOptions& options) {
  return in_order(load_text(path, options, parse_csv));
}

}  // namespace gf::telemetry
