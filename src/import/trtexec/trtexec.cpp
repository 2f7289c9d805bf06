// trtexec --exportTimes (TensorRT): when each query was enqueued, copied and computed.
#include <string>

#include "import/formats.h"
#include "import/json_rows.h"
#include "import/trace_rows.h"

namespace gf::trtexec {

int sniff(std::string_view, std::string_view head) {
  if (!head.starts_with('[')) return 0;
  const auto front = head.substr(0, 4096);
  auto has = [&](std::string_view part) { return front.find(part) != front.npos; };
  return has("\"startComputeMs\"") && has("\"endComputeMs\"") ? 93 : 0;
}

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  return load_json_text(
      path, options, "trtexec", [](std::string_view text, Capture& capture) -> Status {
        TraceRows rows(capture);
        const auto device = capture.device_row(0);
        capture.devices.vendor[device] = capture.strings.intern("nvidia");
        const auto thread = rows.thread(-1, 0);
        const Text compute = capture.strings.intern("TensorRT query (kernels as a whole)");
        constexpr int kMilliseconds = 6;
        JsonWalk walk;
        const bool whole = walk.run(
            text, [](std::string_view where) { return where.empty(); },
            [&](std::string_view, const JsonRow& row) {
              auto add = [&](const char* from, const char* to, ActivityKind kind, CopyKind copy) {
                const auto start = row.decimal(from, kMilliseconds),
                           end = row.decimal(to, kMilliseconds);
                if (!start || !end) return rows.bad_row();
                DeviceWork work;
                work.start = *start;
                work.end = *end;
                work.device = device;
                work.kind = kind;
                work.copy = copy;
                if (kind == ActivityKind::kernel) work.name = compute;
                rows.work(work);
              };
              add("startH2dMs", "endH2dMs", ActivityKind::memcpy, CopyKind::host_to_device);
              add("startComputeMs", "endComputeMs", ActivityKind::kernel, CopyKind::none);
              add("startD2hMs", "endD2hMs", ActivityKind::memcpy, CopyKind::device_to_host);
              const auto start = row.decimal("startEnqMs", kMilliseconds),
                         end = row.decimal("endEnqMs", kMilliseconds);
              if (start && end) rows.range(*start, *end, thread, "enqueue");
            });
        if (!whole)
          return fail("holds the times of trtexec, and ends early or is damaged", {}, -1,
                      "run trtexec --exportTimes=times.json again");
        rows.finish();
        capture.note_quality(
            QualityCode::graph_kernels_hidden,
            "trtexec times a query as a whole: idle time between its kernels cannot be "
            "seen");
        capture.note_quality(QualityCode::no_absolute_time,
                             "trtexec counts from its start: a power log cannot be laid beside it");
        return {};
      });
}

}  // namespace gf::trtexec
