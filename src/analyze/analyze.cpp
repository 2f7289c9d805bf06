#include "analyze/analyze.h"

#include <algorithm>
#include <functional>
#include <future>
#include <optional>
#include <utility>

#include "analyze/attribution/attribution.h"
#include "analyze/chosen_devices.h"
#include "analyze/context.h"
#include "analyze/device_use.h"
#include "analyze/energy/attribute.h"
#include "analyze/findings/findings.h"
#include "analyze/host_threads.h"
#include "analyze/idle/idle.h"
#include "analyze/kernels/launch_groups.h"
#include "analyze/layers/layers.h"
#include "analyze/match/match.h"
#include "analyze/profiler_cost.h"
#include "analyze/runtime/queues.h"
#include "analyze/runtime/runtime.h"
#include "analyze/sampled/sampled.h"
#include "analyze/serving/serving.h"
#include "analyze/steps/steps.h"
#include "analyze/tenants/tenants.h"
#include "analyze/timeline.h"
#include "analyze/utilization/levels.h"
#include "analyze/utilization/sm_fill.h"
#include "analyze/utilization/waterfall.h"
#include "analyze/window.h"
#include "analyze/work/work.h"
#include "model/counter_values.h"
#include "model/launches.h"

namespace gf {

namespace {

Result<Analysis> analyze_samples_alone(const Capture& capture, const AnalyzeOptions& options,
                                       std::optional<Context>* shared) {
  if (shared) shared->emplace(Context{capture, options});
  auto sampled = analyze_samples(capture, options);
  if (!sampled) return tl::unexpected(sampled.error());
  sampled->analysis.tenants = name_tenants(capture);
  sampled->analysis.findings = find_in_samples(capture, sampled->analysis, sampled->settled);
  return std::move(sampled->analysis);
}

struct DescribedKernels {
  KernelLevels levels;
  KernelSections sections;
};

/// Layers, counters and works, which join the context, and what is said of kernels by them.
DescribedKernels describe_kernels(Context& context) {
  context.attribution.layer = classify_layers(context.capture, context.names, context.attribution);
  auto groups = std::async(context.options.findings ? std::launch::async : std::launch::deferred,
                           launch_groups_of, std::cref(context));
  context.matching = match_kernels(context.capture, context.devices);
  context.works = std::make_shared<const work::KernelWorks>(work::known_works(context));
  if (context.options.findings) context.launch_groups = groups.get();
  KernelLevels levels(context.capture, context.matching);
  if (!context.omitted.kernels) context.layer_groups = layer_groups_of(context);
  KernelSections sections = measure_layers(context, levels);
  return {std::move(levels), std::move(sections)};
}

/// The non-empty parts that a brief analysis leaves out, so that it can say so.
OmittedParts omitted_from(const Context& context) {
  if (!context.options.brief) return {};
  const WindowInfo& window = context.window;
  const bool known = std::ranges::any_of(context.devices, [&](const DeviceTimeline& line) {
    return !line.rows.empty() && line.window.length() > 0;
  });
  return {known && (window.kind == WindowKind::all || window.start_ns < window.end_ns),
          !context.kernels.empty(), has_tenants(context)};
}

/// The kernels of the window, with their waits where some device's are known, join the context.
void put_kernels(Context& context) {
  std::size_t most = 0;
  for (const auto& line : context.devices) most += line.rows.size();
  context.kernels.reserve(most);
  const bool known = std::ranges::any_of(
      context.devices, [](const DeviceTimeline& line) { return line.waiting.has_value(); });
  for (const auto& line : context.devices)
    for (std::size_t i = 0; i < line.rows.size(); ++i) {
      if (context.capture.activities.kind[line.rows[i]] != ActivityKind::kernel) continue;
      const Nanos all = line.exclusive_ns[i];
      context.kernels.push_back({line.rows[i], all, line.spans[i].length()});
      if (known) context.waits.push_back(all - line.working_ns(i));
    }
}

/// The pieces join the context, the causes the answer.
void put_idle(std::vector<DeviceIdle> idle, Context& context, Analysis& analysis) {
  auto gaps = unexplained_gaps(idle);
  for (std::size_t device = 0; device < idle.size(); ++device) {
    context.devices[device].idle_pieces = std::move(idle[device].pieces);
    analysis.devices[device].idle = std::move(idle[device].causes);
  }
  auto [devices, quality] = leave_unrecorded_work(context, std::move(analysis.devices));
  analysis.devices = std::move(devices);
  // Both would say that the capture lacks what happened in the gaps; unrecorded work says more.
  if (gaps && std::ranges::all_of(analysis.devices,
                                  [](const DeviceUse& use) { return use.unrecorded_ns == 0; }))
    analysis.quality.push_back(std::move(*gaps));
  std::ranges::move(quality, std::back_inserter(analysis.quality));
}

/// The waiting joins the context, the doubts about the job the answer.
void put_waiting(const JobWaiting& waiting, Context& context, Analysis& analysis) {
  for (auto& line : context.devices) line.waiting = device_waiting(context.capture, line, waiting);
  auto& quality = analysis.quality;
  for (auto& note : doubts_about_job(waiting))
    if (std::ranges::find(quality, note.code, &QualityNote::code) == quality.end())
      quality.push_back(std::move(note));
}

void put(SampledLevels sampled, Analysis& analysis) {
  analysis.devices = std::move(sampled.devices);
  if (sampled.levels) analysis.levels = std::move(*sampled.levels);
}

/// The findings join the answer, what they claim and what ran again for them the context.
Status put_findings(const KernelLevels& levels, Context& context, Analysis& analysis) {
  // A program that launches its kernels one by one runs again for some finding, mostly.
  const Capture& capture = context.capture;
  const bool mostly = 2 * capture.api_calls.size() >= capture.activities.size();
  auto replay = std::async(mostly ? std::launch::async : std::launch::deferred,
                           [&] { return replay_of_part(context); });
  auto found = find_in_trace(context, levels, analysis);
  if (context.options.own_rules) {
    auto own = context.options.own_rules(context, analysis);
    if (!own) return tl::unexpected(own.error());
    found = with_own_rules(std::move(found), std::move(*own));
  }
  context.claims = std::make_shared<const std::vector<FindingClaim>>(std::move(found.claims));
  auto replayed = with_replayed_gains(std::move(found.findings), context, std::move(replay));
  analysis.findings = std::move(replayed.findings);
  analysis.together = replayed.together;
  context.replayed = std::move(replayed.part);
  return {};
}

/// Where kernels were recorded in short windows of a long run, samples show all of it.
SampledUse samples_beside_kernels(const Context& context) {
  if (!holds_counter_values(context.capture)) return {};
  Interval span{context.window.start_ns, context.window.end_ns};
  if (context.window.kind == WindowKind::recording_window) span = kAllTime;
  return samples_over_time(context.capture, span);
}

}  // namespace

// Independent parts run at the same time; on two cores the order of the starts
// below keeps both busy.
Result<Analysis> analyze(const Capture& capture, const AnalyzeOptions& options,
                         std::optional<Context>* shared) {
  if (holds_only_samples(capture)) return analyze_samples_alone(capture, options, shared);
  Context context{capture, options};
  auto launches = std::async(std::launch::async, join_launches, std::cref(capture));
  auto host = std::async(std::launch::async, [&] { return HostThreads(capture); });
  context.names = Names(capture);
  context.host = host.get();
  context.launches = launches.get();
  auto host_side = std::async(std::launch::async, [&] {
    return attribute(capture, context.host, context.names, context.launches);
  });
  auto calls = std::async(std::launch::async, [&] { return collect_launch_facts(context); });
  RuleLookup rules(capture);
  const auto when = options.brief ? std::launch::deferred : std::launch::async;
  std::shared_future<RuntimeTrace> trace =
      std::async(when, [&] { return trace_runtime(context, rules); });
  const Steps steps = find_steps(capture, context.launches, context.host, context.names);
  auto chosen = choose_devices(capture, options.devices);
  if (!chosen) return tl::unexpected(chosen.error());
  context.chosen = std::move(*chosen);
  auto window = options.span ? choose_window(capture, *options.span, steps)
                             : choose_window(capture, options.window, steps, context.chosen);
  if (!window) return tl::unexpected(window.error());
  context.window = std::move(*window);
  context.devices = build_timelines(capture, context.window);
  set_others_aside(context);
  auto recording = std::async(std::launch::async, [&] { return profiler_cost(context); });
  Analysis analysis;
  analysis.source = source_of(capture);
  analysis.quality = quality_of(capture);
  if (options.waiting) put_waiting(*options.waiting, context, analysis);
  put_kernels(context);
  analysis.window = context.window;
  analysis.devices = measure_devices(context);
  analysis.other_devices = other_devices(context);
  context.omitted = omitted_from(context);
  std::vector<Queue> queues;
  auto runtime = std::async(when, [&] {
    queues = find_queues(context, trace.get());
    return analyze_runtime(context, rules, trace.get(), queues);
  });
  context.attribution = host_side.get();
  // Idle time and the runtime need no layer, counter or work, which join the context meanwhile.
  auto kernels = std::async(std::launch::async, [&] { return describe_kernels(context); });
  put_idle(explain_idle(context, calls.get()), context, analysis);
  analysis.window.dense = dense_span(context);
  analysis.window.outside = outside_steps(context);
  analysis.window.profiler_ns = recording.get();
  std::vector<IdleOrigin> idle_origins;
  if (!context.omitted.runtime)
    idle_origins = find_idle_origins(context, trace.get(), options.max_rows);
  auto [levels, sections] = kernels.get();
  if (!context.omitted.runtime) {
    analysis.runtime = runtime.get();
    context.queues = std::make_shared<const std::vector<Queue>>(std::move(queues));
  }
  analysis.runtime.idle = std::move(idle_origins);
  trace = {};  // as large as a table of the capture; what follows does not ask for it
  analysis.match = context.matching.info;
  put(std::move(sections), analysis);
  put(measure_levels(context, levels, analysis.devices), analysis);
  put(add_sampled_levels(context, std::move(analysis.devices)), analysis);
  analysis.energy = measure_energy(context, options.energy_model);
  if (!context.omitted.tenants) analysis.tenants = measure_tenants(context);
  analysis.samples = samples_beside_kernels(context);
  analysis.work = work_headline(context, analysis);
  analysis.serving = measure_serving(context, steps);
  analysis.energy = with_joules_an_item(std::move(analysis.energy), analysis.work.throughput);
  // Findings ask for counters where there are none: the model joins the answer after them.
  auto model = std::async(std::launch::async,
                          [&] { return rungs_by_model(context, *context.works, analysis); });
  if (options.findings)
    if (auto put = put_findings(levels, context, analysis); !put)
      return tl::unexpected(put.error());
  put(model.get(), analysis);
  put(levels_by_launches(context, levels.chip(), analysis), analysis);
  analysis.devices = with_short_idle_lists(std::move(analysis.devices), options.max_rows);
  if (shared) shared->emplace(std::move(context));
  return analysis;
}

}  // namespace gf
