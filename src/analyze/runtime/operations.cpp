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
  auto each = [&](auto&& f) {
    for (const auto i : operations)
      for (std::size_t k = trace.operations[i].first, end = k + trace.operations[i].count; k < end;
           ++k)
        f(index_of(trace.phase_of_time[k]), trace.time_ns[k]);
  };
  std::array<std::size_t, kRuntimePhases> count{};
  PhaseTimes total{};
  each([&](std::size_t p, Nanos ns) { ++count[p], total[p] += ns; });
  std::array<std::vector<double>, kRuntimePhases> values;
  for (std::size_t p = 0; p < kRuntimePhases; ++p) values[p].reserve(count[p]);
  each([&](std::size_t p, Nanos ns) { values[p].push_back(static_cast<double>(ns)); });
  OperationType row;
  row.type = type;
  row.count = static_cast<std::int64_t>(operations.size());
  for (std::size_t p = 0; p < kRuntimePhases; ++p) {
    if (values[p].empty()) continue;
    row.phases.push_back(
        {static_cast<RuntimePhase>(p), total[p], distribution(std::move(values[p]))});
    row.total_ns += total[p];
  }
  return row;
}

}  // namespace

std::vector<OperationType> spread_operations(const RuntimeTrace& trace, Interval window,
                                             std::size_t max_rows) {
  std::vector<std::uint32_t> all;
  all.reserve(trace.operations.size());
  for (std::uint32_t i = 0; i < trace.operations.size(); ++i) {
    const auto& o = trace.operations[i];
    if (!o.runs_for_another && o.start_ns >= window.start && o.start_ns < window.end)
      all.push_back(i);
  }
  std::vector<OperationType> rows;
  if (all.empty()) return rows;
  std::vector<std::uint32_t> type(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) type[i] = trace.operations[all[i]].type;
  const Groups by_type(type, trace.types.size());
  std::vector<std::uint32_t> members;
  for (std::size_t t = 0; t < by_type.size(); ++t) {
    members.clear();
    for (const auto i : by_type.members(t)) members.push_back(all[i]);
    if (!members.empty()) rows.push_back(spread(trace.types[t], trace, members));
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.type < b.type;
  });
  if (max_rows && rows.size() > max_rows) rows.resize(max_rows);
  rows.insert(rows.begin(), spread("*", trace, all));
  return rows;
}

}  // namespace gf
