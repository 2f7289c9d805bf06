#include "analyze/match/streams.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gf {

namespace {

// A stream of a report belongs to a process as well: a report may hold several ranks.
using ReportStream = std::pair<std::int64_t, std::int64_t>;

std::size_t common(const std::vector<std::uint32_t>& left,
                   const std::vector<std::uint32_t>& right) {
  std::size_t count = 0;
  for (auto i = left.begin(), j = right.begin(); i != left.end() && j != right.end();) {
    if (*i == *j) {
      ++count;
      ++i;
      ++j;
    } else if (*i < *j)
      ++i;
    else
      ++j;
  }
  return count;
}

}  // namespace

std::vector<std::uint32_t> report_of_device(const Capture& capture, std::int64_t device) {
  const auto& report_kernels = capture.report_kernels;
  std::vector<std::uint32_t> own, all;
  bool one_device = true;
  for (std::uint32_t i = 0; i < report_kernels.size(); ++i) {
    if (report_kernels.device[i] == device) own.push_back(i);
    all.push_back(i);
    one_device &= report_kernels.device[i] == report_kernels.device[0];
  }
  if (own.empty() && one_device) return all;
  return own;
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
  for (auto& [id, stream] : trace) {
    for (std::uint32_t row : stream.rows) stream.symbols.push_back(symbols.trace[row]);
    std::ranges::sort(stream.symbols);
  }
  for (auto& [id, stream] : report) {
    for (std::uint32_t row : stream.rows) stream.symbols.push_back(symbols.report[row]);
    std::ranges::sort(stream.symbols);
  }
  struct Candidate {
    std::size_t common;
    bool same_number;
    std::int64_t trace;
    ReportStream report;
  };
  std::vector<Candidate> candidates;
  for (const auto& [trace_stream, ts] : trace)
    for (const auto& [report_stream, rs] : report)
      candidates.push_back({common(ts.symbols, rs.symbols), trace_stream == report_stream.second,
                            trace_stream, report_stream});
  std::ranges::stable_sort(candidates, [](const Candidate& left, const Candidate& right) {
    return std::pair(left.common, left.same_number) > std::pair(right.common, right.same_number);
  });
  std::vector<StreamPair> out;
  for (const Candidate& candidate : candidates) {
    Stream& stream = trace[candidate.trace];
    Stream& partner = report[candidate.report];
    if (candidate.common == 0 || stream.taken || partner.taken) continue;
    stream.taken = partner.taken = true;
    out.push_back({stream.rows, partner.rows});
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
