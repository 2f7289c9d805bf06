// Tables of what the GPU did: kernels, copies, memory sets, graph launches.
#include <algorithm>

#include "import/nsight_systems/loader.h"

namespace gf::nsys {

namespace {

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
enum CopyColumn { kCopyBytes = kOwn, kCopyKind, kCopyGraphNode };
enum SetColumn { kSetBytes = kOwn, kSetGraphNode };
enum GraphColumn { kGraph = kOwn };

}  // namespace

/// The columns that all device activities begin with: start, end, deviceId, contextId, streamId,
/// correlationId, globalPid.
std::uint32_t Loader::activity(const TableRows& rows, Interval span, ActivityKind kind) {
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

Status Loader::kernels() {
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

Status Loader::copies() {
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

Status Loader::sets() {
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
Status Loader::graphs() {
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

#undef GF_ACTIVITY_COLUMNS

}  // namespace gf::nsys
