#include "analyze/energy/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "analyze/energy/json_fields.h"
#include "analyze/energy/model.h"
#include "analyze/energy/work.h"
#include "core/files.h"

namespace gf {

namespace {

/// Sums of the features over the kernels behind each spinning one.
std::vector<std::map<std::string, double>> stretches(const Capture& report) {
  const auto counters = counters_by_kernel(report);
  std::vector<std::map<std::string, double>> all;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if (report.text(report.report_kernels.name[i]).find("spin_kernel") != std::string_view::npos)
      all.emplace_back();
    else if (!all.empty())
      for (const auto& [feature, count] : energy_counts(counters[i])) all.back()[feature] += count;
  }
  return all;
}

}  // namespace

Result<std::vector<UnseenRun>> read_unseen_runs(const std::string& path) {
  auto content = read_small_file(path);
  if (!content) return tl::unexpected(content.error());
  std::istringstream in(std::move(*content));
  std::vector<UnseenRun> runs;
  JsonReader reader;
  std::string line;
  std::int64_t offset = 0;
  for (; std::getline(in, line); offset += static_cast<std::int64_t>(line.size()) + 1) {
    const auto parsed = reader.parse(line);
    std::string name = std::string();
    if (parsed) name = json_text(*parsed, "name");
    if (name.empty()) return fail("not a line of measurements", path, offset);
    const auto number = [&](const char* key) { return json_number(*parsed, key); };
    UnseenRun run{name,
                  number("seconds"),
                  number("energy_j"),
                  number("calls_per_s"),
                  number("sm_mhz"),
                  number("temperature_c")};
    if (!(run.seconds > 0 && run.energy_j > 0 && run.calls_per_s > 0))
      return fail("a measurement without seconds, joules or rate", path, offset);
    runs.push_back(std::move(run));
  }
  return runs;
}

Result<std::vector<std::pair<std::string, int>>> read_unseen_names(const std::string& path) {
  auto content = read_small_file(path);
  if (!content) return tl::unexpected(content.error());
  std::istringstream in(std::move(*content));
  std::vector<std::pair<std::string, int>> names;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::pair<std::string, int> item;
    if (!(words >> item.first >> item.second) || item.second < 1)
      return fail("not a line \"name calls\": " + line, path);
    names.push_back(std::move(item));
  }
  return names;
}

Result<std::vector<CountedKernel>> count_kernels(
    const std::vector<UnseenRun>& runs, const std::vector<std::pair<std::string, int>>& names,
    const Capture& report) {
  const auto counted = stretches(report);
  if (counted.size() != 2 * names.size())
    return fail(fmt::format("the counter report has {} ranges, not two of each of {} items",
                            counted.size(), names.size()),
                report.path);
  std::vector<CountedKernel> kernels;
  for (const auto& run : runs) {
    const auto at = std::find_if(names.begin(), names.end(),
                                 [&](const auto& name) { return name.first == run.name; });
    if (at == names.end()) continue;
    const auto index = static_cast<std::size_t>(at - names.begin());
    CountedKernel kernel{run, {}};
    for (const auto& [feature, twice] : counted[2 * index + 1]) {
      const auto once = counted[2 * index].find(feature);
      const double rate =
          (twice - (once == counted[2 * index].end() ? 0 : once->second)) / at->second;
      kernel.per_second[feature] = std::max(0.0, rate) * run.calls_per_s;
    }
    kernels.push_back(std::move(kernel));
  }
  if (kernels.empty()) return fail("no kernel was both measured and counted", report.path);
  return kernels;
}

EnergyWork work_of_a_second(const CountedKernel& kernel, const EnergyEvaluator& evaluator) {
  EnergyWork work = evaluator.no_work();
  work[EnergyEvaluator::kStatic] = work[EnergyEvaluator::kActive] = 1;
  work[EnergyEvaluator::kWarmth] = kernel.run.temperature_c - evaluator.model().reference_celsius;
  for (const auto& [feature, rate] : kernel.per_second)
    if (const auto column = evaluator.column(feature); column < work.size()) work[column] = rate;
  evaluator.derive(work, 1);
  return work;
}

std::vector<UnseenKernel> judge_by_unseen(const EnergyModel& model,
                                          const std::vector<CountedKernel>& counted) {
  std::vector<UnseenKernel> kernels;
  for (const auto& one : counted) {
    EnergyEvaluator evaluator(model);
    evaluator.bring_to_clock(one.run.sm_mhz);
    double predicted_w = 0;
    for (double watts : evaluator.by_component(work_of_a_second(one, evaluator)))
      predicted_w += watts;
    UnseenKernel kernel;
    kernel.name = one.run.name;
    kernel.calls_per_s = one.run.calls_per_s;
    kernel.sm_mhz = one.run.sm_mhz;
    kernel.watts = one.run.energy_j / one.run.seconds;
    kernel.measured_j = (kernel.watts - model.static_w) / one.run.calls_per_s;
    kernel.predicted_j = (predicted_w - model.static_w) / one.run.calls_per_s;
    kernel.relative = kernel.predicted_j / kernel.measured_j - 1;
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

double mean_absolute_error(const std::vector<UnseenKernel>& kernels) {
  double sum = 0;
  for (const auto& kernel : kernels) sum += std::abs(kernel.relative);
  if (kernels.empty()) return std::nan("");
  return sum / static_cast<double>(kernels.size());
}

namespace {

using Rates = std::map<std::string, double>;  // feature -> highest rate

Rates highest_rates(const std::vector<EnergyPoint>& points, const std::string& bench) {
  Rates rates;
  for (const auto& point : points)
    if (point.bench == bench)
      for (const auto& [feature, rate] : point.counts)
        if (rate > 0) rates[feature] = std::max(rates[feature], rate / point.seconds);
  return rates;
}

}  // namespace

std::vector<LeftOutBench> leave_one_out(const std::vector<EnergyPoint>& points) {
  constexpr double kEnough = 0.1, kDynamic = 0.05;  // share of a rate; share of energy above static
                                                    // power, below which nothing is judged
  std::set<std::string> benches;
  for (const auto& point : points)
    if (!point.counts.empty()) benches.insert(point.bench);
  std::map<std::string, Rates> rates;
  for (const auto& bench : benches) rates[bench] = highest_rates(points, bench);

  std::vector<LeftOutBench> results;
  for (const auto& left : benches) {
    const bool known = std::all_of(rates[left].begin(), rates[left].end(), [&](const auto& wanted) {
      return std::any_of(benches.begin(), benches.end(), [&](const auto& right) {
        const auto at = rates[right].find(wanted.first);
        return right != left && at != rates[right].end() && at->second >= kEnough * wanted.second;
      });
    });
    if (!known) continue;
    std::vector<EnergyPoint> rest;
    for (const auto& point : points)
      if (point.bench != left) rest.push_back(point);
    const auto model = fit_energy(rest, 0);
    if (!model) continue;
    LeftOutBench result{left, 0, 0};
    for (const auto& point : points) {
      const double measured = point.energy_j - model->static_w * point.seconds;
      if (point.bench != left || measured < kDynamic * point.energy_j) continue;
      EnergyEvaluator evaluator(*model);
      evaluator.bring_to_clock(point.sm_mhz);
      EnergyWork work = evaluator.no_work();
      work[EnergyEvaluator::kActive] = point.active * point.seconds;
      work[EnergyEvaluator::kWarmth] =
          (point.temperature_c - model->reference_celsius) * point.seconds;
      for (const auto& [feature, rate] : point.counts)
        if (const auto column = evaluator.column(feature); column < work.size())
          work[column] = rate;
      double predicted = 0;
      for (double joules : evaluator.by_component(work)) predicted += joules;
      result.relative += predicted / measured - 1;
      ++result.points;
    }
    if (result.points == 0) continue;
    result.relative /= result.points;
    results.push_back(result);
  }
  return results;
}

Result<CalibrationFile> fit_calibration(const EnergyPointsFile& raw,
                                        const std::vector<BenchCounts>& benches,
                                        const CalibrationWanted& wanted) {
  double sms = 0;
  for (const auto& point : raw.points) sms = std::max(sms, point.active_sms);
  CalibrationFile file;
  file.safety = check_counts(benches);
  const auto points =
      fit_points(raw.points, benches, file.safety, static_cast<unsigned>(sms), &file.left_out);
  auto model = fit_energy(points, 400, 1, wanted.system);
  if (!model) return tl::unexpected(model.error());
  file.model = std::move(*model);
  file.model.gpu = raw.board.gpu;
  file.model.uuid = raw.board.uuid;
  file.model.driver = raw.board.driver;
  file.model.date = raw.board.date;
  file.model.dropped = static_cast<int>(file.left_out.size());
  file.curves = level_curves(raw.points, benches, file.model.context_w);
  file.operands = operand_effects(file.curves);
  file.board = board_facts(raw, benches);
  if (wanted.leave_one_out) file.leave_one_out = leave_one_out(points);
  return file;
}

}  // namespace gf
