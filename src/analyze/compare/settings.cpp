#include "analyze/compare/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "core/format.h"

namespace gf {

namespace {

/// A profile's steps come from marks or from a period; which marks makes no difference.
std::string kind_of_steps(const ComparedRun& run) {
  if (run.steps == 0) return "none";
  return run.step_source.starts_with("marks:") ? "marks" : run.step_source;
}

std::string text_of(std::optional<std::int64_t> number) {
  if (!number) return {};
  return std::to_string(*number);
}

/// From half as many steps again they tell the noise much better; a few more do not.
bool much_longer(std::size_t most, std::size_t fewest) { return 2 * most > 3 * fewest; }

std::set<std::string> devices_of(const MeasuredVersion& version) {
  std::set<std::string> devices;
  for (const auto& run : version)
    if (!run.device.empty()) devices.insert(run.device);
  return devices;
}

std::string why_devices_decide(const Comparison& comparison,
                               const std::vector<MeasuredVersion>& versions, std::size_t run) {
  constexpr const char* kAdvice =
      "which would decide: record both on the same, or judge the kernels";
  const auto before = devices_of(versions[0]), after = devices_of(versions[run]);
  if (!before.empty() && !after.empty() && before != after)
    return fmt::format("A ran on {}, {} on {}, {}", fmt::join(before, " and "), run_letter(run),
                       fmt::join(after, " and "), kAdvice);
  const auto &first = comparison.runs[0], &other = comparison.runs[run];
  if (first.devices > 0 && other.devices > 0 && first.devices != other.devices)
    return fmt::format("A ran on {}, {} on {}, {}", plural(first.devices, "GPU"), run_letter(run),
                       other.devices, kAdvice);
  return {};
}

/// The profiler of a version; of several, the one that recorded most of the host.
ProfilerFacts profiler_of(const MeasuredVersion& version) {
  const auto extras = [](const MeasuredRun& run) {
    return run.profiler.shapes + run.profiler.memory + run.profiler.stacks;
  };
  return std::ranges::max_element(version, {}, extras)->profiler;
}

/// A profiler slows the host. A difference that is in the way in which that of one side would make
/// it is the profiler's, unless the rule holds without all that the profiler may have taken.
std::string why_profilers_decide(const Comparison& comparison,
                                 const std::vector<MeasuredVersion>& versions, std::size_t run,
                                 const MeasuredRatio& step, const JudgedRule& rule) {
  const auto first = profiler_of(versions[0]), other = profiler_of(versions[run]);
  if (first == other) return {};
  const bool same_format = first.format == other.format;
  const auto more = [&](const ProfilerFacts& here, const ProfilerFacts& there) {
    return !same_format || (here.shapes && !there.shapes) || (here.memory && !there.memory);
  };
  MeasuredRatio own = step;
  const auto left = [&](std::size_t at) {
    const auto& of = comparison.runs[at];
    return of.wall_ns > 0
               ? 1 - static_cast<double>(of.profiler_ns) / static_cast<double>(of.wall_ns)
               : 1;
  };
  bool pushed = false;
  if (step.low > 1 && more(other, first)) {
    pushed = true;
    own.low *= left(run);
    own.pass_low *= left(run);
  }
  if (step.high < 1 && more(first, other) && left(0) > 0) {
    pushed = true;
    own.high /= left(0);
    own.pass_high /= left(0);
  }
  if (!pushed || rule.judge(own) == rule.outcome) return {};
  return fmt::format(
      "the profilers differ (A {}, {} {}), which would decide: record both alike, or judge the "
      "kernels",
      first.text(), run_letter(run), other.text());
}

MeasuredVersion first_steps(const MeasuredVersion& version, std::size_t steps) {
  MeasuredVersion cut = version;
  for (auto& run : cut)
    for (auto* times : {&run.step_ns, &run.kernel_ns})
      if (times->size() > steps) times->resize(steps);
  return cut;
}

/// Refuses where the first steps, the only ones of one side, contradict all steps.
std::string why_lengths_decide(const std::vector<MeasuredVersion>& versions, std::size_t run,
                               const JudgedRule& rule) {
  if (rule.outcome != CheckOutcome::failed && rule.outcome != CheckOutcome::ok) return {};
  std::size_t fewest = SIZE_MAX, most = 0;
  for (const auto* version : {&versions[0], &versions[run]})
    for (const auto& capture : *version) {
      fewest = std::min(fewest, capture.step_ns.size());
      most = std::max(most, capture.step_ns.size());
    }
  if (!much_longer(most, fewest)) return {};
  const auto change =
      measure_change(first_steps(versions[0], fewest), first_steps(versions[run], fewest));
  const auto& measured = rule.by_the_clock ? change.step : change.kernels;
  if (!measured) return {};
  const auto outcome = rule.judge(*measured);
  if (outcome == rule.outcome || outcome == CheckOutcome::undecided) return {};
  return fmt::format(
      "captures have {} to {} steps, and the first {} of each say the opposite: record as many "
      "steps of both",
      fewest, most, fewest);
}

}  // namespace

std::vector<ComparedDifference> find_differences(const Comparison& comparison) {
  const auto [fewest, most] = std::ranges::minmax(comparison.runs, {}, &ComparedRun::steps);
  const bool other_lengths =
      much_longer(static_cast<std::size_t>(most.steps), static_cast<std::size_t>(fewest.steps));
  const std::vector<std::pair<ComparedSetting, std::function<std::string(const ComparedRun&)>>>
      settings{
          {ComparedSetting::device, [](const ComparedRun& run) { return run.device; }},
          {ComparedSetting::device_count,
           [](const ComparedRun& run) { return run.devices > 0 ? text_of(run.devices) : ""; }},
          {ComparedSetting::batch, [](const ComparedRun& run) { return text_of(run.batch); }},
          {ComparedSetting::tokens, [](const ComparedRun& run) { return text_of(run.tokens); }},
          {ComparedSetting::precision, [](const ComparedRun& run) { return run.precision; }},
          {ComparedSetting::profiler, [](const ComparedRun& run) { return run.profiler; }},
          {ComparedSetting::steps, kind_of_steps},
          {ComparedSetting::length,
           [&](const ComparedRun& run) {
             return other_lengths && run.steps > 0 ? text_of(run.steps) : "";
           }},
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

std::string why_sizes_decide(const Comparison& comparison, std::size_t run, bool of_item) {
  for (const auto& likeness : comparison.likeness) {
    if (likeness.run != static_cast<std::int64_t>(run) || comparison.ranks_of_one_job) continue;
    if (likeness.program == ComparedProgram::different)
      return fmt::format("the programs differ: {}", likeness.differs);
    if (likeness.program == ComparedProgram::other_size)
      return fmt::format(
          "the sizes differ: {}: record the same sizes, or give --batch N,M, the items of a step "
          "of each, and judge the item",
          likeness.differs);
  }
  const auto &first = comparison.runs[0], &other = comparison.runs[run];
  if (of_item || comparison.per != "step" || !first.batch || !other.batch ||
      first.batch == other.batch)
    return {};
  return fmt::format(
      "a step of {} has {} items, one of A {}, which would decide: judge the item, or record the "
      "same batch",
      run_letter(run), *other.batch, *first.batch);
}

std::string why_settings_decide(const Comparison& comparison,
                                const std::vector<MeasuredVersion>& versions, std::size_t run,
                                const JudgedRule& rule) {
  if (rule.by_the_clock) {
    if (auto why = why_devices_decide(comparison, versions, run); !why.empty()) return why;
    const auto change = measure_change(versions[0], versions[run]);
    if (change.step)
      if (auto why = why_profilers_decide(comparison, versions, run, *change.step, rule);
          !why.empty())
        return why;
  }
  return why_lengths_decide(versions, run, rule);
}

}  // namespace gf
