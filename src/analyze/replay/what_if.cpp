#include "analyze/replay/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "analyze/findings/facts.h"
#include "analyze/replay/build_graph.h"
#include "analyze/replay/device_work.h"
#include "analyze/replay/host_cuts.h"
#include "analyze/replay/named_changes.h"
#include "analyze/timeline.h"
#include "analyze/work/kernel_work.h"
#include "core/intervals.h"
#include "core/strings.h"
#include "model/chips.h"
#include "model/formats.h"

namespace gf {

namespace {

constexpr double kOfCompiling = 0.3;  // of the time of compilers, at most
// What a host does between a value that it reads and its next launch, at best the device can do.
constexpr Nanos kDecides = 5 * kNsPerMs;
// A device that waits longer for what comes before has another reason, which no capture shows.
constexpr Nanos kExplained = 25 * kNsPerUs;

bool is_linked(const WhatIfChanges& changes) {
  return changes.link != 1 || changes.link_bytes_per_s > 0;
}

bool in_name(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The graph of the device that works most, and what a step of it is.
class Program {
 public:
  Program(const Context& context, const DeviceTimeline& line, Interval span,
          const work::KernelWorks* works)
      : context_(context),
        capture_(context.capture),
        line_(line),
        span_(span),
        works_(works),
        built_(graph_of(context, line, span)),
        graph_(built_.graph),
        cutter_(context, line, span, built_.lines) {
    place_in_steps();
    if (capture_.framework == "jax") find_inside_of_steps();
  }

  std::size_t steps() const { return steps_; }
  /// How many changes can be turned on and off: each one more doubles the runs.
  std::size_t most_switches() const {
    constexpr std::size_t kMostNodes = std::size_t{1} << 23;  // of all runs together
    std::size_t most = kMostSwitches;
    while (most > kFewestSwitches && graph_.size() << most > kMostNodes) --most;
    return most;
  }
  std::int64_t device() const { return capture_.devices.id[line_.device]; }

  Nanos captured() const {
    std::vector<Nanos> ends;
    for (std::size_t node = 0; node < graph_.size(); ++node)
      ends.push_back(graph_.start_ns[node] + graph_.duration_ns[node]);
    return step_of(ends, graph_.duration_ns);
  }

  bool empty() const { return graph_.size() == 0; }
  /// Whether a step is made one by a jit, as JAX's are.
  bool is_jitted() const { return !inside_step_.empty(); }

  /// Works out what `changes` do to kernels; before step_with().
  void prepare(const WhatIfChanges& changes) {
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

  /// Whether a change of kernels alone finds none that it would change: what it gains is not known.
  bool finds_nothing(const WhatIfChanges& changes) const {
    std::string_view name;
    if (!changes.with.empty()) name = name_of(changes.with.front());
    if (changes.gpu_as) name = kExchange;
    if (changes.link_bytes_per_s > 0) name = kLink;
    if (each_of(changes).size() != 1 || name.empty()) return false;
    const InGraph& mended = mendings_.find(name)->second;
    return mended.kernels.empty() && mended.host.empty();
  }

  /// A step with the changes.
  Nanos step_with(const WhatIfChanges& changes, const Outlook& outlook) const {
    return steps_with(changes, {&outlook, 1}).front();
  }

  /// The same for several outlooks; what is cut out of the host's time is worked out once for those
  /// that stand together and cut the same.
  std::vector<Nanos> steps_with(const WhatIfChanges& changes,
                                std::span<const Outlook> outlooks) const {
    const auto mended_time = mended_times(changes);
    const auto mended = host_mended_by(changes);
    std::vector<Nanos> steps;
    std::optional<HostCuts> cuts;
    for (std::size_t i = 0; i < outlooks.size(); ++i) {
      if (!cuts || !outlooks[i].cuts_as(outlooks[i - 1]))
        cuts = cutter_.cuts_of(changes, outlooks[i], mended);
      steps.push_back(step_with(changes, outlooks[i], *cuts, mended_time));
    }
    return steps;
  }

  /// How often the host no longer waits for the device.
  std::size_t waits_gone(const WhatIfChanges& changes) const {
    const HostCuts cuts = cutter_.cuts_of(changes, {}, host_mended_by(changes));
    std::size_t gone = 0;
    for (std::uint32_t node = 0; node < graph_.size(); ++node)
      if (is_host(node) && waited(node))
        gone += no_longer_waits(built_.origins[node].row, changes, cuts);
    return gone;
  }

  /// Share of the time in which the device idles and no edge explains why it had not begun. A graph
  /// begins as its launch ends.
  Share unexplained() const {
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

  /// Share of the time in which the device works.
  double busy() const {
    return share_of(total(clip(line_.busy, window())), window().length()).value_or(0);
  }

  /// Whether a part of a name means anything here.
  bool has_kernel(const std::string& part) const {
    return std::ranges::any_of(line_.rows, [&](auto row) {
      return in_name(capture_.text(capture_.activities.name[row]), part);
    });
  }
  bool has_operator(const std::string& part) const {
    return std::ranges::any_of(capture_.host_ops.name,
                               [&](Text name) { return in_name(capture_.text(name), part); });
  }

 private:
  static constexpr std::string_view kExchange = "exchange", kLink = "link";  // among mendings
  struct InGraph {
    std::vector<std::pair<std::uint32_t, MendedTime>> kernels;  // by node
    HostCutter::OfThreads host;                                 // time that is gone
  };

  static BuiltGraph graph_of(const Context& context, const DeviceTimeline& line, Interval span) {
    // What was launched in it may run as long after it.
    const Interval longer{span.start, span.end == INT64_MAX ? span.end : span.end + span.length()};
    DeviceTimeline part;
    part.device = line.device;
    const auto rows = begin_inside(line.rows, context.capture.activities.start_ns, longer);
    part.rows.assign(rows.begin(), rows.end());
    return build_graph(context, part, collective_rows(context, part), span);
  }

  Interval window() const {
    return {std::max(line_.window.start, span_.start), std::min(line_.window.end, span_.end)};
  }

  void put_in_graph(std::string_view name, Mending mending) {
    InGraph& own = mendings_.try_emplace(std::string(name)).first->second;
    own.host = std::move(mending.host);
    for (std::uint32_t node = 0; node < graph_.size(); ++node)
      if (const auto found = mending.kernels.find(built_.origins[node].row);
          !is_host(node) && found != mending.kernels.end())
        own.kernels.push_back({node, found->second});
  }

  /// As graph_.is_host(), without a look at names.
  bool is_host(std::uint32_t node) const { return built_.origins[node].line != kNoRow; }

  /// The step of each activity is the one in which it began.
  void place_in_steps() {
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

  /// Of a single step what lies before its first activity and behind its last one: nothing moves
  /// it.
  void find_outside() {
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
  void find_inside_of_steps() {
    std::vector<std::uint32_t> step(graph_.size(), 0);
    for (const auto& [node, number] : in_step_) {
      step[node] = number;
      for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i)
        if (graph_.edges[i].why == WaitsFor::launch) step[graph_.edges[i].from] = number;
    }
    inside_step_.resize(graph_.size());
    std::vector<std::uint32_t> last(built_.lines.size(), kNoNode);  // by line
    for (std::uint32_t node = 0; node < graph_.size(); ++node) {
      if (!is_host(node)) continue;
      auto& before = last[built_.origins[node].line];
      if (before != kNoNode) {
        if (waited(node) || built_.origins[node].row == kNoRow) step[node] = step[before];
        inside_step_[node] = step[node] == step[before];
      }
      before = node;
    }
  }

  /// The mean from the end of a step's work to that of the next one's, of steps that are not far
  /// from the others; of one step, or of none, all of it.
  Nanos step_of(const std::vector<Nanos>& ends, const std::vector<Nanos>& duration) const {
    std::vector<Nanos> last(steps_, INT64_MIN);
    for (const auto& [node, step] : in_step_) last[step] = std::max(last[step], ends[node]);
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
        if (!is_host(node)) begin = std::min(begin, ends[node] - duration[node]);
        end = std::max(end, ends[node]);
      }
      return end - begin + outside_;
    }
    return count > 0 ? sum / count : all / pairs;
  }

  Nanos step_with(const WhatIfChanges& changes, const Outlook& outlook, const HostCuts& cuts,
                  const std::vector<MendedTime>& mended_time) const {
    const auto removed = cutter_.removed_by(changes);
    std::vector<Nanos> duration = graph_.duration_ns, lag;
    lag.reserve(graph_.edges.size());
    for (std::uint32_t node = 0; node < graph_.size(); ++node) {
      const bool host = is_host(node);
      const MendedTime mended = mended_time.empty() ? MendedTime{} : mended_time[node];
      if (!host)
        duration[node] =
            static_cast<Nanos>(static_cast<double>(changed_duration(node, changes, cuts, removed)) *
                               (mended.*outlook.kernels));
      for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i)
        lag.push_back(host ? changed_host_lag(node, i, changes, outlook, cuts)
                           : changed_lag(i, changes, mended.gone()));
    }
    return step_of(replay(graph_, duration, lag), duration);
  }

  std::vector<const InGraph*> mended_by(const WhatIfChanges& changes) const {
    std::vector<const InGraph*> all;
    for (const auto what : changes.with) all.push_back(&mendings_.find(name_of(what))->second);
    for (const auto& claim : changes.claims) all.push_back(&mendings_.find(claim.name())->second);
    return all;
  }

  std::vector<const HostCutter::OfThreads*> host_mended_by(const WhatIfChanges& changes) const {
    std::vector<const HostCutter::OfThreads*> mended;
    for (const auto* one : mended_by(changes)) mended.push_back(&one->host);
    return mended;
  }

  /// By node, where something is mended: of several mendings the one that leaves least.
  std::vector<MendedTime> mended_times(const WhatIfChanges& changes) const {
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

  Nanos changed_duration(std::uint32_t node, const WhatIfChanges& changes, const HostCuts& cuts,
                         const std::vector<bool>& removed) const {
    const auto row = built_.origins[node].row;
    const auto& activities = capture_.activities;
    double time = static_cast<double>(graph_.duration_ns[node]);
    if (launched_by(row, removed) || (cuts.reads && launched_by(row, *cuts.reads))) return 0;
    if (activities.kind[row] != ActivityKind::kernel) {
      const auto call = context_.launches[row];
      const bool gone =
          asks(changes, Without::copies) ||
          (call != kNoRow && member_at(cuts.copying, capture_.api_calls.start_ns[call]));
      return gone ? 0 : static_cast<Nanos>(time * changes.batch);
    }
    if (graph_.collective[node] >= 0)
      return asks(changes, Without::communication) ? 0 : graph_.duration_ns[node];
    const auto name = capture_.text(activities.name[row]);
    for (const auto& [part, factor] : changes.kernels)
      if (in_name(name, part)) time /= factor;
    return static_cast<Nanos>(with_batch(row, time, changes.batch) / changes.gpu);
  }

  /// A grid that leaves SMs empty fills them before it takes longer, a launch takes its first
  /// microseconds anyway, and the optimizer's work is that of the parameters.
  double with_batch(std::uint32_t row, double time, double batch) const {
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
  bool launched_by(std::uint32_t row, const std::vector<bool>& operations) const {
    const auto op = context_.attribution.op[row];
    return !operations.empty() && op != kNoRow && operations[op];
  }

  Nanos changed_lag(std::uint32_t edge, const WhatIfChanges& changes, bool gone) const {
    constexpr Nanos kInGraph = kNsPerUs;  // between two kernels of a CUDA graph
    const ReplayEdge& own = graph_.edges[edge];
    if (gone && own.why == WaitsFor::stream) return std::min<Nanos>(own.lag, 0);
    const bool shorter = changes.graph && own.why == WaitsFor::stream && own.lag <= kExplained;
    return shorter ? std::min(own.lag, kInGraph) : own.lag;
  }

  Nanos changed_host_lag(std::uint32_t node, std::uint32_t edge, const WhatIfChanges& changes,
                         const Outlook& outlook, const HostCuts& cuts) const {
    const double recording = outlook.recording;
    const ReplayEdge& own = graph_.edges[edge];
    const NodeOrigin& origin = built_.origins[node];
    const bool jitted = changes.graph && !inside_step_.empty() && inside_step_[node];
    if (own.why == WaitsFor::device)
      return jitted || no_longer_waits(origin.row, changes, cuts) ? kNoWait : own.lag;
    if (own.why != WaitsFor::host) return own.lag;
    if (jitted) return 0;
    Nanos input = graph_.input_ns[node];
    const double whole = static_cast<double>(own.lag - input);
    const double recorded = std::min(recording * static_cast<double>(graph_.profiler_ns[node]),
                                     kMostOfStretch * std::max(whole, 0.0));
    double rest = whole - recorded;
    const Intervals& gone = cuts.lines[origin.line];
    const Nanos length = origin.worked.length();
    if (length > 0 && !gone.empty()) {
      const Nanos cut = covered(gone, origin.worked);
      rest *= 1 - static_cast<double>(cut) / static_cast<double>(length);
      input -= std::min(input, covered(cuts.claimed, origin.worked));
    }
    // What compilers write down while they are recorded is in no event of theirs.
    if (recording == kDear && length > 0 && !cutter_.one_off(origin.line).empty())
      rest -= kOfCompiling * rest *
              static_cast<double>(covered(cutter_.one_off(origin.line), origin.worked)) /
              static_cast<double>(length);
    if (changes.graph && is_launch(origin.row)) {
      const Nanos stays = length < kLongPause ? 0 : covered(cuts.stays, origin.worked);
      rest = std::min(rest, static_cast<double>(stays));
    }
    if (outlook.whole && own.lag < kDecides && waited(own.from) &&
        no_longer_waits(built_.origins[own.from].row, changes, cuts))
      rest = 0;
    return static_cast<Nanos>(rest / changes.host) + (asks(changes, Without::input) ? 0 : input);
  }

  /// Whether a host's point is the end of a call that waits for the device.
  bool waited(std::uint32_t node) const {
    for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i)
      if (graph_.edges[i].why == WaitsFor::device) return true;
    return false;
  }

  /// How long the call lasts that a host's point is.
  Nanos call_of(std::uint32_t node) const {
    const auto call = built_.origins[node].row;
    return call == kNoRow ? 0 : capture_.api_calls.duration_ns[call];
  }

  bool is_launch(std::uint32_t call) const {
    return call != kNoRow && capture_.api_calls.kind[call] == ApiKind::launch;
  }

  bool no_longer_waits(std::uint32_t call, const WhatIfChanges& changes,
                       const HostCuts& cuts) const {
    const auto removed = cuts.removed.find(capture_.api_calls.thread[call]);
    const Nanos start = capture_.api_calls.start_ns[call];
    if (member_at(cuts.claimed, start)) return true;
    const bool gone = removed != cuts.removed.end() && member_at(removed->second, start) != nullptr;
    switch (capture_.api_calls.kind[call]) {
      case ApiKind::sync:
        return asks(changes, Without::sync) || gone || member_at(cuts.copied, start) != nullptr;
      case ApiKind::memcpy:
        return asks(changes, Without::copies) || asks(changes, Without::sync) || gone;
      case ApiKind::alloc:
        return asks(changes, Without::allocations);
      default:
        return false;
    }
  }

  const Context& context_;
  const Capture& capture_;
  const DeviceTimeline& line_;
  const Interval span_;
  const work::KernelWorks* works_;
  std::optional<work::KernelWorks> own_works_;
  std::map<std::string, InGraph, std::less<>> mendings_;  // by name
  BuiltGraph built_;
  const ReplayGraph& graph_;
  HostCutter cutter_;
  std::vector<bool> inside_step_;  // by node, of a host's: what a jitted function has no need of
  std::size_t steps_ = 0;          // 0: none, or one
  Nanos outside_ = 0;              // of one step
  std::vector<bool> counts_;       // by step: it is no start-up and no outlier
  std::vector<std::pair<std::uint32_t, std::uint32_t>> in_step_;  // activities with their steps
};

// What replay itself misses, as half of the mended programs showed and the other half confirmed
// (docs/whatif.md): the odds of a gain are 2.5 times less to 5 times more, where a
// step is jitted 4 times less, and 12 where launches may become fewer in one part instead; of what
// is done in another way 2 times less to 7 times more; an own step 4 %.
struct Odds {
  double low, high;
};
constexpr Odds kOfTime{2.5, 5}, kOfGraph{4, 5}, kOfLaunches{12, 3}, kOfAnotherWay{2, 7};
constexpr double kOwnMissed = 0.04;
// Beside another program, or alone, a host takes 10 % less to 20 % more; a quarter less than under
// a profiler that says nothing of what it takes.
constexpr double kHostLess = 0.1, kHostMore = 0.2, kRecordedHostLess = 0.25;

/// Whether something else comes in the place of what is changed: who changes it may change more.
bool in_another_way(const WhatIfChanges& changes) {
  return changes.gpu_as || is_linked(changes) || !changes.with.empty() ||
         asks(changes, Without::sync) || asks(changes, Without::copies) ||
         asks(changes, Without::allocations) ||
         std::ranges::any_of(changes.claims, [](const FindingClaim& claim) {
           return !claim.time.activities.empty();
         });
}

/// Whether no part of the program takes longer than it did: nor can a step in the long run.
bool only_less(const WhatIfChanges& changes) {
  return std::min({changes.host, changes.gpu, changes.link}) >= 1 && changes.batch <= 1 &&
         !changes.gpu_as && changes.link_bytes_per_s == 0 &&
         std::ranges::all_of(changes.kernels, [](const auto& one) { return one.second >= 1; }) &&
         std::ranges::all_of(changes.claims,
                             [](const auto& claim) { return claim.time.changed.empty(); });
}

double with_odds(double share, double times) {
  if (share <= 0 || share >= 1) return share;
  const double odds = times * share / (1 - share);
  return odds / (1 + odds);
}

/// What a step gains. A step is a mean between ends, of which less time may move the first more
/// than the last: then nothing is gained. A ten-thousandth of a step is the rounding of its mean.
Nanos gained(Nanos own, Nanos step, const WhatIfChanges& changes) {
  constexpr Nanos kRounding = 10'000;
  const Nanos gain = only_less(changes) ? std::max<Nanos>(0, own - step) : own - step;
  return std::abs(gain) * kRounding < own ? 0 : gain;
}

/// Steps of a change, each with the program's own step at the same cost of recording.
struct Outlooks {
  std::vector<Outlook> change;
  std::vector<Nanos> own;
  void add(const Outlook& outlook, Nanos own_step) {
    change.push_back(outlook);
    own.push_back(own_step);
  }
};

/// Those of the change itself, then (from `itself` on) that of who does more than it asks for.
Outlooks outlooks_of(const WhatIfChanges& changes, const WhatIf& answer, std::size_t& itself) {
  Outlooks all;
  all.add({}, answer.own_ns);
  all.add({kCheap}, answer.own_high_ns);
  all.add({kDear}, answer.own_low_ns);
  const bool waits = asks(changes, Without::sync) || asks(changes, Without::copies) ||
                     asks(changes, Without::allocations);
  if (!changes.claims.empty() || in_another_way(changes)) {
    const bool kernels = !waits || !changes.with.empty() || !changes.claims.empty();
    if (kernels) all.add({kUsual, &MendedTime::best}, answer.own_ns);
    all.add({kUsual, &MendedTime::worst}, answer.own_ns);
  }
  itself = all.change.size();
  if (waits || std::ranges::any_of(changes.claims, [](const FindingClaim& claim) {
        return !claim.time.host.empty();
      }))
    all.add({kUsual, &MendedTime::best, true}, answer.own_ns);
  return all;
}

Odds odds_of(const Program& program, const WhatIfChanges& changes) {
  if (in_another_way(changes)) return kOfAnotherWay;
  if (changes.graph) return program.is_jitted() ? kOfGraph : kOfLaunches;
  return kOfTime;
}

WhatIfRow row_of(Program& program, const Named& named, const WhatIf& answer) {
  program.prepare(named.changes);
  std::size_t itself = 0;
  const Outlooks outlooks = outlooks_of(named.changes, answer, itself);
  auto steps = program.steps_with(named.changes, outlooks.change);
  for (auto& step : steps) step = std::llround(static_cast<double>(step) / named.items);
  WhatIfRow row{named.change, named.meaning, steps.front()};
  if (program.finds_nothing(named.changes)) return row;
  row.gain_ns = row.gain_low_ns = row.gain_high_ns =
      gained(answer.own_ns, row.step_ns, named.changes);
  row.step_ns = std::min(row.step_ns, answer.own_ns - row.gain_ns);
  row.share = row.share_low = row.share_high = share_of(row.gain_ns, answer.own_ns);
  for (std::size_t i = 1; i < itself; ++i) {
    const Nanos gain = gained(outlooks.own[i], steps[i], named.changes);
    row.gain_low_ns = std::min(row.gain_low_ns, gain);
    row.gain_high_ns = std::max(row.gain_high_ns, gain);
    row.share_low = std::min(row.share_low, share_of(gain, outlooks.own[i]));
    row.share_high = std::max(row.share_high, share_of(gain, outlooks.own[i]));
  }
  row.mended_low = row.share_low;
  row.mended_high = row.share_high;
  if (itself < steps.size())
    row.mended_high =
        std::max(row.mended_high,
                 share_of(gained(answer.own_ns, steps[itself], named.changes), answer.own_ns));
  const Odds odds = odds_of(program, named.changes);
  auto widen = [](std::optional<double>& share, double times) {
    if (share) share = with_odds(*share, times);
  };
  widen(row.mended_low, 1 / odds.low);
  widen(row.mended_high, odds.high);
  return row;
}

/// All changes in one run: as much as the largest of them at least. That a run ends no later by one
/// more of them holds, but a step is a mean between ends, of which the first may move more.
WhatIfRow together_of(Program& program, const WhatIfChanges& changes, const WhatIf& answer) {
  WhatIfRow all =
      row_of(program, {std::string(WhatIfChanges::kTogether), "all of these", changes}, answer);
  if (std::ranges::any_of(answer.changes, [](const auto& part) { return part.gain_low_ns < 0; }))
    return all;  // one of them takes longer
  for (const auto& part : answer.changes) {
    all.step_ns = std::min(all.step_ns, part.step_ns);
    all.gain_ns = std::max(all.gain_ns, part.gain_ns);
    all.gain_low_ns = std::max(all.gain_low_ns, part.gain_low_ns);
    all.gain_high_ns = std::max(all.gain_high_ns, part.gain_high_ns);
    all.share = std::max(all.share, part.share);
    all.share_low = std::max(all.share_low, part.share_low);
    all.share_high = std::max(all.share_high, part.share_high);
    all.mended_low = std::max(all.mended_low, part.mended_low);
    all.mended_high = std::max(all.mended_high, part.mended_high);
  }
  return all;
}

/// `busy`: share of the captured time in which the device works; the rest of a step is the host's.
void widen_own(WhatIf& answer, double busy, double host_less) {
  const auto own = static_cast<double>(answer.own_ns);
  const double host = std::max(0.0, own - busy * static_cast<double>(answer.captured_ns));
  auto widened = [&](Nanos& bound, double times, double of_host) {
    bound = std::llround(times * static_cast<double>(bound) + of_host * host);
  };
  widened(answer.own_low_ns, 1 - kOwnMissed, -host_less);
  widened(answer.own_high_ns, 1 + kOwnMissed, kHostMore);
  answer.own_low_ns = std::max<Nanos>(answer.own_low_ns, 0);
}

const DeviceTimeline* busiest(const Context& context) {
  const DeviceTimeline* best = nullptr;
  for (const auto& line : context.devices)
    if (!line.rows.empty() && (!best || total(line.kernel_busy) > total(best->kernel_busy)))
      best = &line;
  return best;
}

Status check_names(const Program& program, const WhatIfChanges& changes, const Capture& capture) {
  for (const auto& [part, factor] : changes.kernels)
    if (!program.has_kernel(part))
      return fail(fmt::format("no kernel has {} in its name", part), capture.path);
  for (const auto& part : changes.operators)
    if (!program.has_operator(part))
      return fail(fmt::format("no operator has {} in its name", part), capture.path);
  return {};
}

}  // namespace

void WhatIfChanges::add(const WhatIfChanges& other) {
  without.insert(without.end(), other.without.begin(), other.without.end());
  with.insert(with.end(), other.with.begin(), other.with.end());
  claims.insert(claims.end(), other.claims.begin(), other.claims.end());
  operators.insert(operators.end(), other.operators.begin(), other.operators.end());
  kernels.insert(kernels.end(), other.kernels.begin(), other.kernels.end());
  if (other.gpu_as) gpu_as = other.gpu_as;
  if (other.link_bytes_per_s > 0) link_bytes_per_s = other.link_bytes_per_s;
  graph = graph || other.graph;
  host *= other.host;
  gpu *= other.gpu;
  link *= other.link;
  batch *= other.batch;
  larger_batch *= other.larger_batch;
}

bool WhatIfChanges::empty() const { return each_of(*this).empty() && larger_batch == 1; }

struct ProgramReplay::Parts {
  Parts(const Context& given, const DeviceTimeline& line, Interval span,
        const work::KernelWorks* works)
      : context(given), program(given, line, span, works) {
    if (program.empty()) return;
    own.device = program.device();
    own.steps = static_cast<std::int64_t>(program.steps());
    own.captured_ns = program.captured();
    const std::array<Outlook, 4> outlooks{{{0}, {}, {kDear}, {kCheap}}};
    const auto steps = program.steps_with({}, outlooks);
    own.replayed_ns = steps[0];
    own.own_ns = steps[1];
    own.own_low_ns = steps[2];
    own.own_high_ns = steps[3];
    own.unexplained = program.unexplained();
  }
  const Context& context;
  Program program;
  WhatIf own;  // without changes
};

ProgramReplay::ProgramReplay(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ProgramReplay::ProgramReplay(ProgramReplay&&) noexcept = default;
ProgramReplay::~ProgramReplay() = default;

Result<ProgramReplay> ProgramReplay::of(const Context& context, Interval span,
                                        const work::KernelWorks* works) {
  const DeviceTimeline* line = busiest(context);
  std::unique_ptr<Parts> parts;
  if (line)
    parts = std::make_unique<Parts>(context, *line, span, works ? works : work::works_of(context));
  if (!parts || parts->program.empty())
    return fail("has no device activities to run again", context.capture.path);
  return ProgramReplay(std::move(parts));
}

Result<WhatIf> ProgramReplay::answer(const WhatIfChanges& changes) {
  auto& program = parts_->program;
  const Capture& capture = parts_->context.capture;
  if (auto known = check_names(program, changes, capture); !known)
    return tl::unexpected(known.error());
  WhatIf answer = parts_->own;
  const bool asked = !changes.empty();
  for (const auto& named : asked ? each_of(changes) : usual_changes())
    answer.changes.push_back(row_of(program, named, answer));
  if (asked && answer.changes.size() > 1)
    answer.changes.push_back(together_of(program, changes, answer));
  if (changes.larger_batch != 1)
    answer.changes.push_back(row_of(program, larger(changes.larger_batch), answer));
  if (!asked) std::ranges::stable_sort(answer.changes, std::greater<>(), &WhatIfRow::gain_ns);
  widen_own(answer, program.busy(),
            says(capture.format, kMaySlowHost) ? kRecordedHostLess : kHostLess);
  return answer;
}

double ProgramReplay::share_of(const WhatIfChanges& changes) {
  auto& program = parts_->program;
  const auto& own = parts_->own;
  program.prepare(changes);
  if (own.own_ns <= 0 || program.finds_nothing(changes)) return 0;
  const Nanos step = program.step_with(changes, {});
  return static_cast<double>(gained(own.own_ns, step, changes)) / static_cast<double>(own.own_ns);
}

double ProgramReplay::middle_of(double share, const WhatIfChanges& changes) const {
  const Odds odds = odds_of(parts_->program, changes);
  return with_odds(share, std::sqrt(odds.high / odds.low));
}

bool ProgramReplay::frees_host(const WhatIfChanges& changes) {
  // What only mends kernels ends no wait.
  if (changes.without.empty() && changes.claims.empty() && changes.operators.empty()) return false;
  auto& program = parts_->program;
  program.prepare(changes);
  return program.waits_gone(changes) >= std::max<std::size_t>(program.steps(), 1);
}

Result<WhatIf> what_if(const Context& context, const WhatIfChanges& changes, Interval span,
                       const work::KernelWorks* works) {
  auto program = ProgramReplay::of(context, span, works);
  if (!program) return tl::unexpected(program.error());
  return program->answer(changes);
}

Result<WhatIfSwitches> what_if_switches(const Context& context, const WhatIfChanges& changes,
                                        Interval span) {
  const DeviceTimeline* line = busiest(context);
  if (!line) return fail("has no device activities to run again", context.capture.path);
  Program program(context, *line, span, work::works_of(context));
  if (program.empty()) return fail("has no device activities to run again", context.capture.path);
  program.prepare(changes);
  auto all = each_of(changes);
  all.resize(std::min(all.size(), program.most_switches()));
  WhatIfSwitches answer;
  for (const auto& named : all) answer.switches.push_back({named.change, named.meaning});
  for (std::size_t set = 0; set < std::size_t{1} << all.size(); ++set) {
    WhatIfChanges together;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (set >> i & 1U) together.add(all[i].changes);
    Nanos step = program.step_with(together, {});
    // One change more that only takes less time leaves no more of it.
    if (only_less(together))
      for (std::size_t rest = set; rest != 0; rest &= rest - 1)
        step = std::min(step, answer.step_ns[set ^ (rest & ~(rest - 1))]);
    answer.step_ns.push_back(step);
  }
  answer.own_ns = answer.step_ns.front();
  return answer;
}

}  // namespace gf
