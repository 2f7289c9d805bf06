// RPD, the database of rocmProfileData (AMD): work in rocpd_op, calls in rocpd_api, both linked in
// a table of its own.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <unordered_map>

#include "import/formats.h"
#include "import/sqlite_file.h"
#include "import/trace_rows.h"
#include "model/check.h"
#include "model/counter_values.h"
#include "model/metrics.h"

namespace gf::rpd {

namespace {

using sqlite::TableRow;

enum OpColumn { kOpId, kGpu, kQueue, kStart, kEnd, kDescription, kType };
enum ApiColumn { kApiId, kProcess, kThread, kApiStart, kApiEnd, kApiName, kArguments };
enum MonitorColumn { kDeviceType, kDevice, kMonitorType, kFrom, kUntil, kValue };

class Loader {
 public:
  Loader(const SqliteSource& source, Capture& capture)
      : source_(source), c_(capture), rows_(capture) {}

  Status run() {
    using Step = Status (Loader::*)();
    for (Step step : {&Loader::strings, &Loader::links, &Loader::launches, &Loader::copied,
                      &Loader::calls, &Loader::work, &Loader::monitors})
      if (const Status done = (this->*step)(); !done) return done;
    if (unnamed_ > 0)
      c_.note_quality(QualityCode::graph_kernels_hidden,
                      "operations of HIP graphs have no names: RPD records them as tasks",
                      unnamed_);
    note_no_absolute_time(c_, "RPD");
    rows_.finish();
    return {};
  }

 private:
  Status strings() {
    if (const Status done = source_.each(
            "rocpd_string", {"id", "string"},
            [&](const TableRow& row) { names_[row.integer(0)] = c_.strings.intern(row.text(1)); });
        !done)
      return done;
    // Arguments of calls, where they have a table of their own (schema 3).
    return source_.each("rocpd_ustring", {"id", "string"}, [&](const TableRow& row) {
      arguments_[row.integer(0)] = c_.strings.intern(row.text(1));
    });
  }
  Text name(std::int64_t id) const {
    const auto found = names_.find(id);
    return found == names_.end() ? Text{} : found->second;
  }

  Status links() {
    return source_.each("rocpd_api_ops", {"api_id", "op_id"},
                        [&](const TableRow& row) { calls_of_[row.integer(1)] = row.integer(0); });
  }

  struct Launch {
    std::array<std::int64_t, 3> grid{-1, -1, -1}, block{-1, -1, -1};
    std::int64_t shared_bytes = -1;
    Text kernel{};
  };

  Status launches() {
    return source_.each("rocpd_kernelapi",
                        {"api_ptr_id", "gridX", "gridY", "gridZ", "workgroupX", "workgroupY",
                         "workgroupZ", "groupSegmentSize", "kernelName_id"},
                        [&](const TableRow& row) {
                          Launch& launch = launches_[row.integer(0)];
                          for (int i = 0; i < 3; ++i) {
                            launch.grid[static_cast<std::size_t>(i)] = row.integer(1 + i);
                            launch.block[static_cast<std::size_t>(i)] = row.integer(4 + i);
                          }
                          launch.shared_bytes = row.integer(7);
                          launch.kernel = name(row.integer(8));
                        });
  }
  Status copied() {
    return source_.each("rocpd_copyapi", {"api_ptr_id", "size"},
                        [&](const TableRow& row) { bytes_[row.integer(0)] = row.integer(1); });
  }

  Status calls() {
    return source_.each(
        "rocpd_api", {"id", "pid", "tid", "start", "end", "apiName_id", "args_id"},
        [&](const TableRow& row) {
          const auto id = row.integer(kApiId);
          const auto pid = row.integer(kProcess);
          pids_[id] = pid;
          const auto thread = rows_.thread(pid, row.integer(kThread));
          const auto text = name(row.integer(kApiName));
          const std::string call(c_.text(text));
          if (call == "UserMarker") {
            const auto found = arguments_.find(row.integer(kArguments));
            const auto said =
                found == arguments_.end() ? name(row.integer(kArguments)) : found->second;
            return rows_.range(row.integer(kApiStart, 0), row.integer(kApiEnd, -1), thread,
                               std::string(c_.text(said)));
          }
          // The grid counts work-items where the launch is one of modules, and blocks elsewhere.
          if (call.starts_with("hipExtModuleLaunch"))
            if (const auto launch = launches_.find(id); launch != launches_.end())
              launch->second.grid = blocks_of(launch->second.grid, launch->second.block);
          rows_.call(row.integer(kApiStart, 0), row.integer(kApiEnd, -1), thread, call, id);
        });
  }

  std::uint32_t device(std::int64_t number) { return rows_.device(number, "amd"); }

  Status work() {
    return source_.each(
        "rocpd_op", {"id", "gpuId", "queueId", "start", "end", "description_id", "opType_id"},
        [&](const TableRow& row) {
          DeviceWork work;
          work.start = row.integer(kStart, 0);
          work.end = row.integer(kEnd, -1);
          work.device = device(row.integer(kGpu));
          work.stream = row.integer(kQueue);
          work.name = name(row.integer(kDescription));
          if (const auto call = calls_of_.find(row.integer(kOpId)); call != calls_of_.end())
            describe(call->second, work);
          const auto type = c_.text(name(row.integer(kType)));
          if (type.starts_with("Copy")) {
            work.kind = ActivityKind::memcpy;
            work.copy = copy_direction(type);
            work.grid = work.block = {-1, -1, -1};
          } else if (type.starts_with("Fill")) {
            work.kind = ActivityKind::memset;
            work.name = c_.strings.intern("Memset");
          } else if (work.name == Text{}) {
            work.graph_node = unnamed_++;  // several nodes may have one time
            work.name = c_.strings.intern("HIP graph (kernels without names)");
          }
          rows_.work(work);
        });
  }

  void describe(std::int64_t call, DeviceWork& work) {
    work.correlation = call;
    if (const auto pid = pids_.find(call); pid != pids_.end()) work.pid = pid->second;
    if (const auto bytes = bytes_.find(call); bytes != bytes_.end()) work.bytes = bytes->second;
    const auto launch = launches_.find(call);
    if (launch == launches_.end()) return;
    work.grid = launch->second.grid;
    work.block = launch->second.block;
    work.shared_bytes = launch->second.shared_bytes;
    if (work.name == Text{}) work.name = launch->second.kernel;
  }

  /// Values are texts.
  Status monitors() {
    return source_.each(
        "rocpd_monitor", {"deviceType", "deviceId", "monitorType", "start", "end", "value"},
        [&](const TableRow& row) {
          const auto said = row.text(kValue);
          double value = 0;
          const auto [end, wrong] = std::from_chars(said.data(), said.data() + said.size(), value);
          const auto start = row.integer(kFrom, 0), until = row.integer(kUntil, -1);
          const auto of = device(row.integer(kDevice));
          if (wrong != std::errc() || end != said.data() + said.size() || !std::isfinite(value) ||
              of == kNoRow || until < start || !in_reach(start) || !in_reach(until))
            return rows_.bad_row();
          ++c_.events;
          const bool clock = row.text(kMonitorType) == "sclk";
          const bool memory = row.text(kMonitorType) == "mclk";
          const std::string metric = clock    ? "clock.sm"_metric
                                     : memory ? "clock.memory"_metric
                                              : "rpd." + std::string(row.text(kMonitorType));
          add_row(c_.counter_samples, {start, until - start, of, c_.strings.intern(metric),
                                       clock || memory ? value * 1e6 : value});
        });
  }

  const SqliteSource& source_;
  Capture& c_;
  TraceRows rows_;
  std::unordered_map<std::int64_t, Text> names_, arguments_;
  std::unordered_map<std::int64_t, std::int64_t> calls_of_, bytes_, pids_;
  std::unordered_map<std::int64_t, Launch> launches_;
  std::int64_t unnamed_ = 0;
};

}  // namespace

int sniff(std::string_view, std::string_view head) {
  return is_database_with(head, {"rocpd_op", "rocpd_api_ops"}) ? 94 : 0;
}

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  return load_sqlite(path, options, "rpd", [](const SqliteSource& source, Capture& capture) {
    return Loader(source, capture).run();
  });
}

}  // namespace gf::rpd
