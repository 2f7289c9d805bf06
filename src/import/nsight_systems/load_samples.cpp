// Tables of what was sampled: --gpu-metrics-devices.
#include <algorithm>
#include <map>
#include <vector>

#include "import/nsight_systems/loader.h"
#include "model/check.h"
#include "model/counter_values.h"
#include "model/metrics.h"

namespace gf::nsys {

namespace {

enum MetricColumn { kMetricType, kMetricId, kMetricName };
enum SampleColumn { kSampleTime, kSampleRawTime, kSampleType, kSampleMetric, kSampleValue };

/// What a number of a sample stands for.
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

/// A sample is the mean since the one before of its type, of which `types` tells by row from
/// `first` on.
void give_lengths(Capture& capture, std::size_t first, const std::vector<std::int64_t>& types) {
  auto& samples = capture.counter_samples;
  std::map<std::int64_t, std::vector<Nanos>> times;
  for (std::size_t i = 0; i < types.size(); ++i)
    times[types[i]].push_back(samples.start_ns[first + i]);
  for (auto& [type, time] : times) {
    std::sort(time.begin(), time.end());
    time.erase(std::unique(time.begin(), time.end()), time.end());
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto& time = times[types[i]];
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
                               [&](const TableRows& rows) {
                                 metrics[{rows.integer(kMetricType), rows.integer(kMetricId)}] =
                                     known_metric(rows.text(kMetricName), c_);
                               });
      !done)
    return done;
  std::vector<std::int64_t> types;  // of each sample
  const std::size_t first = c_.counter_samples.size();
  const Status done =
      each("GPU_METRICS", {"timestamp", "rawTimestamp", "typeId", "metricId", "value"},
           [&](const TableRows& rows) {
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
  give_lengths(c_, first, types);
  return done;
}

}  // namespace gf::nsys
