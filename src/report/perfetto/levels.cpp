#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/utilization/kernel_levels.h"
#include "core/when.h"
#include "core/wide.h"
#include "report/perfetto/parts.h"

namespace gf::perfetto {

namespace {

/// What runs at a time: how many kernels, and the sum of their values in units so small that adding
/// and taking away is exact.
struct Running {
  std::int64_t kernels = 0;
  Int128 sum = 0;
};

/// f(time, Running) at every change, with value_of(activity) for each kernel of a device.
template <class ValueOf, class F>
void each_change(const DeviceTimeline& line, const Capture& capture, ValueOf&& value_of,
                 F&& apply) {
  struct Edge {
    Nanos at;
    std::int64_t change, value;
  };
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < line.rows.size(); ++i)
    if (capture.activities.kind[line.rows[i]] == ActivityKind::kernel &&
        line.spans[i].length() > 0) {
      const std::int64_t value = value_of(line.rows[i]);
      edges.push_back({line.spans[i].start, 1, value});
      edges.push_back({line.spans[i].end, -1, -value});
    }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& left, const Edge& right) { return left.at < right.at; });
  Running running;
  for (std::size_t i = 0; i < edges.size();) {
    const Nanos at = edges[i].at;
    for (; i < edges.size() && edges[i].at == at; ++i) {
      running.kernels += edges[i].change;
      running.sum += edges[i].value;
    }
    apply(at, running);
  }
}

constexpr double kUnits = 1e15;  // of a ratio of 1

}  // namespace

/// Kernels that run at once share the device evenly, as in the ladder. The format has no "no data":
/// a kernel without counters counts as 0 in its level, the track's name says that it is a lower
/// bound, and a track beside it says where.
void write_levels(Export& target, const KernelLevels& levels, const DeviceTimeline& line,
                  std::uint64_t parent) {
  const Capture& capture = target.context.capture;
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
    auto units = [&](std::uint32_t row) {
      const double value = levels.of(row, level);
      return std::isnan(value) ? 0 : std::llround(value * kUnits);
    };
    each_change(line, capture, units, [&](Nanos at, const Running& running) {
      double percent = 0;
      if (running.kernels > 0)
        percent =
            100 * static_cast<double>(running.sum) / kUnits / static_cast<double>(running.kernels);
      target.out.value(track, at + target.shift, percent);
    });
  }
  if (order == 1000 || all_counted) return;
  const auto track = target.out.counter("kernels without counters", "", parent, order);
  auto uncounted = [&](std::uint32_t row) { return levels.counted(row) ? 0 : 1; };
  each_change(line, capture, uncounted, [&](Nanos at, const Running& running) {
    target.out.value(track, at + target.shift, static_cast<double>(running.sum));
  });
}

}  // namespace gf::perfetto
