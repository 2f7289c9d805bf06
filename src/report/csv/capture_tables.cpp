#include "report/csv/cells.h"
#include "report/csv/tables.h"

namespace gf {

namespace {

constexpr std::size_t kFlushBytes = 1 << 20;

template <class Declared>
void model_cell(std::string& out, const Capture& capture, ValueOf<Declared> value) {
  if constexpr (kIsText<Declared>)
    csv_cell(out, capture.text(value));
  else if constexpr (kIsListed<Declared>)
    csv_cell(out, name_of(value));
  else if (is_unknown<Declared>(value))
    return;
  else if constexpr (std::is_same_v<Declared, declared::Bool>)
    csv_cell(out, static_cast<unsigned>(value));
  else
    csv_cell(out, value);
}

/// A table's file in pieces: a header, then rows from one or more tables of the kind.
template <class Table>
class TableWriter {
 public:
  TableWriter(const Capture& capture, const CsvSink& sink) : capture_(capture), sink_(sink) {
    line(Table{}, [&](const auto& column) { csv_cell(out_, column.info.name); });
  }
  Status add(const Table& table) {
    for (std::size_t row = 0; row < table.size(); ++row) {
      line(table, [&](const auto& column) {
        using Declared = typename std::remove_cvref_t<decltype(column)>::Declared;
        model_cell<Declared>(out_, capture_, column.column[row]);
      });
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
    table.each_column_ref([&](const auto& column) {
      if (!std::exchange(first, false)) out_ += ',';
      cell(column);
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
  if (status) return writer.finish();
  return status;
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
