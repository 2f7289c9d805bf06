#include "analyze/energy/unseen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "analyze/energy/counts.h"
#include "analyze/energy/evaluate.h"
#include "analyze/energy/json_fields.h"

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
      for (const auto& [feature, n] : energy_counts(counters[i])) all.back()[feature] += n;
  }
  return all;
}

}  // namespace

Result<std::vector<UnseenRun>> read_unseen_runs(const std::string& path) {
  std::ifstream in(path);
  if (!in) return fail("cannot be read", path);
  std::vector<UnseenRun> runs;
  JsonReader reader;
  std::string line;
  std::int64_t offset = 0;
  for (; std::getline(in, line); offset += static_cast<std::int64_t>(line.size()) + 1) {
    const auto parsed = reader.parse(line);
    const std::string name = parsed ? json_text(*parsed, "name") : std::string();
    if (name.empty()) return fail("not a line of measurements", path, offset);
    const auto number = [&](const char* key) { return json_number(*parsed, key); };
    UnseenRun r{name,
                number("seconds"),
                number("energy_j"),
                number("calls_per_s"),
                number("sm_mhz"),
                number("temperature_c")};
    if (!(r.seconds > 0 && r.energy_j > 0 && r.calls_per_s > 0))
      return fail("a measurement without seconds, joules or rate", path, offset);
    runs.push_back(std::move(r));
  }
  return runs;
}

Result<std::vector<std::pair<std::string, int>>> read_unseen_names(const std::string& path) {
  std::ifstream in(path);
  if (!in) return fail("cannot be read", path);
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

Result<std::vector<UnseenKernel>> judge_by_unseen(
    const EnergyModel& model, const std::vector<UnseenRun>& runs,
    const std::vector<std::pair<std::string, int>>& names, const Capture& report) {
  const auto counted = stretches(report);
  if (counted.size() != 2 * names.size())
    return fail(fmt::format("the counter report holds {} stretches, not two of each of {} items",
                            counted.size(), names.size()),
                report.path);
  std::vector<UnseenKernel> kernels;
  for (const auto& run : runs) {
    const auto at = std::find_if(names.begin(), names.end(),
                                 [&](const auto& n) { return n.first == run.name; });
    if (at == names.end()) continue;
    const auto i = static_cast<std::size_t>(at - names.begin());
    EnergyEvaluator evaluator(model);
    evaluator.bring_to_clock(run.sm_mhz);
    EnergyWork work = evaluator.no_work();  // of one second
    work[EnergyEvaluator::kStatic] = work[EnergyEvaluator::kActive] = 1;
    work[EnergyEvaluator::kWarmth] = run.temperature_c - model.reference_celsius;
    for (const auto& [feature, twice] : counted[2 * i + 1]) {
      const auto once = counted[2 * i].find(feature);
      const double n = (twice - (once == counted[2 * i].end() ? 0 : once->second)) / at->second;
      if (const auto c = evaluator.column(feature); c < work.size())
        work[c] += std::max(0.0, n) * run.calls_per_s;
    }
    double predicted_w = 0;
    for (double w : evaluator.by_component(work)) predicted_w += w;
    UnseenKernel k;
    k.name = run.name;
    k.calls_per_s = run.calls_per_s, k.sm_mhz = run.sm_mhz;
    k.watts = run.energy_j / run.seconds;
    k.measured_j = (k.watts - model.static_w) / run.calls_per_s;
    k.predicted_j = (predicted_w - model.static_w) / run.calls_per_s;
    k.relative = k.predicted_j / k.measured_j - 1;
    kernels.push_back(std::move(k));
  }
  if (kernels.empty()) return fail("no kernel was both measured and counted", report.path);
  return kernels;
}

double mean_absolute_error(const std::vector<UnseenKernel>& kernels) {
  double sum = 0;
  for (const auto& k : kernels) sum += std::abs(k.relative);
  return kernels.empty() ? std::nan("") : sum / static_cast<double>(kernels.size());
}

}  // namespace gf
