#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "import/csv_cells.h"
#include "import/nsight_compute/csv_launch.h"
#include "import/nsight_compute/csv_pages.h"
#include "import/nsight_compute/detail_labels.h"
#include "import/nsight_compute/units.h"

namespace gf::ncu {

namespace {

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

}  // namespace gf::ncu
