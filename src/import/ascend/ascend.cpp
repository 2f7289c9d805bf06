// kernel_details.csv of torch_npu: the tasks of an Ascend NPU, communication (HCCL) among them, and
// no copies. Times are texts of microseconds with a tab behind them.
#include <fmt/format.h>

#include <string>

#include "import/csv_table.h"
#include "import/formats.h"
#include "import/importer.h"
#include "import/trace_rows.h"

namespace gf::ascend {

namespace {

constexpr std::string_view kStart = "Start Time(us)", kDuration = "Duration(us)",
                           kCore = "Accelerator Core";

Result<Capture> parse(std::string_view content, const std::string& path) {
  Capture capture;
  capture.path = path;
  capture.format = "ascend";
  capture.bytes = static_cast<std::int64_t>(content.size());
  TraceRows rows(capture);
  CsvTable table(content);
  const auto start = table.column(kStart), duration = table.column(kDuration),
             name = table.column("Name"), stream = table.column("Stream ID"),
             device = table.column("Device_id"), core = table.column(kCore);
  constexpr std::int64_t kHcclStream = 1'000'000;  // communication has no number of its own
  while (table.next()) {
    if (!table.whole() && table.was_cut()) {
      capture.note_quality(QualityCode::truncated,
                           fmt::format("the file ends inside a line, at byte {}", table.offset()));
      break;
    }
    const auto from = parse_decimal(table.text(start), 3);
    const auto length = parse_decimal(table.text(duration), 3);
    const auto to = from && length ? checked_add(*from, *length) : std::nullopt;
    const auto number = table.number(device).value_or(0);
    if (!table.whole() || !to) {
      rows.bad_row();
      continue;
    }
    DeviceWork work;
    work.start = *from;
    work.end = *to;
    work.device = rows.device(number, "huawei");
    work.name = capture.strings.intern(table.text(name));
    const bool communication = table.text(core) == "HCCL" || table.text(core) == "COMMUNICATION";
    work.stream = table.number(stream).value_or(communication ? kHcclStream : -1);
    rows.work(work);
  }
  rows.finish();
  capture.note_quality(QualityCode::assumed_device,
                       "the table holds no copies, so that time in which only copies run counts "
                       "as idle");
  return capture;
}

}  // namespace

int sniff(std::string_view, std::string_view head) {
  if (head.starts_with('{') || head.starts_with('[')) return 0;
  const auto table = table_heading(head.substr(0, 8192));
  return table.has(kStart) && table.has(kDuration) && table.has(kCore) ? 92 : 0;
}

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  return load_text(path, options, parse);
}

}  // namespace gf::ascend
