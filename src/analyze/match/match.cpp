#include "analyze/match/match.h"

#include <algorithm>
#include <cmath>

#include "analyze/match/align.h"
#include "analyze/match/laps.h"
#include "analyze/match/streams.h"
#include "analyze/match/symbols.h"
#include "analyze/match/verdict.h"

namespace gf {

namespace {

/// Kernels of the timelines, in order of start.
std::vector<std::uint32_t> kernels_of(const Capture& capture, const DeviceTimeline& device) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row : device.rows)
    if (capture.activities.kind[row] == ActivityKind::kernel) rows.push_back(row);
  return rows;
}

/// Natural logarithms of durations. A profiler slows kernels down, short ones more: only the ratio
/// to the typical one says anything, and it says little, so that durations choose between pairings
/// that are equally good otherwise.
class DurationCost {
 public:
  explicit DurationCost(const Capture& capture)
      : trace_(capture.activities.size()), report_(capture.report_kernels.size()) {
    for (std::size_t i = 0; i < trace_.size(); ++i)
      trace_[i] = logarithm(static_cast<double>(capture.activities.duration_ns[i]));
    for (std::size_t i = 0; i < report_.size(); ++i)
      report_[i] = logarithm(capture.report_kernels.duration_ns[i]);
  }
  double operator()(std::uint32_t trace_row, std::uint32_t report_row) const {
    const double difference = std::fabs(trace_[trace_row] - report_[report_row]);
    return std::isfinite(difference) ? std::min(difference, kMost) : kUnknown;
  }

 private:
  static constexpr double kMost = 3, kUnknown = 1;
  static double logarithm(double ns) { return ns > 0 ? std::log(ns) : NAN; }
  std::vector<double> trace_, report_;
};

/// Pairs of one stream or of a whole device.
struct Pairs {
  std::vector<std::uint32_t> trace_rows, report_rows;
  Laying laying;
  std::size_t count() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        laying.partner, [](std::uint32_t p) { return p != Alignment::kNone; }));
  }
};

Pairs lay(const Symbols& symbols, const DurationCost& cost, std::vector<std::uint32_t> trace_rows,
          std::vector<std::uint32_t> report_rows) {
  std::vector<std::uint32_t> a, b;
  for (std::uint32_t row : trace_rows) a.push_back(symbols.trace[row]);
  for (std::uint32_t row : report_rows) b.push_back(symbols.report[row]);
  Pairs pairs{std::move(trace_rows), std::move(report_rows), {}};
  pairs.laying = lay_over(a, b, [&](std::size_t i, std::size_t j) {
    return cost(pairs.trace_rows[i], pairs.report_rows[j]);
  });
  return pairs;
}

}  // namespace

Matching match_kernels(const Capture& capture, const std::vector<DeviceTimeline>& devices) {
  Matching out;
  out.report_row.assign(capture.activities.size(), kNoRow);
  out.score.assign(capture.activities.size(), 0);
  out.state.assign(capture.activities.size(), Matching::State::trace_only);

  std::vector<std::uint32_t> all;
  std::vector<std::vector<std::uint32_t>> by_device;
  for (const DeviceTimeline& device : devices) {
    by_device.push_back(kernels_of(capture, device));
    all.insert(all.end(), by_device.back().begin(), by_device.back().end());
  }
  out.info.trace_kernels = static_cast<std::int64_t>(all.size());
  out.info.report_kernels = static_cast<std::int64_t>(capture.report_kernels.size());
  out.info.trace_only = out.info.trace_kernels;
  out.info.report_only = out.info.report_kernels;
  if (capture.report_kernels.empty() || all.empty()) {
    judge_without_pairs(capture, out.info);
    return out;
  }

  const Symbols symbols = make_symbols(capture, all);
  const DurationCost cost(capture);
  std::vector<bool> used(capture.report_kernels.size());
  std::size_t most = 0;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const auto report_rows = report_of_device(capture, capture.devices.id[devices[d].device]);
    if (by_device[d].empty() || report_rows.empty()) continue;
    std::vector<Pairs> chosen;
    std::size_t paired = 0;
    const auto streams = pair_streams(capture, symbols, by_device[d], report_rows);
    for (const StreamPair& s : streams) {
      chosen.push_back(lay(symbols, cost, s.trace_rows, s.report_rows));
      paired += chosen.back().count();
    }
    // A profiler runs streams one after another and may name them otherwise: the order of the whole
    // device can say more.
    if (more_than_one_stream(capture, by_device[d], report_rows)) {
      Pairs whole = lay(symbols, cost, by_device[d], report_rows);
      if (whole.count() > paired) {
        chosen.clear();
        chosen.push_back(std::move(whole));
      }
    }
    for (const Pairs& p : chosen) {
      if (const std::size_t n = p.count(); n > most) {
        most = n;
        out.info.copies_of_report = static_cast<std::int64_t>(p.laying.laps);
      }
      for (std::size_t i = 0; i < p.trace_rows.size(); ++i) {
        if (p.laying.partner[i] == Alignment::kNone) continue;
        const std::uint32_t row = p.trace_rows[i], report_row = p.report_rows[p.laying.partner[i]];
        const float certainty = symbols.certainty[symbols.trace[row]];
        out.report_row[row] = report_row;
        out.state[row] =
            p.laying.ambiguous[i] ? Matching::State::ambiguous : Matching::State::matched;
        out.score[row] = p.laying.ambiguous[i] ? certainty / 2 : certainty;
        used[report_row] = true;
      }
    }
  }
  judge(symbols, all, used, out);
  return out;
}

}  // namespace gf
