// Noise for the matching: kernels lost, doubled and with other durations, on both sides, with the
// truth kept beside.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyze/match/match.h"
#include "model/capture.h"

namespace gf::test {

struct Noise {
  double dropped = 0.10, doubled = 0.05, jitter = 0.20;
};

/// A trace of several steps and a report of one, as one capture, with each kernel's number in the
/// undamaged step.
struct NoisyRun {
  Capture capture;
  std::vector<DeviceTimeline> devices;
  std::vector<std::uint32_t> trace_origin, trace_step, report_origin;  // by row
};

/// `clean` holds a trace whose kernels are the report's sequence, some whole number of times, in
/// order.
inline NoisyRun make_noisy(const Capture& clean, const Noise& noise, std::uint32_t seed) {
  NoisyRun run;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto copies = [&] {
    return uniform(random) < noise.dropped ? 0 : uniform(random) < noise.doubled ? 2 : 1;
  };
  const auto jitter = [&] { return 1 + noise.jitter * (2 * uniform(random) - 1); };
  const auto& a = clean.activities;
  const auto& r = clean.report_kernels;
  Capture& c = run.capture;
  run.devices.emplace_back().device = c.device_row(0);
  Nanos now = 1000;
  std::uint32_t number = 0;
  const auto take = [&](auto& mine, const auto& theirs,
                        std::uint32_t row) {  // copies one row, texts renamed
    const auto at = mine.add();
    mine.visit_pairs(theirs, [&](auto& to, const auto& from) {
      auto value = from[row];
      if constexpr (std::is_same_v<decltype(value), Text>)
        value = c.strings.intern(clean.text(value));
      to[at] = value;
    });
    return at;
  };
  std::vector<std::pair<Nanos, std::uint32_t>> order;  // traces keep no order in the file
  for (std::uint32_t row = 0; row < a.size(); ++row)
    if (a.kind[row] == ActivityKind::kernel) order.emplace_back(a.start_ns[row], row);
  std::ranges::sort(order);
  for (const auto& [start, row] : order) {
    for (int n = copies(); n > 0; --n) {
      const auto at = take(c.activities, a, row);
      c.activities.device[at] = 0;
      c.activities.start_ns[at] = now;
      c.activities.duration_ns[at] = std::max<Nanos>(
          1, static_cast<Nanos>(static_cast<double>(a.duration_ns[row]) * jitter()));
      now += c.activities.duration_ns[at] + 500;
      run.devices[0].rows.push_back(at);
      run.trace_origin.push_back(number % static_cast<std::uint32_t>(r.size()));
      run.trace_step.push_back(number / static_cast<std::uint32_t>(r.size()));
    }
    ++number;
  }
  for (std::uint32_t row = 0; row < r.size(); ++row)
    for (int n = copies(); n > 0; --n) {
      const auto at = take(c.report_kernels, r, row);
      c.report_kernels.duration_ns[at] = r.duration_ns[row] * jitter();
      run.report_origin.push_back(row);
    }
  run.devices[0].window = {0, now};
  return run;
}

struct MatchQuality {
  double precision = 0,
         recall = 0;  // on kernel identity: members of one run of equal kernels count as the same
  double instance_precision = 0, instance_recall = 0;  // on the instance
  double certain_precision = 0,
         certain_share =
             0;  // instances again, pairs that are not called ambiguous; their share of all pairs
};

/// run_of[k]: which run of equal consecutive launches the k-th kernel of the undamaged step belongs
/// to.
inline MatchQuality measure_matching(const NoisyRun& run, const Matching& m,
                                     const std::vector<std::uint32_t>& run_of) {
  std::size_t pairs = 0, same_run = 0, same_instance = 0, certain = 0, certain_right = 0;
  for (std::uint32_t row = 0; row < run.trace_origin.size(); ++row) {
    if (m.report_row[row] == kNoRow) continue;
    ++pairs;
    const std::uint32_t t = run.trace_origin[row], r = run.report_origin[m.report_row[row]];
    same_run += run_of[t] == run_of[r];
    same_instance += t == r;
    if (m.state[row] == Matching::State::matched) {
      ++certain;
      certain_right += t == r;
    }
  }
  // What could be paired: in each step, of each kernel (run), as many as the poorer side has.
  const auto possible = [&](auto&& key) {
    std::map<std::uint32_t, std::size_t> report;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> trace;
    for (std::uint32_t origin : run.report_origin) ++report[key(origin)];
    for (std::size_t i = 0; i < run.trace_origin.size(); ++i)
      ++trace[{run.trace_step[i], key(run.trace_origin[i])}];
    std::size_t n = 0;
    for (const auto& [where, count] : trace) n += std::min(count, report[where.second]);
    return n;
  };
  const auto share = [](std::size_t part, std::size_t whole) {
    return whole ? static_cast<double>(part) / static_cast<double>(whole) : 1.0;
  };
  MatchQuality q;
  q.precision = share(same_run, pairs);
  q.recall = share(same_run, possible([&](std::uint32_t k) { return run_of[k]; }));
  q.instance_precision = share(same_instance, pairs);
  q.instance_recall = share(same_instance, possible([](std::uint32_t k) { return k; }));
  q.certain_precision = share(certain_right, certain);
  q.certain_share = share(certain, pairs);
  return q;
}

/// Runs of consecutive report kernels with the same name, launch shape and registers.
inline std::vector<std::uint32_t> runs_of_equal_kernels(const Capture& c) {
  const auto& r = c.report_kernels;
  std::vector<std::uint32_t> run(r.size(), 0);
  for (std::uint32_t i = 1; i < r.size(); ++i) {
    const bool same = r.name[i] == r.name[i - 1] && r.grid_x[i] == r.grid_x[i - 1] &&
                      r.grid_y[i] == r.grid_y[i - 1] && r.grid_z[i] == r.grid_z[i - 1] &&
                      r.block_x[i] == r.block_x[i - 1] && r.block_y[i] == r.block_y[i - 1] &&
                      r.block_z[i] == r.block_z[i - 1] && r.registers[i] == r.registers[i - 1];
    run[i] = run[i - 1] + (same ? 0 : 1);
  }
  return run;
}

/// A trace joined with its report; the files of examples/.
inline Capture with_report(Capture trace, const Capture& report) {
  trace.join(report);
  return trace;
}

}  // namespace gf::test
