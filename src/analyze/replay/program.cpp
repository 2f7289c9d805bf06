#include "analyze/replay/program.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "analyze/findings/facts.h"
#include "analyze/replay/device_work.h"
#include "analyze/replay/named_changes.h"
#include "analyze/timeline.h"
#include "core/intervals.h"
#include "core/strings.h"

namespace gf {

namespace {

constexpr double kOfCompiling = 0.3;  // of the time of compilers, at most
// A host's work between a value that it reads and its next launch: at best the device can do it.
constexpr Nanos kDecides = 5 * kNsPerMs;
// A device that waits longer for what comes before has another reason, which no capture shows.
constexpr Nanos kExplained = 25 * kNsPerUs;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

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
      cutter_(context, line, span, built_->lines) {
  place_in_steps();
  if (capture_.framework == "jax") find_inside_of_steps();
  sort_edges();
}

Program::Asked::Asked(const WhatIfChanges& changes)
    : sync(asks(changes, Without::sync)),
      copies(asks(changes, Without::copies)),
      allocations(asks(changes, Without::allocations)),
      communication(asks(changes, Without::communication)),
      input(asks(changes, Without::input)) {}

std::size_t Program::most_switches() const {
  constexpr std::size_t kMostNodes = std::size_t{1} << 23;  // of all runs together
  std::size_t most = kMostSwitches;
  while (most > kFewestSwitches && graph_.size() << most > kMostNodes) --most;
  return most;
}

Nanos Program::captured() const {
  return step_of([&](auto node) { return graph_.start_ns[node] + graph_.duration_ns[node]; },
                 graph_.duration_ns);
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

std::vector<Nanos> Program::steps_with(const WhatIfChanges& changes,
                                       std::span<const Outlook> outlooks) const {
  const auto mended_time = mended_times(changes);
  const auto mended = host_mended_by(changes);
  std::vector<Nanos> steps;
  while (!outlooks.empty()) {
    const auto other = std::ranges::find_if_not(
        outlooks, [&](const Outlook& outlook) { return outlook.cuts_as(outlooks.front()); });
    const auto alike = outlooks.first(static_cast<std::size_t>(other - outlooks.begin()));
    const HostCuts cuts = cutter_.cuts_of(changes, alike.front(), mended);
    run_alike(changes, alike, cuts, mended_time, steps);
    outlooks = outlooks.subspan(alike.size());
  }
  return steps;
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
  steps_ = begins.size();
  // A mark ends before its kernels do; a step that was found in them ends with them.
  const auto& last = context_.window.all_steps.back();
  const Nanos end = context_.window.step_source.starts_with("marks")
                        ? INT64_MAX
                        : last.start_ns + last.duration_ns;
  for (std::uint32_t node = 0; node < graph_.size(); ++node) {
    if (graph_.start_ns[node] >= end) continue;
    const auto step = std::ranges::upper_bound(begins, graph_.start_ns[node]) - begins.begin();
    if (!is_host(node) && step > 0)
      in_step_.push_back({node, static_cast<std::uint32_t>(step - 1)});
  }
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
  for (const auto& [node, number] : in_step_) {
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

/// Puts edges into the lists of what changes them.
void Program::sort_edges() {
  lag_.reserve(graph_.edges.size());
  from_.reserve(graph_.edges.size());
  for (const auto& edge : graph_.edges) {
    lag_.push_back(edge.lag);
    from_.push_back(edge.from);
  }
  for (std::uint32_t node = 0; node < graph_.size(); ++node) {
    const bool of_host = is_host(node);
    for (auto edge = graph_.first_edge[node]; edge < graph_.first_edge[node + 1]; ++edge) {
      const WaitsFor why = graph_.edges[edge].why;
      if (!of_host && why == WaitsFor::stream) behind_.emplace_back(node, edge);
      if (of_host && why == WaitsFor::device) waits_.emplace_back(node, edge);
      if (!of_host || why != WaitsFor::host) continue;
      const NodeOrigin& origin = built_->origins[node];
      const Nanos length = origin.worked.length();
      const Intervals& one_off = cutter_.one_off(origin.line);
      stretches_.push_back({.edge = edge,
                            .node = node,
                            .own = static_cast<double>(lag_[edge] - graph_.input_ns[node]),
                            .recorded = static_cast<double>(graph_.profiler_ns[node]),
                            .length = length,
                            .one_off = length > 0 ? covered(one_off, origin.worked) : 0,
                            .input = graph_.input_ns[node]});
    }
  }
}

/// The mean from the end of a step's work to that of the next one's, of steps that are not far
/// from the others; of one step, or of none, all of it.
template <class EndOf>
Nanos Program::step_of(EndOf&& end_of, const std::vector<Nanos>& duration) const {
  std::vector<Nanos> last(steps_, INT64_MIN);
  for (const auto& [node, step] : in_step_) last[step] = std::max(last[step], end_of(node));
  Nanos sum = 0, all = 0, count = 0, pairs = 0, before = INT64_MIN;
  for (std::size_t step = 0; step < last.size(); ++step) {
    if (last[step] == INT64_MIN) continue;
    if (before != INT64_MIN) {
      const Nanos length = last[step] - before;
      all += length;
      ++pairs;
      if (counts_[step]) {
        sum += length;
        ++count;
      }
    }
    before = last[step];
  }
  if (pairs == 0) {
    Nanos begin = INT64_MAX, end = INT64_MIN;
    for (std::uint32_t node = 0; node < graph_.size(); ++node) {
      if (!is_host(node)) begin = std::min(begin, end_of(node) - duration[node]);
      end = std::max(end, end_of(node));
    }
    return end - begin + outside_;
  }
  return count > 0 ? sum / count : all / pairs;
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

/// By node, where something is mended: of several mendings the one that leaves least.
std::vector<MendedTime> Program::mended_times(const WhatIfChanges& changes) const {
  std::vector<MendedTime> times;
  const auto all = mended_by(changes);
  if (all.empty() && !changes.gpu_as && !is_linked(changes)) return times;
  times.resize(graph_.size());
  std::vector<bool> seen(graph_.size());
  for (const auto* mended : all)
    for (const auto& [node, time] : mended->kernels) {
      if (!seen[node] || time.about < times[node].about) times[node] = time;
      seen[node] = true;
    }
  auto exchange = [&](std::string_view name) {
    for (const auto& [node, time] : mendings_.find(name)->second.kernels) {
      times[node].best *= time.best;
      times[node].about *= time.about;
      times[node].worst *= time.worst;
    }
  };
  if (changes.gpu_as) exchange(kExchange);
  if (is_linked(changes)) exchange(kLink);
  return times;
}

/// Appends the steps of outlooks that cut the same: they differ in what recording took, and in how
/// fast host and kernels are.
void Program::run_alike(const WhatIfChanges& changes, std::span<const Outlook> outlooks,
                        const HostCuts& cuts, const std::vector<MendedTime>& mended_time,
                        std::vector<Nanos>& steps) const {
  constexpr std::size_t kMostRuns = 4;
  const Asked asked(changes);
  const auto lag = changed_lags(changes, asked, cuts, mended_time);
  const auto left = left_of(changes, asked, cuts, outlooks.front().whole);
  const bool same_host = changes.host == 1 && lag == lag_ && all_stays(left);
  while (!outlooks.empty()) {
    const Outlook& front = outlooks.front();
    const auto duration = changed_durations(changes, asked, cuts, front, mended_time);
    const bool same = same_host && duration == graph_.duration_ns;
    const auto as_long = [&](const Outlook& outlook) {
      return outlook.gpu == front.gpu && (mended_time.empty() || outlook.kernels == front.kernels);
    };
    while (!outlooks.empty() && as_long(outlooks.front())) {
      if (same && outlooks.front().host == 1) {
        steps.push_back(own_step(outlooks.front().recording));
        outlooks = outlooks.subspan(1);
        continue;
      }
      const auto other =
          std::ranges::find_if_not(outlooks.first(std::min(outlooks.size(), kMostRuns)), as_long);
      const auto runs = outlooks.first(static_cast<std::size_t>(other - outlooks.begin()));
      const auto run = [&]<std::size_t kRuns>() {
        if (runs.size() == kRuns)
          run_together<kRuns>(runs, changes.host, duration, lag, left, steps);
      };
      if (runs.size() == 1)
        steps.push_back(run_alone(runs.front(), changes.host, duration, lag, left));
      run.operator()<2>();
      run.operator()<3>();
      run.operator()<4>();
      outlooks = outlooks.subspan(runs.size());
    }
  }
}

bool Program::all_stays(const std::vector<Left>& left) const {
  for (std::size_t i = 0; i < left.size(); ++i)
    if (left[i].kept != 1 || left[i].most != kNoLimit || left[i].gone ||
        left[i].input != stretches_[i].input)
      return false;
  return true;
}

Nanos Program::own_step(double recording) const {
  const auto [at, fresh] = own_steps_.try_emplace(recording);
  if (!fresh) return at->second;
  std::vector<Left> left;
  for (const Stretch& stretch : stretches_)
    left.push_back({.most = kNoLimit, .input = stretch.input});
  return at->second = run_alone({recording}, 1, graph_.duration_ns, lag_, left);
}

/// The lag of a stretch by what recording takes, on a host that is so many times as fast.
Nanos Program::lag_of(const Stretch& stretch, const Left& left, double recording, double faster) {
  double rest = stretch.own -
                std::min(recording * stretch.recorded, kMostOfStretch * std::max(stretch.own, 0.0));
  rest *= left.kept;
  // Events of compilers do not show what they write down while they are recorded.
  if (stretch.one_off > 0 && recording == kDear)
    rest -= kOfCompiling * rest * static_cast<double>(stretch.one_off) /
            static_cast<double>(stretch.length);
  rest = left.gone ? 0 : std::min(rest, left.most);
  if (faster != 1) rest /= faster;
  return static_cast<Nanos>(rest) + left.input;
}

Nanos Program::run_alone(const Outlook& outlook, double host, const std::vector<Nanos>& duration,
                         const std::vector<Nanos>& other_lags,
                         const std::vector<Left>& left) const {
  auto lag = other_lags;
  const double faster = host * outlook.host;
  for (std::size_t i = 0; i < stretches_.size(); ++i)
    lag[stretches_[i].edge] = lag_of(stretches_[i], left[i], outlook.recording, faster);
  const auto ends = replay(graph_, duration, lag);
  return step_of([&](auto node) { return ends[node]; }, duration);
}

template <std::size_t kRuns>
void Program::run_together(std::span<const Outlook> outlooks, double host,
                           const std::vector<Nanos>& duration, const std::vector<Nanos>& other_lags,
                           const std::vector<Left>& left, std::vector<Nanos>& steps) const {
  std::size_t next = 0;  // stretch, in the order of their edges
  const auto lags_of = [&](std::uint32_t edge) {
    std::array<Nanos, kRuns> lags;
    const bool of_host = next < stretches_.size() && stretches_[next].edge == edge;
    each_run<kRuns>([&](std::size_t run) {
      lags[run] = of_host ? lag_of(stretches_[next], left[next], outlooks[run].recording,
                                   host * outlooks[run].host)
                          : other_lags[edge];
    });
    next += of_host;
    return lags;
  };
  const auto ends = replay_runs<kRuns>(graph_, from_, duration, lags_of);
  for (std::size_t run = 0; run < kRuns; ++run)
    steps.push_back(step_of([&](auto node) { return ends[node][run]; }, duration));
}

/// By node. Most changes are of the host alone, and what they mend.
std::vector<Nanos> Program::changed_durations(const WhatIfChanges& changes, const Asked& asked,
                                              const HostCuts& cuts, const Outlook& outlook,
                                              const std::vector<MendedTime>& mended_time) const {
  const auto removed = cutter_.removed_by(changes);
  const double gpu = changes.gpu * outlook.gpu;
  const bool of_devices = !removed.empty() || cuts.reads || asked.copies || asked.communication ||
                          !cuts.copying.empty() || changes.batch != 1 || gpu != 1 ||
                          !changes.kernels.empty();
  std::vector<Nanos> duration = graph_.duration_ns;
  if (!of_devices && mended_time.empty()) return duration;
  for (std::uint32_t node = 0; node < graph_.size(); ++node) {
    if (is_host(node)) continue;
    if (of_devices) duration[node] = changed_duration(node, changes, gpu, asked, cuts, removed);
    if (!mended_time.empty())
      duration[node] = static_cast<Nanos>(static_cast<double>(duration[node]) *
                                          (mended_time[node].*outlook.kernels));
  }
  return duration;
}

Nanos Program::changed_duration(std::uint32_t node, const WhatIfChanges& changes, double gpu,
                                const Asked& asked, const HostCuts& cuts,
                                const std::vector<bool>& removed) const {
  const auto row = built_->origins[node].row;
  const auto& activities = capture_.activities;
  double time = static_cast<double>(graph_.duration_ns[node]);
  if (launched_by(row, removed) || (cuts.reads && launched_by(row, *cuts.reads))) return 0;
  if (activities.kind[row] != ActivityKind::kernel) {
    const auto call = context_.launches[row];
    const bool gone = asked.copies || (call != kNoRow &&
                                       member_at(cuts.copying, capture_.api_calls.start_ns[call]));
    return gone ? 0 : static_cast<Nanos>(time * changes.batch);
  }
  if (graph_.collective[node] >= 0) return asked.communication ? 0 : graph_.duration_ns[node];
  if (!changes.kernels.empty()) {
    const auto name = capture_.text(activities.name[row]);
    for (const auto& [part, factor] : changes.kernels)
      if (in_name(name, part)) time /= factor;
  }
  return static_cast<Nanos>(with_batch(row, time, changes.batch) / gpu);
}

/// By edge, but for the host's own time.
std::vector<Nanos> Program::changed_lags(const WhatIfChanges& changes, const Asked& asked,
                                         const HostCuts& cuts,
                                         const std::vector<MendedTime>& mended_time) const {
  constexpr Nanos kInGraph = kNsPerUs;  // between two kernels of a CUDA graph
  std::vector<Nanos> lag = lag_;
  for (const auto& [node, edge] : waits_)
    if (is_jitted_away(node, changes) || no_longer_waits(built_->origins[node].row, asked, cuts))
      lag[edge] = kNoWait;
  if (!changes.graph && mended_time.empty()) return lag;
  for (const auto& [node, edge] : behind_) {
    if (!mended_time.empty() && mended_time[node].gone())
      lag[edge] = std::min<Nanos>(lag[edge], 0);
    else if (changes.graph && lag[edge] <= kExplained)
      lag[edge] = std::min(lag[edge], kInGraph);
  }
  return lag;
}

/// By stretch.
std::vector<Program::Left> Program::left_of(const WhatIfChanges& changes, const Asked& asked,
                                            const HostCuts& cuts, bool whole) const {
  struct OfLine {  // whose stretches come in order of time
    CoveredInOrder gone, claimed, stays;
  };
  std::vector<OfLine> lines;
  for (const Intervals& gone : cuts.lines)
    lines.push_back(
        {CoveredInOrder(gone), CoveredInOrder(cuts.claimed), CoveredInOrder(cuts.stays)});
  std::vector<Left> all;
  all.reserve(stretches_.size());
  for (const auto& stretch : stretches_) {
    const NodeOrigin& origin = built_->origins[stretch.node];
    OfLine& line = lines[origin.line];
    Left& left = all.emplace_back(Left{.most = kNoLimit, .input = stretch.input});
    if (is_jitted_away(stretch.node, changes)) {
      left.gone = true;
      left.input = 0;
      continue;
    }
    if (stretch.length > 0 && !cuts.lines[origin.line].empty()) {
      left.kept =
          1 - static_cast<double>(line.gone(origin.worked)) / static_cast<double>(stretch.length);
      if (left.input > 0) left.input -= std::min(left.input, line.claimed(origin.worked));
    }
    if (changes.graph && is_launch(origin.row))
      left.most = stretch.length < kLongPause ? 0 : static_cast<double>(line.stays(origin.worked));
    const ReplayEdge& own = graph_.edges[stretch.edge];
    left.gone = whole && own.lag < kDecides && waited(own.from) &&
                no_longer_waits(built_->origins[own.from].row, asked, cuts);
    if (asked.input) left.input = 0;
  }
  return all;
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
