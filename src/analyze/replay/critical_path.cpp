#include "analyze/replay/critical_path.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "analyze/replay/build_graph.h"
#include "analyze/timeline.h"
#include "core/intervals.h"

namespace gf {

namespace {

const DeviceTimeline* device_of_path(const Context& context) {
  const auto most = std::ranges::max_element(context.devices, {}, &DeviceTimeline::kernel_busy_ns);
  return most == context.devices.end() || most->rows.empty() ? nullptr : &*most;
}

std::vector<Nanos> captured_lags(const ReplayGraph& graph) {
  std::vector<Nanos> lag;
  lag.reserve(graph.edges.size());
  for (const auto& edge : graph.edges) lag.push_back(edge.lag);
  return lag;
}

class PathFinder {
 public:
  PathFinder(const Context& context, const DeviceTimeline& line)
      : context_(context),
        capture_(context.capture),
        built_(build_graph(context, line, collective_rows(context, line))),
        graph_(built_.graph),
        end_(replay(graph_, graph_.duration_ns, captured_lags(graph_))) {
    for (const auto row : line.rows)
      if (const auto call = context.launches[row]; call != kNoRow) launched_.try_emplace(call, row);
  }

  bool empty() const { return graph_.size() == 0; }

  /// Steps of the window: the path begins with the end of the first one's device work.
  void find(CriticalPath& path) {
    const auto& steps = context_.window.all_steps;
    std::vector<std::uint32_t> last(steps.size(), kNone);
    std::uint32_t latest = kNone;
    Nanos first = INT64_MAX;
    for (std::uint32_t node = 0; node < graph_.size(); ++node) {
      if (built_.origins[node].line != kNoRow) continue;
      const Nanos start = graph_.start_ns[node];
      const auto step = step_of(start);
      if (step != kNone) later(last[step], node);
      if (step == kNone && (start < context_.window.start_ns || start >= context_.window.end_ns))
        continue;
      first = std::min(first, start);
      later(latest, node);
    }
    std::erase(last, kNone);
    if (latest == kNone) return;
    path.start_ns = last.size() > 1 ? end_[last.front()] : first;
    path.steps = last.size() > 1 ? static_cast<std::int64_t>(last.size()) - 1 : 0;
    const std::uint32_t from = last.size() > 1 ? last.back() : latest;
    path.length_ns = end_[from] - path.start_ns;
    walk(from, path.start_ns, path.pieces);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// The step of the window in which an activity begins, by number in all_steps: a mark ends before
  /// its kernels do, a step that was found in them ends with them.
  std::uint32_t step_of(Nanos start) const {
    const auto& steps = context_.window.all_steps;
    const auto after = std::ranges::upper_bound(steps, start, {}, &StepInfo::start_ns);
    if (after == steps.begin()) return kNone;
    const StepInfo& step = after[-1];
    const bool marked = context_.window.step_source.starts_with("marks");
    if (!marked && start >= step.start_ns + step.duration_ns) return kNone;
    if (step.start_ns < context_.window.start_ns || step.start_ns >= context_.window.end_ns)
      return kNone;
    return static_cast<std::uint32_t>(after - steps.begin() - 1);
  }
  void later(std::uint32_t& best, std::uint32_t node) const {
    if (best == kNone || end_[node] > end_[best]) best = node;
  }

  /// From a node's end back to `begin`; each instant goes to one piece.
  void walk(std::uint32_t node, Nanos begin, std::vector<CriticalPiece>& pieces) const {
    Nanos until = end_[node];
    while (until > begin) {
      const Nanos start = end_[node] - graph_.duration_ns[node];
      add(pieces, activity_part(node), activity_name(node), activity_row(node), start, begin,
          until);
      if (until <= begin) break;
      const auto edge = binding_edge(node);
      if (edge == kNone) {
        add(pieces, CriticalPart::before, {}, -1, begin, begin, until);
        break;
      }
      const auto from = graph_.edges[edge].from;
      add_wait(pieces, node, graph_.edges[edge].why, end_[from], begin, until);
      node = from;
    }
    std::ranges::reverse(pieces);
  }

  /// The edge that the node waited for longest.
  std::uint32_t binding_edge(std::uint32_t node) const {
    std::uint32_t best = kNone;
    Nanos most = INT64_MIN;
    for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i) {
      const Nanos at = end_[graph_.edges[i].from] + graph_.edges[i].lag;
      if (best != kNone && at <= most) continue;
      best = i;
      most = at;
    }
    return best;
  }

  /// Adds the piece between `start` and `until`, which moves back to `start`.
  static void add(std::vector<CriticalPiece>& pieces, CriticalPart part, std::string name,
                  std::int64_t row, Nanos start, Nanos begin, Nanos& until) {
    start = std::max(start, begin);
    if (start >= until) return;
    pieces.push_back({part, start, until - start, std::move(name), row});
    until = start;
  }

  void add_wait(std::vector<CriticalPiece>& pieces, std::uint32_t node, WaitsFor why, Nanos from,
                Nanos begin, Nanos& until) const {
    switch (why) {
      case WaitsFor::host:
        return add_host(pieces, node, from, begin, until);
      case WaitsFor::launch:
        return add(pieces, CriticalPart::launch, activity_name(node), activity_row(node), from,
                   begin, until);
      case WaitsFor::stream:
        return add(pieces, CriticalPart::gap, activity_name(node), activity_row(node), from, begin,
                   until);
      case WaitsFor::device:
        return add(pieces, CriticalPart::wake_up, call_name(node), host_row(node), from, begin,
                   until);
      case WaitsFor::other_stream:
      case WaitsFor::ranks:
        return add(pieces, CriticalPart::dependency, activity_name(node), activity_row(node), from,
                   begin, until);
    }
  }

  /// The host's way to a point: work, then what recording took of it, then waiting for input, as
  /// far as these are known. Their order within the stretch is not.
  void add_host(std::vector<CriticalPiece>& pieces, std::uint32_t node, Nanos from, Nanos begin,
                Nanos& until) const {
    const auto row = host_row(node);
    const auto name = host_name(node);
    const Nanos whole = until - from;
    const Nanos input = std::clamp<Nanos>(graph_.input_ns[node], 0, std::max<Nanos>(whole, 0));
    const Nanos profiler =
        std::clamp<Nanos>(graph_.profiler_ns[node], 0, std::max<Nanos>(whole - input, 0));
    add(pieces, CriticalPart::host, name, row, from + input + profiler, begin, until);
    add(pieces, CriticalPart::profiler, name, row, from + input, begin, until);
    add(pieces, CriticalPart::input, name, row, from, begin, until);
  }

  CriticalPart activity_part(std::uint32_t node) const {
    const auto row = built_.origins[node].row;
    if (built_.origins[node].line != kNoRow || row == kNoRow) return CriticalPart::host;
    if (graph_.collective[node] != ReplayGraph::kNone) return CriticalPart::communication;
    return capture_.activities.kind[row] == ActivityKind::kernel ? CriticalPart::kernel
                                                                 : CriticalPart::copy;
  }
  std::string activity_name(std::uint32_t node) const {
    const auto row = built_.origins[node].row;
    if (built_.origins[node].line != kNoRow || row == kNoRow) return {};
    return std::string(capture_.text(capture_.activities.name[row]));
  }
  std::int64_t activity_row(std::uint32_t node) const { return host_row(node); }
  std::int64_t host_row(std::uint32_t node) const {
    const auto row = built_.origins[node].row;
    return row == kNoRow ? -1 : static_cast<std::int64_t>(row);
  }
  std::string call_name(std::uint32_t node) const {
    const auto call = built_.origins[node].row;
    if (call == kNoRow) return {};
    return std::string(capture_.text(capture_.api_calls.name[call]));
  }
  std::string host_name(std::uint32_t node) const {
    const auto launched = launched_.find(built_.origins[node].row);
    if (launched == launched_.end()) return call_name(node);
    const auto op = context_.attribution.op[launched->second];
    if (op == kNoRow) return call_name(node);
    return std::string(capture_.text(capture_.host_ops.name[op]));
  }

  const Context& context_;
  const Capture& capture_;
  BuiltGraph built_;
  const ReplayGraph& graph_;
  std::vector<Nanos> end_;
  std::unordered_map<std::uint32_t, std::uint32_t> launched_;  // activity by call
};

/// Sums of the pieces by `key`, most time first.
template <class Key>
std::vector<CriticalSum> sums_by(const CriticalPath& path, Key key) {
  std::map<std::pair<CriticalPart, std::string>, CriticalSum> sums;
  for (const auto& piece : path.pieces) {
    CriticalSum& sum = sums[{piece.part, key(piece)}];
    ++sum.count;
    sum.ns += piece.duration_ns;
  }
  std::vector<CriticalSum> rows;
  for (auto& [name, sum] : sums) {
    sum.part = name.first;
    sum.name = name.second;
    sum.share = static_cast<double>(sum.ns) / static_cast<double>(path.length_ns);
    rows.push_back(std::move(sum));
  }
  std::ranges::stable_sort(rows, std::greater<>(), &CriticalSum::ns);
  return rows;
}

}  // namespace

Result<CriticalPath> critical_path(const Context& context, const Analysis& analysis) {
  const auto nothing = fail("has no device activities: there is no path", context.capture.path);
  const DeviceTimeline* line = device_of_path(context);
  if (!line) return nothing;
  PathFinder finder(context, *line);
  if (finder.empty()) return nothing;
  CriticalPath path;
  path.source = analysis.source;
  path.window = analysis.window;
  path.device = context.capture.devices.id[line->device];
  finder.find(path);
  if (path.pieces.empty()) return nothing;
  path.parts = sums_by(path, [](const CriticalPiece&) { return std::string(); });
  path.names = sums_by(path, [](const CriticalPiece& piece) { return piece.name; });
  return path;
}

}  // namespace gf
