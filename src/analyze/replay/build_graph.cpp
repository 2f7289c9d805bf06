#include "analyze/replay/build_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "analyze/profiler_cost.h"
#include "analyze/replay/device_work.h"
#include "analyze/traits.h"
#include "core/intervals.h"
#include "core/order.h"
#include "core/strings.h"
#include "core/xxh64.h"
#include "model/formats.h"

namespace gf {

namespace {

ReplayWork work_of(const Context& context, const DeviceTimeline& line,
                   const std::vector<std::uint32_t>& collectives, Interval span, NodeNames names) {
  ReplayWork work{context, span, names == NodeNames::given, {}, {}, {}, {}};
  const auto& table = context.capture.activities;
  std::map<std::int64_t, std::int64_t> last;  // place by stream
  std::set<std::uint32_t> threads;
  work.activities.reserve(line.rows.size());
  work.launched.reserve(line.rows.size());
  std::size_t next = 0;
  for (const auto row : line.rows) {
    const auto call = context.launches[row];
    const bool collective = next < collectives.size() && collectives[next] == row;
    const auto number = collective ? static_cast<std::int64_t>(next++) : ReplayGraph::kNone;
    const Nanos begins = call == kNoRow ? table.start_ns[row] : work.call_start(call);
    if (begins < span.start || begins >= span.end) continue;
    const auto place = static_cast<std::uint32_t>(work.activities.size());
    ReplayActivity one;
    one.row = row;
    one.call = call;
    one.collective = number;
    one.start = table.start_ns[row];
    one.end = one.start + table.duration_ns[row];
    const auto [before, first] = last.try_emplace(table.stream[row], -1);
    one.before = std::exchange(before->second, place);
    if (one.call != kNoRow) {
      work.launched.push_back(place);
      threads.insert(context.capture.api_calls.thread[one.call]);
    }
    work.activities.push_back(one);
  }
  threads.erase(kNoRow);
  work.threads.assign(threads.begin(), threads.end());
  const auto key = [&](std::uint32_t place) {
    return std::pair(work.call_start(work.activities[place].call), place);
  };
  sort_nearly_ordered(work.launched.begin(), work.launched.end(),
                      [&](auto left, auto right) { return key(left) < key(right); });
  return work;
}

/// When a thread was in operations or calls.
Intervals busy_of(const ReplayWork& work, std::uint32_t thread) {
  const auto& ops = work.context.capture.host_ops;
  const auto& calls = work.context.capture.api_calls;
  Intervals busy;
  const auto own = work.calls(thread);
  auto call = own.begin();
  for (const auto op : work.ops(thread)) {
    if (ops.kind[op] != HostKind::op) continue;
    for (; call != own.end() && calls.start_ns[*call] < ops.start_ns[op]; ++call)
      extend(busy, span_of(calls, *call));
    extend(busy, span_of(ops, op));
  }
  for (; call != own.end(); ++call) extend(busy, span_of(calls, *call));
  return busy;
}

/// True if the thread that runs Python gives work to others and goes on beside them.
bool gives_work(const Capture& capture) { return says(capture.format, kMaySlowHost); }

/// Threads that hand over to each other, such as a training's forward and backward thread, are one
/// line: what one takes longer the other begins later.
void join_threads(ReplayWork& work) {
  constexpr std::size_t kMostLines = 16;  // looked at for each thread
  constexpr Nanos kRounding = 5 * kNsPerUs, kOneIn = 50;
  if (gives_work(work.context.capture) || work.threads.size() == 1) {
    for (const auto thread : work.threads) work.lines.push_back({thread});
    return;
  }
  std::vector<std::pair<Intervals, std::uint32_t>> threads;
  for (const auto thread : work.threads) threads.push_back({busy_of(work, thread), thread});
  std::ranges::stable_sort(threads, [](const auto& left, const auto& right) {
    return total(left.first) > total(right.first);
  });
  std::vector<Intervals> busy;
  for (const auto& [own, thread] : threads) {
    std::size_t line = 0;
    while (line < busy.size() && line < kMostLines &&
           shared_length(busy[line], own) > total(own) / kOneIn + kRounding)
      ++line;
    if (line >= std::min(busy.size(), kMostLines)) {
      busy.push_back(own);
      work.lines.push_back({thread});
    } else {
      busy[line] = unite(busy[line], own);
      work.lines[line].push_back(thread);
    }
  }
}

/// Ranks compare names, and there are thousands of them: digests do.
std::string digest(std::string_view text) { return fmt::format("{:x}", xxh64(text)); }

/// A number of each call of a range of rows.
class ByCall {
 public:
  explicit ByCall(const ReplayWork& work) {
    std::uint32_t last = 0;
    first_ = kNoRow;
    for (const auto place : work.launched) {
      first_ = std::min(first_, work.activities[place].call);
      last = std::max(last, work.activities[place].call);
    }
    if (first_ != kNoRow) numbers_.assign(last - first_ + 1, kNoNode);
  }
  std::uint32_t& operator[](std::uint32_t call) { return numbers_[call - first_]; }
  std::uint32_t operator[](std::uint32_t call) const { return numbers_[call - first_]; }

 private:
  std::uint32_t first_;
  std::vector<std::uint32_t> numbers_;
};

/// Work that a thread got from the one that runs Python.
struct HandOver {
  Nanos begun = INT64_MIN, idle = 0;  // how long the thread had nothing to do since its last point
  std::uint32_t from = kNoNode, to = kNoNode;
  Nanos lag = 0;
};

/// A point of a line: its begin, a call that launches something begins, one that waited ends, or
/// work is handed over.
struct Point {
  Nanos at = 0;
  std::uint32_t call = kNoRow;  // none: the begin, or a hand-over
  const BlockingCall* waited = nullptr;
  HandOver* given = nullptr;
  HandOver* got = nullptr;
};

/// Recording overhead in a line's time: so much for every event that begins, no more than most of
/// the stretch in which it does; what does not fit is carried on a little.
class ProfilerCost {
 public:
  ProfilerCost(const ReplayWork& work, const std::vector<std::uint32_t>& threads,
               const RecordingCost& cost)
      : capture_(work.context.capture), cost_(cost), is_mark_(capture_.strings, is_step_mark) {
    if (!says(capture_.format, kSlowsHost) && !says(capture_.format, kMaySlowHost)) return;
    for (const auto thread : threads) {
      begin({.rows = work.ops(thread), .calls = false});
      begin({.rows = work.calls(thread), .calls = true});
    }
  }

  /// The overhead in the stretch that ends at `end` and has `length` that can be shorter.
  Nanos until(Nanos end, Nanos length) {
    constexpr Nanos kMostCarried = 30 * kNsPerUs;
    while (!ahead_.empty() && ahead_.front().next < end) {
      std::ranges::pop_heap(ahead_, kLater);
      Run& run = ahead_.back();
      for (; !run.rows.empty() && run.next < end; go_on(run)) owed_ += cost_of(run);
      if (run.rows.empty())
        ahead_.pop_back();
      else
        std::ranges::push_heap(ahead_, kLater);
    }
    const auto most = static_cast<Nanos>(kMostOfStretch * static_cast<double>(length));
    const Nanos taken = std::clamp<Nanos>(owed_, 0, std::max<Nanos>(most, 0));
    owed_ = std::min(owed_ - taken, kMostCarried);
    return taken;
  }

 private:
  /// A thread's operations or calls, the first of which is the next.
  struct Run {
    std::span<const std::uint32_t> rows;
    bool calls = false;
    Nanos next = 0;    // its start
    Nanos marked = 0;  // the end of the last mark of the profiler
  };
  static bool is_step_mark(std::string_view name) { return name.starts_with("ProfilerStep#"); }
  static constexpr auto kLater = [](const Run& left, const Run& right) {
    return left.next > right.next;
  };

  void begin(Run run) {
    if (run.rows.empty()) return;
    run.next = start_of(run);
    ahead_.push_back(run);
    std::ranges::push_heap(ahead_, kLater);
  }
  void go_on(Run& run) {
    run.rows = run.rows.subspan(1);
    if (!run.rows.empty()) run.next = start_of(run);
  }
  Nanos start_of(const Run& run) const {
    const auto row = run.rows.front();
    return run.calls ? capture_.api_calls.start_ns[row] : capture_.host_ops.start_ns[row];
  }

  Nanos cost_of(Run& run) {
    constexpr Nanos kOwn = kNsPerMs;
    const auto row = run.rows.front();
    const auto& calls = capture_.api_calls;
    if (run.calls) return cost_.of_call(calls.kind[row], calls.duration_ns[row]);
    const auto& ops = capture_.host_ops;
    Nanos cost = ops.kind[row] == HostKind::python ? cost_.frame : cost_.event;
    if (!is_mark_(ops.name[row])) return cost;
    // From one mark of the profiler to the next it is at work itself.
    if (run.marked != 0 && run.next > run.marked && run.next - run.marked < kOwn)
      cost += run.next - run.marked;
    run.marked = run.next + ops.duration_ns[row];
    return cost;
  }

  const Capture& capture_;
  const RecordingCost& cost_;
  OncePerText<bool (*)(std::string_view)> is_mark_;
  std::vector<Run> ahead_;  // a heap, the earliest first
  Nanos owed_ = 0;
};

class HostPoints {
 public:
  HostPoints(const ReplayWork& work, const std::vector<BlockingCall>& blocking, GraphDraft& draft,
             std::vector<NodeOrigin>& origins)
      : work_(work),
        blocking_(blocking),
        draft_(draft),
        origins_(origins),
        recording_(recording_cost(work.context, work.span)),
        launch_node_(work.activities.size(), kNoNode),
        first_of_call_(work),
        node_of_call_(work) {
    for (const auto place : work.launched) {
      auto& first = first_of_call_[work.activities[place].call];
      if (first == kNoNode) first = place;
    }
  }

  void run() {
    std::map<std::uint32_t, std::size_t> line_of;
    for (std::size_t line = 0; line < work_.lines.size(); ++line)
      for (const auto thread : work_.lines[line]) line_of[thread] = line;
    std::vector<std::vector<Point>> points(work_.lines.size());
    const auto& threads = work_.context.capture.api_calls.thread;
    for (const auto place : work_.launched) {
      const auto call = work_.activities[place].call;
      const auto line = line_of.find(threads[call]);
      if (first_of_call_[call] == place && line != line_of.end())
        points[line->second].push_back({work_.call_start(call), call, nullptr});
    }
    std::vector<std::size_t> launches;  // by line
    for (const auto& line : points) launches.push_back(line.size());
    for (const auto& one : blocking_)
      points[line_of.at(threads[one.call])].push_back({work_.call_end(one.call), one.call, &one});
    for (std::size_t line = 0; line < points.size(); ++line)
      std::ranges::inplace_merge(points[line],
                                 points[line].begin() + static_cast<std::ptrdiff_t>(launches[line]),
                                 {}, &Point::at);
    find_hand_overs(points);
    for (std::size_t line = 0; line < points.size(); ++line) {
      if (points[line].empty()) continue;
      points[line].insert(points[line].begin(), {begin_near_device(line), kNoRow, nullptr});
      begins_.push_back(static_cast<std::uint32_t>(draft_.size()));
      add_line(line, points[line]);
      points[line] = std::vector<Point>();
    }
    hand_over_lines();
    for (const auto place : work_.launched)
      launch_node_[place] = node_of_call_[work_.activities[place].call];
    for (const auto& one : hand_overs_)
      if (one.from != kNoNode && one.to != kNoNode)
        draft_.add_edge(one.from, one.to, WaitsFor::host, one.lag);
  }

  const std::vector<std::uint32_t>& launch_node() const { return launch_node_; }
  /// Edges from activities, whose nodes must be there.
  void add_waits() {
    for (const auto& [one, node] : waits_)
      draft_.add_edge(work_.activities[one->on].node, node, WaitsFor::device, one->lag);
  }

 private:
  Nanos begin_of(std::size_t line) const {
    const auto& capture = work_.context.capture;
    Nanos begin = INT64_MAX;
    for (const auto thread : work_.lines[line]) {
      const auto ops = work_.ops(thread), calls = work_.calls(thread);
      if (!ops.empty()) begin = std::min(begin, capture.host_ops.start_ns[ops.front()]);
      if (!calls.empty()) begin = std::min(begin, capture.api_calls.start_ns[calls.front()]);
    }
    return begin;
  }
  /// Events outside a recording's window, such as marked steps, are not replayed.
  Nanos begin_near_device(std::size_t line) const {
    constexpr Nanos kLead = kNsPerSecond / 2;
    const Nanos begin = begin_of(line);
    if (work_.activities.empty() || begin >= work_.activities.front().start - kLead) return begin;
    Nanos first = INT64_MAX;
    for (const auto thread : work_.lines[line])
      if (const auto calls = work_.calls(thread); !calls.empty())
        first = std::min(first, work_.call_start(calls.front()));
    return first == INT64_MAX ? begin : first;
  }

  /// A line that begins while others are at work got it from what these did right before.
  void hand_over_lines() {
    constexpr Nanos kOnTheWay = 20 * kNsPerMs;
    std::vector<std::uint32_t> ends(begins_);  // of the lines' nodes, which are in order of time
    ends.push_back(static_cast<std::uint32_t>(draft_.size()));
    for (const auto begin : begins_) {
      const Nanos at = draft_.start(begin);
      std::optional<std::pair<Nanos, std::uint32_t>> last;  // of those before it
      for (std::size_t line = 0; line < begins_.size(); ++line) {
        const auto nodes = std::views::iota(begins_[line], ends[line + 1]);
        const auto later = std::ranges::lower_bound(
            nodes, at, {}, [&](std::uint32_t node) { return draft_.start(node); });
        if (later != nodes.begin())
          last = std::max(last, std::optional(std::pair(draft_.start(*later - 1), *later - 1)));
      }
      if (!last || at - last->first > kOnTheWay) continue;
      origins_[begin].worked = {last->first, at};
      draft_.add_edge(last->second, begin, WaitsFor::host, at - last->first);
    }
  }

  bool runs_python(std::size_t line) const {
    const auto& kinds = work_.context.capture.host_ops.kind;
    return std::ranges::any_of(work_.lines[line], [&](std::uint32_t thread) {
      return std::ranges::any_of(work_.ops(thread),
                                 [&](auto op) { return kinds[op] == HostKind::python; });
    });
  }

  void find_hand_overs(std::vector<std::vector<Point>>& points) {
    if (!gives_work(work_.context.capture)) return;
    std::vector<std::size_t> python;
    for (std::size_t line = 0; line < points.size(); ++line)
      if (runs_python(line)) python.push_back(line);
    if (python.size() != 1) return;
    for (std::size_t line = 0; line < points.size(); ++line)
      if (line != python.front()) hand_over(line, points[line], points[python.front()]);
  }

  /// A task of a line begins after the giver gave it, however long the line had nothing to do.
  void hand_over(std::size_t line, std::vector<Point>& points, std::vector<Point>& giver) {
    constexpr Nanos kIdle = 5 * kNsPerUs;
    Intervals busy;
    for (const auto thread : work_.lines[line]) busy = unite(busy, busy_of(work_, thread));
    auto task = busy.begin();
    Nanos before = INT64_MIN, point_before = INT64_MIN;
    for (Point& point : points) {
      HandOver own;
      for (; task != busy.end() && task->start <= point.at; ++task) {
        const bool first = before == INT64_MIN;
        if (first || task->start - before >= kIdle) {
          own.begun = task->start - 1;  // given before it began: nodes are in order of time
          if (!first) own.idle += task->start - std::max(before, point_before);
        }
        before = task->end;
      }
      point_before = point.at;
      if (own.begun == INT64_MIN) continue;  // the same task as the point before
      point.got = &hand_overs_.emplace_back(own);
      giver.push_back({own.begun, kNoRow, nullptr, point.got});
    }
  }

  void add_line(std::size_t line, std::vector<Point>& points) {
    if (!std::ranges::is_sorted(points, {}, &Point::at))
      std::ranges::stable_sort(points, {}, &Point::at);
    const Intervals input = input_of(line);
    ProfilerCost cost(work_, work_.lines[line], recording_);
    std::uint32_t before = kNoNode, label_before = 0;
    for (const Point& point : points) {
      const std::uint32_t label = label_of(point);
      GraphDraft::Node node{point.at, 0, name_of(label_before, label)};
      NodeOrigin origin{point.call, static_cast<std::uint32_t>(line), {point.at, point.at}};
      Nanos lag = 0;
      if (before != kNoNode) {
        const Nanos since = draft_.start(before);
        const Nanos reached = point.waited && point.waited->waited
                                  ? std::max(work_.call_start(point.call), since)
                                  : point.at;
        lag = reached - since;
        origin.worked = {since, reached};
        if (point.got) {
          origin.worked.start = std::clamp(point.got->begun, since, reached);
          lag = std::max<Nanos>(0, lag - point.got->idle);
          point.got->lag = origin.worked.length();
        }
        node.input = covered(input, origin.worked);
        if (point.waited && point.waited->waited) lag += point.waited->own;
        node.profiler = cost.until(point.at, lag - node.input);
      }
      const auto number = draft_.add(node);
      origins_.push_back(origin);
      if (point.given) point.given->from = number;
      if (point.got) point.got->to = number;
      if (before != kNoNode) draft_.add_edge(before, number, WaitsFor::host, lag);
      if (point.waited)
        waits_.push_back({point.waited, number});
      else if (point.call != kNoRow)
        node_of_call_[point.call] = number;
      before = number;
      label_before = label;
    }
  }

  Intervals input_of(std::size_t line) const {
    Intervals input;
    const auto& ops = work_.context.capture.host_ops;
    for (const auto thread : work_.lines[line])
      for (const auto op : work_.ops(thread))
        if (work_.context.names.host(ops.name[op]) & host_is::input)
          input.push_back(span_of(ops, op));
    return normalised(std::move(input));
  }

  /// The label of a point on every rank: its call, and the operation that launches.
  std::uint32_t label_of(const Point& point) {
    if (point.call == kNoRow || !work_.named) return 0;
    const auto& capture = work_.context.capture;
    Text op{};
    if (!point.waited) {
      const auto row = work_.activities[first_of_call_[point.call]].row;
      if (const auto owner = work_.context.attribution.op[row]; owner != kNoRow)
        op = capture.host_ops.name[owner];
    }
    const auto [at, added] = labels_.try_emplace({capture.api_calls.name[point.call], op},
                                                 static_cast<std::uint32_t>(labels_.size() + 1));
    if (added)
      label_texts_.push_back(digest(fmt::format("{} {}", capture.text(at->first.first),
                                                op == Text{} ? "" : capture.text(op))));
    return at->second;
  }

  std::uint32_t name_of(std::uint32_t before, std::uint32_t label) {
    if (!work_.named) return 0;
    const auto [at, added] = names_.try_emplace({before, label}, 0U);
    if (added)
      at->second = draft_.name(
          fmt::format("{}{} {}", ReplayGraph::kHostMark, text_of(before), text_of(label)));
    return at->second;
  }
  std::string_view text_of(std::uint32_t label) const {
    if (label == 0) return {};
    return label_texts_[label - 1];
  }

  const ReplayWork& work_;
  const std::vector<BlockingCall>& blocking_;
  GraphDraft& draft_;
  std::vector<NodeOrigin>& origins_;
  RecordingCost recording_;
  std::vector<std::uint32_t> begins_;       // nodes, by line
  std::vector<std::uint32_t> launch_node_;  // by place
  ByCall first_of_call_;                    // places
  ByCall node_of_call_;                     // kNoNode: on no line
  std::vector<std::pair<const BlockingCall*, std::uint32_t>> waits_;
  std::deque<HandOver> hand_overs_;
  std::map<std::pair<Text, Text>, std::uint32_t> labels_;  // from 1
  std::vector<std::string> label_texts_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> names_;  // by labels
};

/// The names of activities: a digest of kernel and grid, or of a copy and its size.
class ActivityNames {
 public:
  ActivityNames(const Capture& capture, GraphDraft& draft) : capture_(capture), draft_(draft) {}

  std::uint32_t of(std::uint32_t row) {
    const auto& table = capture_.activities;
    const bool kernel = table.kind[row] == ActivityKind::kernel;
    const auto key = std::tuple(table.name[row], table.grid_x[row], table.grid_y[row],
                                table.grid_z[row], kernel ? 0 : table.bytes[row]);
    const auto [at, added] = names_.try_emplace(key, 0U);
    if (added)
      at->second = draft_.name(
          digest(fmt::format("{} {} {} {} {}", capture_.text(table.name[row]), std::get<1>(key),
                             std::get<2>(key), std::get<3>(key), std::get<4>(key))));
    return at->second;
  }

 private:
  const Capture& capture_;
  GraphDraft& draft_;
  std::map<std::tuple<Text, std::int32_t, std::int32_t, std::int32_t, std::int64_t>, std::uint32_t>
      names_;
};

void add_activities(ReplayWork& work, GraphDraft& draft, std::vector<NodeOrigin>& origins) {
  ActivityNames names(work.context.capture, draft);
  for (auto& one : work.activities) {
    const auto name = work.named ? names.of(one.row) : 0;
    one.node = draft.add({one.start, one.end - one.start, name, one.collective});
    origins.push_back({one.row, kNoRow, {}});
  }
}

/// Nodes and edges, with the origins of nodes; what they are made of is forgotten.
GraphDraft drafted(ReplayWork work, std::vector<NodeOrigin>& origins) {
  GraphDraft draft;
  draft.name(" ");  // of nothing
  const auto blocking = find_blocking_calls(work);
  const std::size_t most =
      work.activities.size() + work.launched.size() + blocking.size() + work.lines.size();
  draft.reserve(most);
  origins.reserve(most);
  HostPoints points(work, blocking, draft, origins);
  points.run();
  add_activities(work, draft, origins);
  points.add_waits();
  add_device_edges(work, points.launch_node(), draft);
  return draft;
}

}  // namespace

BuiltGraph build_graph(const Context& context, const DeviceTimeline& line,
                       const std::vector<std::uint32_t>& collectives, Interval span,
                       NodeNames names) {
  ReplayWork work = work_of(context, line, collectives, span, names);
  join_threads(work);
  BuiltGraph built{{}, {}, work.lines};
  std::vector<NodeOrigin> origins;  // by node of the draft
  GraphDraft draft = drafted(std::move(work), origins);
  const auto order = draft.by_start();
  built.graph = std::move(draft).finish(order);
  built.origins.reserve(order.size());
  for (const auto node : order) built.origins.push_back(origins[node]);
  return built;
}

}  // namespace gf
