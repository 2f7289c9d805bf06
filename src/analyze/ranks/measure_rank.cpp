#include "analyze/ranks/measure_rank.h"

#include <algorithm>

#include "analyze/attribution/attribution.h"
#include "analyze/device_use.h"
#include "analyze/idle/idle.h"
#include "analyze/ranks/collect_collectives.h"
#include "analyze/ranks/host_pace.h"
#include "analyze/ranks/identity.h"
#include "analyze/ranks/label_time.h"
#include "analyze/ranks/owners.h"
#include "analyze/source_sections.h"
#include "analyze/steps/steps.h"
#include "analyze/timeline.h"
#include "analyze/window.h"
#include "model/launches.h"

namespace gf {

namespace {

std::vector<PartTime> parts_of(const LabelSums& sums) {
  std::vector<PartTime> parts;
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i] != 0) parts.push_back({static_cast<RankTime>(i), sums[i]});
  return parts;
}

/// Steps of the device; the step of each collective is the one in which it began.
void place_in_steps(const std::vector<StepInfo>& steps, const LabelIntegral& labels,
                    Interval window, RankPart& part) {
  for (const auto& step : steps) {
    const Interval span{std::max(step.start_ns, window.start),
                        std::min(step.start_ns + step.duration_ns, window.end)};
    if (span.length() <= 0) continue;
    part.steps.push_back({step.index, span.start, span.length(), parts_of(labels.within(span))});
  }
  std::size_t at = 0;
  for (const Nanos start : part.collectives.start_ns) {
    while (at < part.steps.size() && part.steps[at].start_ns + part.steps[at].duration_ns <= start)
      ++at;
    const bool inside = at < part.steps.size() && part.steps[at].start_ns <= start;
    part.collectives.step.push_back(inside ? static_cast<std::int64_t>(at) : -1);
  }
}

void fill_before(const LabelIntegral& labels, Nanos begin, RankPart& part) {
  LabelSums earlier = labels.before(begin);
  const auto& starts = part.collectives.start_ns;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const LabelSums now = labels.before(starts[i]);
    for (std::size_t label = 0; label < now.size(); ++label) {
      if (now[label] == earlier[label]) continue;
      part.before.collective.push_back(static_cast<std::int64_t>(i));
      part.before.part.push_back(static_cast<std::int64_t>(label));
      part.before.ns.push_back(now[label] - earlier[label]);
    }
    earlier = now;
  }
}

RankPart measure_device(const Context& context, const DeviceTimeline& line,
                        const std::vector<StepInfo>& steps, const StepMarks& marks,
                        OwnerNames& names, const CollectiveRows& rows) {
  const Capture& capture = context.capture;
  RankPart part;
  const DeviceWork work = device_work(capture, line);
  const LabelIntegral labels(label_time(line, work));
  part.device = capture.text(capture.devices.name[line.device]);
  part.device_id = capture.devices.id[line.device];
  part.start_ns = line.window.start;
  part.span_ns = line.window.length();
  part.busy_ns = total(line.busy);
  part.compute_ns = total(work.compute);
  part.communication_ns = total(work.collectives);
  part.exposed_ns = part.communication_ns - shared_length(work.collectives, work.compute);
  part.time = parts_of(labels.within(line.window));
  Texts texts;
  collect_collectives(capture, rows, work.compute, part, texts);
  fill_queued(context, line, part);
  fill_hosts(context, line, marks, part, texts);
  place_in_steps(steps, labels, line.window, part);
  fill_before(labels, line.window.start, part);
  fill_owners(context, line, names, part, texts);
  part.texts = std::move(texts).take();
  return part;
}

/// What all parts of a capture have in common. Several devices with collectives are several ranks.
void identify(const Capture& capture, std::vector<RankPart>& parts) {
  const RankIdentity identity = identify_rank(capture);
  const auto quality = quality_of(capture);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    RankPart& part = parts[i];
    part.source = capture.path;
    part.format = capture.format;
    part.events = capture.events;
    part.bytes = capture.bytes;
    part.job = identity.job;
    part.host = identity.host;
    part.world_size = identity.world_size;
    part.rank = identity.rank;
    part.rank_source = identity.source;
    part.quality = quality;
    if (parts.size() > 1) {
      part.rank = static_cast<std::int64_t>(i);
      part.rank_source = RankSource::device;
    }
  }
}

/// Of several devices those that take part in collectives; all of them where none does.
std::vector<const DeviceTimeline*> devices_of_ranks(const Context& context) {
  std::vector<const DeviceTimeline*> with, all;
  for (const auto& line : context.devices) {
    all.push_back(&line);
    if (!collective_rows(context.capture, line).empty()) with.push_back(&line);
  }
  return with.empty() ? all : with;
}

}  // namespace

Result<std::vector<RankPart>> measure_ranks(const Capture& capture,
                                            std::vector<CollectiveRows>* rows) {
  AnalyzeOptions options;
  Context context{capture, options};
  context.host = HostThreads(capture);
  context.roles = NameRoles(capture);
  context.launches = join_launches(capture);
  const Steps steps = find_steps(capture, context.launches, context.host);
  auto window = choose_window(capture, "all", steps);
  if (!window) return tl::unexpected(window.error());
  context.window = std::move(*window);
  context.attribution = attribute(capture, context.host, context.launches);
  context.devices = build_timelines(capture, context.window);
  auto idle = explain_idle(context);
  for (std::size_t device = 0; device < idle.size(); ++device)
    context.devices[device].idle_pieces = std::move(idle[device].pieces);
  OwnerNames names(context);
  const StepMarks marks = find_marks(capture);
  std::vector<RankPart> parts;
  for (const DeviceTimeline* line : devices_of_ranks(context)) {
    auto of_part = collective_rows(capture, *line);
    parts.push_back(measure_device(context, *line, steps.steps, marks, names, of_part));
    if (rows) rows->push_back(std::move(of_part));
  }
  identify(capture, parts);
  return parts;
}

}  // namespace gf
