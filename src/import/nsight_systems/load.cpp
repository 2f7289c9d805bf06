#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <unordered_map>

#include "import/gpu_api.h"
#include "import/nsight_systems/nccl_ranges.h"
#include "import/nsight_systems/nsight_systems.h"
#include "import/nsight_systems/table_rows.h"
#include "model/check.h"
#include "model/metric_id.h"
#include "model/nvtx_operation.h"

namespace gf::nsys {

namespace {

/// Serialised ids hold the process in bits 24 to 47 and the thread in the low 24.
std::int64_t process_of(std::int64_t global) {
  if (global < 0) return -1;
  return global >> 24 & 0xFFFFFF;
}
std::int64_t thread_of(std::int64_t global) {
  if (global < 0) return -1;
  return global & 0xFFFFFF;
}

CopyKind copy_kind(std::int64_t operation) {  // ENUM_CUDA_MEMCPY_OPER
  switch (operation) {
    case 1:
    case 3:
    case 11:
      return CopyKind::host_to_device;
    case 2:
    case 4:
    case 12:
      return CopyKind::device_to_host;
    case 5:
    case 6:
    case 7:
    case 8:
    case 13:
      return CopyKind::device_to_device;
    case 9:
      return CopyKind::host_to_host;
    case 10:
      return CopyKind::peer;
    default:
      return CopyKind::unknown;
  }
}

std::string_view copy_name(CopyKind kind) {
  switch (kind) {
    case CopyKind::host_to_device:
      return "Memcpy HtoD";
    case CopyKind::device_to_host:
      return "Memcpy DtoH";
    case CopyKind::device_to_device:
      return "Memcpy DtoD";
    case CopyKind::host_to_host:
      return "Memcpy HtoH";
    case CopyKind::peer:
      return "Memcpy PtoP";
    default:
      return "Memcpy";
  }
}

/// Metrics of --gpu-metrics-devices that are metrics of the catalogue; others keep their own name
/// and percent.
std::string_view catalogue_metric(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"SMs Active", "sm.active_any"_metric},
      {"SM Active", "sm.active_any"_metric},
      {"SM Issue", "issue.active"_metric},
      {"Tensor Active", "tensor.active"_metric},
      {"GR Active", "gpu.busy"_metric}};
  for (const auto& [theirs, ours] : known)
    if (name.starts_with(theirs)) return ours;
  return {};
}

// Columns in the order in which each table's are asked for. Those of all device activities come
// first.
#define GF_ACTIVITY_COLUMNS \
  "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"
enum ActivityColumn { kStart, kEnd, kDevice, kContext, kStream, kCorrelation, kProcess, kOwn };
enum KernelColumn {
  kDemangledName = kOwn,
  kShortName,
  kGridX,
  kGridY,
  kGridZ,
  kBlockX,
  kBlockY,
  kBlockZ,
  kRegisters,
  kStaticShared,
  kDynamicShared,
  kKernelGraph,
  kKernelGraphNode
};
enum CopyColumn { kCopyBytes = kOwn, kCopyKind, kCopyGraphNode };
enum SetColumn { kSetBytes = kOwn, kSetGraphNode };
enum GraphColumn { kGraph = kOwn };
enum CallColumn { kCallThread = 2, kCallCorrelation, kCallName };
enum RangeColumn { kRangeThread = 2, kRangeText, kRangeTextId, kRangeType, kRangePayload };
enum EntryColumn { kEntryDomain, kEntrySchema, kEntryName, kEntryType, kEntryOffset };
enum SyncColumn { kSyncDevice = 2, kSyncStream, kSyncCorrelation, kSyncType };
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
enum MetricColumn { kMetricType, kMetricId, kMetricName };
enum SampleColumn { kSampleTime, kSampleRawTime, kSampleType, kSampleMetric, kSampleValue };

class Loader {
 public:
  Loader(sqlite3* db, const std::string& path, Capture& capture, std::uint64_t max_bytes)
      : db_(db), path_(path), c_(capture), budget_(path, max_bytes) {}

  Status run() {
    using Step = Status (Loader::*)();
    for (Step step :
         {&Loader::session, &Loader::strings, &Loader::devices, &Loader::threads, &Loader::kernels,
          &Loader::copies, &Loader::sets, &Loader::graphs, &Loader::calls, &Loader::payload_entries,
          &Loader::ranges, &Loader::syncs, &Loader::gpu_metrics, &Loader::diagnostics})
      if (const Status done = (this->*step)(); !done) return done;
    if (c_.events == 0)
      c_.note_quality(
          QualityCode::no_events,
          "the export holds no CUDA activity and no ranges: capture with --trace=cuda,nvtx");
    return {};
  }

 private:
  /// f(row) for every row of a table.
  template <class F>
  Status each(std::string_view table, std::initializer_list<std::string_view> columns, F&& apply) {
    auto rows = TableRows::open(db_, table, columns, path_);
    if (!rows) return tl::unexpected(rows.error());
    for (;;) {
      const auto more = rows->next();
      if (!more) return tl::unexpected(more.error());
      if (!*more) return {};
      if (auto ok = budget_.spend(rows->bytes()); !ok) return ok;
      apply(*rows);
    }
  }

  /// Start and duration of a row; empty, and counted, when they make no span.
  std::optional<Interval> span(const TableRows& row, std::string_view table) {
    ++c_.events;
    if (!row.null(kStart)) {
      const std::int64_t start = row.integer(kStart);
      std::int64_t end = start;
      if (!row.null(kEnd)) end = row.integer(kEnd);
      const auto from = checked_add(epoch_, start);
      const auto to = checked_add(epoch_, end);
      if (end >= start && from && to && in_reach(*from) && in_reach(*to))
        return Interval{*from, *to};
    }
    c_.note_quality(QualityCode::bad_event,
                    fmt::format("rows without a possible time span, first in {}", table));
    return std::nullopt;
  }

  Text name(std::int64_t id) const {
    const auto found = names_.find(id);
    if (found == names_.end()) return Text{};
    return found->second;
  }

  std::uint32_t thread(std::int64_t global) {
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

  Status session() {
    if (const Status done = each("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"},
                                 [&](const TableRows& rows) { epoch_ = rows.integer(0, 0); });
        !done)
      return done;
    return each("META_DATA_EXPORT", {"name", "value"}, [&](const TableRows& rows) {
      if (rows.text(0).starts_with("EXPORT_"))
        c_.set_metadata("nsys." + std::string(rows.text(0)), rows.text(1));
    });
  }

  Status strings() {
    return each("StringIds", {"id", "value"}, [&](const TableRows& rows) {
      names_[rows.integer(0)] = c_.strings.intern(rows.text(1));
    });
  }

  Status devices() {
    return each(
        "TARGET_INFO_GPU",
        {"id", "cuDevice", "name", "uuid", "smCount", "totalMemory", "clockRate", "computeMajor",
         "computeMinor", "maxRegistersPerSm", "maxShmemPerSm", "maxWarpsPerSm", "threadsPerWarp"},
        [&](const TableRows& rows) {
          const auto row = c_.device_row(static_cast<std::int32_t>(
              rows.integer(rows.null(kGpuCudaDevice) ? kGpuId : kGpuCudaDevice)));
          gpus_[rows.integer(kGpuId)] = row;
          auto& devices = c_.devices;
          devices.name[row] = c_.strings.intern(rows.text(kGpuName));
          devices.uuid[row] = c_.strings.intern(rows.text(kGpuUuid));
          devices.vendor[row] = c_.strings.intern("nvidia");
          devices.sm_count[row] = static_cast<std::int32_t>(rows.integer(kGpuSms));
          devices.memory_bytes[row] = rows.integer(kGpuMemory);
          if (!rows.null(kGpuClock)) devices.clock_khz[row] = rows.integer(kGpuClock) / 1000;
          devices.compute_major[row] = static_cast<std::int32_t>(rows.integer(kGpuMajor));
          devices.compute_minor[row] = static_cast<std::int32_t>(rows.integer(kGpuMinor));
          devices.registers_per_sm[row] = static_cast<std::int32_t>(rows.integer(kGpuRegisters));
          devices.shared_bytes_per_sm[row] = rows.integer(kGpuShared);
          const std::int64_t warps = rows.integer(kGpuWarps),
                             threads = rows.integer(kGpuWarpThreads);
          if (warps >= 0 && warps < 4096 && threads >= 0 && threads < 4096)
            devices.max_threads_per_sm[row] = static_cast<std::int32_t>(warps * threads);
        });
  }

  // The lists cover the whole machine: rows are made for threads that have events only.
  Status threads() {
    if (const Status done = each("PROCESSES", {"globalPid", "name"},
                                 [&](const TableRows& rows) {
                                   process_names_[process_of(rows.integer(0))] = rows.text(1);
                                 });
        !done)
      return done;
    return each("ThreadNames", {"globalTid", "nameId"},
                [&](const TableRows& rows) { thread_names_[rows.integer(0)] = rows.integer(1); });
  }

  /// The columns that all device activities begin with: start, end, deviceId, contextId, streamId,
  /// correlationId, globalPid.
  std::uint32_t activity(const TableRows& rows, Interval span, ActivityKind kind) {
    auto& activities = c_.activities;
    const auto row = activities.add();
    activities.start_ns[row] = span.start;
    activities.duration_ns[row] = span.length();
    activities.device[row] = c_.device_row(static_cast<std::int32_t>(rows.integer(kDevice)));
    activities.context[row] = rows.integer(kContext);
    activities.stream[row] = rows.integer(kStream);
    activities.correlation[row] = rows.integer(kCorrelation);
    activities.pid[row] = process_of(rows.integer(kProcess));
    activities.kind[row] = kind;
    return row;
  }

  Status kernels() {
    return each(
        "CUPTI_ACTIVITY_KIND_KERNEL",
        {GF_ACTIVITY_COLUMNS, "demangledName", "shortName", "gridX", "gridY", "gridZ", "blockX",
         "blockY", "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory",
         "graphId", "graphNodeId"},
        [&](const TableRows& rows) {
          const auto span_of = span(rows, "CUPTI_ACTIVITY_KIND_KERNEL");
          if (!span_of) return;
          const auto row = activity(rows, *span_of, ActivityKind::kernel);
          auto& activities = c_.activities;
          if (name(rows.integer(kDemangledName)) != Text{}) {
            activities.name[row] = name(rows.integer(kDemangledName));
          } else {
            activities.name[row] = name(rows.integer(kShortName));
          }
          I32* const shape[] = {&activities.grid_x[row],   &activities.grid_y[row],
                                &activities.grid_z[row],   &activities.block_x[row],
                                &activities.block_y[row],  &activities.block_z[row],
                                &activities.registers[row]};
          for (int i = 0; i < 7; ++i)
            *shape[i] =
                static_cast<I32>(std::clamp<std::int64_t>(rows.integer(kGridX + i), -1, INT32_MAX));
          if (!rows.null(kStaticShared) && !rows.null(kDynamicShared))
            activities.shared_bytes[row] =
                static_cast<std::int64_t>(static_cast<std::uint64_t>(rows.integer(kStaticShared)) +
                                          static_cast<std::uint64_t>(rows.integer(kDynamicShared)));
          activities.graph_id[row] = rows.integer(kKernelGraph);
          activities.graph_node[row] = rows.integer(kKernelGraphNode);
        });
  }

  Status copies() {
    return each("CUPTI_ACTIVITY_KIND_MEMCPY",
                {GF_ACTIVITY_COLUMNS, "bytes", "copyKind", "graphNodeId"},
                [&](const TableRows& rows) {
                  const auto span_of = span(rows, "CUPTI_ACTIVITY_KIND_MEMCPY");
                  if (!span_of) return;
                  const auto row = activity(rows, *span_of, ActivityKind::memcpy);
                  c_.activities.bytes[row] = rows.integer(kCopyBytes);
                  c_.activities.copy[row] = copy_kind(rows.integer(kCopyKind));
                  c_.activities.name[row] = c_.strings.intern(copy_name(c_.activities.copy[row]));
                  c_.activities.graph_node[row] = rows.integer(kCopyGraphNode);
                });
  }

  Status sets() {
    return each("CUPTI_ACTIVITY_KIND_MEMSET", {GF_ACTIVITY_COLUMNS, "bytes", "graphNodeId"},
                [&](const TableRows& rows) {
                  const auto span_of = span(rows, "CUPTI_ACTIVITY_KIND_MEMSET");
                  if (!span_of) return;
                  const auto row = activity(rows, *span_of, ActivityKind::memset);
                  c_.activities.bytes[row] = rows.integer(kSetBytes);
                  c_.activities.graph_node[row] = rows.integer(kSetGraphNode);
                  c_.activities.name[row] = c_.strings.intern("Memset");
                });
  }

  /// By default a graph launch is one row and its kernels are hidden; the device is busy all the
  /// same.
  Status graphs() {
    return each("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {GF_ACTIVITY_COLUMNS, "graphId"},
                [&](const TableRows& rows) {
                  const auto span_of = span(rows, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
                  if (!span_of) return;
                  const auto row = activity(rows, *span_of, ActivityKind::kernel);
                  c_.activities.graph_id[row] = rows.integer(kGraph);
                  c_.activities.name[row] = c_.strings.intern("CUDA graph (kernels not recorded)");
                  c_.note_quality(QualityCode::graph_kernels_hidden,
                                  "launches of CUDA graphs were recorded as a whole; capture with "
                                  "--cuda-graph-trace=node to see their kernels");
                });
  }

  Status calls() {
    return each("CUPTI_ACTIVITY_KIND_RUNTIME",
                {"start", "end", "globalTid", "correlationId", "nameId"},
                [&](const TableRows& rows) {
                  const auto span_of = span(rows, "CUPTI_ACTIVITY_KIND_RUNTIME");
                  if (!span_of) return;
                  auto& api_calls = c_.api_calls;
                  const auto row = api_calls.add();
                  api_calls.start_ns[row] = span_of->start;
                  api_calls.duration_ns[row] = span_of->length();
                  api_calls.thread[row] = thread(rows.integer(kCallThread));
                  api_calls.correlation[row] = rows.integer(kCallCorrelation);
                  api_calls.name[row] = api_name(rows.integer(kCallName));
                  api_calls.kind[row] = gpu_api_kind(c_.text(api_calls.name[row]));
                });
  }

  /// Runtime names carry their version: "cudaMemcpyAsync_v3020".
  Text api_name(std::int64_t id) {
    const Text recorded = name(id);
    std::string_view text = c_.text(recorded);
    const auto version = text.rfind("_v");
    if (version == text.npos || version + 2 == text.size() ||
        !std::ranges::all_of(text.substr(version + 2),
                             [](char letter) { return letter >= '0' && letter <= '9'; }))
      return recorded;
    return c_.strings.intern(std::string(text.substr(0, version)));
  }

  Status payload_entries() {
    return each("NVTX_PAYLOAD_SCHEMA_ENTRIES", {"domainId", "schemaId", "name", "type", "offset"},
                [&](const TableRows& rows) {
                  nccl_.add_entry(rows.integer(kEntryDomain), rows.integer(kEntrySchema),
                                  {std::string(rows.text(kEntryName)), rows.integer(kEntryType),
                                   rows.integer(kEntryOffset)});
                });
  }

  Status ranges() {
    const Status done = each(
        "NVTX_EVENTS", {"start", "end", "globalTid", "text", "textId", "eventType", "binaryData"},
        [&](const TableRows& rows) {
          // 59 push/pop and 60 start/end ranges; marks and the registration of domains are no
          // spans.
          if (const std::int64_t type = rows.integer(kRangeType); type != 59 && type != 60) return;
          if (rows.null(kEnd))
            c_.note_quality(
                QualityCode::open_range,
                "NVTX ranges that were still open when the capture ended; they have no length");
          const auto span_of = span(rows, "NVTX_EVENTS");
          if (!span_of) return;
          auto& host_ops = c_.host_ops;
          const auto row = host_ops.add();
          host_ops.start_ns[row] = span_of->start;
          host_ops.duration_ns[row] = span_of->length();
          host_ops.thread[row] = thread(rows.integer(kRangeThread));
          const Text text = rows.null(kRangeText) ? name(rows.integer(kRangeTextId))
                                                  : c_.strings.intern(rows.text(kRangeText));
          name_nvtx_range(c_, row, text);
          if (!rows.null(kRangePayload))
            nccl_.add_range(host_ops.thread[row], span_of->start, c_.text(text),
                            rows.text(kRangePayload));
        });
    if (done) nccl_.describe(c_);
    return done;
  }

  Status syncs() {
    std::map<std::int64_t, std::string> kinds;
    if (const Status done =
            each("ENUM_CUPTI_SYNC_TYPE", {"id", "label"},
                 [&](const TableRows& rows) { kinds[rows.integer(0)] = rows.text(1); });
        !done)
      return done;
    return each("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                {"start", "end", "deviceId", "streamId", "correlationId", "syncType"},
                [&](const TableRows& rows) {
                  const auto span_of = span(rows, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
                  if (!span_of) return;
                  auto& syncs = c_.syncs;
                  const auto row = syncs.add();
                  syncs.start_ns[row] = span_of->start;
                  syncs.duration_ns[row] = span_of->length();
                  syncs.device[row] =
                      c_.device_row(static_cast<std::int32_t>(rows.integer(kSyncDevice)));
                  if (rows.integer(kSyncStream) == UINT32_MAX) {
                    syncs.stream[row] = -1;
                  } else {
                    syncs.stream[row] = rows.integer(kSyncStream);
                  }  // all ones: no single stream
                  syncs.correlation[row] = rows.integer(kSyncCorrelation);
                  syncs.kind[row] = c_.strings.intern(kinds[rows.integer(kSyncType)]);
                });
  }

  Status gpu_metrics() {
    struct Known {
      Text metric;
      double factor;
    };
    std::map<std::pair<std::int64_t, std::int64_t>, Known> metrics;
    Status done = each("TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"},
                       [&](const TableRows& rows) {
                         const std::string_view ours = catalogue_metric(rows.text(kMetricName));
                         metrics[{rows.integer(kMetricType), rows.integer(kMetricId)}] = {
                             c_.strings.intern(ours.empty() ? rows.text(kMetricName) : ours),
                             ours.empty() ? 1 : 0.01};
                       });
    if (!done) return done;
    std::vector<std::int64_t> source;  // typeId of each sample
    std::map<std::int64_t, std::vector<Nanos>> times;
    const std::size_t first = c_.counter_samples.size();
    done = each("GPU_METRICS", {"timestamp", "rawTimestamp", "typeId", "metricId", "value"},
                [&](const TableRows& rows) {
                  ++c_.events;
                  std::int64_t time = 0;
                  if (rows.null(kSampleTime)) {
                    time = rows.integer(kSampleRawTime);
                  } else {
                    time = rows.integer(kSampleTime);
                  }
                  const auto known =
                      metrics.find({rows.integer(kSampleType), rows.integer(kSampleMetric)});
                  const auto at = checked_add(epoch_, time);
                  if (time < 0 || !at || !in_reach(*at) || known == metrics.end() ||
                      rows.null(kSampleValue)) {
                    c_.note_quality(QualityCode::bad_event,
                                    "samples of GPU metrics before the session, without a value or "
                                    "of an unnamed metric");
                    return;
                  }
                  auto& samples = c_.counter_samples;
                  const auto row = samples.add();
                  samples.start_ns[row] = *at;
                  const auto gpu = gpus_.find(rows.integer(kSampleType) &
                                              0xFF);  // the machine's number; CUDA's may differ
                  if (gpu != gpus_.end()) {
                    samples.device[row] = gpu->second;
                  } else {
                    samples.device[row] =
                        c_.device_row(static_cast<std::int32_t>(rows.integer(kSampleType) & 0xFF));
                  }
                  samples.metric[row] = known->second.metric;
                  samples.value[row] = rows.real(kSampleValue) * known->second.factor;
                  source.push_back(rows.integer(kSampleType));
                  times[source.back()].push_back(*at);
                });
    // A sample is the mean since the one before.
    for (auto& [type, time] : times) {
      std::sort(time.begin(), time.end());
      time.erase(std::unique(time.begin(), time.end()), time.end());
    }
    for (std::size_t i = 0; i < source.size(); ++i) {
      auto& samples = c_.counter_samples;
      const auto& time = times[source[i]];
      if (time.size() < 2) continue;
      const auto at = std::lower_bound(time.begin(), time.end(), samples.start_ns[first + i]);
      Nanos length = 0;
      if (at == time.begin()) {
        length = time[1] - time[0];
      } else {
        length = *at - *(at - 1);
      }
      samples.start_ns[first + i] -= length;
      samples.duration_ns[first + i] = length;
    }
    return done;
  }

  Status diagnostics() {
    return each("DIAGNOSTIC_EVENT", {"severity", "text"}, [&](const TableRows& rows) {
      if (rows.integer(0) > 1)
        c_.note_quality(QualityCode::profiler_message,
                        "the profiler said: " + std::string(rows.text(1).substr(0, 200)));
    });
  }

  sqlite3* db_;
  const std::string& path_;
  Capture& c_;
  sqlite::ReadBudget budget_;
  std::int64_t epoch_ = 0;
  NcclRanges nccl_;
  std::unordered_map<std::int64_t, std::uint32_t> gpus_;  // number in the machine -> row of devices
  std::unordered_map<std::int64_t, Text> names_;
  std::unordered_map<std::int64_t, std::uint32_t> threads_;
  std::unordered_map<std::int64_t, std::string> process_names_;
  std::unordered_map<std::int64_t, std::int64_t> thread_names_;
};

#undef GF_ACTIVITY_COLUMNS

}  // namespace

int sniff(std::string_view, std::string_view head) {
  if (!head.starts_with(std::string_view("SQLite format 3\0", 16))) return 0;
  if (head.find("META_DATA_EXPORT") != head.npos ||
      head.find("CUPTI_ACTIVITY_KIND_") != head.npos ||
      head.find("TARGET_INFO_SESSION_START_TIME") != head.npos)
    return 90;
  return 0;
}

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  char magic[16] = {};
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto bytes = static_cast<std::int64_t>(file.tellg());
  file.seekg(0);
  file.read(magic, sizeof magic);
  if (std::string_view(magic, 15) != "SQLite format 3")
    return fail("is a compressed SQLite export", path, -1,
                "unpack it first: SQLite reads it in place");
  if (bytes > 0 && static_cast<std::uint64_t>(bytes) > options.max_bytes)
    return fail("is larger than the limit for inputs", path, -1, "raise the limit");
  auto db = sqlite::open_untrusted(path);
  if (!db) return tl::unexpected(db.error());
  Capture capture;
  capture.path = path;
  capture.format = "nsight_systems";
  capture.bytes = bytes;
  if (const Status done = Loader(db->get(), path, capture, options.max_bytes).run(); !done)
    return tl::unexpected(done.error());
  return capture;
}

}  // namespace gf::nsys
