#include "model/ledger/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/format.h"
#include "core/order.h"
#include "core/strings.h"
#include "model/launches.h"

namespace gf {

void check_evidence(Capture& capture) {
  if (!capture.activities.empty() || !capture.api_calls.empty()) {
    check_launches(capture, join_launches(capture));
    check_streams(capture);
  }
  check_readings(capture);
}

namespace {

// Programmatic dependent launch lets a kernel begin while the one before it ends: at most 0.7 % of
// the time of all kernels, and never three at once, in the captures of docs/evidence.md.
constexpr std::int64_t kUsualOverlap = 100, kMostOverlap = 50;  // one in so many
constexpr std::int64_t kFewRepeated = 100;
constexpr std::int64_t kOfAll = 200;  // of the time from the first to the last, busy or idle
// How far a kernel launched that way began ahead (CUB's merge sort, cuBLAS): up to 17 us.
constexpr Nanos kLaunchedAhead = 20'000;

class StreamLedger {
 public:
  explicit StreamLedger(Capture& capture) : capture_(capture), rows_(capture.activities) {}

  void run() {
    walk_all();
    if (doubted() && find_launched_ahead()) walk_all();
    tell();
  }

 private:
  using Key = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::int64_t>;

  void walk_all() {
    count_ = repeated_ = overlapping_ = deep_ = odd_ = 0;
    time_ = overlap_ = 0;
    for (auto& [key, stream] : streams()) {
      sort_nearly_ordered(stream.begin(), stream.end(),
                          [&](auto left, auto right) { return rank(left) < rank(right); });
      walk(stream);
    }
  }

  bool doubted() const { return deep_ > 0 || (odd_ > 0 && overlap_ > time_ / kUsualOverlap); }

  /// Kernels that calls with attributes launched, which may let them begin before the last one ends
  /// (cudaLaunchKernelExC, cuLaunchKernelEx): whether there are any.
  bool find_launched_ahead() {
    const auto& calls = capture_.api_calls;
    OncePerText with_attributes(capture_.strings, [](std::string_view name) {
      return name.find("LaunchKernelEx") != std::string_view::npos;
    });
    for (std::size_t row = 0; row < calls.size(); ++row)
      if (calls.correlation[row] >= 0 && with_attributes(calls.name[row]))
        launched_ahead_.insert(calls.correlation[row]);
    return !launched_ahead_.empty();
  }

  bool launched_ahead(std::uint32_t row) const {
    return !launched_ahead_.empty() && launched_ahead_.contains(rows_.correlation[row]);
  }

  std::map<Key, std::vector<std::uint32_t>> streams() const {
    std::map<Key, std::vector<std::uint32_t>> out;
    std::vector<std::uint32_t>* last = nullptr;
    Key last_key;
    for (std::uint32_t row = 0; row < rows_.size(); ++row) {
      if (rows_.stream[row] < 0) continue;
      const Key key{rows_.device[row], rows_.pid[row], rows_.context[row], rows_.stream[row]};
      if (!last || key != last_key) {
        last = &out[key];
        last_key = key;
      }
      last->push_back(row);
    }
    return out;
  }

  std::tuple<Nanos, Nanos, Text, std::int64_t, std::int64_t, std::uint32_t> rank(
      std::uint32_t row) const {
    return {rows_.start_ns[row],    rows_.duration_ns[row], rows_.name[row],
            rows_.correlation[row], rows_.graph_node[row],  row};
  }

  bool same(std::uint32_t left, std::uint32_t right) const {
    return rows_.start_ns[left] == rows_.start_ns[right] &&
           rows_.duration_ns[left] == rows_.duration_ns[right] &&
           rows_.name[left] == rows_.name[right] &&
           rows_.correlation[left] == rows_.correlation[right] &&
           rows_.graph_node[left] == rows_.graph_node[right] && rows_.duration_ns[left] > 0;
  }

  /// Nodes of one launch of a graph may run beside each other and yet be told as of one stream.
  bool of_one_graph(std::uint32_t left, std::uint32_t right) const {
    return rows_.correlation[left] >= 0 && rows_.correlation[left] == rows_.correlation[right];
  }

  void walk(const std::vector<std::uint32_t>& stream) {
    // The activity that ends last so far, and the second of them.
    std::uint32_t last = kNoRow, second = kNoRow;
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const auto row = stream[i];
      if (i > 0 && same(stream[i - 1], row)) {
        ++repeated_;
        continue;
      }
      ++count_;
      begin_ = std::min(begin_, rows_.start_ns[row]);
      end_ = std::max(end_, end(row));
      time_ += rows_.duration_ns[row];
      if (last != kNoRow && rows_.start_ns[row] < end(last) && !of_one_graph(last, row) &&
          !launched_ahead(row)) {
        ++overlapping_;
        overlap_ += std::min(end(last), end(row)) - rows_.start_ns[row];
        if (end(row) < end(last) || end(last) - rows_.start_ns[row] > kLaunchedAhead) ++odd_;
        if (second != kNoRow && rows_.start_ns[row] < end(second) && !of_one_graph(second, row))
          ++deep_;
      }
      if (last == kNoRow || end(row) > end(last)) {
        second = last;
        last = row;
      } else if (second == kNoRow || end(row) > end(second)) {
        second = row;
      }
    }
  }

  Nanos end(std::uint32_t row) const { return rows_.start_ns[row] + rows_.duration_ns[row]; }

  void tell() {
    if (repeated_ > 0) {
      auto code = QualityCode::few_repeated;
      if (repeated_ > count_ / kFewRepeated) code = QualityCode::repeated_kernel;
      capture_.note_quality(code,
                            fmt::format("{} kernels and copies are in the capture twice: the same "
                                        "times, stream, name and launch",
                                        format_count(repeated_)),
                            repeated_);
    }
    if (!doubted()) return;
    auto code = QualityCode::few_overlaps;
    if (overlap_ > time_ / kMostOverlap && overlap_ > (end_ - begin_) / kOfAll)
      code = QualityCode::stream_overlap;
    capture_.note_quality(
        code,
        fmt::format("{} of {} kernels and copies overlap with another one of their stream, for {} "
                    "of {}: a stream runs one at a time, so their times cannot be correct",
                    format_count(overlapping_), format_count(count_), say_time(overlap_),
                    say_time(time_)),
        overlapping_);
  }

  Capture& capture_;
  const activities_table& rows_;
  std::unordered_set<std::int64_t> launched_ahead_;  // correlations
  std::int64_t count_ = 0, repeated_ = 0, overlapping_ = 0, deep_ = 0;
  std::int64_t odd_ = 0;  // overlaps that no launch ahead of the end explains
  Nanos time_ = 0, overlap_ = 0;
  Nanos begin_ = std::numeric_limits<Nanos>::max(), end_ = std::numeric_limits<Nanos>::min();
};

}  // namespace

void check_streams(Capture& capture) { StreamLedger(capture).run(); }

namespace {

/// Healthy captures have no launch without its kernel, but for those that a recording's window cut
/// in two: some each.
constexpr std::int64_t kLossBound = 100;  // one in so many
constexpr std::int64_t kAtWindow = 10;

/// Clocks of host and device are joined to better than this mostly; times of older profilers are
/// whole microseconds. In healthy recordings on H100s the clocks were 17 us apart for a while, or
/// drifted by up to 140 us in a second; systems slew a clock by up to 500 ppm (adjtimex(2)).
constexpr Nanos kClockSlack = 2 * kNsPerUs, kMostApart = 100 * kNsPerUs, kMostDrift = kNsPerMs;
constexpr Nanos kSlewed = 2000;  // of so many

bool is_launch(ApiKind kind) { return kind == ApiKind::launch || kind == ApiKind::graph_launch; }

class LaunchLedger {
 public:
  LaunchLedger(Capture& capture, const std::vector<std::uint32_t>& launches)
      : capture_(capture),
        calls_(capture.api_calls),
        activities_(capture.activities),
        launches_(launches) {}

  void run() {
    ran_.assign(calls_.size(), false);
    bool joined = false;
    for (const auto call : launches_)
      if (call != kNoRow) joined = ran_[call] = true;
    check_order();
    if (!joined && !activities_.empty()) return;  // a source that does not say what launched what
    find_lone();
    find_missing_nodes();
    find_odd_graphs();
    tell_lost();
  }

 private:
  /// No kernel begins before the call that launches it does.
  void check_order() {
    std::int64_t early = 0, wrong = 0, joined = 0;
    Nanos most = 0;
    const Nanos first = calls_.empty() ? 0 : std::ranges::min(calls_.start_ns);
    for (std::size_t row = 0; row < launches_.size(); ++row) {
      if (launches_[row] == kNoRow) continue;
      ++joined;
      const Nanos launch = calls_.start_ns[launches_[row]];
      const Nanos before = launch - activities_.start_ns[row];
      if (before <= kClockSlack) continue;
      ++early;
      if (before > std::min(kMostDrift, kMostApart + (launch - first) / kSlewed)) ++wrong;
      most = std::max(most, before);
    }
    if (early == 0) return;
    auto code = QualityCode::few_before_launch;
    if (wrong > joined / kLossBound) code = QualityCode::kernel_before_launch;
    capture_.note_quality(
        code,
        fmt::format("{} of {} kernels and copies begin before the call that launched them, by up "
                    "to {}: the clocks of host and device disagree, or the times were changed",
                    format_count(early), format_count(joined), say_time(most)),
        early);
  }

  /// Launches of the recorded time, and those of them that nothing ran for.
  void find_lone() {
    const auto& windows = capture_.recording_windows;
    Intervals recorded;
    for (std::size_t i = 0; i < windows.size(); ++i)
      recorded.push_back({windows.start_ns[i], windows.start_ns[i] + windows.duration_ns[i]});
    recorded = normalised(std::move(recorded));
    if (recorded.empty()) recorded.push_back({-INT64_MAX, INT64_MAX});
    windows_ = static_cast<std::int64_t>(windows.size());
    last_ran_.assign(recorded.size(), -INT64_MAX);
    for (std::uint32_t call = 0; call < calls_.size(); ++call) {
      if (!is_launch(calls_.kind[call])) continue;
      const auto* window = member_at(recorded, calls_.start_ns[call]);
      if (!window) continue;
      ++expected_;
      if (!ran_[call])
        lone_.push_back(call);
      else
        raise(last_ran_[static_cast<std::size_t>(window - recorded.data())], calls_.start_ns[call]);
    }
    if (lone_.empty()) return;
    drop_explained();
    excuse_unfinished(recorded);
  }

  static void raise(Nanos& highest, Nanos value) { highest = std::max(highest, value); }

  /// Launches into a graph that is being captured run nothing. Of a call of the runtime and the
  /// call of the driver inside it, one has the kernel.
  void drop_explained() {
    const GraphCaptures graphs(capture_);
    std::vector<std::int64_t> ran;
    for (std::size_t row = 0; row < activities_.size(); ++row)
      if (const auto number = activities_.correlation[row];
          number >= 0 && (ran.empty() || ran.back() != number))
        ran.push_back(number);
    sort_nearly_ordered(ran.begin(), ran.end(), std::less<>());
    mark_pairs();
    const auto explained = [&](std::uint32_t call) {
      return ran_[call] || graphs.at(calls_.start_ns[call]) ||
             std::binary_search(ran.begin(), ran.end(), calls_.correlation[call]);
    };
    expected_ -= static_cast<std::int64_t>(std::erase_if(lone_, explained));
  }

  /// A launch inside another one on its thread: what one of them ran, both did.
  void mark_pairs() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t call = 0; call < calls_.size(); ++call)
      if (is_launch(calls_.kind[call])) order.push_back(call);
    std::sort(order.begin(), order.end(), [&](auto left, auto right) {
      return std::tuple(calls_.thread[left], calls_.start_ns[left], -calls_.duration_ns[left],
                        left) < std::tuple(calls_.thread[right], calls_.start_ns[right],
                                           -calls_.duration_ns[right], right);
    });
    std::uint32_t outer = kNoRow;
    for (const auto call : order) {
      const bool inside = outer != kNoRow && calls_.thread[outer] == calls_.thread[call] &&
                          calls_.duration_ns[outer] > 0 &&
                          calls_.start_ns[call] + calls_.duration_ns[call] <=
                              calls_.start_ns[outer] + calls_.duration_ns[outer];
      if (!inside) {
        outer = call;
        continue;
      }
      const bool either = ran_[outer] || ran_[call];
      ran_[outer] = ran_[call] = either;
    }
  }

  /// Where the device worked until the profile ended, the last launches had not run yet.
  void excuse_unfinished(const Intervals& recorded) {
    std::vector<Interval> spans(recorded.size(), {INT64_MAX, -INT64_MAX});  // of the calls
    std::vector<Nanos> worked(recorded.size(), -INT64_MAX);
    const auto window_of = [&](Nanos time) {
      const Interval* window = member_at(recorded, time);
      return window ? static_cast<std::size_t>(window - recorded.data()) : recorded.size();
    };
    for (std::size_t call = 0; call < calls_.size(); ++call)
      if (const auto i = window_of(calls_.start_ns[call]); i < recorded.size()) {
        spans[i].start = std::min<Nanos>(spans[i].start, calls_.start_ns[call]);
        raise(spans[i].end, calls_.start_ns[call] + calls_.duration_ns[call]);
      }
    for (std::size_t row = 0; row < activities_.size(); ++row)
      if (const auto i = window_of(activities_.start_ns[row]); i < recorded.size())
        raise(worked[i], activities_.start_ns[row] + activities_.duration_ns[row]);
    const auto unfinished = [&](std::uint32_t call) {
      const auto i = window_of(calls_.start_ns[call]);
      if (i == recorded.size() || calls_.start_ns[call] <= last_ran_[i]) return false;
      const Nanos end = recorded[i].end != INT64_MAX ? recorded[i].end : spans[i].end;
      return worked[i] >= end - (end - spans[i].start) / kLossBound;
    };
    unfinished_ += static_cast<std::int64_t>(std::erase_if(lone_, unfinished));
  }

  /// Every launch of a graph runs the same nodes. A graph with a node that runs several times in a
  /// launch has loops, and may leave nodes out.
  void find_missing_nodes() {
    std::vector<std::uint32_t> ran;
    for (std::uint32_t row = 0; row < launches_.size(); ++row)
      if (launches_[row] != kNoRow && activities_.graph_id[row] >= 0 &&
          activities_.graph_node[row] >= 0)
        ran.push_back(row);
    sort_nearly_ordered(ran.begin(), ran.end(), [&](auto left, auto right) {
      return std::pair(launches_[left], left) < std::pair(launches_[right], right);
    });
    std::unordered_map<std::int64_t, GraphRuns> graphs;
    std::vector<std::pair<std::int64_t, std::int64_t>> once;  // graph and node of one launch
    for (std::size_t at = 0; at < ran.size();) {
      const auto launch = launches_[ran[at]];
      once.clear();
      for (; at < ran.size() && launches_[ran[at]] == launch; ++at)
        once.emplace_back(activities_.graph_id[ran[at]], activities_.graph_node[ran[at]]);
      std::sort(once.begin(), once.end());
      for (std::size_t from = 0, to = 0; from < once.size(); from = to) {
        while (to < once.size() && once[to].first == once[from].first) ++to;
        graphs[once[from].first].add(std::span(once).subspan(from, to - from));
      }
    }
    for (auto& [graph, runs] : graphs) {
      if (runs.loops) continue;
      const auto all = runs.launches * runs.distinct_nodes();
      expected_ += all - runs.launches;
      missing_nodes_ += all - runs.ran;
    }
  }

  /// What the launches of a graph ran.
  struct GraphRuns {
    std::int64_t launches = 0, ran = 0;
    bool loops = false;               // a launch ran a node twice
    std::vector<std::int64_t> nodes;  // of each launch that differs from the one before it
    std::size_t last = 0;             // where the nodes of the last of those begin

    void add(std::span<const std::pair<std::int64_t, std::int64_t>> nodes_in_order) {
      ++launches;
      ran += static_cast<std::int64_t>(nodes_in_order.size());
      const auto number = [](const auto& entry) { return entry.second; };
      loops =
          loops || std::ranges::adjacent_find(nodes_in_order, {}, number) != nodes_in_order.end();
      const auto before = std::span(nodes).subspan(last);
      if (std::ranges::equal(before, nodes_in_order, {}, {}, number)) return;
      last = nodes.size();
      for (const auto& entry : nodes_in_order) nodes.push_back(entry.second);
    }
    std::int64_t distinct_nodes() {
      std::sort(nodes.begin(), nodes.end());
      nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
      return static_cast<std::int64_t>(nodes.size());
    }
  };

  /// Where nodes have no numbers, the launches of a graph are told apart by the names of what they
  /// ran, in any order: one that no other launch is like may have lost some of it.
  void find_odd_graphs() {
    std::vector<std::uint64_t> names(calls_.size(), 0);
    for (std::size_t row = 0; row < launches_.size(); ++row) {
      const auto call = launches_[row];
      if (call == kNoRow || calls_.kind[call] != ApiKind::graph_launch ||
          (activities_.graph_id[row] >= 0 && activities_.graph_node[row] >= 0))
        continue;
      const auto name = static_cast<std::uint64_t>(activities_.name[row]) + 1;
      names[call] += name * name * 0x9E3779B97F4A7C15 + name;
    }
    std::erase(names, 0);
    std::sort(names.begin(), names.end());
    if (names.size() < 3) return;
    for (std::size_t i = 0; i < names.size(); ++i)
      odd_graphs_ += (i == 0 || names[i] != names[i - 1]) &&
                     (i + 1 == names.size() || names[i] != names[i + 1]);
  }

  void tell_lost() {
    const auto lost = static_cast<std::int64_t>(lone_.size()) + missing_nodes_;
    const Text known = capture_.strings.find(name_of(QualityCode::no_kernel));
    if (known != Text::none &&
        std::ranges::find(capture_.quality.code, known) != capture_.quality.code.end())
      return;  // a recorder knows more of what it lost
    if (lost > expected_ / kLossBound + kAtWindow * windows_)
      capture_.note_quality(QualityCode::no_kernel,
                            fmt::format("{} of {} launches have no kernel in the capture: kernels "
                                        "were lost, and their time shows as idle",
                                        format_count(lost), format_count(expected_)),
                            lost);
    else if (lost + unfinished_ > 0)
      capture_.note_quality(
          QualityCode::few_without_kernel,
          fmt::format(
              "{} of {} launches have no kernel in the capture, {} of them as it ends before they "
              "ran",
              format_count(lost + unfinished_), format_count(expected_), format_count(unfinished_)),
          lost + unfinished_);
    else if (odd_graphs_ > 0)
      capture_.note_quality(
          QualityCode::few_without_kernel,
          fmt::format("{} launches of graphs ran other kernels than all other launches: their "
                      "graphs differ, or kernels were lost",
                      format_count(odd_graphs_)),
          odd_graphs_);
  }

  Capture& capture_;
  const api_calls_table& calls_;
  const activities_table& activities_;
  const std::vector<std::uint32_t>& launches_;
  std::vector<bool> ran_;            // by row of api_calls: started something
  std::vector<std::uint32_t> lone_;  // launches that started nothing
  std::vector<Nanos> last_ran_;      // by recorded span: its last launch that ran
  std::int64_t expected_ = 0, missing_nodes_ = 0, odd_graphs_ = 0, unfinished_ = 0, windows_ = 0;
};

}  // namespace

void check_launches(Capture& capture, const std::vector<std::uint32_t>& launches) {
  if (!capture.api_calls.empty()) LaunchLedger(capture, launches).run();
}

}  // namespace gf
