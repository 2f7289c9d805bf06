// Triton's Proton with data="trace": one JSON document a line, each of one stream, without the
// device and without copies.
#include <algorithm>
#include <string>

#include "import/formats.h"
#include "import/json_rows.h"
#include "import/trace_rows.h"

namespace gf::proton {

int sniff(std::string_view, std::string_view head) {
  if (!head.starts_with('{')) return 0;
  const auto front = head.substr(0, 4096);
  auto has = [&](std::string_view part) { return front.find(part) != front.npos; };
  // Traces of its instrumentation hold regions inside kernels, in cycles.
  return has("\"traceEvents\"") && has("\"call_stack\"") && !has("\"pid\"") &&
                 !has("\"Frequency (MHz)\"")
             ? 92
             : 0;
}

namespace {

/// One line; false: damage.
bool read_stream(std::string_view line, Capture& capture, TraceRows& rows, std::uint32_t device) {
  JsonWalk walk;
  return walk.run(
      line, [](std::string_view path) { return path == "traceEvents"; },
      [&](std::string_view, const JsonRow& row) {
        if (row.text("ph") != "X" || row.text("cat") != "kernel") return;
        const auto start = row.decimal("ts", 3), length = row.decimal("dur", 3);
        const auto end = start && length ? checked_add(*start, *length) : std::nullopt;
        if (!end) return rows.bad_row();
        DeviceWork work;
        work.start = *start;
        work.end = *end;
        work.device = device;
        work.stream = row.integer("tid");
        work.name = capture.strings.intern(row.text("name"));
        rows.work(work);
      });
}

}  // namespace

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  return load_json_text(
      path, options, "proton", [](std::string_view text, Capture& capture) -> Status {
        TraceRows rows(capture);
        const auto device = capture.device_row(0);
        each_json_line(text, [&](std::string_view line) {
          if (!read_stream(line, capture, rows, device))
            capture.note_quality(
                QualityCode::truncated_json,
                "a stream ends early, or is damaged: what follows in it is missing");
        });
        rows.finish();
        capture.note_quality(
            QualityCode::assumed_device,
            "Proton does not say which GPU a kernel ran on: all are taken as one GPU's, "
            "and copies are not recorded");
        capture.note_quality(
            QualityCode::no_absolute_time,
            "Proton counts from its first kernel: a power log cannot be laid beside it");
        return {};
      });
}

}  // namespace gf::proton
