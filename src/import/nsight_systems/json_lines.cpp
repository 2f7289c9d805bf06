// nsys export --type json or jsonlines: a list of texts first, then an event a line, whose numbers
// of 64 bits are texts.
#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "import/formats.h"
#include "import/json_rows.h"
#include "import/nsight_systems/loader.h"
#include "import/trace_rows.h"

namespace gf::nsys {

namespace {

class JsonLines {
 public:
  explicit JsonLines(Capture& capture) : c_(capture), rows_(capture) {}

  /// False: damage.
  bool line(std::string_view text) {
    return walk_.run(
        text, [](std::string_view path) { return path.empty(); },
        [&](std::string_view, const JsonRow& row) { add(row); });
  }
  void finish() { rows_.finish(); }

 private:
  void add(const JsonRow& row) {
    if (row.has("CudaEvent.startNs")) return add_work(row);
    if (row.has("TraceProcessEvent.startNs")) return add_call(row);
    if (!names_.empty()) return;  // a second list has names of threads
    for (const auto& value : row.values())
      if (value.path.starts_with("data.")) names_.push_back(c_.strings.intern(value.text));
  }

  Text name(const JsonRow& row, std::string_view path) const {
    const auto at = row.integer(path);
    return at >= 0 && at < static_cast<std::int64_t>(names_.size())
               ? names_[static_cast<std::size_t>(at)]
               : Text{};
  }

  void add_work(const JsonRow& row) {
    const auto start = row.decimal("CudaEvent.startNs", 0), end = row.decimal("CudaEvent.endNs", 0);
    if (!start || !end) return rows_.bad_row();
    DeviceWork work;
    work.start = *start;
    work.end = *end;
    work.context = row.integer("CudaEvent.contextId");
    work.stream = row.integer("CudaEvent.streamId");
    work.correlation = row.integer("CudaEvent.correlationId");
    work.pid = process_of(row.integer("CudaEvent.globalPid"));
    if (row.has("CudaEvent.memcpy.copyKind")) {
      work.kind = ActivityKind::memcpy;
      work.copy = cupti_copy_kind(row.integer("CudaEvent.memcpy.copyKind"));
      work.bytes = row.integer("CudaEvent.memcpy.sizebytes");
      work.name =
          c_.strings.intern(fmt::format("{} ({} -> {})", copy_name(work.copy),
                                        memory_name(row.integer("CudaEvent.memcpy.srcKind")),
                                        memory_name(row.integer("CudaEvent.memcpy.dstKind"))));
    } else if (row.has("CudaEvent.memset.sizebytes")) {
      work.kind = ActivityKind::memset;
      work.bytes = row.integer("CudaEvent.memset.sizebytes");
      work.name = c_.strings.intern("Memset");
    } else if (row.has("CudaEvent.kernel.gridX")) {
      describe_kernel(row, work);
    } else {
      return;  // synchronizations and the like
    }
    work.device = rows_.device(row.integer("CudaEvent.deviceId"), "nvidia");
    rows_.work(work);
  }

  void describe_kernel(const JsonRow& row, DeviceWork& work) {
    work.name = name(row, "CudaEvent.kernel.demangledName");
    if (work.name == Text{}) work.name = name(row, "CudaEvent.kernel.shortName");
    work.registers = row.integer("CudaEvent.kernel.registersPerThread");
    for (std::size_t i = 0; i < 3; ++i) {
      work.grid[i] = row.integer(std::string("CudaEvent.kernel.grid") + "XYZ"[i]);
      work.block[i] = row.integer(std::string("CudaEvent.kernel.block") + "XYZ"[i]);
    }
  }

  void add_call(const JsonRow& row) {
    const auto start = row.decimal("TraceProcessEvent.startNs", 0),
               end = row.decimal("TraceProcessEvent.endNs", 0);
    if (!start || !end) return rows_.bad_row();
    const auto global = row.integer("TraceProcessEvent.globalTid");
    std::string_view text = c_.text(name(row, "TraceProcessEvent.name"));
    rows_.call(*start, *end, rows_.thread(process_of(global), thread_of(global)),
               std::string(text.substr(0, text.rfind("_v"))),
               row.integer("TraceProcessEvent.correlationId"));
  }

  Capture& c_;
  TraceRows rows_;
  JsonWalk walk_;
  std::vector<Text> names_;
};

}  // namespace

int sniff_json(std::string_view, std::string_view head) {
  if (!head.starts_with('{')) return 0;
  const auto front = head.substr(0, 256);
  auto has = [&](std::string_view part) { return front.find(part) != front.npos; };
  return (front.starts_with("{\"data\"") && has("[\"[Unknown]\"")) || has("\"CudaEvent\"") ||
                 has("\"TraceProcessEvent\"")
             ? 93
             : 0;
}

Result<Capture> load_json(const std::string& path, const ImportOptions& options) {
  return load_json_text(
      path, options, "nsight_systems_json", [](std::string_view text, Capture& capture) -> Status {
        JsonLines lines(capture);
        each_json_line(text, [&](std::string_view line) {
          if (!lines.line(line))
            capture.note_quality(QualityCode::bad_row, "lines that are not valid JSON");
        });
        lines.finish();
        capture.note_quality(
            QualityCode::no_absolute_time,
            "the export counts from the session's start: a power log cannot be laid "
            "beside it (an export as SQLite has the time)");
        return {};
      });
}

}  // namespace gf::nsys
