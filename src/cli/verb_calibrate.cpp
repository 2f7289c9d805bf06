#include <CLI/CLI.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <fstream>
#include <memory>

#include "analyze/energy/board_facts.h"
#include "analyze/energy/counts.h"
#include "analyze/energy/unseen.h"
#include "cli/verbs.h"
#include "collect/microbench/plan.h"
#include "import/importer.h"
#include "report/json.h"

namespace gf::cli {

namespace {

struct Options {
  int device = 0;
  unsigned clock_mhz = 0;
  std::string points, counters, output, unseen, system;
  bool launch_once = false, fit_only = false, list_counters = false;
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

/// What the chip's caches and the board's sensor are like, once a file.
Status probe(microbench::Runner& runner, std::ofstream& out) {
  fmt::print(stderr, "cache sizes and sensor\n");
  auto latencies = runner.measure_latencies();
  if (!latencies) return fail("cache sizes: " + latencies.error().what);
  for (const auto& l : *latencies) write_line(out, l);
  for (double idle_s : {0.50, 0.57, 0.63, 0.71, 0.76, 0.82}) {  // any phase of the sensor
    auto step = runner.measure_sensor_step(idle_s);
    if (!step) return fail("sensor: " + step.error().what);
    write_line(out, *step);
  }
  return {};
}

volatile std::sig_atomic_t interrupted = 0;

/// An interruption ends the calibration between two points, so that a held clock is given back.
void end_between_points() {
  for (int s : {SIGINT, SIGTERM}) std::signal(s, [](int) { interrupted = 1; });
}

Status run_plans(microbench::Runner& runner, const std::vector<microbench::Plan>& plans, std::ofstream& out) {
  std::size_t number = 0;
  int failures = 0;  // in a row
  for (const auto& plan : plans) {
    if (interrupted) return fail("interrupted", {}, -1, "the same command goes on from the next point");
    ++number;
    if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r{:4}/{} {:24} {:5} threads {:6} blocks ", number, plans.size(), plan.bench, plan.threads, plan.blocks);
    auto point = runner.measure(plan);
    if (!point) {  // kept on file with its reason, so that the order of the points stays; a GPU that refuses everything ends it
      const std::string what = fmt::format("{} ({} threads, {} blocks): {}", plan.bench, plan.threads, plan.blocks, point.error().what);
      if (++failures == 3) return fail(what);
      fmt::print(stderr, "\nleft out: {}\n", what);
      point = microbench::Point{.bench = plan.bench, .threads = plan.threads, .blocks = plan.blocks, .repeat = plan.repeat, .dropped = point.error().what};
    } else {
      failures = 0;
    }
    write_line(out, *point);
  }
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\n");
  return {};
}

Status measure(const Options& o) {
  end_between_points();
  auto runner = microbench::Runner::open(o.device);
  if (!runner) return tl::unexpected(runner.error());
  if (o.clock_mhz > 0)
    if (auto s = runner->hold_clock(o.clock_mhz); !s) return s;
  if (o.launch_once) {
    for (unsigned loops : {200u, 400u})
      if (auto s = runner->launch_each_once(loops, [&](const auto& b, unsigned threads, unsigned blocks) { fmt::print("{} {} {} {}\n", b.id, loops, threads, blocks); }); !s) return s;
    return {};
  }
  // Raw points are kept one JSON object a line, so that an interrupted calibration goes on where it stopped.
  auto known = read_energy_points(o.points);
  if (!known) return tl::unexpected(known.error());
  if (!known->board.uuid.empty() && known->board.uuid != runner->gpu_uuid())
    return fail(fmt::format("holds points of board {}, this one is {}", known->board.uuid, runner->gpu_uuid()), o.points, -1, "give each board a file of its own");
  std::ofstream out(o.points, std::ios::app);
  if (!out) return fail("cannot be written", o.points);
  if (known->board.gpu.empty() && known->points.empty())
    write_line(out, CalibratedBoard{runner->gpu_name(), runner->gpu_uuid(), runner->driver_version(), fmt::format("{:%F}", fmt::gmtime(std::time(nullptr)))});
  const auto asleep = microbench::asleep_plans();
  const std::size_t on_file = known->points.size();
  if (on_file < asleep.size())
    if (auto s = run_plans(*runner, asleep, out); !s) return s;
  if (auto s = runner->wake(); !s) return s;
  if (known->latencies.empty())
    if (auto s = probe(*runner, out); !s) return s;
  auto plans = microbench::calibration_plans(*runner, {o.repeats, std::max(1, o.repeats - 1), o.seconds}, o.seed);
  // The order of a seed is fixed: what is on file are the first points of it.
  const std::size_t done = on_file > asleep.size() ? on_file - asleep.size() : 0;
  plans.erase(plans.begin(), plans.begin() + static_cast<std::ptrdiff_t>(std::min(plans.size(), done)));
  fmt::print(stderr, "{} on {}: {} points, about {:.0f} minutes\n", runner->gpu_name(), runner->gpu_uuid(), plans.size(), microbench::expected_seconds(plans) / 60);
  return run_plans(*runner, plans, out);
}

/// The file that `energy` reads: the model, with all that speaks for and against it.
struct CalibrationFile {
  EnergyModel model;
  BoardFacts board;
  std::vector<UnseenKernel> unseen;
  std::vector<LevelCurve> curves;
  std::vector<SafetyFinding> safety;
  std::vector<std::string> left_out;
  static constexpr auto fields() {
    using C = CalibrationFile;
    return std::tuple{field("model", &C::model, "the energy model"), field("board", &C::board, "caches and sensor"), field("unseen", &C::unseen, "kernels that the fit has not seen"),
                      field("curves", &C::curves, "one regression a level and shape"),
                      field("safety", &C::safety, "microbenchmarks whose counters deny their claim"), field("left_out", &C::left_out, "points that the fit leaves out, and why")};
  }
};

void print_model(const EnergyModel& m) {
  fmt::print("{} points, {} left out; mean absolute error of the fit {:.1f} %\n", m.points, m.dropped, 100 * m.mean_absolute_error);
  fmt::print("idle: asleep {:.0f} W, context {:.0f} W, sleeping warps {:.0f} W; SM clock {:.0f} to {:.0f} MHz\n", m.asleep_w, m.context_w, m.spin_w, m.sm_mhz_low, m.sm_mhz_high);
  fmt::print("voltage: {:.2f} of its share lost a share of clock below {:.0f} MHz, down to {:.2f}\n\n", m.voltage.slope, m.voltage.reference_mhz, m.voltage.floor);
  fmt::print("  {:<20} {:>10}  {:>19}  {}\n", "feature", "pJ", "95 % interval", "of one");
  for (const auto& c : m.coefficients)
    fmt::print("  {:<20} {:>10}  {:>19}  {}\n", c.feature, c.identified ? fmt::format("{:.4g}", c.picojoules) : "no data", c.identified ? fmt::format("{:.4g} .. {:.4g}", c.low, c.high) : "",
               c.identified ? c.unit : c.note);
}

void print_facts(const BoardFacts& b) {
  for (const auto& c : b.caches) fmt::print("{:<5} {:>10}  {:6.1f} ns a dependent load\n", c.level, c.bytes ? fmt::format("{:.0f} KiB", *c.bytes / 1024) : "", c.ns);
  if (b.dram_granularity_bytes) fmt::print("DRAM reads {:.0f} bytes for a scattered access of 32\n", *b.dram_granularity_bytes);
  if (b.sensor)
    fmt::print("power reading: changes every {:.0f} ms, passes half of a step after {:.0f} ms ({:.0f} to {:.0f}, {} steps)\n", 1e3 * b.sensor->period_s, 1e3 * b.sensor->delay_s,
               1e3 * b.sensor->delay_low, 1e3 * b.sensor->delay_high, b.sensor->steps);
  fmt::print("energy counter over integrated power: {:.4f}, standard deviation of a point {:.4f}\n", b.counter_over_power, b.counter_over_power_sd);
  if (b.memory_dram_pj) fmt::print("the memory's own power: {:.0f} pJ an access of 32 bytes read from DRAM\n", *b.memory_dram_pj);
  if (!b.divisions.empty()) {
    fmt::print("a division of one thread, added to a chase:");
    for (const auto& d : b.divisions) fmt::print(" {} {:.0f} pJ (beside {:.0f} W)", d.level, d.picojoules, d.offset_w);
    fmt::print("; spread {:.1f} % of the mean\n", 100 * b.division_spread);
  }
}

void print_unseen(const std::vector<UnseenKernel>& kernels) {
  fmt::print("\n{:<26} {:>5} {:>5} {:>11} {:>11} {:>8}\n", "kernel never seen", "W", "MHz", "measured mJ", "model mJ", "error");
  for (const auto& k : kernels)
    fmt::print("{:<26} {:5.0f} {:5.0f} {:11.5g} {:11.5g} {:+7.1f} %\n", k.name, k.watts, k.sm_mhz, 1e3 * k.measured_j, 1e3 * k.predicted_j, 100 * k.relative);
  fmt::print("{} kernels, dynamic energy: mean absolute error {:.1f} %\n", kernels.size(), 100 * mean_absolute_error(kernels));
}

Status fit(const Options& o) {
  auto read = read_energy_points(o.points);
  if (!read) return tl::unexpected(read.error());
  const auto& raw = read->points;
  if (raw.empty()) return fail("holds no calibration points", o.points);
  std::vector<BenchCounts> benches;
  for (const auto& b : microbench::microbenches({90})) benches.push_back({b.id, b.feature, 0, 0, b.per_warp_loop, b.addresses});
  if (!o.counters.empty()) {
    auto report = import_file(o.counters);
    if (!report) return tl::unexpected(report.error());
    if (auto s = take_counters(benches, *report, 200); !s) return s;
  }
  double sms = 0;
  for (const auto& p : raw) sms = std::max(sms, p.active_sms);
  CalibrationFile file;
  file.safety = check_counts(benches);
  std::string system;
  auto model = fit_energy(fit_points(raw, benches, file.safety, static_cast<unsigned>(sms), &file.left_out), 400, 1, o.system.empty() ? nullptr : &system);
  if (!model) return fail(model.error().what, o.points);
  if (!o.system.empty())
    if (std::ofstream out(o.system); !(out << system).flush()) return fail("cannot be written", o.system);
  file.model = std::move(*model);
  std::tie(file.model.gpu, file.model.uuid, file.model.driver, file.model.date) = std::tie(read->board.gpu, read->board.uuid, read->board.driver, read->board.date);
  file.model.dropped = static_cast<int>(file.left_out.size());
  file.curves = level_curves(raw, benches, file.model.context_w);
  print_model(file.model);
  file.board = board_facts(*read, benches);
  fmt::print("\n");
  print_facts(file.board);
  if (!o.unseen.empty()) {
    auto runs = read_unseen_runs(o.unseen + ".jsonl");
    if (!runs) return tl::unexpected(runs.error());
    auto names = read_unseen_names(o.unseen + "_names.txt");
    if (!names) return tl::unexpected(names.error());
    auto report = import_file(o.unseen + ".ncu.csv.gz");
    if (!report) return tl::unexpected(report.error());
    auto judged = judge_by_unseen(file.model, *runs, *names, *report);
    if (!judged) return tl::unexpected(judged.error());
    print_unseen(file.unseen = std::move(*judged));
  }
  if (o.output.empty()) return {};
  std::string json;
  to_json(json, file);
  std::ofstream out(o.output);
  out << json << "\n";
  return out.flush() ? Status{} : fail("cannot be written", o.output);
}

}  // namespace

void add_calibrate(CLI::App& app, int& exit_code) {
  auto* verb = app.add_subcommand("calibrate", "measure what this GPU's memory levels and compute units cost in joules");
  auto o = std::make_shared<Options>();
  verb->add_option("--device", o->device, "GPU number");
  verb->add_option("--points", o->points, "raw points, one JSON object a line; an existing file is continued");
  verb->add_option("--seconds", o->seconds, "measured window of a point")->check(CLI::Range(0.5, 60.0));
  verb->add_option("--repeats", o->repeats, "runs of a point")->check(CLI::Range(1, 20));
  verb->add_option("--clock", o->clock_mhz, "hold the SM clock at so many MHz until the end, where that is allowed; without it no clock is touched")->check(CLI::Range(1, 10000));
  verb->add_option("--seed", o->seed, "order of the runs");
  verb->add_option("--counters", o->counters, "Nsight Compute report of --launch-once: counts and safety checks from counters");
  verb->add_option("--unseen", o->unseen, "judge the model by kernels it has not seen: PREFIX of .jsonl, _names.txt and .ncu.csv.gz (tests/gpu/energy_unseen.sh)");
  verb->add_option("--system", o->system, "write the fit's least-squares system (CSV), to be solved by other programs");
  verb->add_option("-o,--output", o->output, "energy model to write (JSON)");
  verb->add_flag("--fit-only", o->fit_only, "no measurement: fit the model to the points on file");
  verb->add_flag("--launch-once", o->launch_once, "only launch every kernel twice, for a counter profiler to look at");
  verb->add_flag("--list-counters", o->list_counters, "print the counters that such a report needs, one a line");
  verb->callback([o, &exit_code] {
    if (o->list_counters) {
      for (const auto& name : energy_counter_names()) fmt::print("{}\n", name);
      return;
    }
    if (o->points.empty() && !o->launch_once) {
      fmt::print(stderr, "gpufathom: calibrate needs --points FILE\n");
      exit_code = 2;
      return;
    }
    Status s = o->fit_only ? Status{} : measure(*o);
    if (s && !o->launch_once) s = fit(*o);
    if (!s) {
      fmt::print(stderr, "gpufathom: {}\n", s.error().message());
      exit_code = 1;
    }
  });
}

}  // namespace gf::cli
