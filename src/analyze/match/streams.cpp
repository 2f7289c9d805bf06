#include "analyze/match/streams.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gf {

namespace {

// A stream of a report belongs to a process as well: a report may hold several ranks.
using ReportStream = std::pair<std::int64_t, std::int64_t>;

std::size_t common(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  std::size_t n = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (*i == *j)
      ++n, ++i, ++j;
    else if (*i < *j)
      ++i;
    else
      ++j;
  }
  return n;
}

}  // namespace

std::vector<std::uint32_t> report_of_device(const Capture& capture, std::int64_t device) {
  const auto& r = capture.report_kernels;
  std::vector<std::uint32_t> own, all;
  bool one_device = true;
  for (std::uint32_t i = 0; i < r.size(); ++i) {
    if (r.device[i] == device) own.push_back(i);
    all.push_back(i);
    one_device &= r.device[i] == r.device[0];
  }
  return own.empty() && one_device ? all : own;
}

std::vector<StreamPair> pair_streams(const Capture& capture, const Symbols& symbols,
                                     const std::vector<std::uint32_t>& trace_rows,
                                     const std::vector<std::uint32_t>& report_rows) {
  struct Stream {
    std::vector<std::uint32_t> rows, symbols;
    bool taken = false;
  };
  std::map<std::int64_t, Stream> trace;
  std::map<ReportStream, Stream> report;
  for (std::uint32_t row : trace_rows) trace[capture.activities.stream[row]].rows.push_back(row);
  for (std::uint32_t row : report_rows)
    report[{capture.report_kernels.pid[row], capture.report_kernels.stream[row]}].rows.push_back(
        row);
  for (auto& [id, s] : trace) {
    for (std::uint32_t row : s.rows) s.symbols.push_back(symbols.trace[row]);
    std::ranges::sort(s.symbols);
  }
  for (auto& [id, s] : report) {
    for (std::uint32_t row : s.rows) s.symbols.push_back(symbols.report[row]);
    std::ranges::sort(s.symbols);
  }
  struct Candidate {
    std::size_t common;
    bool same_number;
    std::int64_t trace;
    ReportStream report;
  };
  std::vector<Candidate> candidates;
  for (const auto& [t, ts] : trace)
    for (const auto& [r, rs] : report)
      candidates.push_back({common(ts.symbols, rs.symbols), t == r.second, t, r});
  std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    return std::pair(a.common, a.same_number) > std::pair(b.common, b.same_number);
  });
  std::vector<StreamPair> out;
  for (const Candidate& c : candidates) {
    Stream &t = trace[c.trace], &r = report[c.report];
    if (c.common == 0 || t.taken || r.taken) continue;
    t.taken = r.taken = true;
    out.push_back({t.rows, r.rows});
  }
  return out;
}

bool more_than_one_stream(const Capture& capture, const std::vector<std::uint32_t>& trace_rows,
                          const std::vector<std::uint32_t>& report_rows) {
  const auto differs = [](const auto& column, const auto& rows) {
    return std::ranges::any_of(rows,
                               [&](std::uint32_t row) { return column[row] != column[rows[0]]; });
  };
  return differs(capture.activities.stream, trace_rows) ||
         differs(capture.report_kernels.stream, report_rows) ||
         differs(capture.report_kernels.pid, report_rows);
}

}  // namespace gf
