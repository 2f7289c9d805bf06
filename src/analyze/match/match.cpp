#include "analyze/match/match.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyze/kernel_rates/kernel_rates.h"
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
    if (std::isfinite(difference)) return std::min(difference, kMost);
    return kUnknown;
  }

 private:
  static constexpr double kMost = 3, kUnknown = 1;
  static double logarithm(double ns) {
    if (ns > 0) return std::log(ns);
    return NAN;
  }
  std::vector<double> trace_, report_;
};

/// Pairs of one stream or of a whole device.
struct Pairs {
  std::vector<std::uint32_t> trace_rows, report_rows;
  Laying laying;
  std::size_t count() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        laying.partner, [](std::uint32_t position) { return position != Alignment::kNone; }));
  }
};

Pairs lay(const Symbols& symbols, const DurationCost& cost, std::vector<std::uint32_t> trace_rows,
          std::vector<std::uint32_t> report_rows) {
  std::vector<std::uint32_t> left, right;
  for (std::uint32_t row : trace_rows) left.push_back(symbols.trace[row]);
  for (std::uint32_t row : report_rows) right.push_back(symbols.report[row]);
  Pairs pairs{std::move(trace_rows), std::move(report_rows), {}};
  pairs.laying = lay_over(left, right, [&](std::size_t row, std::size_t column) {
    return cost(pairs.trace_rows[row], pairs.report_rows[column]);
  });
  return pairs;
}

/// What is paired on a device: stream by stream, or as a whole where that pairs more. A profiler
/// runs streams one after another and may name them otherwise, so that the order of the whole
/// device can say more.
std::vector<Pairs> pairs_of_device(const Capture& capture, const Symbols& symbols,
                                   const DurationCost& cost,
                                   const std::vector<std::uint32_t>& trace_rows,
                                   const std::vector<std::uint32_t>& report_rows) {
  std::vector<Pairs> chosen;
  std::size_t paired = 0;
  for (const StreamPair& stream : pair_streams(capture, symbols, trace_rows, report_rows)) {
    chosen.push_back(lay(symbols, cost, stream.trace_rows, stream.report_rows));
    paired += chosen.back().count();
  }
  if (!more_than_one_stream(capture, trace_rows, report_rows)) return chosen;
  Pairs whole = lay(symbols, cost, trace_rows, report_rows);
  if (whole.count() <= paired) return chosen;
  chosen.clear();
  chosen.push_back(std::move(whole));
  return chosen;
}

/// Enters pairs into the answer; `used` by row of report_kernels.
void take_pairs(const Pairs& pairs, const Symbols& symbols, std::vector<bool>& used,
                Matching& out) {
  for (std::size_t i = 0; i < pairs.trace_rows.size(); ++i) {
    if (pairs.laying.partner[i] == Alignment::kNone) continue;
    const std::uint32_t row = pairs.trace_rows[i],
                        report_row = pairs.report_rows[pairs.laying.partner[i]];
    const float certainty = symbols.certainty[symbols.trace[row]];
    out.report_row[row] = report_row;
    if (pairs.laying.ambiguous[i]) {
      out.state[row] = Matching::State::ambiguous;
      out.score[row] = certainty / 2;
    } else {
      out.state[row] = Matching::State::matched;
      out.score[row] = certainty;
    }
    used[report_row] = true;
  }
}

/// What makes kernels of samples the same (kernel_groups.h).
template <class Kernels>
auto launch_key(const Kernels& kernels, std::size_t row) {
  return std::tuple{kernels.name[row],   kernels.grid_x[row],  kernels.grid_y[row],
                    kernels.grid_z[row], kernels.block_x[row], kernels.block_y[row],
                    kernels.block_z[row]};
}

/// Counters solved from samples are those of the trace's own kernels: each has its row.
void match_solved(const Capture& capture, const std::vector<DeviceTimeline>& devices,
                  Matching& out) {
  using Key = std::pair<std::int64_t, decltype(launch_key(capture.report_kernels, 0))>;
  std::map<Key, std::uint32_t> rows;
  for (std::uint32_t row = 0; row < capture.report_kernels.size(); ++row)
    rows.emplace(Key{capture.report_kernels.device[row], launch_key(capture.report_kernels, row)},
                 row);
  std::set<std::uint32_t> used;
  for (const DeviceTimeline& device : devices)
    for (const std::uint32_t activity : kernels_of(capture, device)) {
      const auto found = rows.find(
          Key{capture.devices.id[device.device], launch_key(capture.activities, activity)});
      if (found == rows.end()) continue;
      out.report_row[activity] = found->second;
      out.score[activity] = 1;
      out.state[activity] = Matching::State::matched;
      used.insert(found->second);
      ++out.info.matched;
    }
  out.info.trace_only -= out.info.matched;
  out.info.report_only -= static_cast<std::int64_t>(used.size());
  out.info.confidence = 1;
  out.info.verdict = MatchVerdict::good;
  out.info.note = "The counters were solved from the recording's own samples, kernel by kernel.";
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

  if (has_solved_counters(capture)) {
    match_solved(capture, devices, out);
    return out;
  }
  const Symbols symbols = make_symbols(capture, all);
  const DurationCost cost(capture);
  std::vector<bool> used(capture.report_kernels.size());
  std::size_t most = 0;
  for (std::size_t device = 0; device < devices.size(); ++device) {
    const auto report_rows = report_of_device(capture, capture.devices.id[devices[device].device]);
    if (by_device[device].empty() || report_rows.empty()) continue;
    for (const Pairs& pairs :
         pairs_of_device(capture, symbols, cost, by_device[device], report_rows)) {
      if (const std::size_t count = pairs.count(); count > most) {
        most = count;
        out.info.copies_of_report = static_cast<std::int64_t>(pairs.laying.laps);
      }
      take_pairs(pairs, symbols, used, out);
    }
  }
  judge(symbols, all, used, out);
  return out;
}

}  // namespace gf
