#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/error.h"
#include "import/csv_cells.h"
#include "import/formats.h"
#include "import/importer.h"
#include "import/nsight_compute/csv_table.h"
#include "import/nsight_compute/units.h"
#include "model/capture.h"

namespace gf::ncu {

// The two pages that `ncu --csv` prints.

/// Raw page: one row a kernel, one column a metric, a row of units below the header.
/// Details page: one row a kernel and metric, or a kernel and rule.
bool is_details_page(const CsvTable& table);

Status read_raw_page(Capture& capture, const CsvTable& table, const std::string& path);
Status read_details_page(Capture& capture, const CsvTable& table, const std::string& path);

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

}  // namespace

int sniff_csv(std::string_view, std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  std::string plain;
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) head = plain = from_utf16(head);
  if (head.substr(0, 4096).find('\0') != head.npos) return 0;  // not a text
  // Every kind of file comes here, and letters of JSON are mostly quotes.
  const auto has = [&](std::string_view part) {
    return ::memmem(head.data(), head.size(), part.data(), part.size()) != nullptr;
  };
  const bool table = has("Process ID") && (has("\"ID\",\"Process ID\"") || has("ID,Process ID,") ||
                                           has("\"ID\";\"Process ID\"") || has("ID;Process ID;"));
  if (table && has("Kernel Name")) return 95;
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
  const auto table = find_table(content, path);
  if (!table) return tl::unexpected(table.error());

  Capture capture;
  capture.path = path;
  capture.format = "nsight_compute_csv";
  capture.bytes = static_cast<std::int64_t>(all);
  note_profiler_messages(capture, content.substr(0, table->offset));
  Status read = is_details_page(*table) ? read_details_page(capture, *table, path)
                                        : read_raw_page(capture, *table, path);
  if (!read) return tl::unexpected(read.error());
  capture.events = static_cast<std::int64_t>(capture.report_kernels.size());
  return capture;
}

Result<Capture> load_csv(const std::string& path, const ImportOptions& options) {
  return load_text(path, options, parse_csv);
}

namespace {

struct Label {
  std::string_view label, metric, unit;  // unit empty: any
};

// From the section files that ship with the tool (SpeedOfLight, ComputeWorkloadAnalysis,
// MemoryWorkloadAnalysis, LaunchStatistics, Occupancy), versions 2020 to 2025.
constexpr std::array<Label, 30> kLabels{{
    {"Duration", "gpu__time_duration.sum", "ns"},
    {"Elapsed Cycles", "sm__cycles_elapsed.max", "cycle"},
    {"SM Active Cycles", "sm__cycles_active.avg", "cycle"},
    {"SM Frequency", "smsp__cycles_elapsed.avg.per_second", ""},
    {"DRAM Frequency", "dram__cycles_elapsed.avg.per_second", ""},
    {"Memory Throughput", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    {"Memory Throughput", "dram__bytes.sum.per_second", "byte/s"},
    {"DRAM Throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    {"L1/TEX Cache Throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active", "%"},
    {"L2 Cache Throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    {"Compute (SM) Throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    {"Compute (SM) [%]", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    {"Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active", ""},
    {"Executed Ipc Elapsed", "sm__inst_executed.avg.per_cycle_elapsed", ""},
    {"Issued Ipc Active", "sm__inst_issued.avg.per_cycle_active", ""},
    {"Issue Slots Busy", "sm__inst_issued.avg.pct_of_peak_sustained_active", "%"},
    {"SM Busy", "sm__instruction_throughput.avg.pct_of_peak_sustained_active", "%"},
    {"L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct", "%"},
    {"L2 Hit Rate", "lts__t_sector_hit_rate.pct", "%"},
    {"Registers Per Thread", "launch__registers_per_thread", ""},
    {"Static Shared Memory Per Block", "launch__shared_mem_per_block_static", ""},
    {"Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic", ""},
    {"Driver Shared Memory Per Block", "launch__shared_mem_per_block_driver", ""},
    {"Shared Memory Configuration Size", "launch__shared_mem_config_size", ""},
    {"Threads", "launch__thread_count", ""},
    {"Waves Per SM", "launch__waves_per_multiprocessor", ""},
    {"Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct", "%"},
    {"Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", "%"},
    {"Theoretical Active Warps per SM", "sm__maximum_warps_avg_per_active_cycle", ""},
    {"# SMs", "launch__sm_count", ""},
}};

/// The metric behind a label of the standard sections; the label itself when it is a metric name or
/// not known. `base_unit` tells apart labels that two sections share ("Memory Throughput" in % and
/// in byte/s).
std::string_view metric_of_label(std::string_view label, std::string_view base_unit) {
  for (const Label& known : kLabels)
    if (known.label == label && (known.unit.empty() || known.unit == base_unit))
      return known.metric;
  return label;
}

int find_column(const std::vector<std::string>& header, std::string_view name) {
  const auto at = std::ranges::find(header, name);
  if (at == header.end()) return -1;
  return static_cast<int>(at - header.begin());
}

std::string_view cell_of(const std::vector<std::string_view>& row, int column) {
  if (column < 0) return {};
  return row[static_cast<std::size_t>(column)];
}

/// How the numbers of a page are written, from its first rows.
NumberStyle number_style(const CsvTable& table, int value_at) {
  NumberStyleVote vote;
  std::vector<std::string_view> row;
  CsvReader reader(table.text, table.separator);
  reader.next(row);
  for (int i = 0; i < 20'000 && reader.next(row); ++i)
    if (row.size() == table.header.size()) vote.add(cell_of(row, value_at));
  return vote.style();
}

bool is_no_number(std::string_view value) {
  return value.empty() || value == "n/a" || value == "N/A" || value == "nan" || value == "-nan";
}

class DetailsPage {
 public:
  DetailsPage(Capture& capture, const CsvTable& table)
      : capture_(capture),
        table_(table),
        columns_(table.header),
        name_at_(find_column(table.header, "Metric Name")),
        unit_at_(find_column(table.header, "Metric Unit")),
        value_at_(find_column(table.header, "Metric Value")),
        rule_at_(find_column(table.header, "Rule Name")),
        advice_at_(find_column(table.header, "Rule Description")),
        style_(number_style(table, value_at_)),
        builder_(capture) {}

  void read() {
    std::vector<std::string_view> row;
    CsvReader reader(table_.text, table_.separator);
    reader.next(row);
    while (next_row(reader, table_, row, damage_)) {
      if (row[0] == "ID") continue;
      if (row.size() != table_.header.size() || columns_.id(row).empty()) {
        damage_.bad_row(reader.row_offset());
        continue;
      }
      begin_kernel(row);
      if (cell_of(row, name_at_).empty())
        advice(row);
      else
        metric(row);
    }
    builder_.finish();
    damage_.note(capture_);
    rounding_.note(capture_);
  }

 private:
  /// A metric is looked up once for each pair of label and unit; the unit may change from kernel to
  /// kernel.
  struct Known {
    ReportBuilder::Metric metric;
    Unit unit;
  };

  void begin_kernel(const std::vector<std::string_view>& row) {
    const Launch launch = columns_.read(row);
    key_ = fmt::format("{}/{}", launch.pid, columns_.id(row));
    if (key_ == current_) return;
    current_ = key_;
    seen_.clear();
    builder_.begin_kernel(launch);
    if (capture_.report_kernels.size() > 1) return;
    capture_.set_metadata("process", columns_.process_name(row));
    capture_.set_metadata("host", columns_.host_name(row));
  }

  /// A rule's advice is a text of the kernel.
  void advice(const std::vector<std::string_view>& row) {
    if (const auto rule = cell_of(row, rule_at_); !rule.empty())
      builder_.text(builder_.metric(fmt::format("rule:{}", rule), ""), cell_of(row, advice_at_));
  }

  const Known& known(std::string_view label, std::string_view printed_unit) {
    key_.assign(label).append("\t").append(printed_unit);
    const auto at = known_.find(key_);
    if (at != known_.end()) return at->second;
    const Unit unit = parse_unit(printed_unit);
    const auto metric = builder_.metric(metric_of_label(label, unit.base), unit.base);
    return known_.emplace(key_, Known{metric, unit}).first->second;
  }

  void metric(const std::vector<std::string_view>& row) {
    const std::string_view label = cell_of(row, name_at_), value = cell_of(row, value_at_);
    const auto& [metric, unit] = known(label, cell_of(row, unit_at_));
    if (std::ranges::find(seen_, metric.name) != seen_.end()) return;
    seen_.push_back(metric.name);
    if (is_no_number(value)) return;
    if (const auto number = parse_number(value, style_, unit.exponent)) {
      rounding_.add(*number, label);
      builder_.number(metric, number->value * unit.factor);
    } else {
      builder_.text(metric, value);
    }
  }

  Capture& capture_;
  const CsvTable& table_;
  const LaunchColumns columns_;
  const int name_at_, unit_at_, value_at_, rule_at_, advice_at_;
  const NumberStyle style_;
  ReportBuilder builder_;
  RowDamage damage_;
  RoundingLoss rounding_;
  std::unordered_map<std::string, Known> known_;
  std::vector<Text> seen_;  // metrics of the current kernel: sections repeat some
  std::string current_, key_;
};

}  // namespace

bool is_details_page(const CsvTable& table) {
  return find_column(table.header, "Metric Name") >= 0;
}

Status read_details_page(Capture& capture, const CsvTable& table, const std::string& path) {
  if (find_column(table.header, "Metric Value") < 0)
    return fail("a details page without the column \"Metric Value\"", path,
                static_cast<std::int64_t>(table.offset), "export it again with ncu --csv");
  DetailsPage(capture, table).read();
  return {};
}

namespace {

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

/// The kernels of a raw page: one row each, below a row of units.
class RawPage {
 public:
  RawPage(Capture& capture, const CsvTable& table)
      : capture_(capture),
        table_(table),
        columns_(table.header),
        style_(number_style(table, columns_)),
        builder_(capture),
        printed_units_(table.header.size()) {}

  void read() {
    CsvReader reader(table_.text, table_.separator);
    std::vector<std::string_view> row;
    reader.next(row);
    while (next_row(reader, table_, row, damage_)) {
      if (row.size() != table_.header.size()) {
        damage_.bad_row(reader.row_offset());
        continue;
      }
      if (row[0] == "ID") continue;  // a second table of the same run
      if (columns_.id(row).empty())
        take_units(row);
      else
        add_kernel(row);
    }
    builder_.finish();
  }

  void note_doubts() {
    if (!units_seen_ && !capture_.report_kernels.empty())
      capture_.note_quality(QualityCode::no_units,
                            "the table has no row of units; base units are assumed");
    damage_.note(capture_);
    rounding_.note(capture_);
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
      if (cell.empty() || cell == "n/a" || cell == "N/A" || cell == "nan" || cell == "-nan")
        continue;  // no data: no row
      if (const auto number = parse_number(cell, style_, metric.unit.exponent)) {
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
  const CsvTable& table_;
  const LaunchColumns columns_;
  const NumberStyle style_;
  ReportBuilder builder_;
  std::vector<ColumnMetric> metrics_;
  RowDamage damage_;
  RoundingLoss rounding_;
  std::vector<std::string> printed_units_;
  bool units_seen_ = false;
};

}  // namespace

Status read_raw_page(Capture& capture, const CsvTable& table, const std::string&) {
  RawPage page(capture, table);
  page.read();
  page.note_doubts();
  return {};
}

}  // namespace gf::ncu
