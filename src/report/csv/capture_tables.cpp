#include "report/csv/cells.h"
#include "report/csv/tables.h"

namespace gf {

namespace {

constexpr std::size_t kFlushBytes = 1 << 20;

template <class T>
void model_cell(std::string& out, const Capture& capture, T value, T fallback) {
  if constexpr (std::is_same_v<T, Text>) csv_cell(out, capture.text(value));
  else if constexpr (std::is_enum_v<T>) csv_cell(out, name_of(value));
  else if constexpr (std::is_same_v<T, U8>) csv_cell(out, static_cast<unsigned>(value));
  // A default of -1 or "no row" means "not known".
  else if (value == fallback && fallback == static_cast<T>(-1)) return;
  else csv_cell(out, value);
}

template <class Table>
Status write_table(const Capture& capture, const Table& table, const CsvSink& sink) {
  const std::size_t rows = table.size();
  if (rows == 0) return {};
  std::string out;
  auto columns = const_cast<Table&>(table).columns();  // the tuple refers to the columns; nothing is changed
  auto line = [&](auto&& cell) {
    bool first = true;
    std::apply([&](const auto&... c) { ((first ? void(first = false) : void(out += ','), cell(c)), ...); }, columns);
    out += '\n';
  };
  line([&](const auto& c) { csv_cell(out, c.info.name); });
  for (std::size_t r = 0; r < rows; ++r) {
    line([&](const auto& c) { model_cell(out, capture, c.column[r], c.fallback); });
    if (out.size() < kFlushBytes) continue;
    if (auto written = sink(Table::kName, out, false); !written) return written;
    out.clear();
  }
  return sink(Table::kName, out, true);
}

}  // namespace

Status write_capture_csv(const Capture& capture, const CsvSink& sink) {
  Status status;
  capture.each_table([&](const auto& table) {
    if (status) status = write_table(capture, table, sink);
  });
  return status;
}

}  // namespace gf
