// Rules about the capture itself: what its numbers can and cannot say.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyze/device_use.h"
#include "analyze/findings/facts.h"
#include "analyze/findings/rules.h"
#include "analyze/kernel_rates/kernel_rates.h"
#include "analyze/utilization/kernel_levels.h"
#include "analyze/utilization/waterfall.h"
#include "core/statistics.h"
#include "core/text.h"
#include "model/formats.h"
#include "model/ledger/laws.h"
#include "model/quality.h"
#include "model/vendor.h"

namespace gf::trace_rules {

std::optional<Said> observer_effect(const Facts& facts) {
  // A profiler in the process slows the host, so it lengthens the waits for the host and nothing
  // else.
  if (!says(facts.capture().format, kSlowsHost)) return {};
  const auto late = facts.idle(IdleReason::launch_bound),
             other = facts.idle(IdleReason::host_other);
  const Nanos host = late.ns + other.ns, cost = profiler_cost(facts.analysis);
  if (facts.of_window(std::min(host, cost)) < 0.05) return {};
  Nanos idle = 0, overhead = 0;
  for (const auto& device : facts.analysis.devices) idle += device.idle_ns;
  const auto& ops = facts.capture().host_ops;
  const Nanos start = facts.context.window.start_ns, end = facts.context.window.end_ns;
  std::int64_t events = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (const Nanos own = ops.start_ns[i]; own < start || own >= end) continue;
    ++events;
    if (ops.kind[i] == HostKind::overhead) overhead += ops.duration_ns[i];
  }
  const Nanos length = end > start ? end - start : facts.window;
  std::string evidence = fmt::format(
      "idle {} of the window, {} of it while the host was late; {} recorded, {:.0f} per "
      "millisecond",
      say_share(facts.of_window(idle)), say_time(host), plural(events, "host operation"),
      static_cast<double>(events) * 1e6 / static_cast<double>(length));
  if (overhead > 0)
    evidence += fmt::format("; the profiler itself reports {} of overhead", say_time(overhead));
  return Said{
      fmt::format(
          "The trace shows {} idle, but a profiler was active, which slows the host and not the "
          "kernels. It may have taken up to {} of the time. Compare with the step time of a run "
          "without the profiler before acting on time that waits for the host.",
          say_share(facts.of_window(idle)), say_share(facts.of_window(cost))),
      evidence};
}

namespace {

/// One activity whose own time is the window: it is busy all of it, whatever it does.
std::optional<Said> one_activity(const Facts& facts) {
  const auto& devices = facts.analysis.devices;
  if (facts.knows_sm_active() || !facts.capture().report_kernels.empty() ||
      !is_one_activity_each(devices))
    return {};
  return Said{
      fmt::format("The capture has only {} on {}, which is too little to tell what "
                  "limits the program. Record several steps.",
                  devices.front().kernels == 1 ? "one kernel" : "one copy or set",
                  devices.size() == 1 ? "the GPU" : "each GPU")};
}

}  // namespace

std::optional<Said> little_work(const Facts& facts) {
  if (auto one = one_activity(facts)) return one;
  constexpr Nanos kShort = 10'000'000;
  if (facts.window < kShort || !facts.analysis.window.steps.empty()) return {};
  Nanos busy = 0;
  for (const auto& line : facts.context.devices) busy += total(line.busy);
  if (busy == 0 || facts.of_window(busy) >= 0.002) return {};
  return Said{
      fmt::format("The GPU works for {} of {}, and no steps are known: the capture shows start-up, "
                  "loading or pauses, and gives no basis for recommendations. Record while steps "
                  "run, or analyze the part in which they do (--window START:END).",
                  say_time(busy), say_time(facts.window)),
      fmt::format("{} run", plural(facts.kernel_count, "kernel"))};
}

std::optional<Said> launches_not_captured(const Facts& facts) {
  const auto idle = facts.idle(IdleReason::no_launch_record);
  if (facts.of_window(idle.ns) < 0.1) return {};
  std::int64_t without = 0, late = 0;  // late: in the second half, long after the capture began
  for (const auto& line : facts.context.devices)
    for (const auto row : line.rows) {
      if (facts.context.launches[row] != kNoRow) continue;
      ++without;
      late +=
          facts.capture().activities.start_ns[row] > line.window.start + line.window.length() / 2;
    }
  return Said{
      fmt::format("The capture lacks the launches of {} of the GPU's activities. The GPU idles {} "
                  "of the time before them, for unknown reasons.{}",
                  without, say_share(facts.of_window(idle.ns)),
                  late * 4 > without
                      ? " They are missing throughout, so this may be a sample of the events of a "
                        "run: its times and shares are not the run's."
                      : ""),
      fmt::format("idle {} in {}", say_time(idle.ns), plural(idle.gaps, "gap"))};
}

std::optional<Said> unexplained_idle(const Facts& facts) {
  const auto idle = facts.idle(IdleReason::unexplained);
  if (facts.of_window(idle.ns) < 0.2) return {};
  std::vector<double> gaps;
  for (const auto& piece : facts.idle_pieces(IdleReason::unexplained))
    gaps.push_back(static_cast<double>(piece.span().length()));
  if (gaps.empty()) return {};
  return Said{
      fmt::format("For {} of the time the GPU idles although its next work is launched and waits "
                  "for nothing in the capture. Another process may be using the GPU (nvidia-smi "
                  "lists them), or the stream waits for an event that was not recorded.",
                  say_share(facts.of_window(idle.ns))),
      fmt::format("idle {} in {}, the middle one {}", say_time(idle.ns), plural(gaps.size(), "gap"),
                  say_time(static_cast<Nanos>(median(gaps))))};
}

std::optional<Said> advice_withheld(const Facts& facts) {
  std::string why;
  for (const auto& quality : facts.analysis.quality)
    if (breaks_a_law(quality.code) || quality.code == name_of(QualityCode::dropped_kernels))
      why += fmt::format("{}{} x {}", why.empty() ? "" : "; ", quality.count, quality.code);
  if (why.empty()) return {};
  return Said{
      "Recommendations are withheld: the kernel records of this capture are inconsistent (see data "
      "quality), so its busy and idle times are not those of the program. Record it again.",
      why};
}

namespace {

/// Finds the first steps that take several times the median where no steps are alike.
std::optional<Said> long_first_steps(const Facts& facts) {
  constexpr double kTimes = 5;
  const auto& steps = facts.analysis.window.steps;
  if (steps.size() < 3) return {};
  std::vector<double> durations;
  for (const auto& step : steps) durations.push_back(static_cast<double>(step.duration_ns));
  const double middle = median(durations);
  Nanos warm = 0;
  std::size_t count = 0;
  while (count < steps.size() && durations[count] > kTimes * middle)
    warm += steps[count++].duration_ns;
  if (count == 0 || facts.of_window(warm) < 0.1) return {};
  return Said{
      fmt::format("The window begins with warm-up: {} {} of it. Look at a later step by itself "
                  "(--window step:{}).",
                  count == 1 ? "the first step takes" : fmt::format("{} steps take", count),
                  say_share(facts.of_window(warm)), steps[(count + steps.size()) / 2].index),
      fmt::format("{} of warm-up; the middle step takes {}", say_time(warm),
                  say_time(static_cast<Nanos>(middle)))};
}

}  // namespace

std::optional<Said> warm_up_in_window(const Facts& facts) {
  const auto& steps = facts.analysis.window.steps;
  Nanos warm = 0, stable = 0;
  std::int64_t warm_steps = 0, stable_steps = 0;
  for (const auto& step : steps) {
    if (step.stable) {
      stable += step.duration_ns;
      ++stable_steps;
    } else if (stable_steps == 0) {
      warm += step.duration_ns;
      ++warm_steps;
    }
  }
  if (stable_steps == 0) return long_first_steps(facts);
  if (warm_steps == 0) return {};
  const Nanos mean = stable / stable_steps;
  const Nanos extra = warm - mean * warm_steps;
  if (extra <= 0 || facts.of_window(extra) < 0.02) return {};
  return Said{
      fmt::format(
          "The window contains {} before the run was stable; use --window stable to exclude {}.",
          warm_steps == 1 ? "a step from" : fmt::format("{} steps from", warm_steps),
          warm_steps == 1 ? "it" : "them"),
      fmt::format("{} of warm-up; as many stable steps would take {}", say_time(warm),
                  say_time(mean * warm_steps))};
}

std::optional<Said> unrecorded_work(const Facts& facts) {
  Nanos missing = 0;
  for (const auto& device : facts.analysis.devices) missing += device.unrecorded_ns;
  if (missing <= 0) return {};
  std::string evidence;
  bool switches = true;  // and nothing else
  for (const auto& note : facts.analysis.quality) {
    const bool turns = note.code == name_of(QualityCode::contexts_take_turns);
    if (!turns && note.code != name_of(QualityCode::work_not_recorded) &&
        note.code != name_of(QualityCode::work_of_others))
      continue;
    switches &= turns;
    evidence += (evidence.empty() ? "" : "; ") + note.detail;
  }
  return Said{
      fmt::format("For {} of the time the GPU {}. The gaps between the recorded kernels are not "
                  "idle time, so no recommendation is based on them.{}",
                  say_share(facts.of_window(missing)),
                  switches ? "switched between contexts that take turns on it"
                           : "ran work that was not recorded",
                  switches ? " MPS runs processes side by side; a process needs one context." : ""),
      evidence};
}

namespace {

bool runs_kernels_throughout(const Facts& facts) {
  return !facts.knows_sm_active() && facts.of_window(facts.kernel_busy) >= 0.9;
}

}  // namespace

std::optional<Said> kernel_bound(const Facts& facts) {
  if (!runs_kernels_throughout(facts)) return {};
  const auto kernel_types = kernel_types_without_counters(facts.analysis);
  std::string types;
  std::size_t said = 0;
  for (const auto& type : kernel_types) {
    if (said == 4 || facts.of_window(type.ns) < 0.01) break;
    types +=
        fmt::format("{}{} {}", said++ ? ", " : "", type.name, say_share(facts.of_window(type.ns)));
  }
  if (types.empty()) return {};
  const auto place = largest_untold(facts);
  return Said{fmt::format("Kernel-bound: kernels run {} of the time. {}.{}{}",
                          say_share(facts.of_window(facts.kernel_busy)), types,
                          place.empty() ? "" : " ", place),
              fmt::format("{} of {}; shares are of that window", say_time(facts.kernel_busy),
                          say_time(facts.window))};
}

namespace {

/// A report has some level of kernels, though perhaps none of those above it.
bool has_a_rung(const Facts& facts) {
  for (std::size_t rung = 0; rung < kRungs; ++rung)
    if (facts.levels.has(static_cast<KernelLevel>(rung))) return true;
  return false;
}

}  // namespace

std::optional<Said> missing_counters(const Facts& facts) {
  if (facts.knows_sm_active() || has_a_rung(facts) || facts.kernel_count == 0) return {};
  const Chip* chip = facts.levels.chip();
  if (const auto inside = terms_of(vendor_of(facts.capture())).inside; !inside.empty())
    return Said{
        "The trace shows GPU active only. rocprof-compute measures utilization inside "
        "kernels; gpufathom reads the counters of its reports (pmc_perf.csv) but "
        "computes no levels from them.",
        {},
        {},
        std::string(inside)};
  if (!nsight_compute_helps(facts.capture())) return {};
  // Where kernels are all that runs, kernel_bound says which.
  auto text = runs_kernels_throughout(facts) ? std::string() : largest_untold(facts);
  if (!text.empty()) text += ' ';
  return Said{
      text +
          "The trace shows GPU active only. Utilization of SMs, issue slots and tensor cores needs "
          "hardware counters: collect them for one step and pass the file with --counters.",
      {},
      {},
      ncu_command(chip, facts.kernels_of_step())};
}

std::optional<Said> missing_levels(const Facts& facts) {
  if (!has_a_rung(facts) || facts.analysis.match.matched == 0) return {};  // other findings say it
  const Chip* chip = facts.levels.chip();
  std::string names;
  for (std::size_t rung = 0; rung < kRungs; ++rung) {
    const auto level = static_cast<KernelLevel>(rung);
    if (facts.levels.has(level) || (level == KernelLevel::tensor_flops && !chip)) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", id_of(level));
  }
  if (names.empty()) return {};
  if (has_solved_counters(facts.capture()))
    return Said{fmt::format("PM sampling cannot measure {}. Profile one step with Nsight "
                            "Compute and pass its report with --counters.",
                            names),
                {},
                {},
                ncu_command(chip, facts.kernels_of_step())};
  return Said{fmt::format("The report has no counters for {}. Collect them for the same step "
                          "and pass that report with --counters.",
                          names),
              {},
              {},
              ncu_command(chip, facts.kernels_of_step())};
}

namespace {

double share_matched(const Facts& facts) {
  const auto& match = facts.analysis.match;
  if (match.trace_kernels <= 0) return 0;
  return static_cast<double>(match.matched) / static_cast<double>(match.trace_kernels);
}

/// Kernels of a report were matched, and not nearly all of the trace found a partner.
bool matches_weakly(const Facts& facts) {
  const auto& match = facts.analysis.match;
  if (match.report_kernels == 0) return false;
  return match.verdict == MatchVerdict::different_program || share_matched(facts) < 0.95;
}

/// True if a level that some kernels have leaves 5 % and more of kernel time open.
bool leaves_kernels_open(const Facts& facts) {
  for (const auto level :
       {KernelLevel::sm_active, KernelLevel::issue_active, KernelLevel::tensor_active}) {
    Nanos open = 0;
    for (const auto& kernel : facts.kernels)
      if (std::isnan(facts.levels.of(kernel.activity, level))) open += kernel.exclusive_ns;
    if (open * 20 > facts.kernel_busy) return true;
  }
  return false;
}

std::string match_evidence(const Facts& facts) {
  const auto& match = facts.analysis.match;
  return fmt::format(
      "{} of {} of the trace matched to the report ({}), {} ambiguous; {} of the report unmatched",
      match.matched, plural(match.trace_kernels, "kernel"), say_share(share_matched(facts)),
      match.ambiguous, match.report_only);
}

}  // namespace

std::optional<Said> unresolved_kernels(const Facts& facts) {
  if (!has_solved_counters(facts.capture()) || !leaves_kernels_open(facts)) return {};
  const auto& metadata = facts.capture().metadata;
  std::string how;
  for (std::size_t i = 0; i < metadata.size(); ++i) {
    if (!facts.capture().text(metadata.key[i]).starts_with("solved.")) continue;
    if (!how.empty()) how += "; ";
    how += facts.capture().text(metadata.value[i]);
  }
  return Said{
      "Samples cannot separate every kernel from its neighbors: the levels of the whole GPU are "
      "known, those of some kernels are not. Record for longer, or sample faster: --rate 5000.",
      how};
}

std::optional<Said> different_program(const Facts& facts) {
  if (!matches_weakly(facts) || has_solved_counters(facts.capture()) ||
      facts.analysis.match.verdict != MatchVerdict::different_program)
    return {};
  return Said{
      "The counter report belongs to another program or configuration; its counters are "
      "not used. Profile the same script with the same batch size and precision.",
      match_evidence(facts)};
}

std::optional<Said> weak_matching(const Facts& facts) {
  if (!matches_weakly(facts) || has_solved_counters(facts.capture()) ||
      facts.analysis.match.verdict == MatchVerdict::different_program)
    return {};
  return Said{
      "Some kernels have no counters, so the levels below the first are intervals. "
      "Profile one complete step of the same program.",
      match_evidence(facts)};
}

}  // namespace gf::trace_rules
