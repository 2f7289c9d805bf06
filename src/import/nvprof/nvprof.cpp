// The database of nvprof and the Visual Profiler. Some of its tables have the names of Nsight
// Systems', with other columns: names are numbers of StringTable, calls are numbers of CUPTI.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include "import/formats.h"
#include "import/sqlite_file.h"
#include "import/trace_rows.h"

namespace gf::nvprof {

namespace {

using sqlite::TableRow;

struct KnownCall {
  std::string_view name;
  std::array<std::int16_t, 3> numbers;  // 0: none
};

std::string call_name(bool driver, std::int64_t number) {
#define ALL(...) {__VA_ARGS__}
#define GF_RUNTIME_CALL(name, numbers) {name, numbers},
#define GF_DRIVER_CALL(name, numbers)
  static constexpr KnownCall kRuntime[] = {
#include "import/nvprof/calls.def"
  };
#undef GF_RUNTIME_CALL
#undef GF_DRIVER_CALL
#define GF_RUNTIME_CALL(name, numbers)
#define GF_DRIVER_CALL(name, numbers) {name, numbers},
  static constexpr KnownCall kDriver[] = {
#include "import/nvprof/calls.def"
  };
#undef GF_RUNTIME_CALL
#undef GF_DRIVER_CALL
#undef ALL
  const auto find = [&](const auto& list) -> std::string_view {
    for (const auto& call : list)
      if (number > 0 && std::ranges::find(call.numbers, number) != call.numbers.end())
        return call.name;
    return {};
  };
  const auto known = driver ? find(kDriver) : find(kRuntime);
  if (!known.empty()) return std::string(known);
  return fmt::format("{} call {}", driver ? "driver" : "runtime", number);
}

std::string_view memory_name(std::int64_t kind) {  // CUpti_ActivityMemoryKind
  static constexpr std::string_view kNames[] = {"Unknown", "Pageable", "Pinned",
                                                "Device",  "Array",    "Managed"};
  if (kind < 0 || kind >= static_cast<std::int64_t>(std::size(kNames))) return kNames[0];
  return kNames[kind];
}

// Columns in the order in which each table's are asked for; those of all work come first.
#define GF_WORK_COLUMNS "start", "end", "deviceId", "contextId", "streamId", "correlationId"
enum WorkColumn { kStart, kEnd, kDevice, kContext, kStream, kCorrelation, kOwn };
enum KernelColumn {
  kName = kOwn,
  kGrid,
  kBlock = kGrid + 3,
  kRegisters = kBlock + 3,
  kStatic,
  kDynamic
};
enum CopyColumn { kBytes = kOwn, kKind, kSource, kTarget };
enum CallColumn { kCallNumber = 2, kCallProcess, kCallThread, kCallCorrelation };
enum MarkColumn { kMarkTime, kMarkFlags, kMarkId, kMarkName, kMarkThread };

class Loader {
 public:
  Loader(const SqliteSource& source, Capture& capture)
      : source_(source), c_(capture), rows_(capture) {}

  Status run() {
    using Step = Status (Loader::*)();
    for (Step step : {&Loader::strings, &Loader::devices, &Loader::kernels, &Loader::copies,
                      &Loader::sets, &Loader::calls, &Loader::marks})
      if (const Status done = (this->*step)(); !done) return done;
    rows_.finish();
    return {};
  }

 private:
  Status strings() {
    return source_.each("StringTable", {"_id_", "value"}, [&](const TableRow& row) {
      names_[row.integer(0)] = c_.strings.intern(row.text(1));
    });
  }
  Text name(std::int64_t id) const {
    const auto found = names_.find(id);
    return found == names_.end() ? Text{} : found->second;
  }

  Status devices() {
    return source_.each(
        "CUPTI_ACTIVITY_KIND_DEVICE",
        {"id", "name", "coreClockRate", "numMultiprocessors", "computeCapabilityMajor",
         "computeCapabilityMinor", "globalMemorySize", "maxRegistersPerMultiprocessor",
         "maxSharedMemoryPerMultiprocessor", "maxWarpsPerMultiprocessor", "numThreadsPerWarp"},
        [&](const TableRow& row) {
          auto& devices = c_.devices;
          const auto at = device(row.integer(0));
          if (at == kNoRow) return;
          devices.name[at] = name(row.integer(1));
          devices.clock_khz[at] = row.integer(2);
          devices.sm_count[at] = small(row.integer(3));
          devices.compute_major[at] = small(row.integer(4));
          devices.compute_minor[at] = small(row.integer(5));
          devices.memory_bytes[at] = row.integer(6);
          devices.registers_per_sm[at] = small(row.integer(7));
          devices.shared_bytes_per_sm[at] = row.integer(8);
          const auto warps = row.integer(9), threads = row.integer(10);
          if (warps > 0 && warps < 4096 && threads > 0 && threads < 4096)
            devices.max_threads_per_sm[at] = small(warps * threads);
        });
  }

  static std::int32_t small(std::int64_t value) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, -1, INT32_MAX));
  }
  std::uint32_t device(std::int64_t number) { return rows_.device(number, "nvidia"); }

  DeviceWork work_of(const TableRow& row, ActivityKind kind) {
    DeviceWork work;
    work.start = row.integer(kStart, 0);
    work.end = row.integer(kEnd, 0);
    work.device = device(row.integer(kDevice));
    work.kind = kind;
    work.context = row.integer(kContext);
    work.stream = row.integer(kStream);
    work.correlation = row.integer(kCorrelation);
    return work;
  }

  Status kernels() {
    for (const std::string_view table :
         {"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", "CUPTI_ACTIVITY_KIND_KERNEL",
          "CUPTI_ACTIVITY_KIND_CDP_KERNEL"})
      if (const Status done = source_.each(
              table,
              {GF_WORK_COLUMNS, "name", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
               "registersPerThread", "staticSharedMemory", "dynamicSharedMemory"},
              [&](const TableRow& row) {
                DeviceWork work = work_of(row, ActivityKind::kernel);
                if (work.start == 0 && work.end == 0)
                  return c_.note_quality(QualityCode::no_time,
                                         "kernels to which nvprof gave no time");
                work.name = name(row.integer(kName));
                for (int i = 0; i < 3; ++i) {
                  work.grid[static_cast<std::size_t>(i)] = row.integer(kGrid + i);
                  work.block[static_cast<std::size_t>(i)] = row.integer(kBlock + i);
                }
                work.registers = row.integer(kRegisters);
                if (!row.null(kStatic) && !row.null(kDynamic))
                  work.shared_bytes =
                      checked_add(row.integer(kStatic), row.integer(kDynamic)).value_or(-1);
                rows_.work(work);
              });
          !done)
        return done;
    return {};
  }

  Status copies() {
    for (const std::string_view table :
         {"CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMCPY2"})
      if (const Status done =
              source_.each(table, {GF_WORK_COLUMNS, "bytes", "copyKind", "srcKind", "dstKind"},
                           [&](const TableRow& row) {
                             DeviceWork work = work_of(row, ActivityKind::memcpy);
                             work.copy = cupti_copy_kind(row.integer(kKind));
                             work.bytes = row.integer(kBytes);
                             std::string text(copy_name(work.copy));
                             if (!row.null(kSource) && !row.null(kTarget))
                               text += fmt::format(" ({} -> {})", memory_name(row.integer(kSource)),
                                                   memory_name(row.integer(kTarget)));
                             work.name = c_.strings.intern(text);
                             rows_.work(work);
                           });
          !done)
        return done;
    return {};
  }

  Status sets() {
    return source_.each("CUPTI_ACTIVITY_KIND_MEMSET", {GF_WORK_COLUMNS, "bytes"},
                        [&](const TableRow& row) {
                          DeviceWork work = work_of(row, ActivityKind::memset);
                          work.bytes = row.integer(kBytes);
                          work.name = c_.strings.intern("Memset");
                          rows_.work(work);
                        });
  }

  Status calls() {
    // A launch by the runtime is a call of the driver, too, with the number of the runtime's.
    for (const bool driver : {false, true}) {
      if (driver && !c_.api_calls.empty()) break;
      std::unordered_map<std::int64_t, std::string> known;
      if (const Status done = source_.each(
              driver ? "CUPTI_ACTIVITY_KIND_DRIVER" : "CUPTI_ACTIVITY_KIND_RUNTIME",
              {"start", "end", "cbid", "processId", "threadId", "correlationId"},
              [&](const TableRow& row) {
                const auto [at, fresh] = known.try_emplace(row.integer(kCallNumber));
                if (fresh) at->second = call_name(driver, at->first);
                rows_.call(row.integer(kStart, 0), row.integer(kEnd, 0),
                           rows_.thread(row.integer(kCallProcess), row.integer(kCallThread)),
                           at->second, row.integer(kCallCorrelation));
              });
          !done)
        return done;
    }
    return {};
  }

  /// Ranges are two rows of one id; the name stands in the first.
  Status marks() {
    struct Open {
      Nanos start;
      Text name;
    };
    std::unordered_map<std::int64_t, Open> open;
    return source_.each(
        "CUPTI_ACTIVITY_KIND_MARKER", {"timestamp", "flags", "id", "name", "objectId"},
        [&](const TableRow& row) {
          const auto flags = row.integer(kMarkFlags, 0);
          constexpr std::int64_t kBegins = 2, kEnds = 4;  // CUpti_ActivityFlag
          if (flags & kBegins) {
            open[row.integer(kMarkId)] = {row.integer(kMarkTime, 0), name(row.integer(kMarkName))};
          } else if (const auto begun = open.find(row.integer(kMarkId));
                     (flags & kEnds) && begun != open.end()) {
            rows_.range(begun->second.start, row.integer(kMarkTime, 0),
                        thread_of(row.text(kMarkThread)), c_.text(begun->second.name));
            open.erase(begun);
          }
        });
  }
  /// The thread of a CUpti_ActivityObjectKindId: a process and a thread.
  std::uint32_t thread_of(std::string_view id) {
    std::array<std::uint32_t, 2> numbers{};
    if (id.size() < sizeof numbers) return rows_.thread(-1, -1);
    std::memcpy(numbers.data(), id.data(), sizeof numbers);
    return rows_.thread(numbers[0], numbers[1]);
  }

  const SqliteSource& source_;
  Capture& c_;
  TraceRows rows_;
  std::unordered_map<std::int64_t, Text> names_;
};

#undef GF_WORK_COLUMNS

}  // namespace

int sniff(std::string_view, std::string_view head) {
  return is_database_with(head, {"CUPTI_ACTIVITY_KIND_", "StringTable"}) ? 92 : 0;
}

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  return load_sqlite(path, options, "nvprof", [](const SqliteSource& source, Capture& capture) {
    return Loader(source, capture).run();
  });
}

}  // namespace gf::nvprof
