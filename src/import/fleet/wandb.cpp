// Tables of system metrics of Weights & Biases: a column for each GPU and quantity, as the API's
// history has them and as charts are exported.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "core/text.h"
#include "import/csv_cells.h"
#include "import/fleet/series.h"
#include "import/formats.h"
#include "import/importer.h"

namespace gf::fleet {

namespace {

struct WandbColumn {
  std::string gpu;
  std::string series;  // empty: no quantity of a GPU
};

/// "system.gpu.0.powerWatts", "run-a - system/gpu.0.powerWatts". Charts have least and greatest
/// values beside the means.
WandbColumn column_of(std::string_view heading) {
  WandbColumn column;
  for (const std::string_view mark : {"system.gpu.", "system/gpu."}) {
    const auto at = heading.find(mark);
    if (at == heading.npos || heading.ends_with("__MIN") || heading.ends_with("__MAX")) continue;
    auto rest = heading.substr(at + mark.size());
    const auto dot = rest.find('.');
    const auto number = rest.substr(0, dot);
    if (dot == rest.npos || number.empty() || number.size() > 4 ||
        number.find_first_not_of("0123456789") != number.npos)
      continue;
    column.gpu = number;
    column.series = std::string("wandb.").append(trimmed(rest.substr(dot + 1)));
  }
  return column;
}

/// Seconds since 1970, else since the run began.
std::optional<std::size_t> time_column(const std::vector<std::string_view>& heading) {
  for (const std::string_view name : {"_timestamp", "_runtime", "Relative Time (Process)"})
    if (const auto found = std::ranges::find(heading, name); found != heading.end())
      return static_cast<std::size_t>(found - heading.begin());
  return {};
}

/// The run of a chart's column; several runs in one chart are several programs.
std::string_view run_of(std::string_view heading) {
  const auto at = heading.find(" - system");
  return at == heading.npos ? std::string_view{} : heading.substr(0, at);
}

}  // namespace

int sniff_wandb(std::string_view, std::string_view head) {
  if (head.starts_with('{') || head.starts_with('[')) return 0;
  const auto line = head.substr(0, std::min(head.find('\n'), std::size_t{64} << 10));
  if (line.find("system.gpu.") == line.npos && line.find("system/gpu.") == line.npos) return 0;
  CsvReader reader(line);
  std::vector<std::string_view> heading;
  return reader.next(heading) && heading.size() > 1 && time_column(heading) ? 92 : 0;
}

namespace {

Result<Capture> parse_wandb(std::string_view content, const std::string& path) {
  Capture capture;
  capture.path = path;
  capture.format = "wandb";
  capture.bytes = static_cast<std::int64_t>(content.size());
  CsvReader reader(content);
  std::vector<std::string_view> row;
  if (!reader.next(row)) return fail("the table is empty", path);
  const auto time = time_column(row);
  if (!time)
    return fail("the table has no column of time", path, 0,
                "export it with its x axis, or with _timestamp");
  const bool absolute = row[*time] == "_timestamp";
  std::vector<WandbColumn> columns;
  std::vector<std::string> runs;
  for (const auto heading : row) {
    columns.push_back(column_of(heading));
    if (!columns.back().series.empty()) runs.emplace_back(run_of(heading));
  }
  Readings readings(capture);
  const std::size_t width = row.size();
  while (reader.next(row)) {
    const auto now = row.size() == width ? parse_decimal(trimmed(row[*time]), 9) : std::nullopt;
    if (!now) {
      capture.note_quality(QualityCode::bad_row, "lines without a time or with other cells");
      continue;
    }
    std::size_t known = 0;
    for (std::size_t at = 0; at < width; ++at) {
      if (columns[at].series.empty()) continue;
      const auto& run = runs[known++];
      const auto cell = trimmed(row[at]);
      double value = 0;
      const auto [end, wrong] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (cell.empty()) continue;  // no such GPU, or no reading at that moment
      if (wrong != std::errc() || end != cell.data() + cell.size()) {
        capture.note_quality(QualityCode::no_reading, "cells without a number: no data");
        continue;
      }
      Labels labels;
      labels.index = columns[at].gpu;
      labels.host = run;
      readings.add(columns[at].series, labels, *now, value);
    }
  }
  readings.finish();
  if (!absolute)
    capture.note_quality(QualityCode::no_absolute_time,
                         "the table counts from the run's beginning: it cannot be laid beside a "
                         "trace (export it with _timestamp)");
  return capture;
}

}  // namespace

Result<Capture> load_wandb(const std::string& path, const ImportOptions& options) {
  return load_text(path, options, parse_wandb);
}

}  // namespace gf::fleet
