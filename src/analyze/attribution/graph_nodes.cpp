#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/attribution/attribution.h"
#include "analyze/host_nesting.h"
#include "analyze/match/match.h"
#include "analyze/thread_sweep.h"
#include "core/apportion.h"
#include "model/captured_calls.h"
#include "model/check.h"
#include "model/launches.h"

namespace gf {

namespace {

/// An activity that a launch put on the device or into a graph.
struct Node {
  ActivityKind kind = ActivityKind::kernel;
  std::uint32_t name = 0;  // of NodeNames; 0: the source does not say
  std::uint32_t op = kNoRow;
};

/// Launches in their order: into one graph while it was captured, or those of a run.
struct NodeList {
  std::size_t capture = 0;  // number of the capture that has them
  bool ran = false;
  std::vector<Node> nodes;
};

/// Numbers for names, the same in all captures.
class NodeNames {
 public:
  std::uint32_t of(std::string_view name) {
    if (name.empty()) return 0;
    return numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(numbers_.size() + 1))
        .first->second;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

std::optional<ActivityKind> kind_started(const Capture& capture, std::uint32_t call) {
  const ApiKind kind = capture.api_calls.kind[call];
  if (is_captured_launch(capture, call)) return ActivityKind::kernel;
  if (kind == ApiKind::launch) return ActivityKind::kernel;
  if (kind == ApiKind::memcpy) return ActivityKind::memcpy;
  if (kind == ApiKind::memset) return ActivityKind::memset;
  return std::nullopt;
}

/// The host's context at each runtime call: the innermost operation, else the innermost span.
std::vector<std::uint32_t> ops_at(const Capture& capture, const std::vector<std::uint32_t>& calls) {
  const HostThreads host(capture);
  const Names names(capture);
  const auto& api = capture.api_calls;
  std::vector<std::size_t> order(calls.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::pair(api.thread[calls[i]], api.start_ns[calls[i]]);
  });
  std::vector<std::uint32_t> ops(calls.size(), kNoRow);
  std::optional<ThreadSweep> sweep;
  std::uint32_t thread = kNoRow;
  for (const auto i : order) {
    if (api.thread[calls[i]] == kNoRow) continue;
    if (!sweep || thread != api.thread[calls[i]])
      sweep.emplace(capture, host, names, thread = api.thread[calls[i]]);
    const auto state = sweep->at(api.start_ns[calls[i]]);
    ops[i] = state.op != kNoRow ? state.op : state.named;
  }
  return ops;
}

/// The launches of each stretch in which a graph was captured, of what did not run by itself.
std::vector<NodeList> captured_lists(const Capture& capture, std::size_t number,
                                     const std::vector<std::uint32_t>& launches, NodeNames& names) {
  const auto& api = capture.api_calls;
  const GraphCaptures captures(capture);
  const auto& stretches = captures.stretches();
  std::vector<NodeList> lists;
  if (stretches.empty()) return lists;
  std::vector<bool> ran(api.size(), false);
  for (const auto call : launches)
    if (call != kNoRow) ran[call] = true;
  std::vector<std::uint32_t> calls;
  for (std::uint32_t call = 0; call < api.size(); ++call)
    if (!ran[call] && kind_started(capture, call) && captures.at(api.start_ns[call]))
      calls.push_back(call);
  std::ranges::stable_sort(calls, {},
                           [&](std::uint32_t call) { return Nanos{api.start_ns[call]}; });
  const auto ops = ops_at(capture, calls);
  std::size_t at = 0;
  for (const auto& stretch : stretches) {
    NodeList list{number, false, {}};
    for (; at < calls.size() && api.start_ns[calls[at]] < stretch.end; ++at)
      list.nodes.push_back({*kind_started(capture, calls[at]),
                            names.of(capture.text(api.kernel[calls[at]])), ops[at]});
    if (!list.nodes.empty()) lists.push_back(std::move(list));
  }
  return lists;
}

/// The kernels that a trace without graphs launched one by one.
NodeList run_list(const Capture& capture, std::size_t number,
                  const std::vector<std::uint32_t>& launches, NodeNames& names) {
  const auto& activities = capture.activities;
  std::vector<std::uint32_t> rows, calls;
  for (std::uint32_t row = 0; row < activities.size(); ++row)
    if (activities.kind[row] == ActivityKind::kernel && launches[row] != kNoRow &&
        capture.api_calls.kind[launches[row]] == ApiKind::launch)
      rows.push_back(row);
  std::ranges::stable_sort(rows, {}, [&](std::uint32_t row) {
    return Nanos{capture.api_calls.start_ns[launches[row]]};
  });
  for (const auto row : rows) calls.push_back(launches[row]);
  const auto ops = ops_at(capture, calls);
  NodeList list{number, true, {}};
  for (std::size_t i = 0; i < rows.size(); ++i)
    list.nodes.push_back(
        {ActivityKind::kernel, names.of(capture.text(activities.name[rows[i]])), ops[i]});
  return list;
}

/// The activities of one launch of a graph, in the order in which its nodes were made.
using GraphRun = std::vector<std::uint32_t>;  // rows of activities

std::vector<GraphRun> graph_runs(const Capture& capture,
                                 const std::vector<std::uint32_t>& launches) {
  const auto& activities = capture.activities;
  std::map<std::uint32_t, GraphRun> by_launch;
  for (std::uint32_t row = 0; row < activities.size(); ++row)
    if (launches[row] != kNoRow && activities.captured_op[row] == kNoRow &&
        capture.api_calls.kind[launches[row]] == ApiKind::graph_launch)
      by_launch[launches[row]].push_back(row);
  std::vector<GraphRun> runs;
  for (auto& [launch, rows] : by_launch) {
    const bool nodes = std::ranges::all_of(
        rows, [&](std::uint32_t row) { return activities.graph_node[row] >= 0; });
    std::ranges::stable_sort(rows, {}, [&](std::uint32_t row) {
      return std::pair(nodes ? std::int64_t{activities.graph_node[row]} : 0,
                       Nanos{activities.start_ns[row]});
    });
    runs.push_back(std::move(rows));
  }
  return runs;
}

/// Position of a list of names in a longer one (Knuth, Morris, Pratt); SIZE_MAX: not there.
std::size_t find_in(std::span<const std::uint32_t> names, std::span<const std::uint32_t> in) {
  std::vector<std::size_t> border(names.size() + 1, 0);
  for (std::size_t i = 1, same = 0; i < names.size(); ++i) {
    while (same > 0 && names[i] != names[same]) same = border[same];
    if (names[i] == names[same]) ++same;
    border[i + 1] = same;
  }
  for (std::size_t i = 0, same = 0; i < in.size(); ++i) {
    while (same > 0 && in[i] != names[same]) same = border[same];
    if (in[i] == names[same]) ++same;
    if (same == names.size()) return i + 1 - names.size();
  }
  return SIZE_MAX;
}

/// The nodes of a list that a graph's run fits, by position. Empty: it does not fit.
using Fit = std::vector<const Node*>;

/// As many kernels as the capture launched, of the names that it tells; copies and sets where their
/// numbers agree too.
Fit fit_captured(std::span<const Node> run, const NodeList& list) {
  Fit fit(run.size(), nullptr);
  for (const auto kind : {ActivityKind::kernel, ActivityKind::memcpy, ActivityKind::memset}) {
    std::vector<std::size_t> wanted;
    std::vector<const Node*> nodes;
    for (std::size_t i = 0; i < run.size(); ++i)
      if (run[i].kind == kind) wanted.push_back(i);
    for (const auto& node : list.nodes)
      if (node.kind == kind) nodes.push_back(&node);
    if (wanted.size() != nodes.size()) {
      if (kind == ActivityKind::kernel) return {};
      continue;
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (kind == ActivityKind::kernel && nodes[i]->name && nodes[i]->name != run[wanted[i]].name)
        return {};
      fit[wanted[i]] = nodes[i];
    }
  }
  return fit;
}

/// The same kernels in the same order, by names that are all known; a tenth may be others.
Fit fit_names(std::span<const Node> run, const NodeList& list) {
  std::vector<std::uint32_t> wanted, names;
  std::vector<const Node*> nodes;
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < run.size(); ++i)
    if (run[i].kind == ActivityKind::kernel) {
      wanted.push_back(run[i].name);
      at.push_back(i);
    }
  for (const auto& node : list.nodes)
    if (node.kind == ActivityKind::kernel) {
      names.push_back(node.name);
      nodes.push_back(&node);
    }
  if (wanted.empty() || std::ranges::count(names, 0u) > 0) return {};
  Fit fit(run.size(), nullptr);
  if (const auto from = find_in(wanted, names); from != SIZE_MAX) {
    for (std::size_t i = 0; i < at.size(); ++i) fit[at[i]] = nodes[from + i];
    return fit;
  }
  constexpr std::size_t kMostCells = 20'000'000;  // of align_exactly's table
  if (wanted.size() * names.size() > kMostCells) return {};
  const auto match = align_exactly(wanted, names);
  std::size_t matched = 0;
  for (std::size_t i = 0; i < at.size(); ++i)
    if (match.partner[i] != SequenceMatch::kNone) {
      fit[at[i]] = nodes[match.partner[i]];
      ++matched;
    }
  if (matched * 10 < at.size() * 9) return {};
  return fit;
}

/// The operators that fit the graphs of a capture; of several captures those on which all agree.
class Fitting {
 public:
  Fitting(std::span<const Capture* const> captures, std::vector<NodeList> lists)
      : captures_(captures), lists_(std::move(lists)) {}

  struct Found {
    const NodeList* list = nullptr;  // nullptr: none fits, or several that differ
    Fit fit;
  };

  const Found& find(const std::vector<Node>& run) {
    std::vector<std::uint32_t> key;
    for (const auto& node : run)
      key.push_back(node.name * 4 + static_cast<std::uint32_t>(node.kind));
    const auto [known, fresh] = known_.try_emplace(std::move(key));
    if (!fresh) return known->second;
    Found& found = known->second;
    for (const bool ran : {false, true})
      for (const auto& way : {fit_captured, fit_names})
        if (!found.list && !(ran && way == fit_captured) && !try_lists(run, ran, way, found))
          return found = {};
    return found;
  }

 private:
  /// False where captures that fit differ; any of several runs will do.
  bool try_lists(const std::vector<Node>& run, bool ran,
                 Fit (*way)(std::span<const Node>, const NodeList&), Found& found) const {
    for (const auto& list : lists_) {
      if (list.ran != ran) continue;
      Fit fit = way(run, list);
      if (fit.empty()) continue;
      if (found.list && !ran && !keep_same(found, list, fit)) return false;
      if (!found.list) found = {&list, std::move(fit)};
    }
    return true;
  }

  /// Keeps the nodes of which both say the same; false: there are none.
  bool keep_same(Found& found, const NodeList& list, const Fit& fit) const {
    const Capture &left = *captures_[found.list->capture], &right = *captures_[list.capture];
    const auto told = [](const Capture& capture, const Node* node) {
      if (!node || node->op == kNoRow) return std::array<std::string_view, 3>{};
      const auto& ops = capture.host_ops;
      return std::array{capture.text(ops.name[node->op]), capture.text(ops.shapes[node->op]),
                        capture.text(ops.values[node->op])};
    };
    bool any = false;
    for (std::size_t i = 0; i < fit.size(); ++i) {
      if (told(left, found.fit[i]) != told(right, fit[i])) found.fit[i] = nullptr;
      any |= found.fit[i] != nullptr;
    }
    return any;
  }

  std::span<const Capture* const> captures_;
  std::vector<NodeList> lists_;
  std::map<std::vector<std::uint32_t>, Found> known_;
};

std::vector<Node> nodes_of(const Capture& capture, const GraphRun& run, NodeNames& names) {
  std::vector<Node> nodes;
  for (const auto row : run)
    nodes.push_back({capture.activities.kind[row],
                     names.of(capture.text(capture.activities.name[row])), kNoRow});
  return nodes;
}

/// The wanted operations of another capture with all around them, as rows of `into` that end before
/// it begins; their rows there by their own. Numbers that link rows of one capture go, or move.
std::unordered_map<std::uint32_t, std::uint32_t> take_over(const Capture& from,
                                                           const std::vector<std::uint32_t>& wanted,
                                                           Capture& into) {
  const HostThreads host(from);
  const Names names(from);
  const HostNesting nesting(from, host, names);
  std::vector<bool> keep(from.host_ops.size(), false);
  for (const auto op : wanted) {
    keep[op] = true;
    for (const auto outer : nesting.path_to(op)) keep[outer] = true;
  }
  Capture few;
  few.join(from);
  few.sample_blocks.clear();
  few.each_table([](auto& table) {
    using Table = std::remove_cvref_t<decltype(table)>;
    if (Table::kId != TableId::threads && Table::kId != TableId::host_ops) table = Table{};
  });
  std::unordered_map<std::uint32_t, std::uint32_t> moved;
  const auto start = static_cast<std::uint32_t>(into.host_ops.size());
  for (std::uint32_t row = 0; row < keep.size(); ++row)
    if (keep[row]) moved.emplace(row, start + static_cast<std::uint32_t>(moved.size()));
  few.host_ops.each_column([&](const ColumnInfo&, auto& column) {
    std::size_t kept = 0;
    for (std::size_t row = 0; row < column.size() && !column.folded(); ++row)
      if (keep[row]) column[kept++] = column[row];
    column.resize(moved.size());
  });
  Nanos last = INT64_MIN, first = INT64_MAX;
  std::int64_t sequences = 0;
  auto& ops = few.host_ops;
  for (std::size_t row = 0; row < ops.size(); ++row)
    last = std::max(last, ops.start_ns[row] + ops.duration_ns[row]);
  for (const Nanos at : into.activities.start_ns) first = std::min(first, at);
  for (const Nanos at : into.host_ops.start_ns) first = std::min(first, at);
  for (const Nanos at : into.api_calls.start_ns) first = std::min(first, at);
  for (const std::int64_t number : into.host_ops.sequence) sequences = std::max(sequences, number);
  for (std::size_t row = 0; row < ops.size(); ++row) {
    const auto start_there = Int128{first} - kNsPerSecond - (Int128{last} - ops.start_ns[row]);
    ops.start_ns[row] = static_cast<Nanos>(std::max<Int128>(start_there, 1 - kFarthestTime));
    ops.external_id[row] = ops.python_id[row] = ops.python_parent[row] = -1;
    ops.program_op[row] = kNoRow;
    if (ops.sequence[row] >= 0) ops.sequence[row] += sequences + 1;
  }
  constexpr std::int64_t kOwnThreads = std::int64_t{1} << 40;
  for (std::size_t thread = 0; thread < few.threads.size(); ++thread)
    few.threads.tid[thread] = kOwnThreads + static_cast<std::int64_t>(into.threads.size() + thread);
  into.join(few);
  return moved;
}

/// Nodes of which a recorder saw the call that made them.
void link_recorded_nodes(Capture& capture) {
  auto& activities = capture.activities;
  using Key = std::pair<std::int64_t, std::int64_t>;  // process, correlation
  std::map<Key, std::vector<std::uint32_t>> nodes;    // rows of activities
  for (std::uint32_t row = 0; row < activities.size(); ++row)
    if (activities.graph_node[row] >= kNodeOfCall && activities.captured_op[row] == kNoRow)
      nodes[{activities.pid[row], activities.graph_node[row] - kNodeOfCall}].push_back(row);
  if (nodes.empty()) return;
  const auto& api = capture.api_calls;
  std::vector<std::uint32_t> calls;
  std::vector<const std::vector<std::uint32_t>*> of_call;
  for (std::uint32_t call = 0; call < api.size(); ++call) {
    if (!kind_started(capture, call) || api.thread[call] >= capture.threads.size()) continue;
    const auto made = nodes.find({capture.threads.pid[api.thread[call]], api.correlation[call]});
    if (made == nodes.end()) continue;
    calls.push_back(call);
    of_call.push_back(&made->second);
  }
  const auto ops = ops_at(capture, calls);
  for (std::size_t i = 0; i < calls.size(); ++i)
    for (const auto row : *of_call[i])
      if (ops[i] != kNoRow) activities.captured_op[row] = ops[i];
}

}  // namespace

void link_captured_nodes(Capture& capture) {
  const auto& kinds = capture.api_calls.kind;
  if (std::ranges::find(kinds, ApiKind::graph_launch) == kinds.end()) return;
  link_recorded_nodes(capture);
  if (GraphCaptures(capture).stretches().empty()) return;
  const auto launches = join_launches(capture);
  const auto runs = graph_runs(capture, launches);
  if (runs.empty()) return;
  NodeNames names;
  auto lists = captured_lists(capture, 0, launches, names);
  if (lists.empty()) return;
  const std::array<const Capture*, 1> captures{&capture};
  Fitting fitting(captures, std::move(lists));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
  for (const auto& run : runs) {
    const auto& found = fitting.find(nodes_of(capture, run, names));
    for (std::size_t i = 0; i < found.fit.size(); ++i)
      if (found.fit[i] && found.fit[i]->op != kNoRow) links.emplace_back(run[i], found.fit[i]->op);
  }
  for (const auto& [row, op] : links) capture.activities.captured_op[row] = op;
}

Result<std::size_t> link_captured_nodes(Capture& replay, std::span<const Capture> others) {
  const auto launches = join_launches(replay);
  const auto runs = graph_runs(replay, launches);
  if (runs.empty()) return 0;
  NodeNames names;
  std::vector<const Capture*> captures;
  std::vector<NodeList> lists;
  for (const auto& other : others) {
    const auto started = join_launches(other);
    auto of_other = captured_lists(other, captures.size(), started, names);
    if (of_other.empty()) of_other.push_back(run_list(other, captures.size(), started, names));
    std::ranges::move(of_other, std::back_inserter(lists));
    captures.push_back(&other);
  }
  std::string sizes;
  for (std::size_t i = 0; i < std::min<std::size_t>(lists.size(), 5); ++i)
    sizes += fmt::format("{}{}", i > 0 ? ", " : "", lists[i].nodes.size());
  Fitting fitting(captures, std::move(lists));
  std::vector<std::tuple<std::uint32_t, std::size_t, std::uint32_t>>
      links;  // activity, capture, op
  std::vector<std::vector<std::uint32_t>> wanted(captures.size());
  for (const auto& run : runs) {
    const auto& found = fitting.find(nodes_of(replay, run, names));
    for (std::size_t i = 0; i < found.fit.size(); ++i) {
      if (!found.fit[i] || found.fit[i]->op == kNoRow) continue;
      links.emplace_back(run[i], found.list->capture, found.fit[i]->op);
      wanted[found.list->capture].push_back(found.fit[i]->op);
    }
  }
  if (links.empty())
    return fail(fmt::format("nothing that its graphs ran (the first: {} launches) is what these "
                            "files launched ({}), or several differ",
                            runs.front().size(), sizes),
                replay.path, -1,
                "give a trace of the same program and sizes while it captures the graph, or "
                "without graphs");
  std::vector<std::unordered_map<std::uint32_t, std::uint32_t>> moved;
  for (std::size_t i = 0; i < captures.size(); ++i)
    moved.push_back(wanted[i].empty() ? std::unordered_map<std::uint32_t, std::uint32_t>{}
                                      : take_over(*captures[i], wanted[i], replay));
  for (const auto& [row, capture, op] : links)
    replay.activities.captured_op[row] = moved[capture].at(op);
  return links.size();
}

}  // namespace gf
