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

}  // namespace

bool is_details_page(const CsvTable& table) {
  return find_column(table.header, "Metric Name") >= 0;
}

Status read_details_page(Capture& capture, const CsvTable& table, const std::string& path) {
  const LaunchColumns columns(table.header);
  const int name_at = find_column(table.header, "Metric Name"),
            unit_at = find_column(table.header, "Metric Unit"),
            value_at = find_column(table.header, "Metric Value");
  const int rule_at = find_column(table.header, "Rule Name"),
            advice_at = find_column(table.header, "Rule Description");
  if (value_at < 0)
    return fail("a details page without the column \"Metric Value\"", path,
                static_cast<std::int64_t>(table.offset), "export it again with ncu --csv");
  const auto cell = [](const std::vector<std::string_view>& row, int column) {
    return column >= 0 ? row[static_cast<std::size_t>(column)] : std::string_view{};
  };

  NumberStyleVote vote;
  std::vector<std::string_view> row;
  CsvReader first_pass(table.text, table.separator);
  first_pass.next(row);
  for (int i = 0; i < 20'000 && first_pass.next(row); ++i)
    if (row.size() == table.header.size()) vote.add(cell(row, value_at));
  const NumberStyle style = vote.style();

  ReportBuilder builder(capture);
  RowDamage damage;
  RoundingLoss rounding;
  // A metric is looked up once for each pair of label and unit; the unit may change from kernel to
  // kernel.
  struct Known {
    ReportBuilder::Metric metric;
    Unit unit;
  };
  std::unordered_map<std::string, Known> known;
  std::vector<Text> seen;  // metrics of the current kernel: sections repeat some
  std::string current, key;

  CsvReader reader(table.text, table.separator);
  reader.next(row);
  while (reader.next(row)) {
    if (row.size() < table.header.size() && reader.row_was_cut()) {
      damage.cut = true;
      damage.cut_at = reader.row_offset();
      break;
    }
    if (is_profiler_line(row[0])) {
      ++damage.messages;
      continue;
    }
    if (row[0] == "ID") continue;
    if (row.size() != table.header.size() || columns.id(row).empty()) {
      if (damage.bad++ == 0) damage.first = reader.row_offset();
      continue;
    }
    const Launch launch = columns.read(row);
    key = fmt::format("{}/{}", launch.pid, columns.id(row));
    if (key != current) {
      current = key;
      seen.clear();
      builder.begin_kernel(launch);
      if (capture.report_kernels.size() == 1) {
        capture.set_metadata("process", columns.process_name(row));
        capture.set_metadata("host", columns.host_name(row));
      }
    }
    const std::string_view label = cell(row, name_at), printed = cell(row, unit_at),
                           value = cell(row, value_at);
    if (label.empty()) {
      // A rule: its advice is a text of the kernel.
      if (const auto rule = cell(row, rule_at); !rule.empty())
        builder.text(builder.metric(fmt::format("rule:{}", rule), ""), cell(row, advice_at));
      continue;
    }
    key.assign(label).append("\t").append(printed);
    auto at = known.find(key);
    if (at == known.end()) {
      const Unit unit = parse_unit(printed);
      at = known
               .emplace(key,
                        Known{builder.metric(metric_of_label(label, unit.base), unit.base), unit})
               .first;
    }
    if (std::ranges::find(seen, at->second.metric.name) != seen.end()) continue;
    seen.push_back(at->second.metric.name);
    if (value.empty() || value == "n/a" || value == "N/A" || value == "nan" || value == "-nan")
      continue;
    if (const auto number = parse_number(value, style, at->second.unit.exponent)) {
      rounding.add(*number, label);
      builder.number(at->second.metric, number->value * at->second.unit.factor);
    } else {
      builder.text(at->second.metric, value);
    }
  }
  builder.finish();
  damage.note(capture);
  rounding.note(capture);
  return {};
}

}  // namespace gf::ncu
