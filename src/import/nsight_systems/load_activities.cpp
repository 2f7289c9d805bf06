// Tables of what the GPU did: kernels, copies, memory sets, graph launches.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "import/nsight_systems/loader.h"
#include "import/said_columns.h"
#include "import/trace_rows.h"

namespace gf::nsys {

namespace {

/// Pages of managed memory that move because somebody touches or prefetches them.
bool is_migration(std::int64_t operation) { return operation >= 11 && operation <= 14; }

// Columns in the order in which each table's are asked for. Those of all device activities come
// first.
#define GF_ACTIVITY_COLUMNS \
  "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"
enum ActivityColumn { kDevice = kEnd + 1, kContext, kStream, kCorrelation, kProcess, kOwn };
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
enum CopyColumn { kCopyBytes = kOwn, kCopyKind, kCopyGraphNode, kCopySource, kCopyTarget };
enum SetColumn { kSetBytes = kOwn, kSetGraphNode };
enum GraphColumn { kGraph = kOwn };

}  // namespace

std::string_view memory_name(std::int64_t kind) {  // ENUM_CUDA_MEM_KIND
  static constexpr std::array<std::string_view, 7> kNames{
      "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"};
  if (kind < 0 || kind >= static_cast<std::int64_t>(kNames.size())) return "Unknown";
  return kNames[static_cast<std::size_t>(kind)];
}

/// The columns that all device activities begin with: start, end, deviceId, contextId, streamId,
/// correlationId, globalPid. The name is the caller's to give, the columns that are not written are
/// filled up behind the last table.
std::uint32_t Loader::activity(const TableRow& rows, Interval span, ActivityKind kind) {
  auto& activities = c_.activities;
  const auto row = static_cast<std::uint32_t>(activities.size());
  activities.start_ns.push_back(span.start);
  activities.duration_ns.push_back(span.length());
  activities.device.push_back(c_.device_row(static_cast<std::int32_t>(rows.integer(kDevice))));
  put(activities.context, row, rows.integer(kContext));
  put(activities.stream, row, rows.integer(kStream));
  put(activities.correlation, row, rows.integer(kCorrelation));
  put(activities.pid, row, process_of(rows.integer(kProcess)));
  activities.kind.push_back(kind);
  return row;
}

Status Loader::kernels() {
  return each(
      "CUPTI_ACTIVITY_KIND_KERNEL",
      {GF_ACTIVITY_COLUMNS, "demangledName", "shortName", "gridX", "gridY", "gridZ", "blockX",
       "blockY", "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory",
       "graphId", "graphNodeId"},
      [&](const TableRow& rows) {
        const auto span_of = span(rows, "CUPTI_ACTIVITY_KIND_KERNEL");
        if (!span_of) return;
        const auto row = activity(rows, *span_of, ActivityKind::kernel);
        auto& activities = c_.activities;
        const Text demangled = name(rows.integer(kDemangledName));
        activities.name.push_back(demangled != Text{} ? demangled : name(rows.integer(kShortName)));
        Column<I32>* const shape[] = {
            &activities.grid_x,  &activities.grid_y,  &activities.grid_z,   &activities.block_x,
            &activities.block_y, &activities.block_z, &activities.registers};
        for (int i = 0; i < 7; ++i)
          put(*shape[i], row,
              static_cast<I32>(std::clamp<std::int64_t>(rows.integer(kGridX + i), -1, INT32_MAX)));
        if (!rows.null(kStaticShared) && !rows.null(kDynamicShared))
          put(activities.shared_bytes, row,
              static_cast<std::int64_t>(static_cast<std::uint64_t>(rows.integer(kStaticShared)) +
                                        static_cast<std::uint64_t>(rows.integer(kDynamicShared))));
        put(activities.graph_id, row, rows.integer(kKernelGraph));
        put(activities.graph_node, row, rows.integer(kKernelGraphNode));
      });
}

Status Loader::copies() {
  return each("CUPTI_ACTIVITY_KIND_MEMCPY",
              {GF_ACTIVITY_COLUMNS, "bytes", "copyKind", "graphNodeId", "srcKind", "dstKind"},
              [&](const TableRow& rows) {
                const auto span_of = span(rows, "CUPTI_ACTIVITY_KIND_MEMCPY");
                if (!span_of) return;
                const auto row = activity(rows, *span_of, ActivityKind::memcpy);
                put(c_.activities.bytes, row, rows.integer(kCopyBytes));
                const CopyKind direction = cupti_copy_kind(rows.integer(kCopyKind));
                put(c_.activities.copy, row, direction);
                std::string text(copy_name(direction));
                if (is_migration(rows.integer(kCopyKind)))
                  text.replace(0, text.find(' '), "Migration");  // the idle rules know it by this
                else if (!rows.null(kCopySource) && !rows.null(kCopyTarget))
                  text += fmt::format(" ({} -> {})", memory_name(rows.integer(kCopySource)),
                                      memory_name(rows.integer(kCopyTarget)));
                c_.activities.name.push_back(c_.strings.intern(text));
                put(c_.activities.graph_node, row, rows.integer(kCopyGraphNode));
              });
}

Status Loader::sets() {
  return each("CUPTI_ACTIVITY_KIND_MEMSET", {GF_ACTIVITY_COLUMNS, "bytes", "graphNodeId"},
              [&](const TableRow& rows) {
                const auto span_of = span(rows, "CUPTI_ACTIVITY_KIND_MEMSET");
                if (!span_of) return;
                const auto row = activity(rows, *span_of, ActivityKind::memset);
                put(c_.activities.bytes, row, rows.integer(kSetBytes));
                put(c_.activities.graph_node, row, rows.integer(kSetGraphNode));
                c_.activities.name.push_back(c_.strings.intern("Memset"));
              });
}

/// By default a graph launch is one row and its kernels are hidden; the device is busy all the
/// same.
Status Loader::graphs() {
  const Status done =
      each("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {GF_ACTIVITY_COLUMNS, "graphId"},
           [&](const TableRow& rows) {
             const auto span_of = span(rows, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
             if (!span_of) return;
             const auto row = activity(rows, *span_of, ActivityKind::kernel);
             put(c_.activities.graph_id, row, rows.integer(kGraph));
             c_.activities.name.push_back(c_.strings.intern("CUDA graph (kernels not recorded)"));
             c_.note_quality(QualityCode::graph_kernels_hidden,
                             "launches of CUDA graphs were recorded as a whole; capture with "
                             "--cuda-graph-trace=node to see their kernels");
           });
  complete(c_.activities);
  return done;
}

#undef GF_ACTIVITY_COLUMNS

}  // namespace gf::nsys
