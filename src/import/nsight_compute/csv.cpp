#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "import/csv_cells.h"
#include "import/formats.h"
#include "import/importer.h"
#include "import/nsight_compute/csv_table.h"
#include "import/nsight_compute/units.h"
#include "model/capture.h"

namespace gf::ncu {

namespace {

/// UTF-16 with a byte order mark (what a Windows shell writes for "ncu ... > file") as UTF-8; other
/// text as it is.
std::string from_utf16(std::string_view content) {
  const bool little = content.starts_with("\xFF\xFE");
  std::string out;
  out.reserve(content.size() / 2);
  auto unit = [&](std::size_t at) -> unsigned {
    const auto low = static_cast<unsigned char>(content[at]),
               high = static_cast<unsigned char>(content[at + 1]);
    return little ? low | high << 8 : low << 8 | high;
  };
  for (std::size_t i = 2; i + 1 < content.size(); i += 2) {
    unsigned code = unit(i);
    if (code >= 0xD800 && code < 0xDC00 && i + 3 < content.size()) {
      code = 0x10000 + ((code - 0xD800) << 10) + ((unit(i + 2) - 0xDC00) & 0x3FF);
      i += 2;
    }
    if (code < 0x80)
      out += static_cast<char>(code);
    else if (code < 0x800)
      out += {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
    else if (code < 0x10000)
      out += {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 63)),
              static_cast<char>(0x80 | (code & 63))};
    else
      out += {static_cast<char>(0xF0 | code >> 18), static_cast<char>(0x80 | (code >> 12 & 63)),
              static_cast<char>(0x80 | (code >> 6 & 63)), static_cast<char>(0x80 | (code & 63))};
  }
  return out;
}

struct ColumnMetric {
  std::size_t column;
  ReportBuilder::Metric metric;
  Unit unit;
};

/// Numbers that decide how the file writes numbers: all metric cells of the first rows.
NumberStyle number_style(const CsvTable& table, const LaunchColumns& launch) {
  NumberStyleVote vote;
  CsvReader reader(table.text, table.separator);
  std::vector<std::string_view> row;
  reader.next(row);
  for (int i = 0; i < 100 && reader.next(row); ++i)
    for (std::size_t column = 0; column < row.size(); ++column)
      if (!launch.owns(column)) vote.add(row[column]);
  return vote.style();
}

/// The raw page: one row a kernel, one column a metric, a row of units below the header.
class RawPage {
 public:
  RawPage(Capture& capture, ReportBuilder& builder, const CsvTable& table)
      : capture_(capture),
        builder_(builder),
        table_(table),
        columns_(table.header),
        style_(number_style(table, columns_)),
        rows_(table),
        printed_units_(table.header.size()) {}

  /// The place where another table follows.
  std::size_t read() {
    std::vector<std::string_view> row;
    bool kernels = false;
    while (rows_.next(row)) {
      if (columns_.id(row).empty()) {
        take_units(row);
      } else {
        add_kernel(row);
        kernels = true;
      }
    }
    if (!units_seen_ && kernels)
      capture_.note_quality(QualityCode::no_units,
                            "the table has no row of units; base units are assumed");
    rows_.note(capture_);
    rounding_.note(capture_);
    return rows_.next_table();
  }

 private:
  void take_units(const std::vector<std::string_view>& row) {
    if (!units_seen_)
      for (std::size_t column = 0; column < row.size(); ++column)
        printed_units_[column] = row[column];
    units_seen_ = true;
  }

  void list_metrics() {
    for (std::size_t column = 0; column < table_.header.size(); ++column) {
      if (columns_.owns(column) || table_.header[column].empty()) continue;
      Unit unit{metric_unit(table_.header[column])};
      if (units_seen_) unit = parse_unit(printed_units_[column]);
      metrics_.push_back({column, builder_.metric(table_.header[column], unit.base), unit});
    }
  }

  void add_kernel(const std::vector<std::string_view>& row) {
    if (metrics_.empty()) list_metrics();
    builder_.begin_kernel(columns_.read(row));
    for (const ColumnMetric& metric : metrics_) {
      const std::string_view cell = row[metric.column];
      if (is_no_value(cell)) continue;  // no data: no row
      if (const auto number = parse_cell(cell, style_, metric.unit.exponent)) {
        rounding_.add(*number, table_.header[metric.column]);
        builder_.number(metric.metric, number->value * metric.unit.factor);
      } else {
        builder_.text(metric.metric, cell);
      }
    }
    if (capture_.report_kernels.size() == 1) {
      capture_.set_metadata("process", columns_.process_name(row));
      capture_.set_metadata("host", columns_.host_name(row));
    }
  }

  Capture& capture_;
  ReportBuilder& builder_;
  const CsvTable& table_;
  const LaunchColumns columns_;
  const NumberStyle style_;
  TableRows rows_;
  std::vector<ColumnMetric> metrics_;
  RoundingLoss rounding_;
  std::vector<std::string> printed_units_;
  bool units_seen_ = false;
};

/// The place where another table follows (TableRows::next_table).
Result<std::size_t> read_raw_page(Capture& capture, ReportBuilder& builder, const CsvTable& table) {
  return RawPage(capture, builder, table).read();
}

}  // namespace

int sniff_csv(std::string_view, std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  std::string plain;
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) head = plain = from_utf16(head);
  if (head.substr(0, 4096).find('\0') != head.npos) return 0;  // not a text
  const auto has = [&](std::string_view part) { return contains(head, part); };
  const bool table = has("Process ID") && (has("\"ID\",\"Process ID\"") || has("ID,Process ID,") ||
                                           has("\"ID\";\"Process ID\"") || has("ID;Process ID;"));
  if (table && has("Kernel Name")) return 95;
  if (has("Process ID") && has("Invocations") && has("Metric Name") && has("Average")) return 95;
  if (table || head.starts_with("==PROF==") || has("\n==PROF==") || has("ERR_NVGPUCTRPERM"))
    return 70;
  return 0;
}

Result<Capture> parse_csv(std::string_view content, const std::string& path) {
  std::string plain;
  const std::size_t all = content.size();
  if (content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF"))
    content = plain = from_utf16(content);
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  if (content.find_first_not_of(" \t\r\n") == content.npos)
    return fail("the export is empty", path, -1,
                "ncu prints nothing when HOME is not writable: set HOME to a writable folder and "
                "export again");
  auto table = find_table(content, path);
  if (!table) return tl::unexpected(table.error());

  Capture capture;
  capture.path = path;
  capture.format = "nsight_compute_csv";
  capture.bytes = static_cast<std::int64_t>(all);
  note_profiler_messages(capture, content.substr(0, table->offset));
  ReportBuilder builder(capture);
  while (table) {
    const auto next = has_rows_of_metrics(*table)
                          ? read_details_page(capture, builder, *table, path)
                          : read_raw_page(capture, builder, *table);
    if (!next) return tl::unexpected(next.error());
    if (*next == table->text.npos) break;
    table = find_table(content, path, table->offset + *next);
  }
  builder.finish();
  capture.events = static_cast<std::int64_t>(capture.report_kernels.size());
  return capture;
}

Result<Capture> load_csv(const std::string& path, const ImportOptions& options) {
  return load_text(path, options, parse_csv);
}

}  // namespace gf::ncu
