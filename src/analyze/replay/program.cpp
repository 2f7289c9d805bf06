#include "analyze/replay/program.h"

#include <algorithm>
#include <utility>

#include "analyze/kernels/launch_groups.h"
#include "analyze/replay/device_work.h"
#include "analyze/replay/named_changes.h"
#include "analyze/timeline.h"
#include "core/intervals.h"
#include "core/order.h"
#include "core/strings.h"

namespace gf {

namespace {

bool in_name(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

Program::Program(const Context& context, const DeviceTimeline& line, Interval span,
                 const work::KernelWorks* works)
    : context_(context),
      capture_(context.capture),
      line_(line),
      span_(span),
      works_(works),
      built_(graph_of(context, line, span)),
      graph_(built_->graph),
      cutter_(context, line, span, built_->lines),
      places_(graph_),
      host_(graph_.size()) {
  for (std::uint32_t node = 0; node < graph_.size(); ++node)
    host_[node] = built_->origins[node].line != kNoRow;
  place_in_steps();
  if (capture_.framework == "jax") find_inside_of_steps();
  if (!empty()) run_as_it_is();
}

std::size_t Program::most_switches() const {
  constexpr std::size_t kMostNodes = std::size_t{1} << 23;  // of all runs together
  std::size_t most = kMostSwitches;
  while (most > kFewestSwitches && graph_.size() << most > kMostNodes) --most;
  return most;
}

void Program::prepare(const WhatIfChanges& changes) {
  if (!works_ && !(changes.with.empty() && !changes.gpu_as))
    works_ = &own_works_.emplace(work::kernel_works(context_));
  for (const auto what : changes.with)
    if (!mendings_.contains(name_of(what)))
      put_in_graph(name_of(what), mending_of(context_, *works_, what, span_));
  if (changes.gpu_as && !mendings_.contains(kExchange))
    put_in_graph(kExchange, mending_of(context_, *works_, *changes.gpu_as, span_));
  if (is_linked(changes) && !mendings_.contains(kLink))
    put_in_graph(kLink, mending_of_link(context_, changes.link, changes.link_bytes_per_s));
  for (const auto& claim : changes.claims)
    if (!mendings_.contains(claim.name()))
      put_in_graph(claim.name(), mending_of(context_, claim.time, span_));
}

bool Program::finds_nothing(const WhatIfChanges& changes) const {
  std::string_view name;
  if (!changes.with.empty()) name = name_of(changes.with.front());
  if (changes.gpu_as) name = kExchange;
  if (changes.link_bytes_per_s > 0) name = kLink;
  if (each_of(changes).size() != 1 || name.empty()) return false;
  const InGraph& mended = mendings_.find(name)->second;
  return mended.kernels.empty() && mended.host.empty();
}

std::size_t Program::waits_gone(const WhatIfChanges& changes) const {
  const HostCuts cuts = cutter_.cuts_of(changes, {}, host_mended_by(changes));
  const Asked asked(changes);
  std::size_t gone = 0;
  for (std::uint32_t node = 0; node < graph_.size(); ++node)
    if (is_host(node) && waited(node))
      gone += no_longer_waits(built_->origins[node].row, asked, cuts);
  return gone;
}

Share Program::unexplained() const {
  Intervals gaps;
  for (std::uint32_t node = 0; node < graph_.size(); ++node) {
    if (is_host(node)) continue;
    Nanos least = INT64_MAX;
    for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i) {
      const ReplayEdge& edge = graph_.edges[i];
      Nanos end = graph_.start_ns[edge.from] + graph_.duration_ns[edge.from];
      if (edge.why == WaitsFor::launch) end += call_of(edge.from);
      least = std::min(least, graph_.start_ns[node] - end);
      if (edge.why == WaitsFor::other_stream) least = 0;
    }
    if (least == INT64_MAX || least <= kExplained) continue;
    gaps.push_back({graph_.start_ns[node] - least, graph_.start_ns[node]});
  }
  const Intervals waits = clip(normalised(std::move(gaps)), window());
  return share_of(total(subtract(waits, line_.busy)), window().length());
}

double Program::busy() const {
  return share_of(total(clip(line_.busy, window())), window().length()).value_or(0);
}

bool Program::has_kernel(const std::string& part) const {
  return std::ranges::any_of(line_.rows, [&](auto row) {
    return in_name(capture_.text(capture_.activities.name[row]), part);
  });
}

bool Program::has_operator(const std::string& part) const {
  return std::ranges::any_of(capture_.host_ops.name,
                             [&](Text name) { return in_name(capture_.text(name), part); });
}

std::shared_ptr<const BuiltGraph> Program::graph_of(const Context& context,
                                                    const DeviceTimeline& line, Interval span) {
  const ReplayedPart& known = context.replayed;
  if (known.graph && known.device == line.device && known.span.start == span.start &&
      known.span.end == span.end)
    return known.graph;
  // Kernels launched in it may run as long after it.
  const Interval longer{span.start, span.end == INT64_MAX ? span.end : span.end + span.length()};
  DeviceTimeline part;
  part.device = line.device;
  const auto rows = begin_inside(line.rows, context.capture.activities.start_ns, longer);
  part.rows.assign(rows.begin(), rows.end());
  return std::make_shared<const BuiltGraph>(
      build_graph(context, part, collective_rows(context, part), span));
}

void Program::put_in_graph(std::string_view name, Mending mending) {
  InGraph& own = mendings_.try_emplace(std::string(name)).first->second;
  own.host = std::move(mending.host);
  if (node_of_.empty()) {
    node_of_.assign(capture_.activities.size(), kNoNode);
    for (std::uint32_t node = 0; node < graph_.size(); ++node)
      if (!is_host(node)) node_of_[built_->origins[node].row] = node;
  }
  for (const auto& [row, time] : mending.kernels)
    if (const auto node = node_of_[row]; node != kNoNode) own.kernels.push_back({node, time});
  sort_nearly_ordered(
      own.kernels.begin(), own.kernels.end(),
      [](const MendedNode& left, const MendedNode& right) { return left.node < right.node; });
}

/// The step of each activity is the one in which it began.
void Program::place_in_steps() {
  std::vector<Nanos> begins;
  for (const auto& step : context_.window.all_steps)
    if (step.start_ns >= span_.start && step.start_ns < span_.end) {
      begins.push_back(step.start_ns);
      counts_.push_back(step.role == StepRole::ordinary);
    }
  if (begins.size() == 1) find_outside();
  if (begins.size() < 2) return;
  // A mark ends before its kernels do; a step that was found in them ends with them.
  const auto& last = context_.window.all_steps.back();
  const Nanos end = context_.window.step_source.starts_with("marks")
                        ? INT64_MAX
                        : last.start_ns + last.duration_ns;
  begins.push_back(end);
  for (const Nanos begin : begins) {
    const auto first = std::ranges::lower_bound(graph_.start_ns, std::min(begin, end));
    step_begins_.push_back(static_cast<std::uint32_t>(first - graph_.start_ns.begin()));
  }
  std::size_t work = 0;  // steps with activities
  for (std::size_t step = 0; step < steps(); ++step) {
    auto node = step_begins_[step];
    while (node < step_begins_[step + 1] && is_host(node)) ++node;
    work += node < step_begins_[step + 1];
  }
  follow_each_other_ = work > 1;
}

/// Finds the time before a single step's first activity and behind its last: nothing moves
/// it.
void Program::find_outside() {
  Nanos begin = INT64_MAX, end = INT64_MIN;
  for (std::uint32_t node = 0; node < graph_.size(); ++node) {
    if (!is_host(node)) begin = std::min(begin, graph_.start_ns[node]);
    end = std::max(end, graph_.start_ns[node] + graph_.duration_ns[node]);
  }
  const auto step = std::ranges::find_if(context_.window.all_steps, [&](const StepInfo& one) {
    return one.start_ns >= span_.start && one.start_ns < span_.end;
  });
  if (begin < end) outside_ = std::max<Nanos>(0, step->duration_ns - (end - begin));
}

/// A jitted function, or a loop in one, asks nothing of the host: what it does between the first
/// and the last point of a step is gone. A launch belongs to the step of what it launches.
void Program::find_inside_of_steps() {
  std::vector<std::uint32_t> step(graph_.size(), 0);
  for (std::uint32_t number = 0; number < steps(); ++number)
    for (auto node = step_begins_[number]; node < step_begins_[number + 1]; ++node) {
      if (is_host(node)) continue;
      step[node] = number;
      for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i)
        if (graph_.edges[i].why == WaitsFor::launch) step[graph_.edges[i].from] = number;
    }
  inside_step_.resize(graph_.size());
  std::vector<std::uint32_t> last(built_->lines.size(), kNoNode);  // by line
  for (std::uint32_t node = 0; node < graph_.size(); ++node) {
    if (!is_host(node)) continue;
    auto& before = last[built_->origins[node].line];
    if (before != kNoNode) {
      if (waited(node) || built_->origins[node].row == kNoRow) step[node] = step[before];
      inside_step_[node] = step[node] == step[before];
    }
    before = node;
  }
}

std::vector<const Program::InGraph*> Program::mended_by(const WhatIfChanges& changes) const {
  std::vector<const InGraph*> all;
  for (const auto what : changes.with) all.push_back(&mendings_.find(name_of(what))->second);
  for (const auto& claim : changes.claims) all.push_back(&mendings_.find(claim.name())->second);
  return all;
}

std::vector<const HostCutter::OfThreads*> Program::host_mended_by(
    const WhatIfChanges& changes) const {
  std::vector<const HostCutter::OfThreads*> mended;
  for (const auto* one : mended_by(changes)) mended.push_back(&one->host);
  return mended;
}

/// The nodes that `changes` mend, in order. `several` holds them where they are of more than one
/// mending: of these the one that leaves least, times those that exchange what it runs on.
std::span<const Program::MendedNode> Program::mended_nodes(const WhatIfChanges& changes,
                                                           std::vector<MendedNode>& several) const {
  std::vector<const InGraph*> exchanged;
  if (changes.gpu_as) exchanged.push_back(&mendings_.find(kExchange)->second);
  if (is_linked(changes)) exchanged.push_back(&mendings_.find(kLink)->second);
  auto all = mended_by(changes);
  if (all.size() + exchanged.size() == 0) return {};
  if (all.size() + exchanged.size() == 1)
    return all.empty() ? exchanged.front()->kernels : all.front()->kernels;
  for (const auto* one : all)
    several.insert(several.end(), one->kernels.begin(), one->kernels.end());
  std::ranges::stable_sort(
      several, {}, [](const MendedNode& one) { return std::pair(one.node, one.time.about); });
  const auto same = std::ranges::unique(several, {}, &MendedNode::node);
  several.erase(same.begin(), same.end());
  for (const auto* one : exchanged) {
    std::vector<MendedNode> both;
    std::ranges::merge(several, one->kernels, std::back_inserter(both), {}, &MendedNode::node,
                       &MendedNode::node);
    several.clear();
    for (const MendedNode& next : both) {
      if (several.empty() || several.back().node != next.node)
        several.push_back(next);
      else
        several.back().time *= next.time;
    }
  }
  return several;
}

/// A grid that leaves SMs empty fills them before it takes longer, a launch takes its first
/// microseconds anyway, and the optimizer's work is that of the parameters.
double Program::with_batch(std::uint32_t row, double time, double batch) const {
  constexpr double kFixed = 2e3;
  if (batch == 1 ||
      context_.attribution.phase[row] == static_cast<std::uint8_t>(TrainingPhase::optimizer))
    return time;
  const double share = blocks_per_sm(capture_, row);
  const double filled = share < 1 ? std::max(1.0, batch * share) : batch;
  const double fixed = std::min(time, kFixed);
  return fixed + (time - fixed) * filled;
}

/// True where the operation that launched an activity is among these.
bool Program::launched_by(std::uint32_t row, const std::vector<bool>& operations) const {
  const auto op = context_.attribution.op[row];
  return !operations.empty() && op != kNoRow && operations[op];
}

/// True if a host's point is the end of a call that waits for the device.
bool Program::waited(std::uint32_t node) const {
  for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i)
    if (graph_.edges[i].why == WaitsFor::device) return true;
  return false;
}

/// The length of the call that a host's point stands for.
Nanos Program::call_of(std::uint32_t node) const {
  const auto call = built_->origins[node].row;
  return call == kNoRow ? 0 : capture_.api_calls.duration_ns[call];
}

bool Program::is_launch(std::uint32_t call) const {
  return call != kNoRow && capture_.api_calls.kind[call] == ApiKind::launch;
}

bool Program::no_longer_waits(std::uint32_t call, const Asked& asked, const HostCuts& cuts) const {
  const auto removed = cuts.removed.find(capture_.api_calls.thread[call]);
  const Nanos start = capture_.api_calls.start_ns[call];
  if (member_at(cuts.claimed, start)) return true;
  const bool gone = removed != cuts.removed.end() && member_at(removed->second, start) != nullptr;
  switch (capture_.api_calls.kind[call]) {
    case ApiKind::sync:
      return asked.sync || gone || member_at(cuts.copied, start) != nullptr;
    case ApiKind::memcpy:
      return asked.copies || asked.sync || gone;
    case ApiKind::alloc:
      return asked.allocations;
    default:
      return false;
  }
}

}  // namespace gf
