// The runs of a captured program: what a change makes of each node and edge, worked out as the runs
// come to it, so that nothing of a graph's size is written.
#include <algorithm>
#include <array>
#include <limits>

#include "analyze/findings/facts.h"
#include "analyze/replay/program.h"
#include "core/assert.h"
#include "core/strings.h"

namespace gf {

namespace {

constexpr double kOfCompiling = 0.3;  // of the time of compilers, at most
// A host's work between a value that it reads and its next launch: at best the device can do it.
constexpr Nanos kDecides = 5 * kNsPerMs;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// The host's own time before one of its points, as captured.
struct Stretch {
  double own, recorded;  // without input; what recording took of it, about
  Nanos length, one_off, input;
};

/// By line, of the time in which its threads compile.
using OneOff = std::vector<CoveredInOrder>;

Stretch stretch_of(const BuiltGraph& built, std::uint32_t node, const ReplayEdge& edge,
                   OneOff& one_off) {
  const NodeOrigin& origin = built.origins[node];
  const Nanos length = origin.worked.length(), input = built.graph.input_ns[node];
  return {.own = static_cast<double>(edge.lag - input),
          .recorded = static_cast<double>(built.graph.profiler_ns[node]),
          .length = length,
          .one_off = length > 0 ? one_off[origin.line](origin.worked) : 0,
          .input = input};
}

OneOff one_off_of(const HostCutter& cutter, std::size_t lines) {
  OneOff all;
  for (std::size_t line = 0; line < lines; ++line) all.emplace_back(cutter.one_off(line));
  return all;
}

/// The rest of a stretch under a change, before recording.
struct Left {
  double kept = 1;         // share that is not cut
  double most = kNoLimit;  // that a graph leaves
  Nanos input;
  bool gone = false;  // with what led there, or in a jitted function
  bool operator==(const Left&) const = default;
};

/// The factors of what recording usually takes, in all runs.
constexpr std::array<double, 4> kRecordings{0, kUsual, kCheap, kDear};
std::size_t column_of(double recording) {
  const auto found = std::ranges::find(kRecordings, recording);
  GF_ASSERT(found != kRecordings.end());
  return static_cast<std::size_t>(found - kRecordings.begin());
}

/// As the usual changes ask for.
constexpr std::array<std::size_t, 4> kRunsAtOnce{1, 3, 5, 6};

/// The lag of a stretch by what recording takes, on a host that is so many times as fast.
Nanos lag_of(const Stretch& stretch, const Left& left, double recording, double faster) {
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

}  // namespace

Program::Asked::Asked(const WhatIfChanges& changes)
    : sync(asks(changes, Without::sync)),
      copies(asks(changes, Without::copies)),
      allocations(asks(changes, Without::allocations)),
      communication(asks(changes, Without::communication)),
      input(asks(changes, Without::input)) {}

/// The graph with a change, for runs with these outlooks. Nodes are asked for in order, those of a
/// run or of anything(); rewind() begins again.
class Program::Changed {
 public:
  Changed(const Program& program, const WhatIfChanges& changes, std::span<const Outlook> runs,
          std::span<const MendedNode> mended)
      : program_(program),
        graph_(program.graph_),
        changes_(changes),
        asked_(changes),
        runs_(runs.begin(), runs.end()),
        own_lags_(program.own_lags_.data()),
        origins_(program.built_->origins.data()),
        removed_(program.cutter_.removed_by(changes)),
        mended_(mended),
        all_stretches_(changes.graph || changes.host != 1 || changes_host(runs)) {
    runs_.resize(*std::ranges::lower_bound(kRunsAtOnce, runs.size()), runs.back());
    const auto host_mended = program.host_mended_by(changes);
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      const Outlook& own = runs_[run];
      columns_[run] = column_of(own.recording);
      if (run == 0 || !own.cuts_as(runs_[run - 1]))
        cuts_.push_back(
            {program.cutter_.cuts_of(changes, own, host_mended), run, run, false, own.whole, {}});
      cuts_.back().last = run + 1;
      cuts_.back().of_devices |= changes_devices(cuts_.back().cuts, own);
    }
    any_gone_.resize(program.built_->lines.size());
    for (const Cuts& part : cuts_) {
      of_devices_ |= part.of_devices;
      whole_ |= part.whole;
      for (std::size_t line = 0; line < any_gone_.size(); ++line) {
        cuts_any_ |= !part.cuts.lines[line].empty();
        any_gone_[line] = unite(any_gone_[line], part.cuts.lines[line]);
      }
    }
    rewind();
  }

  /// One of kRunsAtOnce: the last one is repeated.
  std::size_t runs() const { return runs_.size(); }

  void rewind() {
    next_mended_ = next_stretch_ = 0;
    one_off_ = one_off_of(program_.cutter_, program_.built_->lines.size());
    gone_.clear();
    for (const Intervals& gone : any_gone_) gone_.emplace_back(gone);
    for (Cuts& part : cuts_) {
      part.lines.clear();
      for (const Intervals& gone : part.cuts.lines)
        part.lines.push_back({CoveredInOrder(gone), CoveredInOrder(part.cuts.claimed),
                              CoveredInOrder(part.cuts.stays)});
    }
  }

  /// True if any of the runs differs from one without changes.
  bool anything() {
    if (!mended_.empty() || all_stretches_) return true;
    const bool of_host = cuts_any_ || asked_.input || asked_.sync || asked_.copies ||
                         asked_.allocations || !changes_.operators.empty();
    for (std::uint32_t node = 0; node < graph_.size() && of_host; ++node)
      for (auto edge = graph_.first_edge[node]; edge < graph_.first_edge[node + 1]; ++edge)
        if (changes_edge(node, graph_.edges[edge])) return true;
    return std::ranges::any_of(
        cuts_, [&](const Cuts& part) { return part.of_devices && changes_durations(part); });
  }

  /// As replay_runs() asks.
  template <std::size_t kRuns>
  [[gnu::always_inline]] void wait(std::uint32_t node, std::uint32_t edge,
                                   const std::array<Nanos, kRuns>& ends,
                                   std::array<Nanos, kRuns>& times) {
    const auto after = [&](auto&& lag_of_run) {
      each_run<kRuns>([&](std::size_t run) {
        const Nanos time = ends[run] + lag_of_run(run);
        times[run] = time > times[run] ? time : times[run];
      });
    };
    const ReplayEdge& own = graph_.edges[edge];
    if (own.why == WaitsFor::host) {
      const OwnLags& as_it_is = own_lags_[next_stretch_++];
      if (as_it_is[0] != kLong && !may_change(node, own))
        return after([&](std::size_t run) { return as_it_is[columns_[run]]; });
      const auto lags = stretch_lags<kRuns>(node, own);
      return after([&](std::size_t run) { return lags[run]; });
    }
    if (own.why == WaitsFor::device) {
      const auto lags = waiting_lags<kRuns>(node, own.lag);
      return after([&](std::size_t run) { return lags[run]; });
    }
    const Nanos lag = own.why == WaitsFor::stream ? stream_lag(node, own.lag) : own.lag;
    after([&](std::size_t) { return lag; });
  }

  template <std::size_t kRuns>
  [[gnu::always_inline]] void work(std::uint32_t node, std::array<Nanos, kRuns>& times) {
    const Nanos captured = graph_.duration_ns[node];
    const MendedTime* mended = mended_at(node);
    if (!mended && !of_devices_) {
      each_run<kRuns>([&](std::size_t run) { times[run] += captured; });
    } else if (!program_.is_host(node)) {
      const auto lengths = durations<kRuns>(node, mended);
      each_run<kRuns>([&](std::size_t run) { times[run] += lengths[run]; });
    }
  }

 private:
  struct OfLine {  // whose stretches come in order of time
    CoveredInOrder gone, claimed, stays;
  };
  /// The cuts of runs that follow each other.
  struct Cuts {
    HostCuts cuts;
    std::size_t first, last;  // of the runs
    bool of_devices;          // some activities take another time, beside what is mended
    bool whole;
    std::vector<OfLine> lines;
  };

  static bool changes_host(std::span<const Outlook> runs) {
    return std::ranges::any_of(runs, [](const Outlook& run) { return run.host != 1; });
  }

  bool changes_devices(const HostCuts& cuts, const Outlook& run) const {
    return !removed_.empty() || cuts.reads || asked_.copies || asked_.communication ||
           !cuts.copying.empty() || changes_.batch != 1 || !changes_.kernels.empty() ||
           changes_.gpu * run.gpu != 1;
  }

  bool changes_durations(const Cuts& part) const {
    for (std::uint32_t node = 0; node < graph_.size(); ++node)
      for (std::size_t run = part.first; run < part.last && !program_.is_host(node); ++run)
        if (duration_of(node, changes_.gpu * runs_[run].gpu, part.cuts) != graph_.duration_ns[node])
          return true;
    return false;
  }

  template <std::size_t kRuns>
  [[gnu::noinline]] std::array<Nanos, kRuns> waiting_lags(std::uint32_t node, Nanos lag) const {
    std::array<Nanos, kRuns> lags{};
    for (const Cuts& part : cuts_) {
      const bool gone = is_gone(node, part);
      for (std::size_t run = part.first; run < part.last; ++run) lags[run] = gone ? kNoWait : lag;
    }
    return lags;
  }

  template <std::size_t kRuns>
  [[gnu::noinline]] std::array<Nanos, kRuns> stretch_lags(std::uint32_t node,
                                                          const ReplayEdge& edge) {
    std::array<Nanos, kRuns> lags{};
    const Stretch stretch = stretch_of(*program_.built_, node, edge, one_off_);
    for (Cuts& part : cuts_) {
      const Left left = left_of(node, edge, part);
      for (std::size_t run = part.first; run < part.last; ++run)
        lags[run] = lag_of(stretch, left, runs_[run].recording, changes_.host * runs_[run].host);
    }
    return lags;
  }

  template <std::size_t kRuns>
  [[gnu::noinline]] std::array<Nanos, kRuns> durations(std::uint32_t node,
                                                       const MendedTime* mended) const {
    std::array<Nanos, kRuns> times;
    times.fill(graph_.duration_ns[node]);
    for (const Cuts& part : cuts_)
      for (std::size_t run = part.first; run < part.last && part.of_devices; ++run)
        times[run] = run > part.first && runs_[run].gpu == runs_[run - 1].gpu
                         ? times[run - 1]
                         : duration_of(node, changes_.gpu * runs_[run].gpu, part.cuts);
    for (std::size_t run = 0; run < kRuns && mended; ++run)
      times[run] =
          static_cast<Nanos>(static_cast<double>(times[run]) * (mended->*runs_[run].kernels));
    return times;
  }

  /// False where a look tells that a stretch stays as it was.
  bool may_change(std::uint32_t node, const ReplayEdge& edge) {
    if (all_stretches_ || (asked_.input && graph_.input_ns[node] > 0)) return true;
    if (!whole_ && !cuts_any_) return false;
    const NodeOrigin& origin = origins_[node];
    return gone_[origin.line].touches(origin.worked) || (whole_ && ends_wait(edge));
  }

  bool changes_edge(std::uint32_t node, const ReplayEdge& edge) {
    if (edge.why == WaitsFor::host)
      return may_change(node, edge) && std::ranges::any_of(cuts_, [&](Cuts& part) {
               return left_of(node, edge, part) != Left{.input = graph_.input_ns[node]};
             });
    return edge.why == WaitsFor::device &&
           std::ranges::any_of(cuts_, [&](const Cuts& part) { return is_gone(node, part); });
  }

  Left left_of(std::uint32_t node, const ReplayEdge& edge, Cuts& part) {
    if (program_.is_jitted_away(node, changes_)) return {.input = 0, .gone = true};
    const NodeOrigin& origin = origins_[node];
    OfLine& line = part.lines[origin.line];
    const Nanos length = origin.worked.length();
    Left left{.input = graph_.input_ns[node]};
    if (length > 0 && !part.cuts.lines[origin.line].empty()) {
      left.kept = 1 - static_cast<double>(line.gone(origin.worked)) / static_cast<double>(length);
      if (left.input > 0) left.input -= std::min(left.input, line.claimed(origin.worked));
    }
    if (changes_.graph && program_.is_launch(origin.row))
      left.most = length < kLongPause ? 0 : static_cast<double>(line.stays(origin.worked));
    left.gone = part.whole && ends_wait(edge) && no_longer_waits(edge.from, part);
    if (asked_.input) left.input = 0;
    return left;
  }

  /// True where the host decides what to do next by what it waited for.
  bool ends_wait(const ReplayEdge& edge) const {
    return edge.lag < kDecides && program_.waited(edge.from);
  }

  /// From the activity before on its stream.
  Nanos stream_lag(std::uint32_t node, Nanos lag) {
    constexpr Nanos kInGraph = kNsPerUs;  // between two kernels of a CUDA graph
    if (const MendedTime* mended = mended_at(node); mended && mended->gone())
      return std::min<Nanos>(lag, 0);
    return changes_.graph && lag <= kExplained ? std::min(lag, kInGraph) : lag;
  }

  /// The time of an activity, before what is mended.
  Nanos duration_of(std::uint32_t node, double gpu, const HostCuts& cuts) const {
    const auto row = origins_[node].row;
    const auto& activities = program_.capture_.activities;
    double time = static_cast<double>(graph_.duration_ns[node]);
    if (program_.launched_by(row, removed_) ||
        (cuts.reads && program_.launched_by(row, *cuts.reads)))
      return 0;
    if (activities.kind[row] != ActivityKind::kernel) {
      const auto call = program_.context_.launches[row];
      const auto& starts = program_.capture_.api_calls.start_ns;
      const bool gone = asked_.copies || (call != kNoRow && member_at(cuts.copying, starts[call]));
      return gone ? 0 : static_cast<Nanos>(time * changes_.batch);
    }
    if (graph_.collective[node] >= 0) return asked_.communication ? 0 : graph_.duration_ns[node];
    if (!changes_.kernels.empty()) {
      const auto name = program_.capture_.text(activities.name[row]);
      for (const auto& [part, factor] : changes_.kernels)
        if (name.find(part) != std::string_view::npos) time /= factor;
    }
    return static_cast<Nanos>(program_.with_batch(row, time, changes_.batch) / gpu);
  }

  /// True if the point of the host that ended a wait now ends none.
  bool no_longer_waits(std::uint32_t node, const Cuts& part) const {
    return program_.no_longer_waits(origins_[node].row, asked_, part.cuts);
  }
  bool is_gone(std::uint32_t node, const Cuts& part) const {
    return program_.is_jitted_away(node, changes_) || no_longer_waits(node, part);
  }

  const MendedTime* mended_at(std::uint32_t node) {
    while (next_mended_ < mended_.size() && mended_[next_mended_].node < node) ++next_mended_;
    return next_mended_ < mended_.size() && mended_[next_mended_].node == node
               ? &mended_[next_mended_].time
               : nullptr;
  }

  const Program& program_;
  const ReplayGraph& graph_;
  const WhatIfChanges& changes_;
  const Asked asked_;
  std::vector<Outlook> runs_;
  const Program::OwnLags* const own_lags_;
  const NodeOrigin* const origins_;
  std::array<std::size_t, kRunsAtOnce.back()> columns_{};  // of own_lags_, by run
  const std::vector<bool> removed_;
  std::span<const MendedNode> mended_;
  const bool all_stretches_;
  std::vector<Cuts> cuts_;
  // The cuts of all runs together.
  bool of_devices_ = false, whole_ = false, cuts_any_ = false;
  std::vector<Intervals> any_gone_;   // by line
  std::vector<CoveredInOrder> gone_;  // the same in order
  OneOff one_off_;
  std::size_t next_mended_ = 0, next_stretch_ = 0;
};

/// The steps of runs, gathered as their nodes end.
template <std::size_t kRuns>
class Program::StepEnds {
 public:
  using Times = std::array<Nanos, kRuns>;

  explicit StepEnds(const Program& program) : program_(program) {
    begin_.fill(INT64_MAX);
    end_.fill(INT64_MIN);
    last_.assign(program.follow_each_other_ ? program.steps() : 0, end_);
  }

  void start(std::uint32_t node, const Times& starts) {
    if (last_.empty() && !program_.is_host(node))
      each_run<kRuns>([&](std::size_t run) { begin_[run] = std::min(begin_[run], starts[run]); });
  }

  void end(std::uint32_t node, const Times& ends) {
    if (last_.empty()) {
      each_run<kRuns>([&](std::size_t run) { end_[run] = std::max(end_[run], ends[run]); });
      return;
    }
    const auto& begins = program_.step_begins_;
    while (behind_ < begins.size() && node >= begins[behind_]) ++behind_;
    if (behind_ == 0 || behind_ == begins.size() || program_.is_host(node)) return;
    Times& last = last_[behind_ - 1];
    each_run<kRuns>([&](std::size_t run) { last[run] = std::max(last[run], ends[run]); });
  }

  /// The mean from the end of a step's work to that of the next one's, of steps that are not far
  /// from the others; of one step, or of none, all of it.
  Nanos step(std::size_t run) const {
    if (last_.empty()) return end_[run] - begin_[run] + program_.outside_;
    Nanos sum = 0, all = 0, count = 0, pairs = 0, before = INT64_MIN;
    for (std::size_t step = 0; step < last_.size(); ++step) {
      const Nanos last = last_[step][run];
      if (last == INT64_MIN) continue;
      if (before != INT64_MIN) {
        const Nanos length = last - before;
        all += length;
        ++pairs;
        if (program_.counts_[step]) {
          sum += length;
          ++count;
        }
      }
      before = last;
    }
    return count > 0 ? sum / count : all / pairs;
  }

 private:
  const Program& program_;
  std::size_t behind_ = 0;   // begins of steps up to the last node
  std::vector<Times> last_;  // by step; empty where there are not two that work
  Times begin_, end_;
};

Nanos Program::captured() const {
  StepEnds<1> ends(*this);
  for (std::uint32_t node = 0; node < graph_.size(); ++node) {
    ends.start(node, {graph_.start_ns[node]});
    ends.end(node, {graph_.start_ns[node] + graph_.duration_ns[node]});
  }
  return ends.step(0);
}

std::vector<Nanos> Program::steps_with(const WhatIfChanges& changes,
                                       std::span<const Outlook> outlooks) const {
  std::vector<MendedNode> several;
  const auto mended = mended_nodes(changes, several);
  std::vector<Nanos> steps;
  while (!outlooks.empty()) {
    const auto runs = outlooks.first(std::min(outlooks.size(), kRunsAtOnce.back()));
    outlooks = outlooks.subspan(runs.size());
    Changed changed(*this, changes, runs, mended);
    if (changed.anything()) {
      const auto all = run(changed);
      steps.insert(steps.end(), all.begin(), all.begin() + std::ssize(runs));
    } else {
      for (const Outlook& one : runs) steps.push_back(own_steps_[column_of(one.recording)]);
    }
  }
  return steps;
}

std::vector<Nanos> Program::run(Changed& changed) const {
  std::vector<Nanos> steps;
  [&]<std::size_t... kWhich>(std::index_sequence<kWhich...>) {
    ((changed.runs() == kRunsAtOnce[kWhich]
          ? static_cast<void>(steps = run_together<kRunsAtOnce[kWhich]>(changed))
          : void()),
     ...);
  }(std::make_index_sequence<kRunsAtOnce.size()>());
  return steps;
}

template <std::size_t kRuns>
std::vector<Nanos> Program::run_together(Changed& changed) const {
  changed.rewind();
  StepEnds<kRuns> ends(*this);
  using Times = std::array<Nanos, kRuns>;
  replay_runs<kRuns>(
      graph_, places_,
      [&](std::uint32_t node, std::uint32_t edge, const Times& before, Times& times)
          __attribute__((always_inline)) { changed.wait(node, edge, before, times); },
      [&](std::uint32_t node, Times& times) __attribute__((always_inline)) {
        ends.start(node, times);
        changed.work(node, times);
        ends.end(node, times);
      });
  std::vector<Nanos> steps;
  for (std::size_t run = 0; run < kRuns; ++run) steps.push_back(ends.step(run));
  return steps;
}

/// The lags of stretches and the steps without changes, which most of a run with one has, too.
void Program::run_as_it_is() {
  OneOff one_off = one_off_of(cutter_, built_->lines.size());
  own_lags_.reserve(static_cast<std::size_t>(std::ranges::count(host_, 1)));
  const auto fits = [](Nanos lag) { return lag == static_cast<std::int32_t>(lag); };
  for (std::uint32_t node = 0; node < graph_.size(); ++node)
    for (auto i = graph_.first_edge[node]; is_host(node) && i < graph_.first_edge[node + 1]; ++i) {
      const ReplayEdge& edge = graph_.edges[i];
      if (edge.why != WaitsFor::host) continue;
      const Stretch stretch = stretch_of(*built_, node, edge, one_off);
      OwnLags& own = own_lags_.emplace_back();
      bool all_fit = true;
      for (std::size_t column = 0; column < kRecordings.size(); ++column) {
        const Nanos lag = lag_of(stretch, {.input = stretch.input}, kRecordings[column], 1);
        own[column] = static_cast<std::int32_t>(lag);
        all_fit &= fits(lag);
      }
      if (!all_fit) own[0] = kLong;
    }
  std::array<Outlook, kRecordings.size()> outlooks;
  for (std::size_t column = 0; column < kRecordings.size(); ++column)
    outlooks[column].recording = kRecordings[column];
  const WhatIfChanges none;
  Changed changed(*this, none, outlooks, {});
  own_steps_ = run(changed);
}
}  // namespace gf
