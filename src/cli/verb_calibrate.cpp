#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <memory>

#include "analyze/energy/calibration.h"
#include "cli/verbs.h"
#include "collect/microbench/plan.h"
#include "import/importer.h"
#include "report/json.h"

namespace gf::cli {

namespace {

using microbench::Point;

struct Options {
  int device = 0;
  std::string points, counters, output;
  bool launch_once = false, fit_only = false;
  unsigned seed = 1;
  double seconds = 1.2;
  int repeats = 3;
};

/// Raw points are kept one JSON object a line, so that an interrupted calibration goes on where it stopped.
Result<std::vector<Point>> read_points(const std::string& path) {
  std::vector<Point> points;
  std::ifstream in(path);
  std::string line;
  std::int64_t offset = 0;
  for (; std::getline(in, line); offset += static_cast<std::int64_t>(line.size()) + 1) {
    const auto j = nlohmann::json::parse(line, nullptr, false);
    if (!j.is_object()) return fail("not a line of calibration points", path, offset, "remove the broken line");
    Point p;
    std::apply(
        [&](const auto&... info) {
          auto take = [&](const auto& f) {
            using T = std::remove_reference_t<decltype(p.*(f.member))>;
            const auto at = j.find(f.name);
            if constexpr (std::is_same_v<T, double>) p.*(f.member) = at != j.end() && at->is_number() ? at->template get<double>() : std::nan("");
            else if constexpr (!std::is_same_v<T, std::vector<microbench::Edge>>) { if (at != j.end()) p.*(f.member) = at->template get<T>(); }
          };
          (take(info), ...);
        },
        Point::fields());
    for (const auto& e : j.value("edges", nlohmann::json::array())) p.edges.push_back({e.value("t_s", 0.0), e.value("energy_j", 0.0)});
    points.push_back(std::move(p));
  }
  return points;
}

Status run_plans(microbench::Runner& runner, const std::vector<microbench::Plan>& plans, std::ofstream& out) {
  std::size_t number = 0;
  for (const auto& plan : plans) {
    ++number;
    if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r{:4}/{} {:24} {:5} threads {:6} blocks ", number, plans.size(), plan.bench, plan.threads, plan.blocks);
    auto point = runner.measure(plan);
    if (!point) return fail(fmt::format("{} ({} threads, {} blocks): {}", plan.bench, plan.threads, plan.blocks, point.error().what));
    std::string line;
    to_json(line, *point);
    out << line << "\n" << std::flush;
  }
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\n");
  return {};
}

Status measure(const Options& o) {
  auto runner = microbench::Runner::open(o.device);
  if (!runner) return tl::unexpected(runner.error());
  if (o.launch_once) {
    for (unsigned loops : {200u, 400u})
      if (auto s = runner->launch_each_once(loops, [&](const auto& b, unsigned threads, unsigned blocks) { fmt::print("{} {} {} {}\n", b.id, loops, threads, blocks); }); !s) return s;
    return {};
  }
  auto known = read_points(o.points);
  if (!known) return tl::unexpected(known.error());
  std::ofstream out(o.points, std::ios::app);
  if (!out) return fail("cannot be written", o.points);
  const auto asleep = microbench::asleep_plans();
  if (known->size() < asleep.size())
    if (auto s = run_plans(*runner, asleep, out); !s) return s;
  if (auto s = runner->wake(); !s) return s;
  auto plans = microbench::calibration_plans(*runner, {o.repeats, 2, o.seconds}, o.seed);
  // The order of a seed is fixed: what is on file are the first points of it.
  const std::size_t done = known->size() > asleep.size() ? known->size() - asleep.size() : 0;
  plans.erase(plans.begin(), plans.begin() + static_cast<std::ptrdiff_t>(std::min(plans.size(), done)));
  fmt::print(stderr, "{} on {}: {} points, about {:.0f} minutes\n", runner->gpu_name(), runner->gpu_uuid(), plans.size(), microbench::expected_seconds(plans) / 60);
  return run_plans(*runner, plans, out);
}

/// The file that `energy` reads: the model, with all that speaks for and against it.
struct CalibrationFile {
  EnergyModel model;
  std::vector<LevelCurve> curves;
  std::vector<SafetyFinding> safety;
  std::vector<std::string> left_out;
  static constexpr auto fields() {
    using C = CalibrationFile;
    return std::tuple{field("model", &C::model, "the energy model"), field("curves", &C::curves, "one regression a level and shape"),
                      field("safety", &C::safety, "microbenchmarks whose counters deny their claim"), field("left_out", &C::left_out, "points that the fit leaves out, and why")};
  }
};

void print_model(const EnergyModel& m) {
  fmt::print("{} points, {} left out; mean absolute error of the fit {:.1f} %\n", m.points, m.dropped, 100 * m.mean_absolute_error);
  fmt::print("idle: asleep {:.0f} W, context {:.0f} W, sleeping warps {:.0f} W; SM clock {:.0f} to {:.0f} MHz\n\n", m.asleep_w, m.context_w, m.spin_w, m.sm_mhz_low, m.sm_mhz_high);
  fmt::print("  {:<20} {:>10}  {:>19}  {}\n", "feature", "pJ", "95 % interval", "of one");
  for (const auto& c : m.coefficients)
    fmt::print("  {:<20} {:>10}  {:>19}  {}\n", c.feature, c.identified ? fmt::format("{:.4g}", c.picojoules) : "no data", c.identified ? fmt::format("{:.4g} .. {:.4g}", c.low, c.high) : "",
               c.identified ? c.unit : c.note);
}

Status fit(const Options& o) {
  auto points = read_points(o.points);
  if (!points) return tl::unexpected(points.error());
  if (points->empty()) return fail("holds no calibration points", o.points);
  std::vector<BenchCounts> benches;
  for (const auto& b : microbench::microbenches({90})) benches.push_back({b.id, b.feature, 0, 0, b.per_warp_loop, {}});
  if (!o.counters.empty()) {
    auto report = import_file(o.counters);
    if (!report) return tl::unexpected(report.error());
    if (auto s = take_counters(benches, *report, 200); !s) return s;
  }
  std::vector<RawEnergyPoint> raw;
  double sms = 0;
  for (const auto& p : *points) {
    RawEnergyPoint r{p.bench, p.threads, p.blocks, p.repeat, p.seconds, p.energy_j, p.sm_mhz, p.temperature_c, p.throttled, p.loops_per_s, p.warps, p.active_sms, {}, {}};
    for (const auto& e : p.edges) r.edge_t_s.push_back(e.t_s), r.edge_energy_j.push_back(e.energy_j);
    sms = std::max(sms, p.active_sms);
    raw.push_back(std::move(r));
  }
  CalibrationFile file;
  file.safety = check_counts(benches);
  auto model = fit_energy(fit_points(raw, benches, file.safety, static_cast<unsigned>(sms), &file.left_out));
  if (!model) return fail(model.error().what, o.points);
  file.model = std::move(*model);
  file.model.dropped = static_cast<int>(file.left_out.size());
  file.curves = level_curves(raw, benches, file.model.context_w);
  print_model(file.model);
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
  verb->add_option("--seed", o->seed, "order of the runs");
  verb->add_option("--counters", o->counters, "Nsight Compute report of --launch-once: counts and safety checks from counters");
  verb->add_option("-o,--output", o->output, "energy model to write (JSON)");
  verb->add_flag("--fit-only", o->fit_only, "no measurement: fit the model to the points on file");
  verb->add_flag("--launch-once", o->launch_once, "only launch every kernel twice, for a counter profiler to look at");
  verb->callback([o, &exit_code] {
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
