#include "cli/live/calibrate/calibration.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <fstream>
#include <memory>

#include "analyze/energy/model_file.h"
#include "collect/microbench/plan.h"
#include "collect/nvml/nvml.h"
#include "collect/watched_call.h"
#include "core/signal_events.h"
#include "core/statistics.h"
#include "report/json.h"

namespace gf::cli {

namespace {

template <class T>
void write_line(std::ofstream& out, const T& object) {
  std::string line;
  to_json(line, object);
  out << line << "\n" << std::flush;
}

/// Probes the chip's caches and the board's sensor, once a file. A board that does not tell
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

/// Microbenchmarks that this driver does not take are said and left out: the others are measured.
Status leave_out_refused(microbench::Runner& runner) {
  if (auto status = runner.wake(); !status) return status;
  for (const auto& why : runner.leave_out_refused()) fmt::print(stderr, "left out: {}\n", why);
  if (runner.benches().empty()) return fail("the driver takes no microbenchmark");
  return {};
}

/// The runs that tell this board from the others of its kind.
Status measure_quick(microbench::Runner& runner, const MeasureOptions& options, std::size_t on_file,
                     std::ofstream& out, Measuring& measuring) {
  const auto population = population_of(options.population, runner.gpu_name());
  if (!population) return tl::unexpected(population.error());
  std::vector<microbench::Plan> list;
  for (const auto& run : population->population.quick)
    list.push_back({.bench = run.bench,
                    .threads = static_cast<unsigned>(run.threads),
                    .blocks = static_cast<unsigned>(run.blocks)});
  auto plans = microbench::listed_plans(runner, std::move(list), kQuickSeconds);
  plans.erase(plans.begin(),
              plans.begin() + static_cast<std::ptrdiff_t>(std::min(plans.size(), on_file)));
  if (auto status = runner.wake(); !status) return status;
  fmt::print(stderr, "{} on {}: {} points, about {:.0f} seconds\n", runner.gpu_name(),
             runner.gpu_uuid(), plans.size(), microbench::expected_seconds(plans));
  return run_plans(runner, plans, out, measuring);
}

Status measure(const MeasureOptions& options, Measuring& measuring) {
  auto runner = microbench::Runner::open(options.device);
  if (!runner) return tl::unexpected(runner.error());
  if (auto status = runner->choose(options.only, options.skip); !status) return status;
  if (options.clock_mhz > 0)
    if (auto status = runner->hold_clock(options.clock_mhz); !status) return status;
  if (options.launch_once) {
    if (auto status = leave_out_refused(*runner); !status) return status;
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
  if (options.quick) return measure_quick(*runner, options, known->points.size(), out, measuring);
  const auto asleep = microbench::asleep_plans();
  const std::size_t on_file = known->points.size();
  if (on_file < asleep.size())
    if (auto status = run_plans(*runner, asleep, out, measuring); !status) return status;
  if (auto status = leave_out_refused(*runner); !status) return status;
  if (known->latencies.empty() && runner->find("l1_load") && runner->find("fma_fp32"))
    probe(*runner, out);
  auto plans = microbench::calibration_plans(
      *runner, {options.repeats, std::max(1, options.repeats - 1), options.seconds}, options.seed);
  // The order of a seed is fixed: what is on file are the first points of it.
  std::size_t done = on_file > asleep.size() ? on_file - asleep.size() : 0;
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
      options.clock_mhz > 0 ? "the clock may still be held: nvidia-smi --reset-gpu-clocks" : "");
}

void print_coefficients(const EnergyModel& model) {
  fmt::print("  {:<20} {:>10}  {:>19}  {}\n", "feature", "pJ", "95 % interval", "of one");
  for (const auto& coefficient : model.coefficients) {
    std::string value = "no data", interval, remark = coefficient.note;
    if (coefficient.identified) {
      value = fmt::format("{:.4g}", coefficient.picojoules);
      interval = fmt::format("{:.4g} .. {:.4g}", coefficient.low, coefficient.high);
      remark = coefficient.unit;
    }
    fmt::print("  {:<20} {:>10}  {:>19}  {}\n", coefficient.feature, value, interval, remark);
  }
}

namespace {

void print_model(const EnergyModel& model) {
  fmt::print("{} points, {} left out; mean absolute error of the fit {:.1f} %\n", model.points,
             model.dropped, 100 * model.mean_absolute_error);
  fmt::print(
      "idle: asleep {:.0f} W, context {:.0f} W, sleeping warps {:.0f} W; SM clock {:.0f} to {:.0f} "
      "MHz\n",
      model.asleep_w, model.context_w, model.spin_w, model.sm_mhz_low, model.sm_mhz_high);
  fmt::print(
      "voltage: {:.2f} of its share lost a share of clock below {:.0f} MHz, down to {:.2f}\n\n",
      model.voltage.slope, model.voltage.reference_mhz, model.voltage.floor);
  print_coefficients(model);
}

void print_facts(const BoardFacts& board_facts) {
  for (const auto& cache : board_facts.caches) {
    std::string size;
    if (cache.bytes) size = fmt::format("{:.0f} KiB", *cache.bytes / 1024);
    fmt::print("{:<5} {:>10}  {:6.1f} ns a dependent load\n", cache.level, size, cache.ns);
  }
  if (board_facts.dram_granularity_bytes)
    fmt::print("DRAM reads {:.0f} bytes for a scattered access of 32\n",
               *board_facts.dram_granularity_bytes);
  if (board_facts.sensor)
    fmt::print(
        "power reading: changes every {:.0f} ms, passes half of a step after {:.0f} ms ({:.0f} to "
        "{:.0f}, {} steps)\n",
        1e3 * board_facts.sensor->period_s, 1e3 * board_facts.sensor->delay_s,
        1e3 * board_facts.sensor->delay_low, 1e3 * board_facts.sensor->delay_high,
        board_facts.sensor->steps);
  fmt::print("energy counter over integrated power: {:.4f}, standard deviation of a point {:.4f}\n",
             board_facts.counter_over_power, board_facts.counter_over_power_sd);
  for (const auto& memory : board_facts.memory)
    fmt::print(
        "{}: {:.0f} pJ above idle an access of 32 bytes, {:.0f} pJ by the memory's own power\n",
        memory.bench, memory.board_pj, memory.memory_pj);
  if (!board_facts.divisions.empty()) {
    fmt::print("a division of one thread, added to a chase:");
    for (const auto& division : board_facts.divisions)
      fmt::print("{} {} {:.0f} pJ ({} threads, beside {:.0f} W)",
                 &division == &board_facts.divisions.front() ? "" : ",", division.level,
                 division.picojoules, division.threads, division.offset_w);
    fmt::print("; spread {:.1f} % of the mean\n", 100 * board_facts.division_spread);
  }
}

void print_unseen(const std::vector<UnseenKernel>& kernels) {
  fmt::print("\n{:<26} {:>5} {:>5} {:>11} {:>11} {:>8}\n", "kernel never seen", "W", "MHz",
             "measured mJ", "model mJ", "error");
  for (const auto& kernel : kernels)
    fmt::print("{:<26} {:5.0f} {:5.0f} {:11.5g} {:11.5g} {:+7.1f} %\n", kernel.name, kernel.watts,
               kernel.sm_mhz, 1e3 * kernel.measured_j, 1e3 * kernel.predicted_j,
               100 * kernel.relative);
  fmt::print("{} kernels, dynamic energy: mean absolute error {:.1f} %\n", kernels.size(),
             100 * mean_absolute_error(kernels));
}

void print_left_out(const std::vector<LeftOutBench>& benches) {
  std::vector<double> errors;
  for (const auto& bench : benches) errors.push_back(std::abs(bench.relative));
  fmt::print("\n{:<22} {:>8}   predicted by a fit without it, energy above static power\n",
             "microbenchmark", "error");
  for (const auto& bench : benches)
    fmt::print("{:<22} {:+7.1f} %\n", bench.bench, 100 * bench.relative);
  fmt::print("{} microbenchmarks: median absolute error {:.1f} %\n", benches.size(),
             100 * median(errors));
}

void print_operands(const std::vector<OperandEffect>& effects) {
  fmt::print("\n{:<18} {:<18} {:>10} {:>10}   pJ of one, active power included\n", "operands",
             "of one", "random", "zeros");
  for (const auto& effect : effects)
    fmt::print("{:<18} {:<18} {:10.4g} {:10.4g}\n", effect.bench, effect.feature, effect.random_pj,
               effect.zeros_pj);
}

}  // namespace

void print_calibration(const CalibrationFile& file) {
  print_model(file.model);
  fmt::print("\n");
  print_facts(file.board);
  if (!file.operands.empty()) print_operands(file.operands);
  if (!file.leave_one_out.empty()) print_left_out(file.leave_one_out);
  if (!file.unseen.empty()) print_unseen(file.unseen);
}

void print_against(const EnergyModel& model, const EnergyModel& other) {
  struct Row {
    std::string name;
    double mine, other;
  };
  std::vector<Row> rows{{"static_w", model.static_w, other.static_w}};
  for (const auto& coefficient : model.coefficients)
    if (const auto* theirs = other.find(coefficient.feature);
        theirs && coefficient.identified && theirs->identified)
      rows.push_back({coefficient.feature, coefficient.picojoules, theirs->picojoules});
  std::vector<double> ratios;
  for (const auto& row : rows) ratios.push_back(row.mine / row.other);
  const double common =
      median(ratios);  // the gains of two sensors differ: it multiplies every coefficient
  fmt::print("\n{:<20} {:>10} {:>10} {:>9} {:>9}   {} of {}\n", "coefficient", "this", "other",
             "this is", "by itself", other.uuid, other.date);
  int plain = 0, alone = 0;
  for (const auto& row : rows) {
    const double difference = row.mine / row.other - 1, own = row.mine / row.other / common - 1;
    fmt::print("{:<20} {:10.4g} {:10.4g} {:+7.1f} % {:+7.1f} %\n", row.name, row.mine, row.other,
               100 * difference, 100 * own);
    plain += std::abs(difference) <= 0.05;
    alone += std::abs(own) <= 0.05;
  }
  fmt::print(
      "{} coefficients that both separate: {} within 5 %; {} within 5 % after removing the factor "
      "{:.3f} that they share\n",
      rows.size(), plain, alone, common);
}

}  // namespace gf::cli
