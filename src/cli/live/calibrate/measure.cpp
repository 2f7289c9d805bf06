#include "cli/live/calibrate/measure.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <fstream>
#include <memory>

#include "analyze/energy/points_file.h"
#include "collect/microbench/plan.h"
#include "collect/nvml/open.h"
#include "collect/watched_call.h"
#include "core/signal_events.h"
#include "core/when.h"
#include "report/json.h"

namespace gf::cli {

namespace {

template <class T>
void write_line(std::ofstream& out, const T& object) {
  std::string line;
  to_json(line, object);
  out << line << "\n" << std::flush;
}

/// What the chip's caches and the board's sensor are like, once a file. A board that does not tell
/// is calibrated all the same.
void probe(microbench::Runner& runner, std::ofstream& out) {
  fmt::print(stderr, "cache sizes and sensor\n");
  const auto latencies = runner.measure_latencies();
  if (latencies)
    for (const auto& latency : *latencies) write_line(out, latency);
  else
    fmt::print(stderr, "left out: cache sizes: {}\n", latencies.error().what);
  for (double idle_s : {0.50, 0.57, 0.63, 0.71, 0.76, 0.82}) {  // any phase of the sensor
    const auto step = runner.measure_sensor_step(idle_s);
    if (!step) return fmt::print(stderr, "left out: sensor: {}\n", step.error().what);
    write_line(out, *step);
  }
}

/// Between the thread that measures and the one that listens to signals.
struct Measuring {
  std::atomic<bool> ending{false};      // somebody asked to end
  std::atomic<std::uint64_t> steps{0};  // done: as long as they go on, the driver lives
};

/// An interruption ends the calibration between two points, so that a held clock is given back.
Status run_plans(microbench::Runner& runner, const std::vector<microbench::Plan>& plans,
                 std::ofstream& out, Measuring& measuring) {
  std::size_t number = 0;
  int failures = 0;  // in a row
  for (const auto& plan : plans) {
    ++measuring.steps;
    if (measuring.ending)
      return fail("interrupted", {}, -1, "the same command goes on from the next point");
    ++number;
    if (isatty(STDERR_FILENO))
      fmt::print(stderr, "\r{:4}/{} {:24} {:5} threads {:6} blocks ", number, plans.size(),
                 plan.bench, plan.threads, plan.blocks);
    auto point = runner.measure(plan);
    if (!point) {  // kept on file with its reason, so that the order of the points stays; a GPU
                   // that refuses everything ends it
      const std::string what = fmt::format("{} ({} threads, {} blocks): {}", plan.bench,
                                           plan.threads, plan.blocks, point.error().what);
      if (++failures == 3) return fail(what);
      fmt::print(stderr, "\nleft out: {}\n", what);
      point = microbench::Point{.bench = plan.bench,
                                .threads = plan.threads,
                                .blocks = plan.blocks,
                                .repeat = plan.repeat,
                                .dropped = point.error().what};
    } else {
      failures = 0;
    }
    write_line(out, *point);
  }
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\n");
  return {};
}

Status measure(const MeasureOptions& options, Measuring& measuring) {
  auto runner = microbench::Runner::open(options.device);
  if (!runner) return tl::unexpected(runner.error());
  if (auto status = runner->choose(options.only, options.skip); !status) return status;
  if (options.clock_mhz > 0)
    if (auto status = runner->hold_clock(options.clock_mhz); !status) return status;
  if (options.launch_once) {
    for (unsigned loops : {200u, 400u})
      if (auto status = runner->launch_each_once(
              loops,
              [&](const auto& bench, unsigned threads, unsigned blocks) {
                ++measuring.steps;
                fmt::print("{} {} {} {}\n", bench.id, loops, threads, blocks);
              });
          !status)
        return status;
    return {};
  }
  // Raw points are kept one JSON object a line, so that an interrupted calibration goes on where it
  // stopped.
  auto known = read_energy_points(options.points);
  if (!known) return tl::unexpected(known.error());
  if (!known->board.uuid.empty() && known->board.uuid != runner->gpu_uuid())
    return fail(fmt::format("holds points of board {}, this one is {}", known->board.uuid,
                            runner->gpu_uuid()),
                options.points, -1, "give each board a file of its own");
  std::ofstream out(options.points, std::ios::app);
  if (!out) return fail("cannot be written", options.points);
  if (known->board.gpu.empty() && known->points.empty())
    write_line(out,
               CalibratedBoard{runner->gpu_name(), runner->gpu_uuid(), runner->driver_version(),
                               fmt::format("{:%F}", fmt::gmtime(std::time(nullptr)))});
  const auto asleep = microbench::asleep_plans();
  const std::size_t on_file = known->points.size();
  if (on_file < asleep.size())
    if (auto status = run_plans(*runner, asleep, out, measuring); !status) return status;
  if (auto status = runner->wake(); !status) return status;
  if (known->latencies.empty() && runner->find("l1_load") && runner->find("fma_fp32"))
    probe(*runner, out);
  auto plans = microbench::calibration_plans(
      *runner, {options.repeats, std::max(1, options.repeats - 1), options.seconds}, options.seed);
  // The order of a seed is fixed: what is on file are the first points of it.
  std::size_t done = 0;
  if (on_file > asleep.size()) done = on_file - asleep.size();
  plans.erase(plans.begin(),
              plans.begin() + static_cast<std::ptrdiff_t>(std::min(plans.size(), done)));
  fmt::print(stderr, "{} on {}: {} points, about {:.0f} minutes\n", runner->gpu_name(),
             runner->gpu_uuid(), plans.size(), microbench::expected_seconds(plans) / 60);
  return run_plans(*runner, plans, out, measuring);
}

}  // namespace

Status measure_points(const MeasureOptions& options) {
  constexpr Nanos kLongestStep = 600 * kNsPerSecond;  // a point with its rests, the probes
  constexpr Nanos kLastPoint = 90 * kNsPerSecond;     // which is finished after a signal
  SignalEvents signals({SIGINT, SIGTERM});
  const auto measuring = std::make_shared<Measuring>();
  const auto done = std::make_shared<Status>();
  WatchedThread thread;
  thread.start([options, measuring, done] { *done = measure(options, *measuring); });
  for (std::uint64_t steps = 0;;) {
    const auto end = thread.wait(kLongestStep, signals.descriptor());
    if (end == CallEnd::returned) return std::move(*done);
    if (end == CallEnd::interrupted) break;
    if (measuring->steps == steps) return tl::unexpected(no_answer(kLongestStep, "one point"));
    steps = measuring->steps;
  }
  signals.take();
  measuring->ending = true;
  if (measuring->steps > 0 && thread.wait(kLastPoint, signals.descriptor()) == CallEnd::returned)
    return std::move(*done);
  return fail(
      "interrupted before the driver answered", {}, -1,
      when(options.clock_mhz > 0, "the clock may still be held: nvidia-smi --reset-gpu-clocks"));
}

}  // namespace gf::cli
