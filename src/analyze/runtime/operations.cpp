#include "analyze/runtime/operations.h"

#include <algorithm>
#include <array>
#include <span>

#include "analyze/utilization/instances.h"

namespace gf {

namespace {

/// The times of these operations, by phase.
OperationType spread(std::string_view type, const RuntimeTrace& trace,
                     std::span<const std::uint32_t> operations) {
  auto each = [&](auto&& apply) {
    for (const auto operation : operations)
      for (std::size_t piece = trace.operations[operation].first,
                       end = piece + trace.operations[operation].count;
           piece < end; ++piece)
        apply(index_of(trace.phase_of_time[piece]), trace.time_ns[piece]);
  };
  std::array<std::size_t, kRuntimePhases> count{};
  PhaseTimes total{};
  each([&](std::size_t position, Nanos ns) {
    ++count[position];
    total[position] += ns;
  });
  std::array<std::vector<double>, kRuntimePhases> values;
  for (std::size_t phase = 0; phase < kRuntimePhases; ++phase) values[phase].reserve(count[phase]);
  each(
      [&](std::size_t position, Nanos ns) { values[position].push_back(static_cast<double>(ns)); });
  OperationType row;
  row.type = type;
  row.count = static_cast<std::int64_t>(operations.size());
  for (std::size_t phase = 0; phase < kRuntimePhases; ++phase) {
    if (values[phase].empty()) continue;
    row.phases.push_back(
        {static_cast<RuntimePhase>(phase), total[phase], distribution(std::move(values[phase]))});
    row.total_ns += total[phase];
  }
  return row;
}

}  // namespace

std::vector<OperationType> spread_operations(const RuntimeTrace& trace, Interval window,
                                             std::size_t max_rows) {
  std::vector<std::uint32_t> all;
  all.reserve(trace.operations.size());
  for (std::uint32_t i = 0; i < trace.operations.size(); ++i) {
    const auto& operation = trace.operations[i];
    if (!operation.runs_for_another && operation.start_ns >= window.start &&
        operation.start_ns < window.end)
      all.push_back(i);
  }
  std::vector<OperationType> rows;
  if (all.empty()) return rows;
  std::vector<std::uint32_t> type(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) type[i] = trace.operations[all[i]].type;
  const Groups by_type(type, trace.types.size());
  std::vector<std::uint32_t> members;
  for (std::size_t index = 0; index < by_type.size(); ++index) {
    members.clear();
    for (const auto member : by_type.members(index)) members.push_back(all[member]);
    if (!members.empty()) rows.push_back(spread(trace.types[index], trace, members));
  }
  std::sort(rows.begin(), rows.end(), [](const auto& left, const auto& right) {
    if (left.total_ns != right.total_ns) return left.total_ns > right.total_ns;
    return left.type < right.type;
  });
  if (max_rows && rows.size() > max_rows) rows.resize(max_rows);
  rows.insert(rows.begin(), spread("*", trace, all));
  return rows;
}

}  // namespace gf
