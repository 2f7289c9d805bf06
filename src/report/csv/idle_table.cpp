// Every stretch of idle time with its cause: what a judge of the labels compares with.
#include "analyze/context.h"
#include "report/csv/cells.h"
#include "report/csv/tables.h"

namespace gf {

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
      cell(piece.span.start, ',');
      cell(piece.span.length(), ',');
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
