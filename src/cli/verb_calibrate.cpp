#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <fstream>
#include <memory>

#include "analyze/energy/counts.h"
#include "analyze/energy/model_file.h"
#include "cli/calibration_text.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "collect/microbench/plan.h"
#include "collect/nvml/open.h"
#include "collect/watched_call.h"
#include "core/read_file.h"
#include "core/signal_events.h"
#include "import/importer.h"
#include "report/json.h"

namespace gf::cli {

namespace {

struct Options {
  int device = 0;
  unsigned clock_mhz = 0;
  std::vector<std::string> only, skip;
  std::string points, counters, output, unseen, system, against;
  bool launch_once = false, fit_only = false, list_counters = false, leave_one_out = false;
  unsigned seed = 1;
  double seconds = 1.2;
  int repeats = 3;
};

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

Status measure(const Options& options, Measuring& measuring) {
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

/// Measures on a thread of its own: a driver that hangs leaves this one free to say so, and to hear
/// signals.
Status measure_watched(const Options& options) {
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

/// Kernels that the fit has not seen: what tests/gpu/energy_unseen.sh leaves under a prefix.
Result<std::vector<UnseenKernel>> judge(const EnergyModel& model, const std::string& prefix) {
  auto runs = read_unseen_runs(prefix + ".jsonl");
  if (!runs) return tl::unexpected(runs.error());
  auto names = read_unseen_names(prefix + "_names.txt");
  if (!names) return tl::unexpected(names.error());
  auto report = import_file(prefix + ".ncu.csv.gz");
  if (!report) return tl::unexpected(report.error());
  return judge_by_unseen(model, *runs, *names, *report);
}

Status fit(const Options& options) {
  auto read = read_energy_points(options.points);
  if (!read) return tl::unexpected(read.error());
  const auto& raw = read->points;
  if (raw.empty()) return fail("holds no calibration points", options.points);
  std::vector<BenchCounts> benches;
  auto in = [](const std::vector<std::string>& names, const std::string& id) {
    return std::find(names.begin(), names.end(), id) != names.end();
  };
  for (const auto& right : microbench::microbenches({90}))
    if ((options.only.empty() || in(options.only, right.id)) && !in(options.skip, right.id))
      benches.push_back({right.id, right.feature, 0, 0, right.per_warp_loop, right.addresses});
  if (!options.counters.empty()) {
    auto report = import_file(options.counters);
    if (!report) return tl::unexpected(report.error());
    if (auto status = take_counters(benches, *report, 200); !status) return status;
  }
  double sms = 0;
  for (const auto& point : raw) sms = std::max(sms, point.active_sms);
  CalibrationFile file;
  file.safety = check_counts(benches);
  std::string system;
  const auto points =
      fit_points(raw, benches, file.safety, static_cast<unsigned>(sms), &file.left_out);
  auto model = fit_energy(points, 400, 1, options.system.empty() ? nullptr : &system);
  if (!model) return fail(model.error().what, options.points);
  if (!options.system.empty())
    if (const auto written = write_answer({"csv", options.system}, system); !written)
      return written;
  file.model = std::move(*model);
  std::tie(file.model.gpu, file.model.uuid, file.model.driver, file.model.date) =
      std::tie(read->board.gpu, read->board.uuid, read->board.driver, read->board.date);
  file.model.dropped = static_cast<int>(file.left_out.size());
  file.curves = level_curves(raw, benches, file.model.context_w);
  file.operands = operand_effects(file.curves);
  file.board = board_facts(*read, benches);
  if (options.leave_one_out) file.leave_one_out = leave_one_out(points);
  if (!options.unseen.empty()) {
    auto judged = judge(file.model, options.unseen);
    if (!judged) return tl::unexpected(judged.error());
    file.unseen = std::move(*judged);
  }
  print_calibration(file);
  if (!options.against.empty()) {
    const auto text = read_small_file(options.against);
    if (!text) return tl::unexpected(text.error());
    const auto other = parse_energy_model(*text, options.against);
    if (!other) return tl::unexpected(other.error());
    print_against(file.model, *other);
  }
  if (options.output.empty()) return {};
  std::string json;
  to_json(json, file);
  return write_answer({"json", options.output}, json + "\n");
}

int calibrate(const Options& options) {
  if (options.list_counters) {
    std::string names;
    for (const auto& name : energy_counter_names()) names += name + "\n";
    const auto written = write_answer({}, names);
    if (written) return kWhole;
    return complain(written.error());
  }
  if (options.points.empty() && !options.launch_once)
    return complain("calibrate needs --points FILE", kWrongUsage);
  Status done = Status{};
  if (!options.fit_only) done = measure_watched(options);
  if (done && !options.launch_once) done = fit(options);
  if (done) return kWhole;
  return complain(done.error());
}

}  // namespace

Verb calibrate_verb() {
  Verb verb{"calibrate", "measure what this GPU's memory levels and compute units cost in joules"};
  const auto options = std::make_shared<Options>();
  verb.option("--device", options->device, "N", "GPU number (default: 0)");
  verb.option("--points", options->points, "FILE",
              "raw points, one JSON object a line; an existing file is continued")
      .input();
  verb.option("--seconds", options->seconds, "S",
              "measured seconds of a point, 0.5 to 60 (default: 1.2)")
      .from(0.5, 60);
  verb.option("--repeats", options->repeats, "N", "runs of a point, 1 to 20 (default: 3)")
      .from(1, 20);
  verb.option("--only", options->only, "NAMES",
              "microbenchmarks to run and fit, by name, comma-separated; without it all")
      .separated_by(',');
  verb.option("--skip", options->skip, "NAMES",
              "microbenchmarks to leave out, by name, comma-separated")
      .separated_by(',');
  verb.option(
          "--clock", options->clock_mhz, "MHZ",
          "hold the SM clock at so many MHz until the end, where that is allowed; without it no "
          "clock is touched")
      .from(1, 10000);
  verb.option("--seed", options->seed, "N", "seed of the order of the runs (default: 1)");
  verb.option("--counters", options->counters, "FILE",
              "Nsight Compute report of --launch-once: counts and safety checks from counters")
      .input();
  verb.option(
      "--unseen", options->unseen, "PREFIX",
      "judge the model by kernels it has not seen: PREFIX of .jsonl, _names.txt and .ncu.csv.gz "
      "(tests/gpu/energy_unseen.sh)");
  verb.flag("--leave-one-out", options->leave_one_out,
            "predict each microbenchmark by a fit without it");
  verb.option("--against", options->against, "FILE",
              "another energy model, to compare coefficients with")
      .input();
  verb.option("--system", options->system, "FILE",
              "write the fit's least-squares system (CSV), to be solved by other programs")
      .output();
  verb.option("-o,--output", options->output, "FILE", "energy model to write (JSON)").output();
  verb.flag("--fit-only", options->fit_only, "no measurement: fit the model to the points on file");
  verb.flag("--launch-once", options->launch_once,
            "only launch every kernel twice, for a counter profiler to look at");
  verb.flag("--list-counters", options->list_counters,
            "print the counters that such a report needs, one a line");
  verb.run = [options] { return calibrate(*options); };
  return verb;
}

}  // namespace gf::cli
