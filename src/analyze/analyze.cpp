#include "analyze/analyze.h"

#include <functional>
#include <future>
#include <optional>
#include <utility>

#include "analyze/attribution/attribution.h"
#include "analyze/describe_source.h"
#include "analyze/device_use.h"
#include "analyze/energy/attribute.h"
#include "analyze/findings/findings.h"
#include "analyze/host_threads.h"
#include "analyze/idle/idle.h"
#include "analyze/idle/shorten.h"
#include "analyze/launches.h"
#include "analyze/layers/layers.h"
#include "analyze/match/match.h"
#include "analyze/runtime/runtime.h"
#include "analyze/sampled/sampled.h"
#include "analyze/steps/steps.h"
#include "analyze/timeline.h"
#include "analyze/utilization/use.h"
#include "analyze/window.h"
#include "analyze/work/work.h"
#include "model/counter_values.h"

namespace gf {

// What needs nothing of each other runs at the same time; on two cores the order of the starts
// below keeps both busy.
Result<Analysis> analyze(const Capture& capture, const AnalyzeOptions& options,
                         std::optional<Context>* shared) {
  if (holds_only_samples(capture)) {
    if (shared) shared->emplace(Context{capture, options});
    auto sampled = analyze_samples(capture, options);
    if (!sampled) return tl::unexpected(sampled.error());
    sampled->analysis.findings = find_in_samples(capture, sampled->analysis, sampled->settled);
    return std::move(sampled->analysis);
  }
  Context context{capture, options};
  auto launches = std::async(std::launch::async, join_launches, std::cref(capture));
  context.host = HostThreads(capture);
  context.roles = NameRoles(capture);
  context.attribution.launch = launches.get();
  RuleLookup rules(capture);
  const std::shared_future<RuntimeTrace> trace =
      std::async(std::launch::async, [&] { return trace_runtime(context, rules); });
  const Steps steps = find_steps(capture, context.attribution.launch, context.host);
  auto window = choose_window(capture, options.window, steps);
  if (!window) return tl::unexpected(window.error());
  context.window = std::move(*window);
  auto host_side = std::async(std::launch::async,
                              [&] { attribute(capture, context.host, context.attribution); });
  context.devices = build_timelines(capture, context.window);
  Analysis analysis;
  describe_source(capture, analysis);
  analysis.window = context.window;
  measure_devices(context, analysis);
  // From here on every part fills its own section of the answer.
  auto runtime = std::async(std::launch::async,
                            [&] { analyze_runtime(context, rules, trace.get(), analysis); });
  host_side.get();
  std::optional<KernelLevels> levels;
  auto tables = std::async(std::launch::async, [&] {
    classify_layers(capture, context.attribution);
    context.matching = match_kernels(capture, context.devices);
    levels.emplace(capture, context.matching);
    measure_layers(context, *levels, analysis);
  });
  explain_idle(context, analysis);
  explain_idle_origins(context, trace.get(), analysis);
  tables.get();
  analysis.match = context.matching.info;
  measure_levels(context, *levels, analysis);
  analysis.energy = measure_energy(context, options.energy_model);
  if (holds_counter_values(capture)) {
    // Kernels were recorded in short windows of a long run: samples show all of it.
    const bool part = context.window.kind == WindowKind::recording_window;
    analysis.samples = samples_over_time(
        capture, part ? kAllTime : Interval{context.window.start_ns, context.window.end_ns});
  }
  // Findings ask for counters where there are none: the model comes after them.
  analysis.findings = find_in_trace(context, *levels, analysis);
  fill_rung_by_model(context, analysis);
  shorten_idle_names(analysis, options.max_rows);
  runtime.get();
  if (shared) shared->emplace(std::move(context));
  return analysis;
}

}  // namespace gf
