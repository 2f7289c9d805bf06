#include "report/csv/tables.h"

#include <algorithm>

#include "analyze/context.h"
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
  write("analyzed_window", std::vector<WindowInfo>{analysis.window});
  write("analyzed_steps", analysis.window.steps);
  write("levels", analysis.levels);
  write("idle_causes", idle_of_all(analysis));
  write("waterfall", waterfall_of_all(analysis));
  write("layer_types", analysis.layer_types);
  write("layers", analysis.layers);
  write("kernels", analysis.kernels);
  write("findings", analysis.findings);
  return status;
}

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

Status write_idle_csv(const Context& context, const CsvSink& sink) {
  const Capture& capture = context.capture;
  std::string out = "device,start_ns,duration_ns,cause,operator,next_activity\n";
  bool any = false;
  auto cell = [&](const auto& value, char after) {
    csv_cell(out, value);
    out += after;
  };
  for (const auto& line : context.devices)
    for (const auto& piece : line.idle_pieces) {
      any = true;
      cell(line.device, ',');
      cell(piece.start, ',');
      cell(piece.span().length(), ',');
      cell(name_of(piece.reason), ',');
      if (piece.op != kNoRow) csv_cell(out, capture.text(capture.host_ops.name[piece.op]));
      out += ',';
      if (piece.next != kNoRow) csv_cell(out, piece.next);
      out += '\n';
    }
  if (any) return sink("idle_pieces", out, true);
  return Status{};
}

}  // namespace gf
