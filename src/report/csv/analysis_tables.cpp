#include <algorithm>

#include "report/csv/cells.h"
#include "report/csv/tables.h"
#include "report/summary.h"

namespace gf {

namespace {

/// Levels become a column each; other lists and structs are left out: JSON has them.
template <class T>
concept Cellular = requires(std::string& out, const T& value) { csv_cell(out, value); };

std::vector<std::string> level_ids(const std::vector<LevelSpread>& levels,
                                   std::vector<std::string> ids) {
  for (const auto& level : levels)
    if (std::find(ids.begin(), ids.end(), level.id) == ids.end()) ids.push_back(level.id);
  return ids;
}

template <Described Row>
std::string table_of(const std::vector<Row>& rows) {
  std::vector<std::string> ids;
  if constexpr (requires(const Row& row) { row.levels; })
    for (const auto& row : rows) ids = level_ids(row.levels, ids);
  std::string out;
  bool first = true;
  auto comma = [&] {
    if (!std::exchange(first, false)) out += ',';
  };
  auto end_line = [&] {
    out += '\n';
    first = true;
  };
  each_field(Row{}, [&](const char* name, const auto& value, const char*) {
    if constexpr (Cellular<std::decay_t<decltype(value)>>) {
      comma();
      csv_cell(out, std::string_view(name));
    }
  });
  for (const auto& id : ids) {
    comma();
    csv_cell(out, std::string_view(id));
  }
  end_line();
  for (const auto& row : rows) {
    each_field(row, [&](const char*, const auto& value, const char*) {
      if constexpr (Cellular<std::decay_t<decltype(value)>>) {
        comma();
        csv_cell(out, value);
      }
    });
    if constexpr (requires(const Row& result) { result.levels; })
      for (const auto& id : ids) {
        comma();
        for (const auto& level : row.levels)
          if (level.id == id) csv_cell(out, level.value);
      }
    end_line();
  }
  return out;
}

}  // namespace

Status write_analysis_csv(const Analysis& analysis, const CsvSink& sink) {
  Status status;
  auto write = [&](std::string_view name, const auto& rows) {
    if (status && !rows.empty()) status = sink(name, table_of(rows), true);
  };
  write("levels", analysis.levels);
  write("idle_causes", idle_of_all(analysis));
  write("waterfall", waterfall_of_all(analysis));
  write("layer_types", analysis.layer_types);
  write("layers", analysis.layers);
  write("kernels", analysis.kernels);
  write("findings", analysis.findings);
  return status;
}

}  // namespace gf
