// Rules about the capture itself: what its numbers can and cannot say.
#include <fmt/format.h>

#include "analyze/findings/facts.h"
#include "analyze/findings/rules.h"
#include "analyze/kernel_rates/kernel_rates.h"
#include "analyze/utilization/level_formulas.h"

namespace gf::trace_rules {

std::optional<Finding> observer_effect(const Facts& f) {
  // A profiler in the process slows the host, so it lengthens the waits for the host and nothing
  // else.
  if (f.capture().format != "kineto" && f.capture().format != "nsight_systems") return {};
  const auto late = f.idle(IdleReason::launch_bound), other = f.idle(IdleReason::host_other),
             sync = f.idle(IdleReason::sync);
  const Nanos host = late.ns + other.ns;
  if (f.of_window(host) < 0.05) return {};
  Nanos idle = 0, overhead = 0;
  for (const auto& d : f.analysis.devices) idle += d.idle_ns;
  const auto& ops = f.capture().host_ops;
  const Nanos start = f.context.window.start_ns, end = f.context.window.end_ns;
  std::int64_t events = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops.start_ns[i] < start || ops.start_ns[i] >= end) continue;
    ++events;
    if (ops.kind[i] == HostKind::overhead) overhead += ops.duration_ns[i];
  }
  const Nanos length = end > start ? end - start : f.window;
  std::string evidence = fmt::format(
      "idle {} of the window, {} of it while the host was late; {} recorded, {:.0f} a millisecond",
      say_share(f.of_window(idle)), say_time(host), say_count(events, "host operation"),
      static_cast<double>(events) * 1e6 / static_cast<double>(length));
  if (overhead > 0)
    evidence += fmt::format("; the profiler itself reports {} of overhead", say_time(overhead));
  return Finding{
      FindingId::observer_effect,
      fmt::format(
          "The trace says {} idle, but a profiler was on: it slows the host and leaves kernels as "
          "they are. Take idle that waits for the host as an upper "
          "bound, and compare the step time of a run without the profiler before acting on it.",
          say_share(f.of_window(idle))),
      evidence,
      {}};
}

std::optional<Finding> warm_up_in_window(const Facts& f) {
  const auto& steps = f.analysis.window.steps;
  Nanos warm = 0, stable = 0;
  std::int64_t warm_steps = 0, stable_steps = 0;
  for (const auto& s : steps) {
    if (s.stable)
      stable += s.duration_ns, ++stable_steps;
    else if (stable_steps == 0)
      warm += s.duration_ns, ++warm_steps;
  }
  if (warm_steps == 0 || stable_steps == 0) return {};
  const Nanos mean = stable / stable_steps, extra = warm - mean * warm_steps;
  if (extra <= 0 || f.of_window(extra) < 0.02) return {};
  return Finding{
      FindingId::warm_up_in_window,
      fmt::format(
          "The window holds {} before the run was stable; use --window stable to leave {} out.",
          warm_steps == 1 ? "a step from" : fmt::format("{} steps from", warm_steps),
          warm_steps == 1 ? "it" : "them"),
      fmt::format("{} of warm-up where stable steps of the same number would take {}",
                  say_time(warm), say_time(mean * warm_steps)),
      {}};
}

std::optional<Finding> kernel_bound(const Facts& f) {
  if (f.levels.has(KernelLevel::sm_active) || f.of_window(f.kernel_busy) < 0.9) return {};
  std::string types;
  std::size_t said = 0;
  for (const auto& row : f.analysis.layer_types) {
    if (said == 4 || f.of_kernels(row.ns) < 0.01) break;
    types += fmt::format("{}{} {}", said++ ? ", " : "", row.name, say_share(f.of_kernels(row.ns)));
  }
  if (types.empty()) return {};
  return Finding{FindingId::kernel_bound,
                 fmt::format("Kernels run {} of the time, so they are the limit: {}.",
                             say_share(f.of_window(f.kernel_busy)), types),
                 fmt::format("{} of {}; shares are of kernel time", say_time(f.kernel_busy),
                             say_time(f.window)),
                 {}};
}

std::optional<Finding> missing_counters(const Facts& f) {
  if (f.levels.has(KernelLevel::sm_active) || f.kernel_count == 0) return {};
  const Chip* chip = chip_of(f.capture());
  if (!nsight_compute_helps(f.capture())) return {};
  return Finding{FindingId::missing_counters,
                 "Only the first level is known: how deep the running kernels use the SMs, issue "
                 "slots and tensor cores needs hardware counters. Collect them for one step and "
                 "pass the file with --counters.",
                 {},
                 {},
                 ncu_command(chip, f.kernels_of_step())};
}

std::optional<Finding> missing_levels(const Facts& f) {
  if (!f.levels.has(KernelLevel::sm_active) || f.analysis.match.matched == 0)
    return {};  // other findings say it
  const Chip* chip = chip_of(f.capture());
  std::string names;
  for (std::size_t l = 0; l < kRungs; ++l) {
    const auto level = static_cast<KernelLevel>(l);
    if (f.levels.has(level) || (level == KernelLevel::tensor_flops && !chip)) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", id_of(level));
  }
  if (names.empty()) return {};
  if (has_solved_counters(f.capture()))
    return Finding{FindingId::missing_levels,
                   fmt::format("Sampling a running program cannot tell {}. Profile one step with "
                               "Nsight Compute and pass its report with --counters.",
                               names),
                   {},
                   {},
                   ncu_command(chip, f.kernels_of_step())};
  return Finding{FindingId::missing_levels,
                 fmt::format("The report has no counters for {}. Collect them for the same step "
                             "and pass that report with --counters.",
                             names),
                 {},
                 {},
                 ncu_command(chip, f.kernels_of_step())};
}

namespace {

double share_matched(const Facts& f) {
  const auto& match = f.analysis.match;
  if (match.trace_kernels <= 0) return 0;
  return static_cast<double>(match.matched) / static_cast<double>(match.trace_kernels);
}

/// Kernels of a report were matched, and not nearly all of the trace found a partner.
bool matches_weakly(const Facts& f) {
  const auto& match = f.analysis.match;
  if (match.report_kernels == 0) return false;
  return match.verdict == MatchVerdict::different_program || share_matched(f) < 0.95;
}

std::string match_evidence(const Facts& f) {
  const auto& match = f.analysis.match;
  return fmt::format(
      "{} of {} of the trace with a partner in the report ({}), {} ambiguous; {} of the report "
      "left over",
      match.matched, say_count(match.trace_kernels, "kernel"), say_share(share_matched(f)),
      match.ambiguous, match.report_only);
}

}  // namespace

std::optional<Finding> unresolved_kernels(const Facts& f) {
  if (!matches_weakly(f) || !has_solved_counters(f.capture())) return {};
  const auto& metadata = f.capture().metadata;
  std::string how;
  for (std::size_t i = 0; i < metadata.size(); ++i) {
    if (!f.capture().text(metadata.key[i]).starts_with("solved.")) continue;
    if (!how.empty()) how += "; ";
    how += f.capture().text(metadata.value[i]);
  }
  return Finding{FindingId::unresolved_kernels,
                 "Samples do not tell every kernel from its neighbours, so the levels below the "
                 "first are intervals. Record longer, or sample faster: --rate 5000.",
                 how,
                 {}};
}

std::optional<Finding> different_program(const Facts& f) {
  if (!matches_weakly(f) || has_solved_counters(f.capture()) ||
      f.analysis.match.verdict != MatchVerdict::different_program)
    return {};
  return Finding{
      FindingId::different_program,
      "The counter report is of another program or another configuration; its counters are not "
      "used. Profile the same script with the same batch size and precision.",
      match_evidence(f),
      {}};
}

std::optional<Finding> weak_matching(const Facts& f) {
  if (!matches_weakly(f) || has_solved_counters(f.capture()) ||
      f.analysis.match.verdict == MatchVerdict::different_program)
    return {};
  return Finding{FindingId::weak_matching,
                 "Not every kernel has counters, so the levels below the first are intervals. "
                 "Profile one whole step of the same program.",
                 match_evidence(f),
                 {}};
}

}  // namespace gf::trace_rules
