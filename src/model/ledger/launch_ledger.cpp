// Launches and copies: each has its record, once, and a graph runs all its nodes.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/format.h"
#include "core/order.h"
#include "core/strings.h"
#include "model/check.h"
#include "model/launches.h"
#include "model/ledger/laws.h"
#include "model/ledger/ledger.h"
#include "model/ledger/lost_time.h"

namespace gf {

namespace {

/// A recording's window cuts some launches in two.
constexpr std::int64_t kAtWindow = 10;
/// A device that worked until so small a part before the end had not come to the last
/// launches.
constexpr std::int64_t kLastPart = 100;

bool is_launch(ApiKind kind) { return kind == ApiKind::launch || kind == ApiKind::graph_launch; }
/// Sets of no bytes have no record, and nothing says of how many bytes a call was.
bool is_copy(ApiKind kind) { return kind == ApiKind::memcpy; }

class LaunchLedger {
 public:
  LaunchLedger(const Capture& capture, const std::vector<std::uint32_t>& launches, Capture& notes)
      : capture_(capture),
        notes_(notes),
        calls_(capture.api_calls),
        activities_(capture.activities),
        launches_(launches) {}

  void run() {
    runs_.assign(calls_.size(), 0);
    bool joined = false;
    for (std::size_t row = 0; row < launches_.size(); ++row) {
      const auto call = launches_[row];
      if (call == kNoRow) continue;
      joined = true;
      auto& runs = runs_[call];
      runs = static_cast<std::uint8_t>(runs + (runs < kMany));
    }
    if (!joined && !activities_.empty()) return tell_not_joined();
    find_lone();
    find_missing_nodes();
    find_odd_graphs();
    tell_lost();
    tell_copies();
    tell_several();
  }

 private:
  bool noted(QualityCode code) const { return capture_.noted(code) || notes_.noted(code); }

  void tell_not_joined() {
    notes_.note_quality(QualityCode::not_joined,
                        "no kernel or copy says which call launched it: whether some are missing "
                        "or come too late cannot be seen",
                        static_cast<std::int64_t>(activities_.size()));
  }

  /// Launches and copies of the recorded time, and those of them that nothing ran for.
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
      const bool copy = is_copy(calls_.kind[call]);
      if (!copy && !is_launch(calls_.kind[call])) continue;
      const auto* window = member_at(recorded, calls_.start_ns[call]);
      if (!window) continue;
      ++(copy ? copies_ : expected_);
      if (runs_[call] == 0)
        (copy ? lone_copies_ : lone_).push_back(call);
      else if (!copy)
        raise(last_ran_[static_cast<std::size_t>(window - recorded.data())], calls_.start_ns[call]);
    }
    if (lone_.empty() && lone_copies_.empty()) return;
    drop_explained();
    drop_empty_copies();
    excuse_unfinished(recorded);
  }

  static void raise(Nanos& highest, Nanos value) { highest = std::max(highest, value); }
  Nanos end_of_call(std::uint32_t call) const {
    return calls_.start_ns[call] + calls_.duration_ns[call];
  }
  Nanos end_of(std::uint32_t row) const {
    return activities_.start_ns[row] + activities_.duration_ns[row];
  }

  /// Launches into a graph under capture do not run. Of a runtime call and the
  /// call of the driver inside it, one has the record.
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
      return runs_[call] > 0 || graphs.at(calls_.start_ns[call]) ||
             std::binary_search(ran.begin(), ran.end(), calls_.correlation[call]);
    };
    expected_ -= static_cast<std::int64_t>(std::erase_if(lone_, explained));
    copies_ -= static_cast<std::int64_t>(std::erase_if(lone_copies_, explained));
  }

  /// A copy of no bytes has no record, and its call gives the device nothing to do: it returns
  /// sooner than any call of its name that copied. Calls whose records were lost take as long as
  /// the others.
  void drop_empty_copies() {
    if (lone_copies_.empty()) return;
    std::unordered_map<std::uint32_t, Nanos> shortest;  // that copied, by name
    for (std::uint32_t call = 0; call < calls_.size(); ++call) {
      if (!is_copy(calls_.kind[call]) || runs_[call] == 0) continue;
      const auto name = static_cast<std::uint32_t>(calls_.name[call]);
      auto& least = shortest.try_emplace(name, calls_.duration_ns[call]).first->second;
      least = std::min(least, calls_.duration_ns[call]);
    }
    const auto empty = [&](std::uint32_t call) {
      const auto least = shortest.find(static_cast<std::uint32_t>(calls_.name[call]));
      return least != shortest.end() && calls_.duration_ns[call] < least->second;
    };
    copies_ -= static_cast<std::int64_t>(std::erase_if(lone_copies_, empty));
  }

  /// A call inside another one on its thread: what one of them ran, both did.
  void mark_pairs() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t call = 0; call < calls_.size(); ++call)
      if (is_launch(calls_.kind[call]) || is_copy(calls_.kind[call])) order.push_back(call);
    std::sort(order.begin(), order.end(), [&](auto left, auto right) {
      return std::tuple(calls_.thread[left], calls_.start_ns[left], -calls_.duration_ns[left],
                        left) < std::tuple(calls_.thread[right], calls_.start_ns[right],
                                           -calls_.duration_ns[right], right);
    });
    std::uint32_t outer = kNoRow;
    for (const auto call : order) {
      const bool inside = outer != kNoRow && calls_.thread[outer] == calls_.thread[call] &&
                          calls_.duration_ns[outer] > 0 && end_of_call(call) <= end_of_call(outer);
      if (!inside) {
        outer = call;
        continue;
      }
      runs_[outer] = runs_[call] = std::max(runs_[outer], runs_[call]);
    }
  }

  /// Where the device worked until the profile ended, or began what it ran as long after the launch
  /// as the end is away, the last launches had not run yet. A later call that waits for the device
  /// says that they had.
  void excuse_unfinished(const Intervals& recorded) {
    std::vector<Interval> spans(recorded.size(), {INT64_MAX, -INT64_MAX});  // of the calls
    std::vector<Nanos> worked(recorded.size(), -INT64_MAX), delay(recorded.size(), 0),
        waited(recorded.size(), -INT64_MAX);
    const auto window_of = [&](Nanos time) {
      const Interval* window = member_at(recorded, time);
      return window ? static_cast<std::size_t>(window - recorded.data()) : recorded.size();
    };
    OncePerText waits(capture_.strings, waits_for_device);
    for (std::uint32_t call = 0; call < calls_.size(); ++call)
      if (const auto i = window_of(calls_.start_ns[call]); i < recorded.size()) {
        spans[i].start = std::min<Nanos>(spans[i].start, calls_.start_ns[call]);
        raise(spans[i].end, end_of_call(call));
        if (calls_.kind[call] == ApiKind::sync && waits(calls_.name[call]))
          raise(waited[i], calls_.start_ns[call]);
      }
    for (std::uint32_t row = 0; row < activities_.size(); ++row) {
      const auto i = window_of(activities_.start_ns[row]);
      if (i == recorded.size()) continue;
      raise(worked[i], end_of(row));
      if (launches_[row] != kNoRow)
        raise(delay[i], activities_.start_ns[row] - calls_.start_ns[launches_[row]]);
    }
    const auto unfinished = [&](std::uint32_t call) {
      const Nanos at = calls_.start_ns[call];
      const auto i = window_of(at);
      if (i == recorded.size() || at <= last_ran_[i]) return false;
      const Nanos end =
          std::min(recorded[i].end != INT64_MAX ? recorded[i].end : spans[i].end, kFarthestTime);
      return worked[i] >= end - (end - spans[i].start) / kLastPart ||
             (waited[i] <= at && end - at <= delay[i]);
    };
    unfinished_ += static_cast<std::int64_t>(std::erase_if(lone_, unfinished));
    unfinished_copies_ += static_cast<std::int64_t>(std::erase_if(lone_copies_, unfinished));
  }

  /// Activities [first, end) in a row are nodes of graphs that one call launched.
  struct Ran {
    std::uint32_t launch = 0, first = 0, end = 0;
  };

  /// Every launch of a graph runs the same nodes. A graph with a node that runs several times in a
  /// launch has loops, and may leave nodes out.
  void find_missing_nodes() {
    std::vector<Ran> ran;
    for (std::uint32_t row = 0; row < launches_.size(); ++row) {
      if (launches_[row] == kNoRow || activities_.graph_id[row] < 0 ||
          activities_.graph_node[row] < 0)
        continue;
      if (!ran.empty() && ran.back().end == row && ran.back().launch == launches_[row])
        ++ran.back().end;
      else
        ran.push_back({launches_[row], row, row + 1});
    }
    sort_nearly_ordered(ran.begin(), ran.end(), [](const Ran& left, const Ran& right) {
      return std::pair(left.launch, left.first) < std::pair(right.launch, right.first);
    });
    std::unordered_map<std::int64_t, GraphRuns> graphs;
    std::vector<std::pair<std::int64_t, std::int64_t>> once;  // graph and node of one launch
    for (std::size_t at = 0, end = 0; at < ran.size();) {
      std::size_t nodes = 0;
      for (end = at; end < ran.size() && ran[end].launch == ran[at].launch; ++end)
        nodes += ran[end].end - ran[end].first;
      once.clear();
      once.reserve(nodes);
      for (; at < end; ++at)
        for (auto row = ran[at].first; row < ran[at].end; ++row)
          once.emplace_back(activities_.graph_id[row], activities_.graph_node[row]);
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
      if (all > runs.ran)
        lost_time_ =
            std::min(lost_time_ + time_of_missing_nodes(ran, graph, runs.launches), kLongestTotal);
    }
  }

  /// Were each missing run of a node as long as its longest.
  Nanos time_of_missing_nodes(const std::vector<Ran>& ran, std::int64_t graph,
                              std::int64_t launches) const {
    std::unordered_map<std::int64_t, std::pair<std::int64_t, Nanos>> nodes;  // runs, the longest
    for (const auto& [launch, first, end] : ran)
      for (auto row = first; row < end; ++row) {
        if (activities_.graph_id[row] != graph) continue;
        auto& [runs, longest] = nodes[activities_.graph_node[row]];
        ++runs;
        if (activities_.kind[row] == ActivityKind::kernel)
          raise(longest, activities_.duration_ns[row]);
      }
    double time = 0;
    for (const auto& [node, found] : nodes)
      time += static_cast<double>(launches - found.first) * static_cast<double>(found.second);
    return static_cast<Nanos>(std::min(time, static_cast<double>(kLongestTotal)));
  }

  /// The runs of a graph's launches.
  struct GraphRuns {
    std::int64_t launches = 0, ran = 0;
    bool loops = false;               // a launch ran a node twice
    std::vector<std::int64_t> nodes;  // of each launch that differs from the one before it
    std::size_t last = 0;             // where the nodes of the last of those begin

    void add(std::span<const std::pair<std::int64_t, std::int64_t>> nodes_in_order) {
      if (loops) return;  // nothing more is asked of it
      ++launches;
      ran += static_cast<std::int64_t>(nodes_in_order.size());
      const auto number = [](const auto& entry) { return entry.second; };
      loops = std::ranges::adjacent_find(nodes_in_order, {}, number) != nodes_in_order.end();
      if (loops) return;
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
    std::vector<std::uint64_t> names;  // by call, where there are such launches
    for (std::size_t row = 0; row < launches_.size(); ++row) {
      const auto call = launches_[row];
      if (call == kNoRow || calls_.kind[call] != ApiKind::graph_launch ||
          (activities_.graph_id[row] >= 0 && activities_.graph_node[row] >= 0))
        continue;
      const auto name = static_cast<std::uint64_t>(activities_.name[row]) + 1;
      if (names.empty()) names.assign(calls_.size(), 0);
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
    if (noted(QualityCode::no_kernel)) return;  // a recorder knows more of what it lost
    const auto lost = static_cast<std::int64_t>(lone_.size()) + missing_nodes_;
    Breach breach{.count = lost + unfinished_,
                  .of = expected_,
                  .excused = unfinished_ + kAtWindow * windows_};
    if (lost > 0) {
      Nanos kernels = 0;
      for (std::size_t row = 0; row < activities_.size(); ++row)
        if (activities_.kind[row] == ActivityKind::kernel) kernels += activities_.duration_ns[row];
      breach.time = lost_time_ + lost_time(capture_, launches_, lone_);
      // Launches that a window cuts say nothing about the rest.
      if (windows_ == 0) breach.of_time = std::max<Nanos>(kernels, 1);
    }
    if (beyond_bound(Law::launch_has_kernel, breach))
      tell(notes_, Law::launch_has_kernel, breach,
           fmt::format("{} of {} launches have no kernel in the capture: kernels were lost, for up "
                       "to {}, and their time shows as idle",
                       format_count(breach.count), format_count(expected_), say_time(breach.time)));
    else if (breach.count > 0)
      tell(notes_, Law::launch_has_kernel, breach,
           fmt::format("{} of {} launches have no kernel in the capture, {} of them as it ends "
                       "before they ran",
                       format_count(breach.count), format_count(expected_),
                       format_count(unfinished_)));
    else if (odd_graphs_ > 0)
      notes_.note_quality(
          QualityCode::few_without_kernel,
          fmt::format("{} launches of graphs ran other kernels than all other launches: their "
                      "graphs differ, or kernels were lost",
                      format_count(odd_graphs_)),
          odd_graphs_);
  }

  void tell_copies() {
    const auto lost = static_cast<std::int64_t>(lone_copies_.size());
    if (lost + unfinished_copies_ == 0) return;
    tell(notes_, Law::copy_has_record,
         {.count = lost + unfinished_copies_,
          .of = copies_,
          .excused = unfinished_copies_ + kAtWindow * windows_},
         fmt::format("{} of {} calls that copy memory have no record in the capture, {} of them as "
                     "it ends before they ran",
                     format_count(lost + unfinished_copies_), format_count(copies_),
                     format_count(unfinished_copies_)));
  }

  /// A launch of a kernel that has several, which are not equal records (check_streams).
  void tell_several() {
    std::int64_t several = 0, all = 0;
    for (std::size_t call = 0; call < calls_.size(); ++call) {
      if (calls_.kind[call] != ApiKind::launch || runs_[call] == 0) continue;
      ++all;
      several += runs_[call] > 1;
    }
    if (several == 0) return;
    if (noted(QualityCode::repeated_kernel) || noted(QualityCode::few_repeated)) return;
    tell(notes_, Law::kernel_has_one_launch,
         {.count = several, .of = all, .time = time_of_several()},
         fmt::format("{} of {} launches of one kernel have several: kernels are in the capture "
                     "twice, or numbers of launches are wrong",
                     format_count(several), format_count(all)));
  }

  /// At least the shortest of its kernels ran for each such launch.
  Nanos time_of_several() const {
    struct Kernels {
      Nanos time = 0, shortest = INT64_MAX;
    };
    std::unordered_map<std::uint32_t, Kernels> of_launch;
    for (std::uint32_t row = 0; row < launches_.size(); ++row) {
      const auto call = launches_[row];
      if (call == kNoRow || runs_[call] < 2 || calls_.kind[call] != ApiKind::launch ||
          activities_.kind[row] != ActivityKind::kernel)
        continue;
      auto& kernels = of_launch[call];
      kernels.time = std::min(kernels.time + activities_.duration_ns[row], kLongestTotal);
      kernels.shortest = std::min<Nanos>(kernels.shortest, activities_.duration_ns[row]);
    }
    Nanos time = 0;
    for (const auto& [call, kernels] : of_launch)
      time = std::min(time + kernels.time - kernels.shortest, kLongestTotal);
    return time;
  }

  static constexpr std::uint8_t kMany = 255;
  const Capture& capture_;
  Capture& notes_;
  const api_calls_table& calls_;
  const activities_table& activities_;
  const std::vector<std::uint32_t>& launches_;
  std::vector<std::uint8_t> runs_;                 // by row of api_calls: activities it started
  std::vector<std::uint32_t> lone_, lone_copies_;  // calls that started nothing
  std::vector<Nanos> last_ran_;                    // by recorded span: its last launch that ran
  std::int64_t expected_ = 0, missing_nodes_ = 0, odd_graphs_ = 0, unfinished_ = 0, windows_ = 0;
  std::int64_t copies_ = 0, unfinished_copies_ = 0;
  Nanos lost_time_ = 0;  // of missing nodes
};

}  // namespace

void check_launches(const Capture& capture, const std::vector<std::uint32_t>& launches,
                    Capture& notes) {
  if (!capture.api_calls.empty())
    LaunchLedger(capture, launches, notes).run();
  else if (!capture.activities.empty())
    notes.note_quality(QualityCode::not_joined,
                       "the capture holds no calls of the GPU's runtime: whether kernels are "
                       "missing or come too late cannot be seen",
                       static_cast<std::int64_t>(capture.activities.size()));
}

}  // namespace gf
