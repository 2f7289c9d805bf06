#include "analyze/compare/verdicts.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "analyze/compare/noise.h"

namespace gf {

namespace {

/// The last `parts` parts of a path.
std::string end_of(const std::string& path, std::size_t parts) {
  std::size_t at = path.size();
  while (parts-- > 0 && at != 0 && at != path.npos) at = path.rfind('/', at - 1);
  if (at == path.npos || at == 0) return path;
  return path.substr(at + 1);
}

/// A profile's steps come from marks or from a period; which marks makes no difference.
std::string kind_of_steps(const ComparedRun& run) {
  if (run.steps == 0) return "none";
  if (run.step_source.starts_with("marks:")) return "marks";
  return run.step_source;
}

std::string text_of(std::optional<std::int64_t> number) {
  if (!number) return {};
  return std::to_string(*number);
}

}  // namespace

void label_runs(std::vector<ComparedRun>& runs) {
  constexpr std::size_t kMostParts = 64;
  std::set<std::string> paths;
  for (const auto& run : runs) paths.insert(run.path);
  for (std::size_t parts = 1; parts <= kMostParts; ++parts) {
    std::set<std::string> labels;
    for (auto& run : runs) labels.insert(run.label = end_of(run.path, parts));
    if (labels.size() == paths.size()) return;
  }
}

bool are_ranks_of_one_job(const std::vector<RunFacts>& facts) {
  std::set<std::int64_t> ranks;
  Interval shared{INT64_MIN, INT64_MAX};
  for (const auto& run : facts) {
    if (!run.rank || !run.world_size || *run.world_size < 2) return false;
    if (run.world_size != facts[0].world_size || !ranks.insert(*run.rank).second) return false;
    shared = {std::max(shared.start, run.extent.start), std::min(shared.end, run.extent.end)};
  }
  // Two jobs of as many ranks ran at different times; hosts' clocks may be a little apart.
  constexpr Nanos kClocks = 10'000'000'000;
  return !facts.empty() && shared.end - shared.start > -kClocks;
}

std::vector<ComparedDifference> find_differences(const Comparison& comparison) {
  const std::vector<std::pair<ComparedSetting, std::function<std::string(const ComparedRun&)>>>
      settings{
          {ComparedSetting::device, [](const ComparedRun& run) { return run.device; }},
          {ComparedSetting::device_count,
           [](const ComparedRun& run) { return run.devices > 0 ? text_of(run.devices) : ""; }},
          {ComparedSetting::batch, [](const ComparedRun& run) { return text_of(run.batch); }},
          {ComparedSetting::precision, [](const ComparedRun& run) { return run.precision; }},
          {ComparedSetting::profiler, [](const ComparedRun& run) { return run.profiler; }},
          {ComparedSetting::steps, kind_of_steps},
          {ComparedSetting::rank, [](const ComparedRun& run) { return text_of(run.rank); }},
      };
  std::vector<ComparedDifference> differences;
  for (const auto& [setting, value_of] : settings) {
    ComparedDifference difference{setting, {}};
    std::set<std::string> known;
    for (const auto& run : comparison.runs) {
      difference.values.push_back(value_of(run));
      if (!difference.values.back().empty()) known.insert(difference.values.back());
    }
    if (known.size() > 1) differences.push_back(std::move(difference));
  }
  return differences;
}

void judge(Comparison& comparison) {
  const ComparedRun& first = comparison.runs[0];
  for (std::size_t at = 0; at < comparison.runs.size(); ++at) {
    ComparedRun& run = comparison.runs[at];
    const bool by_item = first.item_ns && run.item_ns && first.batch != run.batch;
    const double items =
        by_item ? static_cast<double>(*first.batch) / static_cast<double>(*run.batch) : 1.0;
    if (run.wall_ns > 0)
      run.speedup = static_cast<double>(first.wall_ns) / static_cast<double>(run.wall_ns) / items;
    if (comparison.ranks_of_one_job) run.speedup.reset();
    if (at == 0) continue;
    ComparedChange change;
    change.run = static_cast<std::int64_t>(at);
    change.of = by_item ? "item" : comparison.per;
    if (first.wall_ns > 0 && run.wall_ns > 0)
      change.ratio = items * static_cast<double>(run.wall_ns) / static_cast<double>(first.wall_ns);
    if (first.kernel_ns > 0 && run.kernel_ns > 0)
      change.kernel_ratio =
          items * static_cast<double>(run.kernel_ns) / static_cast<double>(first.kernel_ns);
    if (comparison.per == "step") {
      if (const auto interval = bootstrap_ratio(first.step_ns, run.step_ns)) {
        // Of the means by the clock, which the steps' own mean may miss by what lies between them.
        const double share = *change.ratio / (items * interval->ratio);
        change.low = items * interval->low * share;
        change.high = items * interval->high * share;
      }
    }
    if (comparison.ranks_of_one_job) {
      change.verdict = ComparedVerdict::same_job;
    } else if (change.ratio == 1.0) {
      change.verdict = ComparedVerdict::no_difference;
    } else if (change.low && change.high) {
      change.verdict = ComparedVerdict::no_difference;
      if (*change.high < 1) change.verdict = ComparedVerdict::faster;
      if (*change.low > 1) change.verdict = ComparedVerdict::slower;
    }
    comparison.changes.push_back(std::move(change));
  }
}

}  // namespace gf
