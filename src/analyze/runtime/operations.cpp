#include "analyze/runtime/operations.h"

#include <algorithm>
#include <unordered_map>

namespace gf {

namespace {

OperationType spread(std::string_view type, const RuntimeTrace& trace, const std::vector<std::uint32_t>& operations) {
  OperationType row;
  row.type = type;
  row.count = static_cast<std::int64_t>(operations.size());
  std::vector<double> values;
  for (std::size_t p = 0; p < kRuntimePhases; ++p) {
    PhaseSpread s;
    values.clear();
    for (const auto i : operations)
      if (const Nanos ns = trace.operations[i].ns[p]; ns > 0) {
        values.push_back(static_cast<double>(ns));
        s.total_ns += ns;
      }
    if (values.empty()) continue;
    s.phase = kRuntimePhaseNames[p];
    s.spread = distribution(values);
    row.total_ns += s.total_ns;
    row.phases.push_back(std::move(s));
  }
  return row;
}

}  // namespace

std::vector<OperationType> spread_operations(const RuntimeTrace& trace, Interval window, std::size_t max_rows) {
  std::vector<std::uint32_t> all;
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> by_type;
  for (std::uint32_t i = 0; i < trace.operations.size(); ++i) {
    const auto& o = trace.operations[i];
    if (o.runs_for_another || o.start_ns < window.start || o.start_ns >= window.end) continue;
    all.push_back(i);
    by_type[o.type].push_back(i);
  }
  std::vector<OperationType> rows;
  if (all.empty()) return rows;
  for (const auto& [type, operations] : by_type) rows.push_back(spread(type, trace, operations));
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.type < b.type; });
  if (max_rows && rows.size() > max_rows) rows.resize(max_rows);
  rows.insert(rows.begin(), spread("*", trace, all));
  return rows;
}

}  // namespace gf
