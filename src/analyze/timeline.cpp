#include "analyze/timeline.h"

#include <algorithm>

#include "core/order.h"

namespace gf {

namespace {

Interval span_of(const Capture& capture, std::uint32_t row) {
  const auto& a = capture.activities;
  return {a.start_ns[row], a.start_ns[row] + a.duration_ns[row]};
}

/// Rows of activities by device, each in the order that DeviceTimeline promises.
std::vector<std::vector<std::uint32_t>> rows_by_device(const Capture& capture) {
  const auto& a = capture.activities;
  std::vector<std::size_t> count(capture.devices.size(), 0);
  for (std::uint32_t i = 0; i < a.size(); ++i)
    if (a.device[i] < count.size()) ++count[a.device[i]];
  std::vector<std::vector<std::uint32_t>> rows(count.size());
  for (std::size_t d = 0; d < count.size(); ++d) rows[d].reserve(count[d]);
  for (std::uint32_t i = 0; i < a.size(); ++i)
    if (a.device[i] < rows.size()) rows[a.device[i]].push_back(i);
  auto before = [&](std::uint32_t x, std::uint32_t y) {
    if (a.start_ns[x] != a.start_ns[y]) return a.start_ns[x] < a.start_ns[y];
    if (a.duration_ns[x] != a.duration_ns[y]) return a.duration_ns[x] > a.duration_ns[y];
    return x < y;
  };
  for (auto& list : rows) sort_nearly_ordered(list.begin(), list.end(), before);
  return rows;
}

void fill(const Capture& capture, DeviceTimeline& line) {
  const auto& a = capture.activities;
  // Room that stays untouched costs nothing; growing would copy.
  for (auto* set : {&line.spans, &line.busy, &line.kernel_busy, &line.idle})
    set->reserve(line.rows.size() + 1);
  std::vector<Interval> kernels;
  kernels.reserve(line.rows.size());
  // Rows come by start, so the unions grow at their ends.
  auto extend = [](Intervals& set, Interval i) {
    if (i.length() <= 0) return;
    if (!set.empty() && i.start <= set.back().end)
      set.back().end = std::max(set.back().end, i.end);
    else
      set.push_back(i);
  };
  Nanos idle_from = line.window.start;
  for (auto row : line.rows) {
    Interval span = span_of(capture, row);
    span = {std::clamp(span.start, line.window.start, line.window.end),
            std::clamp(span.end, line.window.start, line.window.end)};
    line.spans.push_back(span);
    extend(line.busy, span);
    if (a.kind[row] != ActivityKind::kernel) continue;
    extend(line.kernel_busy, span);
    kernels.push_back(span);
  }
  for (const auto& busy : line.busy) {
    if (busy.start > idle_from) line.idle.push_back({idle_from, busy.start});
    idle_from = busy.end;
  }
  if (line.window.end > idle_from) line.idle.push_back({idle_from, line.window.end});
  const auto shares = exclusive_times(kernels);
  line.exclusive_ns.assign(line.rows.size(), 0);
  for (std::size_t i = 0, k = 0; i < line.rows.size(); ++i)
    if (a.kind[line.rows[i]] == ActivityKind::kernel) line.exclusive_ns[i] = shares[k++];
}

}  // namespace

std::vector<DeviceTimeline> build_timelines(const Capture& capture, const WindowInfo& window) {
  std::vector<DeviceTimeline> timelines;
  const bool whole = window.kind == WindowKind::all;
  auto by_device = rows_by_device(capture);
  for (std::uint32_t d = 0; d < by_device.size(); ++d) {
    auto& rows = by_device[d];
    if (rows.empty()) continue;
    DeviceTimeline line;
    line.device = d;
    line.window = {window.start_ns, window.end_ns};
    if (whole) {
      line.window = {span_of(capture, rows.front()).start, INT64_MIN};
      for (auto row : rows) line.window.end = std::max(line.window.end, span_of(capture, row).end);
    } else {
      std::erase_if(rows, [&](std::uint32_t row) {
        const Interval s = span_of(capture, row);
        const bool inside = s.length() > 0
                                ? s.start < line.window.end && s.end > line.window.start
                                : s.start >= line.window.start && s.start < line.window.end;
        return !inside;
      });
    }
    line.rows = std::move(rows);
    fill(capture, line);
    timelines.push_back(std::move(line));
  }
  return timelines;
}

}  // namespace gf
