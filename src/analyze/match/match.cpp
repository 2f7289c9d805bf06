#include "analyze/match/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "analyze/context.h"
#include "analyze/kernel_rates/kernel_rates.h"
#include "analyze/match/symbols.h"
#include "model/capture.h"

namespace gf {

namespace {

/// Less than this share of both the trace's kernels and the report's kernels paired: they are of
/// different programs.
constexpr double kSameProgram = 0.5;
/// At least this share of the trace's kernels paired: a good matching.
constexpr double kGood = 0.95;

using State = Matching::State;

std::string describe(const MatchInfo& info, double of_report) {
  const std::int64_t paired = info.matched + info.ambiguous;
  std::string steps = "applied to the trace once";
  if (info.copies_of_report > 1)
    steps = fmt::format("applied to {} steps of the trace", info.copies_of_report);
  std::string text;
  if (info.trace_only == 0 && info.report_only == 0)
    text = fmt::format(
        "Every kernel of the trace and of the report is matched, in order; the report was {}.",
        steps);
  else if (info.trace_only == 0)
    text = fmt::format(
        "Every kernel of the trace is matched; {} of {} report kernels do not occur in it; the "
        "report was {}.",
        info.report_only, info.report_kernels, steps);
  else if (of_report > kGood)
    text =
        fmt::format("{} of {} trace kernels are matched; the report covers only these; it was {}.",
                    paired, info.trace_kernels, steps);
  else
    text = fmt::format(
        "{} of {} trace kernels are matched, {} of {} report kernels do not occur in the trace; "
        "the report was {}.",
        paired, info.trace_kernels, info.report_only, info.report_kernels, steps);
  if (info.ambiguous > 0) {
    text.pop_back();
    text += fmt::format("; {} are ambiguous among equal neighbors.", info.ambiguous);
  }
  return text;
}

/// The names say whether it is the same program with other shapes, or another one.
std::string why_different(const Symbols& symbols, const MatchInfo& info, std::int64_t paired) {
  double names = 0;
  if (symbols.trace_names > 0 && symbols.report_names > 0)
    names = static_cast<double>(symbols.shared_names) /
            static_cast<double>(std::min(symbols.trace_names, symbols.report_names));
  if (names >= 0.8)
    return fmt::format(
        "The report has the same kernels as the trace ({} of {} names) but other launch shapes, so "
        "it belongs to another batch size or input: only {} of {} would match. Profile the traced "
        "run itself.",
        symbols.shared_names, symbols.report_names, paired, info.trace_kernels);
  return fmt::format(
      "The report belongs to another program: {} of its {} kernel names occur in the trace, and "
      "only {} of {} trace kernels would match. Its counters are not used.",
      symbols.shared_names, symbols.report_names, paired, info.trace_kernels);
}

/// Counts the states and writes verdict, note and confidence. Of different programs no pair is
/// kept.
void judge(const Symbols& symbols, const std::vector<std::uint32_t>& trace_rows,
           const std::vector<bool>& report_used, Matching& matching) {
  MatchInfo& info = matching.info;
  double score = 0;
  for (std::uint32_t row : trace_rows) {
    if (matching.state[row] == State::matched) ++info.matched;
    if (matching.state[row] == State::ambiguous) ++info.ambiguous;
    score += matching.score[row];
  }
  const std::int64_t paired = info.matched + info.ambiguous,
                     used = std::ranges::count(report_used, true);
  const double of_trace = static_cast<double>(paired) / static_cast<double>(info.trace_kernels),
               of_report = static_cast<double>(used) / static_cast<double>(info.report_kernels);
  if (std::max(of_trace, of_report) < kSameProgram) {
    info.verdict = MatchVerdict::different_program;
    info.note = why_different(symbols, info, paired);
    info.matched = info.ambiguous = info.copies_of_report = 0;
    for (std::uint32_t row : trace_rows) {
      matching.state[row] = State::trace_only;
      matching.report_row[row] = kNoRow;
      matching.score[row] = 0;
    }
    return;
  }
  info.trace_only = info.trace_kernels - paired;
  info.report_only = info.report_kernels - used;
  if (paired > 0) {
    info.confidence = Share(score / static_cast<double>(paired));
  } else {
    info.confidence = std::nullopt;
  }
  info.verdict = of_trace >= kGood ? MatchVerdict::good : MatchVerdict::partial;
  info.note = describe(info, of_report);
}

/// For a capture without report or without kernels.
void judge_without_pairs(const Capture& capture, MatchInfo& info) {
  if (!capture.report_kernels.empty()) {
    info.verdict = MatchVerdict::partial;
    info.note = "The window has no kernels, so no kernel of the report is matched.";
    return;
  }
  info.verdict = MatchVerdict::no_report;
  info.note = "No counter report was given; the levels below GPU active need one.";
}

struct StreamPair {
  std::vector<std::uint32_t> trace_rows, report_rows;  // each in order of execution
};

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

/// Report kernels of one device of the trace. A report of one device serves every device of the
/// trace: each rank of a data-parallel program runs the same kernels.
std::vector<std::uint32_t> report_of_device(const Capture& capture, std::int64_t device) {
  const auto& report_kernels = capture.report_kernels;
  std::vector<std::uint32_t> own, all;
  bool one_device = true;
  for (std::uint32_t i = 0; i < report_kernels.size(); ++i) {
    if (report_kernels.device[i] == device) own.push_back(i);
    all.push_back(i);
    one_device &= report_kernels.device[i] == report_kernels.device[0];
  }
  return own.empty() && one_device ? all : own;
}

/// Pairs streams by what they ran (common symbols, counted with repetition), equal stream numbers
/// first where that is a tie.
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
        laying.partner, [](std::uint32_t position) { return position != SequenceMatch::kNone; }));
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

/// Pairs the kernels of a device: stream by stream, or as a whole where that pairs more. A profiler
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
    if (pairs.laying.partner[i] == SequenceMatch::kNone) continue;
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

/// The facts by which kernels of samples count as the same (kernel_groups.h).
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

/// True if rows of the report stand for several launches each: they are in no order of execution.
bool is_summary(const Capture& capture) {
  const auto& report = capture.report_kernels;
  for (std::uint32_t row = 0; row < report.size(); ++row)
    if (report.launches[row] > 0) return true;
  return false;
}

/// Every kernel of the trace with the row of a summary that is of its launch, in whatever order.
Pairs pair_with_summary(const Symbols& symbols, const std::vector<std::uint32_t>& trace_rows,
                        const std::vector<std::uint32_t>& report_rows) {
  std::map<std::uint32_t, std::uint32_t> positions;
  for (std::uint32_t i = 0; i < report_rows.size(); ++i)
    positions.emplace(symbols.report[report_rows[i]], i);
  Pairs pairs{trace_rows, report_rows, {}};
  pairs.laying.laps = 1;
  pairs.laying.ambiguous.assign(trace_rows.size(), false);
  for (const std::uint32_t row : trace_rows) {
    const auto found = positions.find(symbols.trace[row]);
    pairs.laying.partner.push_back(found == positions.end() ? SequenceMatch::kNone : found->second);
  }
  return pairs;
}

}  // namespace

Matching match_kernels(const Capture& capture, const std::vector<DeviceTimeline>& devices) {
  Matching out;
  out.report_row.resize(capture.activities.size(), kNoRow);
  out.score.resize(capture.activities.size(), 0);
  out.state.resize(capture.activities.size(), Matching::State::trace_only);

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
  const bool summary = is_summary(capture);
  std::size_t most = 0;
  for (std::size_t device = 0; device < devices.size(); ++device) {
    const auto report_rows = report_of_device(capture, capture.devices.id[devices[device].device]);
    if (by_device[device].empty() || report_rows.empty()) continue;
    for (const Pairs& pairs :
         summary ? std::vector{pair_with_summary(symbols, by_device[device], report_rows)}
                 : pairs_of_device(capture, symbols, cost, by_device[device], report_rows)) {
      if (const std::size_t count = pairs.count(); count > most) {
        most = count;
        out.info.copies_of_report = static_cast<std::int64_t>(pairs.laying.laps);
      }
      take_pairs(pairs, symbols, used, out);
    }
  }
  judge(symbols, all, used, out);
  if (summary && out.info.verdict != MatchVerdict::different_program)
    out.info.note = fmt::format(
        "The report is a summary: each of {} of {} kernels has the means of its "
        "launches.",
        out.info.matched, out.info.trace_kernels);
  return out;
}

}  // namespace gf
