// Locates the difference inside the program: operators by shape, the call tree, one culprit.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyze/compare/compare.h"
#include "analyze/compare/likeness.h"
#include "analyze/compare/role_match.h"
#include "analyze/work/sections.h"
#include "analyze/work/work.h"
#include "core/apportion.h"
#include "model/kernel_name.h"

namespace gf {

namespace {

constexpr std::size_t kMostLanes = 8;
constexpr Nanos kColumns = 2000;  // of the picture: what is shorter is joined

/// The step of median length; without steps the window.
Interval typical_step(const Context& context, const DeviceTimeline& line) {
  std::vector<std::pair<Nanos, Nanos>> steps;  // length, start
  for (const auto& step : context.window.steps) steps.emplace_back(step.duration_ns, step.start_ns);
  if (steps.empty()) return line.window;
  const auto half = steps.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
  std::ranges::nth_element(steps, half);
  return {half->second, half->second + half->first};
}

class StripMaker {
 public:
  StripMaker(const Context& context, const Analysis& analysis) : context_(context) {
    for (const auto& kernel : analysis.kernels) type_of_.emplace(kernel.name, kernel.layer_type);
  }

  ComparedStrip make() {
    if (context_.devices.empty()) return {};
    const auto& line = context_.devices.front();
    const Interval step = typical_step(context_, line);
    strip_.ns = step.length();
    const auto& activities = context_.capture.activities;
    for (std::size_t i = 0; i < line.rows.size(); ++i) {
      const Interval span{std::max(line.spans[i].start, step.start),
                          std::min(line.spans[i].end, step.end)};
      if (span.end <= span.start) continue;
      add(activities.stream[line.rows[i]], {span.start - step.start, span.end - step.start},
          name_of_row(line.rows[i]));
    }
    std::vector<std::pair<Nanos, std::int64_t>> longest;
    for (const auto& [stream, lane] : lanes_) {
      Nanos sum = 0;
      for (const Nanos length : lane.length) sum += length;
      longest.emplace_back(-sum, stream);
    }
    std::ranges::sort(longest);
    if (longest.size() > kMostLanes) longest.resize(kMostLanes);
    for (const auto& [sum, stream] : longest) strip_.lanes.push_back(std::move(lanes_[stream]));
    return std::move(strip_);
  }

 private:
  std::int64_t name_of_row(std::uint32_t row) {
    const auto& activities = context_.capture.activities;
    const auto [known, fresh] =
        number_.try_emplace(activities.name[row], static_cast<std::int64_t>(strip_.names.size()));
    if (!fresh) return known->second;
    const std::string name(context_.capture.text(activities.name[row]));
    strip_.names.push_back(short_kernel_name(name));
    const auto type = type_of_.find(name);
    strip_.types.push_back(type == type_of_.end() ? std::string(name_of(LayerType::copy))
                                                  : type->second);
    return known->second;
  }

  void add(std::int64_t stream, Interval span, std::int64_t what) {
    ComparedLane& lane = lanes_[stream];
    if (lane.name.empty()) lane.name = fmt::format("stream {}", stream);
    const Nanos column = std::max<Nanos>(strip_.ns / kColumns, 1);
    if (!lane.start.empty()) {
      const Nanos end = lane.start.back() + lane.length.back();
      const bool small = span.length() < column && longest_of_last_[stream] < column;
      if (small && span.start - end < column) {
        lane.length.back() = std::max(end, span.end) - lane.start.back();
        ++lane.events.back();
        if (span.length() > longest_of_last_[stream]) {
          longest_of_last_[stream] = span.length();
          lane.what.back() = what;
        }
        return;
      }
    }
    lane.start.push_back(span.start);
    lane.length.push_back(span.length());
    lane.what.push_back(what);
    lane.events.push_back(1);
    longest_of_last_[stream] = span.length();
  }

  const Context& context_;
  std::map<std::string, std::string> type_of_;
  std::map<Text, std::int64_t> number_;
  std::map<std::int64_t, ComparedLane> lanes_;
  std::map<std::int64_t, Nanos> longest_of_last_;
  ComparedStrip strip_;
};

/// The table by shape of all runs.
class ShapeRows {
 public:
  ShapeRows(Comparison& comparison, const std::vector<RunDetails>& details)
      : comparison_(comparison), runs_(details.size()) {
    for (std::size_t run = 0; run < runs_; ++run)
      for (const auto& row : details[run].operators) add(run, row);
    for (std::size_t run = 0; run < runs_; ++run) scale(run);
    for (auto& row : rows_) row.shape.change_ns = changes_of(row.shape.ns);
    std::ranges::stable_sort(rows_, std::greater{}, [](const Row& row) {
      return std::pair(largest(row.shape.change_ns), largest(row.shape.ns));
    });
  }

  std::vector<ComparedShape> shapes() const {
    std::vector<ComparedShape> shapes;
    for (const auto& row : rows_) shapes.push_back(row.shape);
    return shapes;
  }

 private:
  struct Row {
    ComparedShape shape;
    std::vector<Nanos> longest;  // of one table's row, by run
    std::vector<double> whole;   // ns of the window
  };
  using Key = std::tuple<std::string, TrainingPhase, std::string, std::string>;

  Row& row_of(const OperatorWork& row) {
    const auto [at, fresh] =
        index_.try_emplace(Key(row.name, row.phase, row.shapes, row.module), rows_.size());
    if (!fresh) return rows_[at->second];
    Row& made = rows_.emplace_back();
    made.shape.name = row.name;
    made.shape.phase = row.phase;
    made.shape.shapes = row.shapes;
    made.shape.module = row.module;
    made.shape.ns.resize(runs_);
    made.shape.calls.resize(runs_);
    made.shape.types.resize(runs_);
    made.shape.flops_per_s.resize(runs_);
    made.shape.bytes_per_s.resize(runs_);
    made.shape.kernels.resize(runs_);
    made.longest.resize(runs_, -1);
    made.whole.resize(runs_);
    return made;
  }

  /// Rows that differ in strides or types alone are one; the longest gives the rates.
  void add(std::size_t run, const OperatorWork& row) {
    Row& into = row_of(row);
    const auto parts = static_cast<double>(parts_of(comparison_, run));
    into.whole[run] += static_cast<double>(row.ns);
    into.shape.calls[run] += static_cast<double>(row.calls) / parts;
    if (!row.python.empty()) into.shape.python = row.python;
    if (row.ns <= into.longest[run]) return;
    into.longest[run] = row.ns;
    into.shape.types[run] = row.types;
    into.shape.flops_per_s[run] = row.flops_per_s_median;
    into.shape.bytes_per_s[run] = row.bytes_per_s_median;
    into.shape.kernels[run] = row.by_kernel.empty() ? "" : row.by_kernel.front().name;
  }

  void scale(std::size_t run) {
    std::vector<double> weights;
    double sum = 0;
    for (const auto& row : rows_) sum += weights.emplace_back(row.whole[run]);
    if (!(sum > 0)) return;
    const auto parts = apportion(comparison_.runs[run].kernel_ns, weights);
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].shape.ns[run] = parts[i];
  }

  Comparison& comparison_;
  std::size_t runs_;
  std::map<Key, std::size_t> index_;
  std::vector<Row> rows_;
};

/// The trees of all runs as one.
class DifferentialTree {
 public:
  DifferentialTree(const Comparison& comparison, const std::vector<RunDetails>& details)
      : comparison_(comparison), runs_(details.size()) {
    nodes_.emplace_back();
    nodes_[0].ns.resize(runs_);
    for (std::size_t run = 0; run < runs_; ++run) add(run, details[run].tree);
  }

  std::vector<ComparedNode> nodes() {
    for (std::size_t run = 0; run < runs_; ++run) {
      if (nodes_[0].ns[run] == 0) return {};
      nodes_[0].ns[run] = comparison_.runs[run].time_ns;
      whole_ = std::max(whole_, nodes_[0].ns[run]);
    }
    for (std::size_t at = 0; at < nodes_.size(); ++at) scale_below(at);
    put(0, std::nullopt, 0);
    return std::move(out_);
  }

 private:
  struct Merged {
    TreeNodeKind kind = TreeNodeKind::window;
    std::string name = "window";
    std::vector<Nanos> ns;
    std::map<std::pair<TreeNodeKind, std::string>, std::size_t> below;
  };

  /// Nodes come after the one above them.
  void add(std::size_t run, const std::vector<CallNode>& tree) {
    std::map<std::int64_t, std::size_t> place;
    for (const auto& node : tree) {
      std::size_t at = 0;
      if (node.parent) {
        const auto above = place.at(*node.parent);
        const auto [known, fresh] =
            nodes_[above].below.try_emplace(std::pair(node.kind, node.name), nodes_.size());
        at = known->second;
        if (fresh) nodes_.push_back({node.kind, node.name, std::vector<Nanos>(runs_), {}});
      }
      place[node.id] = at;
      nodes_[at].ns[run] += node.ns;
    }
  }

  void scale_below(std::size_t at) {
    if (nodes_[at].below.empty()) return;
    for (std::size_t run = 0; run < runs_; ++run) {
      std::vector<double> weights;
      for (const auto& [key, below] : nodes_[at].below)
        weights.push_back(static_cast<double>(nodes_[below].ns[run]));
      if (std::ranges::all_of(weights, [](double weight) { return weight <= 0; })) continue;
      const auto parts = apportion(nodes_[at].ns[run], weights);
      std::size_t i = 0;
      for (const auto& [key, below] : nodes_[at].below) nodes_[below].ns[run] = parts[i++];
    }
  }

  bool worth_showing(const Merged& node) const {
    constexpr Nanos kOfTime = 100, kOfChange = 500;  // a hundredth of a run, or less if it changed
    return largest(node.ns) * kOfTime >= whole_ ||
           largest(changes_of(node.ns)) * kOfChange >= whole_;
  }

  std::int64_t emit(const Merged& node, std::optional<std::int64_t> parent, std::int64_t depth) {
    const auto id = static_cast<std::int64_t>(out_.size());
    out_.push_back({id, parent, depth, node.kind, node.name, node.ns, changes_of(node.ns)});
    return id;
  }

  void put(std::size_t at, std::optional<std::int64_t> parent, std::int64_t depth) {
    const auto id = emit(nodes_[at], parent, depth);
    std::vector<std::size_t> shown;
    Merged others{TreeNodeKind::others, {}, std::vector<Nanos>(runs_), {}};
    std::size_t joined = 0;
    for (const auto& [key, below] : nodes_[at].below) {
      if (worth_showing(nodes_[below])) {
        shown.push_back(below);
        continue;
      }
      ++joined;
      for (std::size_t run = 0; run < runs_; ++run) others.ns[run] += nodes_[below].ns[run];
    }
    std::ranges::stable_sort(shown, std::greater{}, [&](std::size_t node) {
      return std::pair(largest(changes_of(nodes_[node].ns)), largest(nodes_[node].ns));
    });
    for (const auto below : shown) put(below, id, depth + 1);
    if (joined == 0) return;
    others.name = fmt::format("({} others)", joined);
    emit(others, id, depth + 1);
  }

  const Comparison& comparison_;
  std::size_t runs_;
  Nanos whole_ = 1;
  std::vector<Merged> nodes_;
  std::vector<ComparedNode> out_;
};

}  // namespace

RunDetails run_details(const Context& context, const Analysis& analysis) {
  RunDetails details;
  if (context.devices.empty()) return details;
  details.operators = measure_work(context, analysis).operators;
  constexpr std::size_t kNodes = 100'000;  // joined where all runs are known
  details.tree = call_tree(context, analysis, kNodes);
  std::erase_if(details.tree, [](const CallNode& node) { return node.view != TreeView::modules; });
  details.roles = run_roles(context);
  details.strip = StripMaker(context, analysis).make();
  return details;
}

void compare_inside(Comparison& comparison, const std::vector<RunDetails>& details,
                    const std::vector<MeasuredVersion>& versions) {
  if (details.size() != comparison.runs.size() || details.empty()) return;
  const ShapeRows rows(comparison, details);
  comparison.shapes = rows.shapes();
  const RoleMatch match(comparison, details);
  comparison.roles = match.table(comparison);
  for (std::size_t run = 1; run < details.size(); ++run)
    comparison.likeness.push_back(likeness_of(comparison, details, match, run));
  heed_likeness(comparison);
  for (auto& likeness : comparison.likeness) {
    if (likeness.program != ComparedProgram::same || comparison.ranks_of_one_job) continue;
    auto found =
        find_culprits(comparison, details, match, versions, static_cast<std::size_t>(likeness.run));
    likeness.common_ratio = found.common_ratio;
    std::ranges::move(found.named, std::back_inserter(comparison.culprits));
  }
  comparison.tree = DifferentialTree(comparison, details).nodes();
  for (std::size_t run = 0; run < details.size(); ++run) {
    if (details[run].strip.lanes.empty()) continue;
    comparison.strips.push_back(details[run].strip);
    comparison.strips.back().run = static_cast<std::int64_t>(run);
  }
}

}  // namespace gf
