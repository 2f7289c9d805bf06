#include <fmt/format.h>

#include <algorithm>

#include "core/secrets.h"
#include "import/formats.h"
#include "import/importer.h"
#include "import/nsight_systems/loader.h"
#include "model/check.h"

namespace gf::nsys {

namespace {

enum GpuColumn {
  kGpuId,
  kGpuCudaDevice,
  kGpuName,
  kGpuUuid,
  kGpuSms,
  kGpuMemory,
  kGpuClock,
  kGpuMajor,
  kGpuMinor,
  kGpuRegisters,
  kGpuShared,
  kGpuWarps,
  kGpuWarpThreads
};

}  // namespace

Status Loader::run() {
  using Step = Status (Loader::*)();
  for (Step step :
       {&Loader::session, &Loader::strings, &Loader::devices, &Loader::threads, &Loader::kernels,
        &Loader::copies, &Loader::sets, &Loader::graphs, &Loader::calls, &Loader::payload_entries,
        &Loader::ranges, &Loader::syncs, &Loader::gpu_metrics, &Loader::diagnostics})
    if (const Status done = (this->*step)(); !done) return done;
  if (c_.events == 0)
    c_.note_quality(
        QualityCode::no_events,
        "the export contains no CUDA activity and no ranges: capture with --trace=cuda,nvtx");
  return {};
}

std::optional<Interval> Loader::span(const TableRow& row, std::string_view table) {
  ++c_.events;
  if (!row.null(kStart)) {
    const std::int64_t start = row.integer(kStart);
    std::int64_t end = start;
    if (!row.null(kEnd)) end = row.integer(kEnd);
    const auto from = checked_add(epoch_, start);
    const auto to = checked_add(epoch_, end);
    if (end >= start && from && to && in_reach(*from) && in_reach(*to)) return Interval{*from, *to};
  }
  c_.note_quality(QualityCode::bad_event,
                  fmt::format("rows without a possible time span, first in {}", table));
  return std::nullopt;
}

Text Loader::name(std::int64_t id) {
  const auto found = names_.find(id);
  if (found == names_.end()) {
    if (id > 0)
      c_.note_quality(QualityCode::bad_value, "names whose text is not in the export are unknown");
    return Text{};
  }
  return found->second;
}

std::uint32_t Loader::thread(std::int64_t global) {
  const auto [at, fresh] = threads_.try_emplace(global, kNoRow);
  if (fresh) {
    at->second = c_.threads.add();
    c_.threads.pid[at->second] = process_of(global);
    c_.threads.tid[at->second] = thread_of(global);
    if (const auto found = process_names_.find(process_of(global)); found != process_names_.end())
      c_.threads.process_name[at->second] = c_.strings.intern(found->second);
    if (const auto found = thread_names_.find(global); found != thread_names_.end())
      c_.threads.name[at->second] = name(found->second);
  }
  return at->second;
}

Status Loader::session() {
  if (const Status done = each("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"},
                               [&](const TableRow& rows) { epoch_ = rows.integer(0, 0); });
      !done)
    return done;
  return each("META_DATA_EXPORT", {"name", "value"}, [&](const TableRow& rows) {
    if (rows.text(0).starts_with("EXPORT_"))
      c_.set_metadata("nsys." + std::string(rows.text(0)), rows.text(1));
  });
}

Status Loader::strings() {
  return each("StringIds", {"id", "value"}, [&](const TableRow& rows) {
    names_[rows.integer(0)] = c_.strings.intern(rows.text(1));
  });
}

Status Loader::devices() {
  std::int64_t clocks_per_khz = 1000;
  auto take = [&](const TableRow& rows) {
    if (rows.null(kGpuId)) return;  // of an older export: the other table knows the number
    if (!rows.null(kGpuSms) && rows.integer(kGpuSms) == 0) return;  // an adapter without CUDA
    const auto row = c_.device_row(static_cast<std::int32_t>(
        rows.integer(rows.null(kGpuCudaDevice) ? kGpuId : kGpuCudaDevice)));
    gpus_[rows.integer(kGpuId)] = row;
    auto& devices = c_.devices;
    devices.name[row] = c_.strings.intern(rows.text(kGpuName));
    devices.uuid[row] = c_.strings.intern(rows.text(kGpuUuid));
    devices.vendor[row] = c_.strings.intern("nvidia");
    devices.sm_count[row] = static_cast<std::int32_t>(rows.integer(kGpuSms));
    devices.memory_bytes[row] = rows.integer(kGpuMemory);
    if (!rows.null(kGpuClock)) devices.clock_khz[row] = rows.integer(kGpuClock) / clocks_per_khz;
    devices.compute_major[row] = static_cast<std::int32_t>(rows.integer(kGpuMajor));
    devices.compute_minor[row] = static_cast<std::int32_t>(rows.integer(kGpuMinor));
    devices.registers_per_sm[row] = static_cast<std::int32_t>(rows.integer(kGpuRegisters));
    devices.shared_bytes_per_sm[row] = rows.integer(kGpuShared);
    const std::int64_t warps = rows.integer(kGpuWarps), threads = rows.integer(kGpuWarpThreads);
    if (warps >= 0 && warps < 4096 && threads >= 0 && threads < 4096)
      devices.max_threads_per_sm[row] = static_cast<std::int32_t>(warps * threads);
  };
  if (const Status done = each(
          "TARGET_INFO_GPU",
          {"id", "cuDevice", "name", "uuid", "smCount", "totalMemory", "clockRate", "computeMajor",
           "computeMinor", "maxRegistersPerSm", "maxShmemPerSm", "maxWarpsPerSm", "threadsPerWarp"},
          take);
      !done)
    return done;
  if (!gpus_.empty()) return {};
  clocks_per_khz = 1;  // exports until 2021 have this table, in kHz and without a UUID
  return each("TARGET_INFO_CUDA_GPU",
              {"deviceId", "deviceId", "name", "uuid", "numMultiprocessors", "globalMemorySize",
               "coreClockRate", "computeCapabilityMajor", "computeCapabilityMinor",
               "maxRegistersPerMultiprocessor", "maxSharedMemoryPerMultiprocessor",
               "maxWarpsPerMultiprocessor", "numThreadsPerWarp"},
              take);
}

// The lists cover the whole machine: rows are made for threads that have events only.
Status Loader::threads() {
  if (const Status done = each("PROCESSES", {"globalPid", "name"},
                               [&](const TableRow& rows) {
                                 process_names_[process_of(rows.integer(0))] =
                                     without_secrets(rows.text(1));
                               });
      !done)
    return done;
  return each("ThreadNames", {"globalTid", "nameId"},
              [&](const TableRow& rows) { thread_names_[rows.integer(0)] = rows.integer(1); });
}

Status Loader::diagnostics() {
  return each("DIAGNOSTIC_EVENT", {"severity", "text"}, [&](const TableRow& rows) {
    if (rows.integer(0) > 1)
      c_.note_quality(QualityCode::profiler_message,
                      "the profiler said: " + std::string(rows.text(1).substr(0, 200)));
  });
}

int sniff(std::string_view, std::string_view head) {
  if (!head.starts_with(std::string_view("SQLite format 3\0", 16))) return 0;
  for (const std::string_view own :
       {"META_DATA_EXPORT", "TARGET_INFO_SESSION_START_TIME", "StringIds"})
    if (head.find(own) != head.npos) return 90;
  // nvprof's database has tables of these names, too.
  return head.find("CUPTI_ACTIVITY_KIND_") != head.npos ? 60 : 0;
}

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  return load_sqlite(path, options, "nsight_systems",
                     [](const SqliteSource& source, Capture& capture) -> Status {
                       if (source.has("StringTable") && !source.has("StringIds"))
                         return fail("is a database of nvprof", {}, -1, "unpack it first");
                       return Loader(source, capture).run();
                     });
}

}  // namespace gf::nsys
