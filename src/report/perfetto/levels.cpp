#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/utilization/kernel_levels.h"
#include "core/when.h"
#include "report/perfetto/parts.h"

namespace gf::perfetto {

namespace {

/// The kernels of a device that run at a time, told at every change.
template <class F>
void each_change(const DeviceTimeline& line, const Capture& capture, F&& apply) {
  struct Edge {
    Nanos at;
    bool starts;
    std::uint32_t activity;
  };
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < line.rows.size(); ++i)
    if (capture.activities.kind[line.rows[i]] == ActivityKind::kernel &&
        line.spans[i].length() > 0) {
      edges.push_back({line.spans[i].start, true, line.rows[i]});
      edges.push_back({line.spans[i].end, false, line.rows[i]});
    }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& left, const Edge& right) { return left.at < right.at; });
  std::vector<std::uint32_t> running;
  for (std::size_t i = 0; i < edges.size();) {
    const Nanos at = edges[i].at;
    for (; i < edges.size() && edges[i].at == at; ++i)
      if (edges[i].starts)
        running.push_back(edges[i].activity);
      else
        running.erase(std::find(running.begin(), running.end(), edges[i].activity));
    apply(at, running);
  }
}

}  // namespace

/// Kernels that run at once share the device evenly, as in the ladder. The format has no "no data":
/// a kernel without counters counts as 0 in its level, the track's name says that it is a lower
/// bound, and a track beside it says where.
void write_levels(Export& target, const DeviceTimeline& line, std::uint64_t parent) {
  const Capture& capture = target.context.capture;
  const KernelLevels levels(capture, target.context.matching);
  int order = 1000;
  bool all_counted = true;
  for (const auto row : line.rows)
    all_counted &= capture.activities.kind[row] != ActivityKind::kernel || levels.counted(row);
  for (std::size_t kernel_level = 0; kernel_level < kKernelLevels; ++kernel_level) {
    const auto level = static_cast<KernelLevel>(kernel_level);
    if (!levels.has(level)) continue;
    bool known = true;
    for (const auto row : line.rows)
      known &= capture.activities.kind[row] != ActivityKind::kernel ||
               !std::isnan(levels.of(row, level));
    const auto track = target.out.counter(
        fmt::format("{}{}", id_of(level), when(!known, " (lower bound)")), "%", parent, order++);
    each_change(line, capture, [&](Nanos at, const std::vector<std::uint32_t>& running) {
      double sum = 0;
      for (const auto row : running)
        if (const double value = levels.of(row, level); !std::isnan(value)) sum += value;
      target.out.value(track, at + target.shift,
                       running.empty() ? 0 : 100 * sum / static_cast<double>(running.size()));
    });
  }
  if (order == 1000 || all_counted) return;
  const auto track = target.out.counter("kernels without counters", "", parent, order);
  each_change(line, capture, [&](Nanos at, const std::vector<std::uint32_t>& running) {
    target.out.value(
        track, at + target.shift,
        static_cast<double>(std::count_if(running.begin(), running.end(),
                                          [&](auto left) { return !levels.counted(left); })));
  });
}

}  // namespace gf::perfetto
