// Fills a capture from an export, table by table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/assert.h"
#include "import/sqlite_file.h"
#include "model/capture.h"

namespace gf::nsys {

// NCCL marks each of its calls with an NVTX range that carries what was asked for: communicator,
// bytes, the rank at the other end. Nsight Systems keeps that as a payload whose layout stands in
// tables of the export. Here it becomes the description of the kernels.

/// One entry of a payload's layout, as the export's table has it.
struct PayloadEntry {
  std::string name;
  std::int64_t type = -1, offset = -1;
};

class NcclRanges {
 public:
  void add_entry(std::int64_t domain, std::int64_t schema, PayloadEntry entry);
  /// A push/pop range of a thread (row of threads), with its payload.
  void add_range(std::uint32_t thread, Nanos start, std::string_view name,
                 std::string_view payload);
  /// Once kernels and calls are read: fills capture.collectives and says which rank it is.
  void describe(Capture& capture);

 private:
  struct Call {
    std::uint32_t thread = 0;
    Nanos start = 0;
    std::string name;
    std::uint64_t communicator = 0;
    std::int64_t bytes = -1, peer = -1, sequence = -1;
  };
  struct Communicator {
    std::int64_t rank = -1, size = -1;
  };
  /// A call or the launch of one of NCCL's kernels, on one thread.
  struct Event {
    Nanos at = 0;
    const Call* call = nullptr;
    std::uint32_t kernel = kNoRow;
  };
  using Process = std::int64_t;
  using Fields = std::map<std::string, std::int64_t, std::less<>>;

  std::optional<Fields> read(std::string_view payload) const;
  void number_calls(const Capture& capture);
  std::map<std::uint32_t, std::vector<Event>> events_by_thread(const Capture& capture) const;
  void describe_group(Capture& capture, const std::vector<const Call*>& calls,
                      const std::vector<std::uint32_t>& kernels) const;
  void describe_kernel(Capture& capture, std::uint32_t kernel, const Call& call,
                       std::int64_t bytes) const;
  void say_rank(Capture& capture) const;

  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<PayloadEntry>> schemas_;
  std::vector<Call> calls_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Communicator> made_;  // by thread
  std::map<std::pair<Process, std::uint64_t>, Communicator> communicators_;
};

/// Names of ENUM_CUDA_MEM_KIND, as PyTorch's profiler spells them.
std::string_view memory_name(std::int64_t kind);

using sqlite::TableRow;

/// The first two columns of every table of events.
enum EventColumn { kStart, kEnd };

/// All tables that are asked for; an export has those of which it has rows.
inline constexpr std::string_view kTables[] = {"TARGET_INFO_SESSION_START_TIME",
                                               "META_DATA_EXPORT",
                                               "StringIds",
                                               "TARGET_INFO_GPU",
                                               "TARGET_INFO_CUDA_GPU",
                                               "PROCESSES",
                                               "ThreadNames",
                                               "CUPTI_ACTIVITY_KIND_KERNEL",
                                               "CUPTI_ACTIVITY_KIND_MEMCPY",
                                               "CUPTI_ACTIVITY_KIND_MEMSET",
                                               "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                               "CUPTI_ACTIVITY_KIND_RUNTIME",
                                               "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                               "NVTX_PAYLOAD_SCHEMA_ENTRIES",
                                               "NVTX_EVENTS",
                                               "NVTX_EVENTS_V2",
                                               "NVTX_EVENTS_V3",
                                               "ENUM_CUPTI_SYNC_TYPE",
                                               "TARGET_INFO_GPU_METRICS",
                                               "GPU_METRICS",
                                               "DIAGNOSTIC_EVENT"};

/// Each table is read by the method of its name; one that the export lacks has no rows.
class Loader {
 public:
  Loader(const SqliteSource& source, Capture& capture) : source_(source), c_(capture) {}

  Status run();

 private:
  /// f(row) for every row of a table.
  template <class F>
  Status each(std::string_view table, std::initializer_list<std::string_view> columns, F&& apply) {
    GF_ASSERT(std::find(std::begin(kTables), std::end(kTables), table) != std::end(kTables));
    return source_.each(table, columns, apply);
  }

  /// Start and duration of a row; empty, and counted, when they make no span.
  std::optional<Interval> span(const TableRow& row, std::string_view table);
  Text name(std::int64_t id);
  std::uint32_t thread(std::int64_t global);
  std::uint32_t activity(const TableRow& rows, Interval span, ActivityKind kind);
  Text api_name(std::int64_t id);

  // The session: load.cpp.
  Status session();
  Status strings();
  Status devices();
  Status threads();
  Status diagnostics();
  // Work of the GPU: load_activities.cpp.
  Status kernels();
  Status copies();
  Status sets();
  Status graphs();
  // Events of the host: load_host.cpp.
  Status calls();
  Status payload_entries();
  Status ranges();
  void range(const TableRow& rows, std::string_view table);
  Status syncs();
  // Samples: load_samples.cpp.
  Status gpu_metrics();
  std::uint32_t sampled_gpu(std::int64_t type);

  const SqliteSource& source_;
  Capture& c_;
  std::int64_t epoch_ = 0;
  NcclRanges nccl_;
  std::unordered_map<std::int64_t, std::uint32_t> gpus_;  // number in the machine -> row of devices
  std::unordered_map<std::int64_t, Text> names_;
  std::unordered_map<std::int64_t, std::uint32_t> threads_;
  std::unordered_map<std::int64_t, std::string> process_names_;
  std::unordered_map<std::int64_t, std::int64_t> thread_names_;
};

/// Serialized ids hold the process in bits 24 to 47 and the thread in the low 24.
inline std::int64_t process_of(std::int64_t global) {
  if (global < 0) return -1;
  return global >> 24 & 0xFFFFFF;
}
inline std::int64_t thread_of(std::int64_t global) {
  if (global < 0) return -1;
  return global & 0xFFFFFF;
}

}  // namespace gf::nsys
