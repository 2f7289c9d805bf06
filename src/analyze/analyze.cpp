#include "analyze/analyze.h"

#include <future>
#include <optional>
#include <utility>

#include "analyze/attribution/attribution.h"
#include "analyze/device_use.h"
#include "analyze/findings/findings.h"
#include "analyze/host_threads.h"
#include "analyze/idle/idle.h"
#include "analyze/launches.h"
#include "analyze/layers/layers.h"
#include "analyze/match/match.h"
#include "analyze/runtime/runtime.h"
#include "analyze/steps/steps.h"
#include "analyze/timeline.h"
#include "analyze/utilization/use.h"
#include "analyze/window.h"

namespace gf {

namespace {

void describe_source(const Capture& capture, Analysis& analysis) {
  analysis.source = {capture.path, capture.format, capture.framework, capture.events, capture.bytes};
  const auto& q = capture.quality;
  for (std::size_t i = 0; i < q.size(); ++i)
    analysis.quality.push_back({std::string(capture.text(q.code[i])), q.count[i], std::string(capture.text(q.detail[i]))});
}

}  // namespace

Result<Analysis> analyze(const Capture& capture, const AnalyzeOptions& options, std::optional<Context>* shared) {
  Context context{capture, options};
  context.attribution.launch = join_launches(capture);
  context.host = HostThreads(capture);
  context.roles = NameRoles(capture);
  const Steps steps = find_steps(capture, context.attribution.launch, context.host);
  auto window = choose_window(capture, options.window, steps);
  if (!window) return tl::unexpected(window.error());
  context.window = std::move(*window);
  // Host and device sides need nothing of each other ...
  auto host_side = std::async(std::launch::async, [&] { attribute(capture, context.host, context.attribution); });
  context.devices = build_timelines(capture, context.window);
  host_side.get();
  Analysis analysis;
  describe_source(capture, analysis);
  analysis.window = context.window;
  measure_devices(context, analysis);
  // ... nor do the causes of idle time, the runtime's phases, and the tables of layers and kernels: each fills its own part.
  std::optional<KernelLevels> levels;
  auto tables = std::async(std::launch::async, [&] {
    classify_layers(capture, context.attribution);
    context.matching = match_kernels(capture, context.devices);
    levels.emplace(capture, context.matching);
    measure_layers(context, *levels, analysis);
  });
  auto runtime = std::async(std::launch::async, [&] { return analyze_runtime(context, analysis); });
  explain_idle(context, analysis);
  tables.get();
  explain_idle_origins(context, runtime.get(), analysis);
  analysis.match = context.matching.info;
  measure_levels(context, *levels, analysis);
  find_findings(context, *levels, analysis);
  if (shared) shared->emplace(std::move(context));
  return analysis;
}

}  // namespace gf
