#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "analyze/energy/calibrate.h"
#include "analyze/energy/chip_counters.h"
#include "analyze/energy/model_file.h"
#include "analyze/energy/population.h"
#include "analyze/energy/work.h"
#include "cli/live/calibrate/calibration.h"
#include "cli/live/verbs.h"
#include "cli/output.h"
#include "collect/microbench/plan.h"
#include "core/files.h"
#include "import/importer.h"
#include "report/json.h"

namespace gf::cli {

namespace {

struct CalibrateArguments {
  MeasureOptions measure;
  std::string counters, output, unseen, system, against;
  std::vector<std::string> boards, strangers;
  std::string chip = "GH100";
  bool fit_only = false, list_counters = false, leave_one_out = false;
};

/// The microbenchmarks that take part, with their counters where a report is given.
Result<std::vector<BenchCounts>> benches_of(const CalibrateArguments& options) {
  auto in = [](const std::vector<std::string>& names, const std::string& id) {
    return std::find(names.begin(), names.end(), id) != names.end();
  };
  const auto &only = options.measure.only, &skip = options.measure.skip;
  std::vector<BenchCounts> benches;
  for (const auto& bench : microbench::microbenches({90}))
    if ((only.empty() || in(only, bench.id)) && !in(skip, bench.id))
      benches.push_back({bench.id, bench.feature, 0, 0, bench.per_warp_loop, bench.addresses});
  if (!options.counters.empty()) {
    auto report = import_file(options.counters);
    if (!report) return tl::unexpected(report.error());
    if (auto status = take_counters(benches, *report, 200); !status)
      return tl::unexpected(status.error());
  }
  return benches;
}

Status compare_with(const EnergyModel& model, const std::string& path) {
  const auto text = read_small_file(path);
  if (!text) return tl::unexpected(text.error());
  const auto other = parse_energy_model(*text, path);
  if (!other) return tl::unexpected(other.error());
  print_against(model, *other);
  return {};
}

Status fit(const CalibrateArguments& options) {
  const auto& path = options.measure.points;
  const auto raw = read_energy_points(path);
  if (!raw) return tl::unexpected(raw.error());
  if (raw->points.empty()) return fail("contains no calibration points", path);
  const auto benches = benches_of(options);
  if (!benches) return tl::unexpected(benches.error());
  std::string system;
  CalibrationWanted wanted;
  wanted.leave_one_out = options.leave_one_out;
  if (!options.system.empty()) wanted.system = &system;
  auto file = fit_calibration(*raw, *benches, wanted);
  if (!file) return fail(file.error().what, path);
  if (!options.system.empty())
    if (const auto written = write_answer({"csv", options.system}, system); !written)
      return written;
  if (!options.unseen.empty()) {
    const auto kernels = read_unseen(options.unseen);
    if (!kernels) return tl::unexpected(kernels.error());
    file->unseen = judge_by_unseen(file->model, *kernels);
  }
  print_calibration(*file);
  if (!options.against.empty())
    if (auto compared = compare_with(file->model, options.against); !compared) return compared;
  if (options.output.empty()) return {};
  return write_answer({"json", options.output}, json_line(*file));
}

/// Boards as a population; what tells the levels apart is of the first of them.
Status fit_boards(const CalibrateArguments& options) {
  const auto benches = benches_of(options);
  if (!benches) return tl::unexpected(benches.error());
  std::vector<BoardEvidence> boards;
  for (const auto& prefix : options.boards) {
    auto board = read_board(prefix, boards.empty() ? *benches : boards.front().benches);
    if (!board) return tl::unexpected(board.error());
    boards.push_back(std::move(*board));
  }
  std::vector<BoardEvidence> never;
  for (const auto& prefix : options.strangers) {
    auto board = read_board(prefix, boards.front().benches);
    if (!board) return tl::unexpected(board.error());
    never.push_back(std::move(*board));
  }
  auto model = fit_population(boards);
  if (!model) return tl::unexpected(model.error());
  auto strangers = leave_boards_out(boards, never);
  if (!strangers) return tl::unexpected(strangers.error());
  model->spread.form = form_spread({strangers->data(), boards.size()});
  print_population(*model, *strangers);
  if (options.output.empty()) return {};
  auto file = fit_calibration(boards.front().raw, boards.front().benches, {});
  if (!file) return tl::unexpected(file.error());
  file->model = std::move(*model);
  file->strangers = std::move(*strangers);
  return write_answer({"json", options.output}, json_line(*file));
}

/// The model of this board, from the population and its quick runs.
Status fit_quick(const CalibrateArguments& options) {
  const auto raw = read_points(options.measure.points);
  if (!raw) return tl::unexpected(raw.error());
  const auto population = population_of(options.measure.population, raw->board.gpu);
  if (!population) return tl::unexpected(population.error());
  CalibrationFile file;
  auto model = adapt_to_board(*population, *raw, kQuickSeconds);
  if (!model) return fail(model.error().what, options.measure.points, -1, model.error().advice);
  file.model = std::move(*model);
  StrangerBoard board;
  if (!options.unseen.empty()) {
    const auto kernels = read_unseen(options.unseen);
    if (!kernels) return tl::unexpected(kernels.error());
    board.uuid = file.model.uuid;
    board.kernels = meet(*population, file.model, *kernels);
  }
  print_adapted(file.model, board);
  if (!board.kernels.empty()) file.strangers.push_back(std::move(board));
  if (options.output.empty()) return {};
  return write_answer({"json", options.output}, json_line(file));
}

/// The counters of a chip; on standard error which features merge there.
Status list_counters(const std::string& name) {
  const Chip* chip = find_chip(name);
  if (!chip) return fail("no chip is called " + name, {}, -1, "such as GA100, AD102 or GH100");
  const auto counters = energy_counters_of(chip->id);
  for (const auto& merged : counters.merged)
    fmt::print(stderr, "{}: {}{}\n", merged.feature, merged.why,
               merged.into.empty() ? "" : fmt::format("; it is part of {}", merged.into));
  return write_answer({}, fmt::format("{}\n", fmt::join(counters.names, "\n")));
}

int calibrate(CalibrateArguments& options) {
  if (options.list_counters) {
    const auto written = list_counters(options.chip);
    return written ? kWhole : complain(written.error());
  }
  Status done = Status{};
  if (!options.boards.empty()) {
    done = fit_boards(options);
    return done ? kWhole : complain(done.error());
  }
  TemporaryFile points;
  if (options.measure.points.empty() && options.measure.quick && !options.fit_only) {
    if (done = points.make("points.jsonl"); !done) return complain(done.error());
    options.measure.points = points.path();
  }
  if (options.measure.points.empty() && !options.measure.launch_once)
    return complain("calibrate needs --points FILE", kWrongUsage);
  if (!options.fit_only) done = measure_points(options.measure);
  if (done && !options.measure.launch_once)
    done = options.measure.quick ? fit_quick(options) : fit(options);
  return done ? kWhole : complain(done.error());
}

}  // namespace

Verb calibrate_verb() {
  Verb verb{"calibrate", "measure this GPU's energy per memory access and operation"};
  const auto options = std::make_shared<CalibrateArguments>();
  verb.option(
      "--device", options->measure.device, "GPU",
      "GPU number as in nvidia-smi (regardless of CUDA_VISIBLE_DEVICES) or UUID; default: 0");
  verb.option("--points", options->measure.points, "FILE",
              "raw points, one JSON object per line; an existing file is continued")
      .input();
  verb.option("--seconds", options->measure.seconds, "S",
              "measured seconds of a point, 0.5 to 60 (default: 1.2)")
      .from(0.5, 60);
  verb.option("--repeats", options->measure.repeats, "N", "runs of a point, 1 to 20 (default: 3)")
      .from(1, 20);
  verb.option("--only", options->measure.only, "NAMES",
              "microbenchmarks to run and fit, by name, comma-separated (default: all)")
      .separated_by(',');
  verb.option("--skip", options->measure.skip, "NAMES",
              "microbenchmarks to leave out, by name, comma-separated")
      .separated_by(',');
  verb.option("--clock", options->measure.clock_mhz, "MHZ",
              "lock the SM clock at this many MHz until the end, if permitted (default: clocks are "
              "not changed)")
      .from(1, 10000);
  verb.option("--seed", options->measure.seed, "N", "seed of the order of the runs (default: 1)");
  verb.option("--counters", options->counters, "FILE",
              "Nsight Compute report of --launch-once: counts and safety checks from counters")
      .input();
  verb.option("--unseen", options->unseen, "PREFIX",
              "evaluate the model on kernels unseen by the fit: PREFIX of .jsonl, _names.txt and "
              ".ncu.csv.gz (bench/gpu/energy_unseen.sh)")
      .path();
  verb.flag("--quick", options->measure.quick,
            "take under a minute: run only what distinguishes this board from others of its kind");
  verb.option("--population", options->measure.population, "FILE",
              "with --quick: the boards of its kind, written with --boards (default: the one "
              "shipped for the GPU)")
      .with("--quick")
      .input();
  verb.option("--boards", options->boards, "PREFIXES",
              "fit boards on file as a population, comma-separated: PREFIX of .points.jsonl, "
              ".kernels.ncu.csv.gz and what --unseen reads under PREFIX.unseen")
      .path()
      .separated_by(',');
  verb.option("--strangers", options->strangers, "PREFIXES",
              "with --boards: judge the population by boards that it lacks, comma-separated")
      .path()
      .with("--boards")
      .separated_by(',');
  verb.flag("--leave-one-out", options->leave_one_out,
            "predict each microbenchmark by a fit without it");
  verb.option("--against", options->against, "FILE",
              "another energy model, to compare coefficients with")
      .input();
  verb.option("--system", options->system, "FILE",
              "write the fit's least-squares system (CSV), to be solved by other programs")
      .output();
  verb.option("-o,--output", options->output, "FILE", "energy model to write (JSON)").output();
  verb.flag("--fit-only", options->fit_only, "do not measure; fit the model to the points on file");
  verb.flag("--launch-once", options->measure.launch_once,
            "only launch every kernel twice, for a counter profiler");
  verb.flag("--list-counters", options->list_counters,
            "print the counters that such a report needs, one per line");
  verb.option("--chip", options->chip, "NAME",
              "with --list-counters: chip (GV100, TU102, GA100, GA102, AD102, GH100, GB100, ...; "
              "default: GH100)")
      .suggest(chip_names())
      .with("--list-counters");
  verb.wrong = [options] { return wrong_ending(options->output, {".json"}); };
  verb.run = [options] { return calibrate(*options); };
  return verb;
}

}  // namespace gf::cli
