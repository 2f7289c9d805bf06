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
    if (uniform(random) < noise.dropped) return 0;
    if (uniform(random) < noise.doubled) return 2;
    return 1;
  };
  const auto jitter = [&] { return 1 + noise.jitter * (2 * uniform(random) - 1); };
  const auto& activities = clean.activities;
  const auto& report_kernels = clean.report_kernels;
  Capture& capture = run.capture;
  run.devices.emplace_back().device = capture.device_row(0);
  Nanos now = 1000;
  std::uint32_t number = 0;
  const auto take = [&](auto& mine, const auto& theirs,
                        std::uint32_t row) {  // copies one row, texts renamed
    const auto at = mine.add();
    mine.visit_pairs(theirs, [&](auto& to, const auto& from) {
      auto value = from[row];
      if constexpr (std::is_same_v<decltype(value), Text>)
        value = capture.strings.intern(clean.text(value));
      to[at] = value;
    });
    return at;
  };
  std::vector<std::pair<Nanos, std::uint32_t>> order;  // traces keep no order in the file
  for (std::uint32_t row = 0; row < activities.size(); ++row)
    if (activities.kind[row] == ActivityKind::kernel)
      order.emplace_back(activities.start_ns[row], row);
  std::ranges::sort(order);
  for (const auto& [start, row] : order) {
    for (int copy = copies(); copy > 0; --copy) {
      const auto at = take(capture.activities, activities, row);
      capture.activities.device[at] = 0;
      capture.activities.start_ns[at] = now;
      capture.activities.duration_ns[at] = std::max<Nanos>(
          1, static_cast<Nanos>(static_cast<double>(activities.duration_ns[row]) * jitter()));
      now += capture.activities.duration_ns[at] + 500;
      run.devices[0].rows.push_back(at);
      run.trace_origin.push_back(number % static_cast<std::uint32_t>(report_kernels.size()));
      run.trace_step.push_back(number / static_cast<std::uint32_t>(report_kernels.size()));
    }
    ++number;
  }
  for (std::uint32_t row = 0; row < report_kernels.size(); ++row)
    for (int copy = copies(); copy > 0; --copy) {
      const auto at = take(capture.report_kernels, report_kernels, row);
      capture.report_kernels.duration_ns[at] = report_kernels.duration_ns[row] * jitter();
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
inline MatchQuality measure_matching(const NoisyRun& run, const Matching& matching,
                                     const std::vector<std::uint32_t>& run_of) {
  std::size_t pairs = 0, same_run = 0, same_instance = 0, certain = 0, certain_right = 0;
  for (std::uint32_t row = 0; row < run.trace_origin.size(); ++row) {
    if (matching.report_row[row] == kNoRow) continue;
    ++pairs;
    const std::uint32_t trace_origin = run.trace_origin[row],
                        report_origin = run.report_origin[matching.report_row[row]];
    same_run += run_of[trace_origin] == run_of[report_origin];
    same_instance += trace_origin == report_origin;
    if (matching.state[row] == Matching::State::matched) {
      ++certain;
      certain_right += trace_origin == report_origin;
    }
  }
  // The pairs that are possible: in each step, of each kernel (run), as many as the poorer side
  // has.
  const auto possible = [&](auto&& key) {
    std::map<std::uint32_t, std::size_t> report;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> trace;
    for (std::uint32_t origin : run.report_origin) ++report[key(origin)];
    for (std::size_t i = 0; i < run.trace_origin.size(); ++i)
      ++trace[{run.trace_step[i], key(run.trace_origin[i])}];
    std::size_t total = 0;
    for (const auto& [where, count] : trace) total += std::min(count, report[where.second]);
    return total;
  };
  const auto share = [](std::size_t part, std::size_t whole) {
    return whole ? static_cast<double>(part) / static_cast<double>(whole) : 1.0;
  };
  MatchQuality quality;
  quality.precision = share(same_run, pairs);
  quality.recall = share(same_run, possible([&](std::uint32_t kernel) { return run_of[kernel]; }));
  quality.instance_precision = share(same_instance, pairs);
  quality.instance_recall =
      share(same_instance, possible([](std::uint32_t kernel) { return kernel; }));
  quality.certain_precision = share(certain_right, certain);
  quality.certain_share = share(certain, pairs);
  return quality;
}

/// Runs of consecutive report kernels with the same name, launch shape and registers.
inline std::vector<std::uint32_t> runs_of_equal_kernels(const Capture& capture) {
  const auto& report_kernels = capture.report_kernels;
  std::vector<std::uint32_t> run(report_kernels.size(), 0);
  for (std::uint32_t i = 1; i < report_kernels.size(); ++i) {
    const bool same = report_kernels.name[i] == report_kernels.name[i - 1] &&
                      report_kernels.grid_x[i] == report_kernels.grid_x[i - 1] &&
                      report_kernels.grid_y[i] == report_kernels.grid_y[i - 1] &&
                      report_kernels.grid_z[i] == report_kernels.grid_z[i - 1] &&
                      report_kernels.block_x[i] == report_kernels.block_x[i - 1] &&
                      report_kernels.block_y[i] == report_kernels.block_y[i - 1] &&
                      report_kernels.block_z[i] == report_kernels.block_z[i - 1] &&
                      report_kernels.registers[i] == report_kernels.registers[i - 1];
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
