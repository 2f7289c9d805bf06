// Tables of what the host did: runtime calls, NVTX ranges, synchronizations.

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include "import/gpu_api.h"
#include "import/nsight_systems/loader.h"
#include "import/said_columns.h"
#include "import/trace_rows.h"
#include "model/check.h"
#include "model/counter_values.h"
#include "model/kernel_name.h"
#include "model/metrics.h"

namespace gf::nsys {

namespace {

enum CallColumn { kCallThread = 2, kCallCorrelation, kCallName };
enum RangeColumn { kRangeThread = 2, kRangeText, kRangeTextId, kRangeType, kRangePayload };
enum EntryColumn { kEntryDomain, kEntrySchema, kEntryName, kEntryType, kEntryOffset };
enum SyncColumn { kSyncDevice = 2, kSyncStream, kSyncCorrelation, kSyncType };

}  // namespace

Status Loader::calls() {
  // A runtime has some hundred names, and a recording millions of calls.
  struct Named {
    Text name;
    ApiKind kind;
  };
  std::unordered_map<std::int64_t, Named> named;
  auto& api_calls = c_.api_calls;
  const Status done =
      each("CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "globalTid", "correlationId", "nameId"},
           [&](const TableRow& rows) {
             const auto span_of = span(rows, "CUPTI_ACTIVITY_KIND_RUNTIME");
             if (!span_of) return;
             api_calls.start_ns.push_back(span_of->start);
             api_calls.duration_ns.push_back(span_of->length());
             api_calls.thread.push_back(thread(rows.integer(kCallThread)));
             api_calls.correlation.push_back(rows.integer(kCallCorrelation));
             const auto [known, fresh] = named.try_emplace(rows.integer(kCallName));
             if (fresh) {
               const Text text = api_name(known->first);
               known->second = {text, gpu_api_kind(c_.text(text))};
             }
             api_calls.name.push_back(known->second.name);
             api_calls.kind.push_back(known->second.kind);
           });
  complete(api_calls);
  return done;
}

/// Runtime names carry their version: "cudaMemcpyAsync_v3020".
Text Loader::api_name(std::int64_t id) {
  const Text recorded = name(id);
  std::string_view text = c_.text(recorded);
  const auto version = text.rfind("_v");
  if (version == text.npos || version + 2 == text.size() ||
      !std::ranges::all_of(text.substr(version + 2),
                           [](char letter) { return letter >= '0' && letter <= '9'; }))
    return recorded;
  return c_.strings.intern(std::string(text.substr(0, version)));
}

Status Loader::payload_entries() {
  return each("NVTX_PAYLOAD_SCHEMA_ENTRIES", {"domainId", "schemaId", "name", "type", "offset"},
              [&](const TableRow& rows) {
                nccl_.add_entry(rows.integer(kEntryDomain), rows.integer(kEntrySchema),
                                {std::string(rows.text(kEntryName)), rows.integer(kEntryType),
                                 rows.integer(kEntryOffset)});
              });
}

Status Loader::ranges() {
  for (const std::string_view table : {"NVTX_EVENTS", "NVTX_EVENTS_V2", "NVTX_EVENTS_V3"})
    if (const Status done =
            each(table, {"start", "end", "globalTid", "text", "textId", "eventType", "binaryData"},
                 [&](const TableRow& rows) { range(rows, table); });
        !done)
      return done;
  complete(c_.host_ops);
  nccl_.describe(c_);
  return {};
}

void Loader::range(const TableRow& rows, std::string_view table) {
  // 59 push/pop and 60 start/end ranges; marks and the registration of domains are no spans.
  if (const std::int64_t type = rows.integer(kRangeType); type != 59 && type != 60) return;
  if (rows.null(kEnd))
    c_.note_quality(QualityCode::open_range,
                    "NVTX ranges that were still open when the capture ended; they have no length");
  const auto span_of = span(rows, table);
  if (!span_of) return;
  const auto of_thread = thread(rows.integer(kRangeThread));
  const Text text = rows.null(kRangeText) ? name(rows.integer(kRangeTextId))
                                          : c_.strings.intern(rows.text(kRangeText));
  add_nvtx_range(c_, *span_of, of_thread, text);
  if (!rows.null(kRangePayload))
    nccl_.add_range(of_thread, span_of->start, c_.text(text), rows.text(kRangePayload));
}

Status Loader::syncs() {
  std::map<std::int64_t, std::string> kinds;
  if (const Status named =
          each("ENUM_CUPTI_SYNC_TYPE", {"id", "label"},
               [&](const TableRow& rows) { kinds[rows.integer(0)] = rows.text(1); });
      !named)
    return named;
  auto& syncs = c_.syncs;
  const Status done = each(
      "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
      {"start", "end", "deviceId", "streamId", "correlationId", "syncType"},
      [&](const TableRow& rows) {
        const auto span_of = span(rows, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
        if (!span_of) return;
        syncs.start_ns.push_back(span_of->start);
        syncs.duration_ns.push_back(span_of->length());
        syncs.device.push_back(c_.device_row(static_cast<std::int32_t>(rows.integer(kSyncDevice))));
        const auto stream = rows.integer(kSyncStream);
        syncs.stream.push_back(stream == UINT32_MAX ? -1 : stream);  // ones: no single one
        syncs.correlation.push_back(rows.integer(kSyncCorrelation));
        syncs.kind.push_back(c_.strings.intern(kinds[rows.integer(kSyncType)]));
      });
  complete(syncs);
  return done;
}

// Tables of what was sampled: --gpu-metrics-devices.

namespace {

enum MetricColumn { kMetricType, kMetricId, kMetricName };
enum SampleColumn { kSampleTime, kSampleRawTime, kSampleType, kSampleMetric, kSampleValue };

/// The metric behind a number of a sample.
struct KnownMetric {
  Text metric;
  double factor;
};
using KnownMetrics = std::map<std::pair<std::int64_t, std::int64_t>, KnownMetric>;

/// Metrics that the catalog lacks keep their own name and percent.
KnownMetric known_metric(std::string_view theirs, Capture& capture) {
  if (const CatalogueColumn* ours = find_column(
          LogKind::nsys, [&](std::string_view name) { return theirs.starts_with(name); }))
    return {capture.strings.intern(ours->metric), ours->factor};
  return {capture.strings.intern(theirs), 1};
}

/// A sample is the mean since the one before of its type, of which `types` tells by row.
void give_lengths(counter_samples_table& samples, const Column<std::int64_t>& types) {
  std::map<std::int64_t, std::vector<Nanos>> times;
  const auto& ends = std::as_const(samples.start_ns);
  for (std::size_t i = 0; i < types.size(); ++i)
    if (auto& time = times[types[i]]; time.empty() || time.back() != ends[i])
      time.push_back(ends[i]);  // its metrics have one time
  for (auto& [type, time] : times) {
    std::sort(time.begin(), time.end());
    time.erase(std::unique(time.begin(), time.end()), time.end());
  }
  Column<I64> starts, lengths;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto& time = times[types[i]];
    Nanos length = 0;
    if (time.size() >= 2) {
      const auto at = std::lower_bound(time.begin(), time.end(), ends[i]);
      length = at == time.begin() ? time[1] - time[0] : *at - *(at - 1);
    }
    starts.push_back(ends[i] - length);
    lengths.push_back(length);
  }
  samples.start_ns = std::move(starts);
  samples.duration_ns = std::move(lengths);
}

}  // namespace

/// A sample's type holds the machine's number of the GPU; CUDA's may differ.
std::uint32_t Loader::sampled_gpu(std::int64_t type) {
  if (const auto gpu = gpus_.find(type & 0xFF); gpu != gpus_.end()) return gpu->second;
  return c_.device_row(static_cast<std::int32_t>(type & 0xFF));
}

Status Loader::gpu_metrics() {
  KnownMetrics metrics;
  if (const Status done = each("TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"},
                               [&](const TableRow& rows) {
                                 metrics[{rows.integer(kMetricType), rows.integer(kMetricId)}] =
                                     known_metric(rows.text(kMetricName), c_);
                               });
      !done)
    return done;
  Column<std::int64_t> types;  // of each sample
  const Status done =
      each("GPU_METRICS", {"timestamp", "rawTimestamp", "typeId", "metricId", "value"},
           [&](const TableRow& rows) {
             ++c_.events;
             std::int64_t time = rows.integer(kSampleTime);
             if (rows.null(kSampleTime)) time = rows.integer(kSampleRawTime);
             const std::int64_t type = rows.integer(kSampleType);
             const auto known = metrics.find({type, rows.integer(kSampleMetric)});
             const auto at = checked_add(epoch_, time);
             if (time < 0 || !at || !in_reach(*at) || known == metrics.end() ||
                 rows.null(kSampleValue)) {
               c_.note_quality(QualityCode::bad_event,
                               "samples of GPU metrics before the session, without a value or "
                               "of an unnamed metric");
               return;
             }
             add_row(c_.counter_samples, {*at, 0, sampled_gpu(type), known->second.metric,
                                          rows.real(kSampleValue) * known->second.factor});
             types.push_back(type);
           });
  give_lengths(c_.counter_samples, types);
  return done;
}

}  // namespace gf::nsys
