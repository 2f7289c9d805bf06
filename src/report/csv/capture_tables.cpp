#include "report/csv/cells.h"
#include "report/csv/tables.h"

namespace gf {

namespace {

constexpr std::size_t kFlushBytes = 1 << 20;

template <class T>
void model_cell(std::string& out, const Capture& capture, T value, T fallback) {
  if constexpr (std::is_same_v<T, Text>)
    csv_cell(out, capture.text(value));
  else if constexpr (std::is_enum_v<T>)
    csv_cell(out, name_of(value));
  else if constexpr (std::is_same_v<T, U8>)
    csv_cell(out, static_cast<unsigned>(value));
  // A default of -1 or "no row" means "not known".
  else if (value == fallback && fallback == static_cast<T>(-1))
    return;
  else
    csv_cell(out, value);
}

/// A table's file in pieces: a header, then rows from one or more tables of the kind.
template <class Table>
class TableWriter {
 public:
  TableWriter(const Capture& capture, const CsvSink& sink) : capture_(capture), sink_(sink) {
    line(Table{}, [&](const auto& c) { csv_cell(out_, c.info.name); });
  }
  Status add(const Table& table) {
    for (std::size_t r = 0; r < table.size(); ++r) {
      line(table, [&](const auto& c) { model_cell(out_, capture_, c.column[r], c.fallback); });
      if (out_.size() < kFlushBytes) continue;
      if (auto written = sink_(Table::kName, out_, false); !written) return written;
      out_.clear();
    }
    return {};
  }
  Status finish() { return sink_(Table::kName, out_, true); }

 private:
  template <class Cell>
  void line(const Table& table, Cell&& cell) {
    bool first = true;
    table.each_column_ref([&](const auto& c) {
      if (!std::exchange(first, false)) out_ += ',';
      cell(c);
    });
    out_ += '\n';
  }
  const Capture& capture_;
  const CsvSink& sink_;
  std::string out_;
};

template <class Table>
Status write_table(const Capture& capture, const Table& table, const CsvSink& sink) {
  constexpr bool samples = std::is_same_v<Table, counter_samples_table>;
  if (table.empty() && !(samples && !capture.sample_blocks.empty())) return {};
  TableWriter<Table> writer(capture, sink);
  Status status = writer.add(table);
  if constexpr (samples) {
    BlockUnpacker unpacker;
    Table rows;
    for (const auto& block : capture.sample_blocks) {
      if (!status) break;
      rows.clear();
      expand(unpacker.unpack(block), rows);
      status = writer.add(rows);
    }
  }
  return status ? writer.finish() : status;
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
