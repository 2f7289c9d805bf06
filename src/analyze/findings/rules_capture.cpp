// Rules about the capture itself: what its numbers can and cannot say.
#include <fmt/format.h>

#include "analyze/findings/facts.h"
#include "analyze/kernel_rates/kernel_rates.h"
#include "analyze/utilization/level_formulas.h"

namespace gf {

std::optional<Finding> observer_effect(const Facts& f) {
  // A profiler in the process slows the host, so it lengthens the waits for the host and nothing
  // else.
  if (f.capture().format != "kineto" && f.capture().format != "nsight_systems") return {};
  const auto late = f.idle("launch_bound"), other = f.idle("host_other"), sync = f.idle("sync");
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
      "observer_effect",
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
      "warm_up_in_window",
      fmt::format(
          "The window holds {} before the run was stable; use --window stable to leave {} out.",
          warm_steps == 1 ? "a step from" : fmt::format("{} steps from", warm_steps),
          warm_steps == 1 ? "it" : "them"),
      fmt::format("{} of warm-up where stable steps of the same number would take {}",
                  say_time(warm), say_time(mean * warm_steps)),
      {}};
}

std::optional<Finding> missing_counters(const Facts& f) {
  if (f.levels.has(KernelLevel::sm_active) || f.kernel_count == 0) return {};
  const Chip* chip = chip_of(f.capture());
  if (!nsight_compute_helps(f.capture())) return {};
  return Finding{"missing_counters",
                 "Only the first level is known: how deep the running kernels use the SMs, issue "
                 "slots and tensor cores needs hardware counters. Collect them for one step and "
                 "pass the file with --counters.",
                 fmt::format("{}", ncu_command(chip)),
                 {}};
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
    return Finding{"missing_levels",
                   fmt::format("Sampling a running program cannot tell {}. Profile one step with "
                               "Nsight Compute and pass its report with --counters.",
                               names),
                   ncu_command(chip),
                   {}};
  return Finding{"missing_levels",
                 fmt::format("The report has no counters for {}. Collect them for the same step "
                             "and pass that report with --counters.",
                             names),
                 ncu_command(chip),
                 {}};
}

std::optional<Finding> weak_matching(const Facts& f) {
  const auto& m = f.analysis.match;
  if (m.report_kernels == 0) return {};
  const double paired = m.trace_kernels > 0
                            ? static_cast<double>(m.matched) / static_cast<double>(m.trace_kernels)
                            : 0;
  if (m.verdict != "different_program" && paired >= 0.95) return {};
  if (has_solved_counters(f.capture())) {
    std::string how;
    for (std::size_t i = 0; i < f.capture().metadata.size(); ++i)
      if (f.capture().text(f.capture().metadata.key[i]).starts_with("solved."))
        how += (how.empty() ? "" : "; ") +
               std::string(f.capture().text(f.capture().metadata.value[i]));
    return Finding{"unresolved_kernels",
                   "Samples do not tell every kernel from its neighbours, so the levels below the "
                   "first are intervals. Record longer, or sample faster: --rate 5000.",
                   how,
                   {}};
  }
  const std::string evidence = fmt::format(
      "{} of {} of the trace with a partner in the report ({}), {} ambiguous; {} of the report "
      "left over",
      m.matched, say_count(m.trace_kernels, "kernel"), say_share(paired), m.ambiguous,
      m.report_only);
  if (m.verdict == "different_program")
    return Finding{
        "different_program",
        "The counter report is of another program or another configuration; its counters are not "
        "used. Profile the same script with the same batch size and precision.",
        evidence,
        {}};
  return Finding{"weak_matching",
                 "Not every kernel has counters, so the levels below the first are intervals. "
                 "Profile one whole step of the same program.",
                 evidence,
                 {}};
}

}  // namespace gf
