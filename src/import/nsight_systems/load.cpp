#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <unordered_map>

#include "import/gpu_api.h"
#include "import/nsight_systems/nsight_systems.h"
#include "import/nsight_systems/table_rows.h"
#include "model/check.h"
#include "model/nvtx_operation.h"

namespace gf::nsys {

namespace {

/// Serialised ids hold the process in bits 24 to 47 and the thread in the low 24.
std::int64_t process_of(std::int64_t global) { return global < 0 ? -1 : global >> 24 & 0xFFFFFF; }
std::int64_t thread_of(std::int64_t global) { return global < 0 ? -1 : global & 0xFFFFFF; }

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
      {"SMs Active", "sm.active_any"},
      {"SM Active", "sm.active_any"},
      {"SM Issue", "issue.active"},
      {"Tensor Active", "tensor.active"},
      {"GR Active", "gpu.busy"}};
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
enum RangeColumn { kRangeThread = 2, kRangeText, kRangeTextId, kRangeType };
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
          &Loader::copies, &Loader::sets, &Loader::graphs, &Loader::calls, &Loader::ranges,
          &Loader::syncs, &Loader::gpu_metrics, &Loader::diagnostics})
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
  Status each(std::string_view table, std::initializer_list<std::string_view> columns, F&& f) {
    auto rows = TableRows::open(db_, table, columns, path_);
    if (!rows) return tl::unexpected(rows.error());
    for (;;) {
      const auto more = rows->next();
      if (!more) return tl::unexpected(more.error());
      if (!*more) return {};
      if (auto ok = budget_.spend(rows->bytes()); !ok) return ok;
      f(*rows);
    }
  }

  /// Start and duration of a row; empty, and counted, when they make no span.
  std::optional<Interval> span(const TableRows& row, std::string_view table) {
    ++c_.events;
    if (!row.null(kStart)) {
      const std::int64_t start = row.integer(kStart);
      const std::int64_t end = row.null(kEnd) ? start : row.integer(kEnd);
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
    return found == names_.end() ? Text{} : found->second;
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
                                 [&](const TableRows& r) { epoch_ = r.integer(0, 0); });
        !done)
      return done;
    return each("META_DATA_EXPORT", {"name", "value"}, [&](const TableRows& r) {
      if (r.text(0).starts_with("EXPORT_"))
        c_.set_metadata("nsys." + std::string(r.text(0)), r.text(1));
    });
  }

  Status strings() {
    return each("StringIds", {"id", "value"},
                [&](const TableRows& r) { names_[r.integer(0)] = c_.strings.intern(r.text(1)); });
  }

  Status devices() {
    return each(
        "TARGET_INFO_GPU",
        {"id", "cuDevice", "name", "uuid", "smCount", "totalMemory", "clockRate", "computeMajor",
         "computeMinor", "maxRegistersPerSm", "maxShmemPerSm", "maxWarpsPerSm", "threadsPerWarp"},
        [&](const TableRows& r) {
          const auto row = c_.device_row(static_cast<std::int32_t>(
              r.integer(r.null(kGpuCudaDevice) ? kGpuId : kGpuCudaDevice)));
          gpus_[r.integer(kGpuId)] = row;
          auto& d = c_.devices;
          d.name[row] = c_.strings.intern(r.text(kGpuName));
          d.uuid[row] = c_.strings.intern(r.text(kGpuUuid));
          d.vendor[row] = c_.strings.intern("nvidia");
          d.sm_count[row] = static_cast<std::int32_t>(r.integer(kGpuSms));
          d.memory_bytes[row] = r.integer(kGpuMemory);
          if (!r.null(kGpuClock)) d.clock_khz[row] = r.integer(kGpuClock) / 1000;
          d.compute_major[row] = static_cast<std::int32_t>(r.integer(kGpuMajor));
          d.compute_minor[row] = static_cast<std::int32_t>(r.integer(kGpuMinor));
          d.registers_per_sm[row] = static_cast<std::int32_t>(r.integer(kGpuRegisters));
          d.shared_bytes_per_sm[row] = r.integer(kGpuShared);
          const std::int64_t warps = r.integer(kGpuWarps), threads = r.integer(kGpuWarpThreads);
          if (warps >= 0 && warps < 4096 && threads >= 0 && threads < 4096)
            d.max_threads_per_sm[row] = static_cast<std::int32_t>(warps * threads);
        });
  }

  // The lists cover the whole machine: rows are made for threads that have events only.
  Status threads() {
    if (const Status done =
            each("PROCESSES", {"globalPid", "name"},
                 [&](const TableRows& r) { process_names_[process_of(r.integer(0))] = r.text(1); });
        !done)
      return done;
    return each("ThreadNames", {"globalTid", "nameId"},
                [&](const TableRows& r) { thread_names_[r.integer(0)] = r.integer(1); });
  }

  /// The columns that all device activities begin with: start, end, deviceId, contextId, streamId,
  /// correlationId, globalPid.
  std::uint32_t activity(const TableRows& r, Interval span, ActivityKind kind) {
    auto& a = c_.activities;
    const auto row = a.add();
    a.start_ns[row] = span.start;
    a.duration_ns[row] = span.length();
    a.device[row] = c_.device_row(static_cast<std::int32_t>(r.integer(kDevice)));
    a.context[row] = r.integer(kContext);
    a.stream[row] = r.integer(kStream);
    a.correlation[row] = r.integer(kCorrelation);
    a.pid[row] = process_of(r.integer(kProcess));
    a.kind[row] = kind;
    return row;
  }

  Status kernels() {
    return each(
        "CUPTI_ACTIVITY_KIND_KERNEL",
        {GF_ACTIVITY_COLUMNS, "demangledName", "shortName", "gridX", "gridY", "gridZ", "blockX",
         "blockY", "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory",
         "graphId", "graphNodeId"},
        [&](const TableRows& r) {
          const auto s = span(r, "CUPTI_ACTIVITY_KIND_KERNEL");
          if (!s) return;
          const auto row = activity(r, *s, ActivityKind::kernel);
          auto& a = c_.activities;
          a.name[row] = name(r.integer(kDemangledName)) != Text{} ? name(r.integer(kDemangledName))
                                                                  : name(r.integer(kShortName));
          I32* const shape[] = {&a.grid_x[row],  &a.grid_y[row],  &a.grid_z[row],   &a.block_x[row],
                                &a.block_y[row], &a.block_z[row], &a.registers[row]};
          for (int i = 0; i < 7; ++i)
            *shape[i] =
                static_cast<I32>(std::clamp<std::int64_t>(r.integer(kGridX + i), -1, INT32_MAX));
          if (!r.null(kStaticShared) && !r.null(kDynamicShared))
            a.shared_bytes[row] =
                static_cast<std::int64_t>(static_cast<std::uint64_t>(r.integer(kStaticShared)) +
                                          static_cast<std::uint64_t>(r.integer(kDynamicShared)));
          a.graph_id[row] = r.integer(kKernelGraph);
          a.graph_node[row] = r.integer(kKernelGraphNode);
        });
  }

  Status copies() {
    return each("CUPTI_ACTIVITY_KIND_MEMCPY",
                {GF_ACTIVITY_COLUMNS, "bytes", "copyKind", "graphNodeId"}, [&](const TableRows& r) {
                  const auto s = span(r, "CUPTI_ACTIVITY_KIND_MEMCPY");
                  if (!s) return;
                  const auto row = activity(r, *s, ActivityKind::memcpy);
                  c_.activities.bytes[row] = r.integer(kCopyBytes);
                  c_.activities.copy[row] = copy_kind(r.integer(kCopyKind));
                  c_.activities.name[row] = c_.strings.intern(copy_name(c_.activities.copy[row]));
                  c_.activities.graph_node[row] = r.integer(kCopyGraphNode);
                });
  }

  Status sets() {
    return each("CUPTI_ACTIVITY_KIND_MEMSET", {GF_ACTIVITY_COLUMNS, "bytes", "graphNodeId"},
                [&](const TableRows& r) {
                  const auto s = span(r, "CUPTI_ACTIVITY_KIND_MEMSET");
                  if (!s) return;
                  const auto row = activity(r, *s, ActivityKind::memset);
                  c_.activities.bytes[row] = r.integer(kSetBytes);
                  c_.activities.graph_node[row] = r.integer(kSetGraphNode);
                  c_.activities.name[row] = c_.strings.intern("Memset");
                });
  }

  /// By default a graph launch is one row and its kernels are hidden; the device is busy all the
  /// same.
  Status graphs() {
    return each("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {GF_ACTIVITY_COLUMNS, "graphId"},
                [&](const TableRows& r) {
                  const auto s = span(r, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
                  if (!s) return;
                  const auto row = activity(r, *s, ActivityKind::kernel);
                  c_.activities.graph_id[row] = r.integer(kGraph);
                  c_.activities.name[row] = c_.strings.intern("CUDA graph (kernels not recorded)");
                  c_.note_quality(QualityCode::graph_kernels_hidden,
                                  "launches of CUDA graphs were recorded as a whole; capture with "
                                  "--cuda-graph-trace=node to see their kernels");
                });
  }

  Status calls() {
    return each("CUPTI_ACTIVITY_KIND_RUNTIME",
                {"start", "end", "globalTid", "correlationId", "nameId"}, [&](const TableRows& r) {
                  const auto s = span(r, "CUPTI_ACTIVITY_KIND_RUNTIME");
                  if (!s) return;
                  auto& a = c_.api_calls;
                  const auto row = a.add();
                  a.start_ns[row] = s->start;
                  a.duration_ns[row] = s->length();
                  a.thread[row] = thread(r.integer(kCallThread));
                  a.correlation[row] = r.integer(kCallCorrelation);
                  a.name[row] = api_name(r.integer(kCallName));
                  a.kind[row] = gpu_api_kind(c_.text(a.name[row]));
                });
  }

  /// Runtime names carry their version: "cudaMemcpyAsync_v3020".
  Text api_name(std::int64_t id) {
    const Text recorded = name(id);
    std::string_view text = c_.text(recorded);
    const auto v = text.rfind("_v");
    if (v == text.npos || v + 2 == text.size() ||
        !std::ranges::all_of(text.substr(v + 2), [](char c) { return c >= '0' && c <= '9'; }))
      return recorded;
    return c_.strings.intern(std::string(text.substr(0, v)));
  }

  Status ranges() {
    return each(
        "NVTX_EVENTS", {"start", "end", "globalTid", "text", "textId", "eventType"},
        [&](const TableRows& r) {
          // 59 push/pop and 60 start/end ranges; marks and the registration of domains are no
          // spans.
          if (const std::int64_t type = r.integer(kRangeType); type != 59 && type != 60) return;
          if (r.null(kEnd))
            c_.note_quality(
                QualityCode::open_range,
                "NVTX ranges that were still open when the capture ended; they have no length");
          const auto s = span(r, "NVTX_EVENTS");
          if (!s) return;
          auto& h = c_.host_ops;
          const auto row = h.add();
          h.start_ns[row] = s->start;
          h.duration_ns[row] = s->length();
          h.thread[row] = thread(r.integer(kRangeThread));
          name_nvtx_range(c_, row,
                          r.null(kRangeText) ? name(r.integer(kRangeTextId))
                                             : c_.strings.intern(r.text(kRangeText)));
        });
  }

  Status syncs() {
    std::map<std::int64_t, std::string> kinds;
    if (const Status done = each("ENUM_CUPTI_SYNC_TYPE", {"id", "label"},
                                 [&](const TableRows& r) { kinds[r.integer(0)] = r.text(1); });
        !done)
      return done;
    return each("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                {"start", "end", "deviceId", "streamId", "correlationId", "syncType"},
                [&](const TableRows& r) {
                  const auto s = span(r, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
                  if (!s) return;
                  auto& t = c_.syncs;
                  const auto row = t.add();
                  t.start_ns[row] = s->start;
                  t.duration_ns[row] = s->length();
                  t.device[row] = c_.device_row(static_cast<std::int32_t>(r.integer(kSyncDevice)));
                  t.stream[row] = r.integer(kSyncStream) == UINT32_MAX
                                      ? -1
                                      : r.integer(kSyncStream);  // all ones: no single stream
                  t.correlation[row] = r.integer(kSyncCorrelation);
                  t.kind[row] = c_.strings.intern(kinds[r.integer(kSyncType)]);
                });
  }

  Status gpu_metrics() {
    struct Known {
      Text metric;
      double factor;
    };
    std::map<std::pair<std::int64_t, std::int64_t>, Known> metrics;
    Status done = each("TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"},
                       [&](const TableRows& r) {
                         const std::string_view ours = catalogue_metric(r.text(kMetricName));
                         metrics[{r.integer(kMetricType), r.integer(kMetricId)}] = {
                             c_.strings.intern(ours.empty() ? r.text(kMetricName) : ours),
                             ours.empty() ? 1 : 0.01};
                       });
    if (!done) return done;
    std::vector<std::int64_t> source;  // typeId of each sample
    std::map<std::int64_t, std::vector<Nanos>> times;
    const std::size_t first = c_.counter_samples.size();
    done = each(
        "GPU_METRICS", {"timestamp", "rawTimestamp", "typeId", "metricId", "value"},
        [&](const TableRows& r) {
          ++c_.events;
          const std::int64_t time =
              r.null(kSampleTime) ? r.integer(kSampleRawTime) : r.integer(kSampleTime);
          const auto known = metrics.find({r.integer(kSampleType), r.integer(kSampleMetric)});
          const auto at = checked_add(epoch_, time);
          if (time < 0 || !at || !in_reach(*at) || known == metrics.end() || r.null(kSampleValue)) {
            c_.note_quality(QualityCode::bad_event,
                            "samples of GPU metrics before the session, without a value or "
                            "of an unnamed metric");
            return;
          }
          auto& s = c_.counter_samples;
          const auto row = s.add();
          s.start_ns[row] = *at;
          const auto gpu =
              gpus_.find(r.integer(kSampleType) & 0xFF);  // the machine's number; CUDA's may differ
          s.device[row] =
              gpu != gpus_.end()
                  ? gpu->second
                  : c_.device_row(static_cast<std::int32_t>(r.integer(kSampleType) & 0xFF));
          s.metric[row] = known->second.metric;
          s.value[row] = r.real(kSampleValue) * known->second.factor;
          source.push_back(r.integer(kSampleType));
          times[source.back()].push_back(*at);
        });
    // A sample is the mean since the one before.
    for (auto& [type, t] : times) {
      std::sort(t.begin(), t.end());
      t.erase(std::unique(t.begin(), t.end()), t.end());
    }
    for (std::size_t i = 0; i < source.size(); ++i) {
      auto& s = c_.counter_samples;
      const auto& t = times[source[i]];
      if (t.size() < 2) continue;
      const auto at = std::lower_bound(t.begin(), t.end(), s.start_ns[first + i]);
      const Nanos length = at == t.begin() ? t[1] - t[0] : *at - *(at - 1);
      s.start_ns[first + i] -= length;
      s.duration_ns[first + i] = length;
    }
    return done;
  }

  Status diagnostics() {
    return each("DIAGNOSTIC_EVENT", {"severity", "text"}, [&](const TableRows& r) {
      if (r.integer(0) > 1)
        c_.note_quality(QualityCode::profiler_message,
                        "the profiler said: " + std::string(r.text(1).substr(0, 200)));
    });
  }

  sqlite3* db_;
  const std::string& path_;
  Capture& c_;
  sqlite::ReadBudget budget_;
  std::int64_t epoch_ = 0;
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
  return head.find("META_DATA_EXPORT") != head.npos ||
                 head.find("CUPTI_ACTIVITY_KIND_") != head.npos ||
                 head.find("TARGET_INFO_SESSION_START_TIME") != head.npos
             ? 90
             : 0;
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
