#include "analyze/call_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyze/host_nesting.h"
#include "analyze/layers/layer_type.h"
#include "analyze/thread_sweep.h"
#include "analyze/timeline.h"
#include "core/apportion.h"
#include "core/intervals.h"
#include "core/number_map.h"
#include "core/order.h"
#include "model/kernel_name.h"

namespace gf {

namespace {

/// A piece of device time with one owner.
struct TimePiece {
  TreeNodeKind kind = TreeNodeKind::kernel;
  IdleReason reason = IdleReason::host_other;
  std::uint32_t activity = kNoRow;  // of an idle piece: the one that it waits for
  std::uint32_t span = kNoRow;  // innermost span of the host, of host_ops; where it is not known
                                // the operation that launched, or that the host was in
  Nanos ns = 0;
};

/// The time of copies and sets in which no kernel runs, shared evenly where they overlap.
std::vector<std::pair<std::uint32_t, Nanos>> copies_alone(const Context& context,
                                                          const DeviceTimeline& line) {
  std::vector<std::pair<Interval, std::uint32_t>> parts;
  for (std::size_t i = 0; i < line.rows.size(); ++i) {
    if (context.capture.activities.kind[line.rows[i]] == ActivityKind::kernel) continue;
    const Interval span = line.spans[i];
    auto busy = std::ranges::partition_point(
        line.kernel_busy, [&](const Interval& kernel) { return kernel.end <= span.start; });
    Nanos from = span.start;
    for (; busy != line.kernel_busy.end() && busy->start < span.end; ++busy) {
      if (busy->start > from) parts.push_back({{from, busy->start}, line.rows[i]});
      from = std::max(from, busy->end);
    }
    if (from < span.end) parts.push_back({{from, span.end}, line.rows[i]});
  }
  std::ranges::stable_sort(parts, [](const auto& left, const auto& right) {
    return std::pair(left.first.start, -left.first.end) <
           std::pair(right.first.start, -right.first.end);
  });
  std::vector<Interval> spans;
  for (const auto& part : parts) spans.push_back(part.first);
  const auto shares = exclusive_times(spans);
  std::map<std::uint32_t, Nanos> by_row;
  for (std::size_t i = 0; i < parts.size(); ++i) by_row[parts[i].second] += shares[i];
  return {by_row.begin(), by_row.end()};
}

/// The device time of the window in pieces: kernels, copies and idle time, device after device.
class Pieces {
 public:
  Pieces(const Context& context, const Analysis& analysis)
      : context_(context), questions_(context.capture.threads.size()) {
    reserve();
    for (std::size_t device = 0; device < context.devices.size(); ++device) {
      const std::size_t first = spans_.size();
      each_of(device, [&](const TimePiece& piece, Nanos middle) {
        ask(piece, middle);
        spans_.push_back(piece.span);
      });
      for (const auto& measured : analysis.energy.devices)
        if (measured.device == context.capture.devices.id[context.devices[device].device])
          give_energy(measured, device, first);
    }
    answer();
  }

  bool empty() const { return spans_.empty(); }
  /// use(piece, its measured energy); no energy where no device has any.
  template <class F>
  void each(F&& use) const {
    std::size_t at = 0;
    for (std::size_t device = 0; device < context_.devices.size(); ++device)
      each_of(device, [&](TimePiece piece, Nanos) {
        piece.span = spans_[at];
        std::optional<std::int64_t> nj;
        if (!nj_.empty()) nj = at < nj_.size() ? nj_[at] : 0;
        ++at;
        use(piece, nj);
      });
  }

 private:
  struct Question {
    Nanos at;
    std::uint32_t piece;
  };

  /// use(piece, the middle of an idle one).
  template <class F>
  void each_of(std::size_t device, F&& use) const {
    const DeviceTimeline& line = context_.devices[device];
    const auto& op = context_.attribution.op;
    for (std::size_t i = 0; i < line.rows.size(); ++i)
      if (const auto row = line.rows[i];
          context_.capture.activities.kind[row] == ActivityKind::kernel)
        use(TimePiece{.activity = row, .span = op[row], .ns = line.exclusive_ns[i]}, 0);
    for (const auto& [row, ns] : copies_[device])
      use(TimePiece{.kind = TreeNodeKind::copy, .activity = row, .span = op[row], .ns = ns}, 0);
    for (const auto& idle : line.idle_pieces)
      use(TimePiece{.kind = TreeNodeKind::idle,
                    .reason = idle.reason,
                    .activity = idle.next,
                    .span = idle.op,
                    .ns = idle.span.length()},
          idle.span.start + idle.span.length() / 2);
  }

  /// As many as there are: vectors that grow need twice the room.
  void reserve() {
    std::size_t pieces = 0;
    std::vector<std::size_t> asked(questions_.size());
    for (std::size_t device = 0; device < context_.devices.size(); ++device) {
      copies_.push_back(copies_alone(context_, context_.devices[device]));
      each_of(device, [&](const TimePiece& piece, Nanos) {
        ++pieces;
        if (const auto thread = thread_of(piece); thread != kNoRow) ++asked[thread];
      });
    }
    spans_.reserve(pieces);
    for (std::size_t thread = 0; thread < asked.size(); ++thread)
      questions_[thread].reserve(asked[thread]);
  }

  std::uint32_t launch_of(const TimePiece& piece) const {
    return piece.activity == kNoRow ? kNoRow : context_.launches[piece.activity];
  }
  /// The thread whose context tells where the host was; kNoRow where none does.
  std::uint32_t thread_of(const TimePiece& piece) const {
    const auto& capture = context_.capture;
    std::uint32_t thread = kNoRow;
    if (piece.kind != TreeNodeKind::idle) {
      if (capture.activities.captured_op[piece.activity] != kNoRow) return kNoRow;
    } else if (piece.span != kNoRow) {
      thread = capture.host_ops.thread[piece.span];
    }
    if (thread != kNoRow) return thread;
    const auto launch = launch_of(piece);
    return launch == kNoRow ? kNoRow : capture.api_calls.thread[launch];
  }
  /// About the piece that comes next: where the host was at its launch, or while the device idled.
  void ask(const TimePiece& piece, Nanos middle) {
    const auto thread = thread_of(piece);
    if (thread == kNoRow) return;
    const Nanos at = piece.kind == TreeNodeKind::idle
                         ? middle
                         : context_.capture.api_calls.start_ns[launch_of(piece)];
    questions_[thread].push_back({at, static_cast<std::uint32_t>(spans_.size())});
  }

  void answer() {
    for (std::uint32_t thread = 0; thread < questions_.size(); ++thread) {
      auto asked = std::exchange(questions_[thread], {});
      if (asked.empty()) continue;
      sort_nearly_ordered(asked.begin(), asked.end(), [](const auto& left, const auto& right) {
        return std::pair(left.at, left.piece) < std::pair(right.at, right.piece);
      });
      ThreadSweep sweep(context_.capture, context_.host, context_.names, thread, {});
      for (const auto& question : asked)
        if (const auto span = sweep.at(question.at).named; span != kNoRow)
          spans_[question.piece] = span;
    }
  }

  /// Measured energy by what the analysis gave to each kernel's name, to copies and to idle time.
  void give_energy(const DeviceEnergy& energy, std::size_t device, std::size_t first) {
    std::map<std::string, double, std::less<>> watts;  // nJ a ns
    double all_nj = 0, all_ns = 0;
    for (const auto& row : energy.kernels) {
      if (row.ns <= 0) continue;
      watts[row.name] = static_cast<double>(row.nj) / static_cast<double>(row.ns);
      all_nj += static_cast<double>(row.nj);
      all_ns += static_cast<double>(row.ns);
    }
    const double mean = all_ns > 0 ? all_nj / all_ns : 1;
    const auto rate = [&](std::string_view name) {
      const auto found = watts.find(name);
      return found == watts.end() ? mean : found->second;
    };
    OncePerText kernel_rate(context_.capture.strings,
                            [&](std::string_view name) { return rate(short_kernel_name(name)); });
    std::vector<double> weights;
    each_of(device, [&](const TimePiece& piece, Nanos) {
      double each = 0;
      if (piece.kind == TreeNodeKind::kernel)
        each = kernel_rate(context_.capture.activities.name[piece.activity]);
      else
        each = rate(piece.kind == TreeNodeKind::copy ? "(copies)" : "(idle)");
      weights.push_back(each * static_cast<double>(piece.ns));
    });
    nj_.resize(first);
    for (const auto part : apportion(energy.nj, weights)) nj_.push_back(part);
  }

  const Context& context_;
  std::vector<std::vector<std::pair<std::uint32_t, Nanos>>> copies_;  // by device
  std::vector<std::uint32_t> spans_;              // by piece: where the host was
  std::vector<std::int64_t> nj_;                  // by piece; empty without measured energy
  std::vector<std::vector<Question>> questions_;  // by thread
};

TreeNodeKind kind_of_span(HostKind kind) {
  if (kind == HostKind::op) return TreeNodeKind::operation;
  return kind == HostKind::python ? TreeNodeKind::python : TreeNodeKind::annotation;
}

/// One view while it grows. A node comes after the one above it.
class GrowingTree {
 public:
  GrowingTree(const Context& context, const HostNesting& nesting, TreeView view)
      : context_(context),
        nesting_(nesting),
        view_(view),
        scopes_first_(names_scopes(context.capture)),
        places_(context.capture.host_ops.size()),
        short_names_(context.capture.strings, short_kernel_name) {
    CallNode& top = nodes_.emplace_back();
    top.view = view;
    top.name = "window";
  }

  void add(const TimePiece& piece, std::optional<std::int64_t> nj) {
    CallNode& node = nodes_[leaf(place_of(piece), piece)];
    node.ns += piece.ns;
    (piece.kind == TreeNodeKind::kernel ? node.kernel_ns
     : piece.kind == TreeNodeKind::copy ? node.copy_ns
                                        : node.idle_ns) += piece.ns;
    ++node.count;
    if (nj) node.nj = node.nj.value_or(0) + *nj;
  }

  /// Sums upwards, joins what is small, and numbers from `first` on.
  void finish(std::size_t most, std::vector<CallNode>& out) {
    for (std::size_t i = nodes_.size(); i-- > 1;) join(nodes_[i], nodes_[parent_[i]]);
    std::vector<Nanos> sizes;
    for (const auto& node : nodes_) sizes.push_back(node.ns);
    std::ranges::sort(sizes, std::greater{});
    const Nanos least = sizes.size() > most ? sizes[most] + 1 : 0;
    below_.resize(nodes_.size());
    for (std::size_t i = 1; i < nodes_.size(); ++i) below_[parent_[i]].push_back(i);
    for (auto& siblings : below_)
      std::ranges::stable_sort(siblings, [&](std::size_t left, std::size_t right) {
        return nodes_[left].ns > nodes_[right].ns;
      });
    put(0, std::nullopt, 0, least, out);
  }

 private:
  struct Key {
    std::uint32_t parent;
    TreeNodeKind kind;
    std::string name;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return std::hash<std::string>()(key.name) ^
             (static_cast<std::size_t>(key.parent) * 0x9e3779b97f4a7c15u +
              static_cast<std::size_t>(key.kind));
    }
  };

  struct Place {
    std::uint32_t base = kNoRow, node = 0;
  };

  static std::uint64_t key_of(std::uint32_t place, std::uint32_t what) {
    return std::uint64_t{place} << 32 | what;
  }

  static void join(const CallNode& node, CallNode& sum) {
    sum.ns += node.ns;
    sum.kernel_ns += node.kernel_ns;
    sum.copy_ns += node.copy_ns;
    sum.idle_ns += node.idle_ns;
    sum.count += node.count;
    if (node.nj) sum.nj = sum.nj.value_or(0) + *node.nj;
  }

  std::uint32_t child(std::uint32_t parent, TreeNodeKind kind, std::string_view name) {
    const auto [at, fresh] = index_.try_emplace({parent, kind, std::string(name)},
                                                static_cast<std::uint32_t>(nodes_.size()));
    if (fresh) {
      CallNode& node = nodes_.emplace_back();
      node.view = view_;
      node.kind = kind;
      node.name = name;
      parent_.push_back(parent);
    }
    return at->second;
  }

  /// A child named by a text of the capture: asked for with every call, so by the text's number.
  std::uint32_t span_child(std::uint32_t parent, TreeNodeKind kind, Text name) {
    const auto [node, fresh] = spans_[static_cast<std::size_t>(kind)].place(
        key_of(parent, static_cast<std::uint32_t>(name)));
    if (fresh) *node = child(parent, kind, context_.capture.text(name));
    return *node;
  }

  std::uint32_t leaf(std::uint32_t place, const TimePiece& piece) {
    if (piece.kind == TreeNodeKind::idle) {
      const auto [node, fresh] =
          idle_.place(key_of(place, static_cast<std::uint32_t>(piece.reason)));
      if (fresh) *node = child(place, piece.kind, name_of(piece.reason));
      return *node;
    }
    const auto& activities = context_.capture.activities;
    if (piece.kind == TreeNodeKind::copy && activities.kind[piece.activity] == ActivityKind::memcpy)
      return child(place, piece.kind, name_of(activities.copy[piece.activity]));
    if (piece.kind == TreeNodeKind::copy) return child(place, piece.kind, "memset");
    const Text name = activities.name[piece.activity];
    const auto [node, fresh] = kernels_.place(key_of(place, static_cast<std::uint32_t>(name)));
    if (fresh) *node = child(place, piece.kind, short_names_(name));
    return *node;
  }

  /// The node that a piece lies under.
  std::uint32_t place_of(const TimePiece& piece) {
    if (view_ == TreeView::calls) return under(0, piece.span);
    std::uint32_t module = 0;
    std::uint8_t phase = 0;
    if (piece.activity != kNoRow) {
      module = context_.attribution.module[piece.activity];
      phase = context_.attribution.phase[piece.activity];
    }
    if (scopes_first_ && module == 0 && piece.kind == TreeNodeKind::kernel) {
      const Text scope = context_.capture.activities.scope[piece.activity];
      const auto [node, fresh] = scopes_.place(key_of(phase, static_cast<std::uint32_t>(scope)));
      if (fresh) *node = new_scope(scope, static_cast<TrainingPhase>(phase));
      if (*node != kNoRow) return *node;
    }
    const auto [node, fresh] = modules_.place(key_of(phase, module));
    if (fresh)
      *node = new_module(context_.attribution.modules[module], static_cast<TrainingPhase>(phase));
    return under(*node, piece.span);
  }

  /// The node of TensorFlow's name scope and the type of its operation; kNoRow where the text has
  /// none.
  std::uint32_t new_scope(Text scope, TrainingPhase phase) {
    const std::string_view text = context_.capture.text(scope), type = type_in_scope(text);
    if (type.empty()) return kNoRow;
    return child(new_module(around_operation(text), phase), TreeNodeKind::operation, type);
  }

  std::uint32_t new_module(std::string_view path, TrainingPhase phase) {
    std::uint32_t place = 0;
    if (phase != TrainingPhase::none) place = child(place, TreeNodeKind::phase, name_of(phase));
    for (int depth = 0; !path.empty() && depth < kDeepest; ++depth) {
      const auto end = std::min(path.find_first_of("./"), path.size());
      if (end > 0) place = child(place, TreeNodeKind::module, path.substr(0, end));
      path.remove_prefix(std::min(end + 1, path.size()));
    }
    if (!path.empty()) place = child(place, TreeNodeKind::module, path);
    return place;
  }

  /// The node of a span below `base`: that of the span around it, and one more. Nearly every span
  /// lies below one base, so the last one is kept.
  std::uint32_t under(std::uint32_t base, std::uint32_t span) {
    const auto& ops = context_.capture.host_ops;
    path_.clear();
    for (span = nesting_.told(span); span != kNoRow && places_[span].base != base;
         span = nesting_.around(span))
      path_.push_back(span);
    auto place = span == kNoRow ? base : places_[span].node;
    for (; !path_.empty(); path_.pop_back()) {
      const auto row = path_.back();
      const auto kind = kind_of_span(ops.kind[row]);
      const bool shown = view_ == TreeView::calls || kind == TreeNodeKind::operation;
      if (shown && !nesting_.is_step(row)) place = span_child(place, kind, ops.name[row]);
      places_[row] = {base, place};
    }
    return place;
  }

  void put(std::size_t at, std::optional<std::int64_t> parent, std::int64_t depth, Nanos least,
           std::vector<CallNode>& out) {
    CallNode node = nodes_[at];
    const auto id = static_cast<std::int64_t>(out.size());
    node.id = id;
    node.parent = parent;
    node.depth = depth;
    out.push_back(std::move(node));
    CallNode others;
    others.view = view_;
    others.kind = TreeNodeKind::others;
    std::size_t joined = 0;
    for (const auto below : below_[at]) {
      if (nodes_[below].ns >= least) {
        put(below, id, depth + 1, least, out);
      } else {
        join(nodes_[below], others);
        ++joined;
      }
    }
    if (joined == 0) return;
    others.name = fmt::format("({} others)", joined);
    others.id = static_cast<std::int64_t>(out.size());
    others.parent = id;
    others.depth = depth + 1;
    out.push_back(std::move(others));
  }

  static constexpr int kDeepest = 100;  // parts of a module's path
  const Context& context_;
  const HostNesting& nesting_;
  TreeView view_;
  const bool scopes_first_;  // they name the layers
  std::vector<CallNode> nodes_;
  std::vector<std::uint32_t> parent_{0};  // by node
  std::vector<std::vector<std::size_t>> below_;
  std::unordered_map<Key, std::uint32_t, KeyHash> index_;
  std::vector<Place> places_;        // by row of host_ops
  std::vector<std::uint32_t> path_;  // of under()
  NumberMap modules_, scopes_;       // by phase and module, or scope
  NumberMap kernels_, idle_;         // by place and name, or reason
  std::array<NumberMap, EnumNames<TreeNodeKind>::names.size()>
      spans_;  // of a kind: by place and name
  OncePerText<std::string (*)(std::string_view)> short_names_;
};

}  // namespace

std::vector<CallNode> call_tree(const Context& context, const Analysis& analysis,
                                const HostNesting& nesting, std::size_t most_nodes) {
  const Pieces pieces(context, analysis);
  if (pieces.empty()) return {};
  std::vector<CallNode> nodes;
  for (const auto view : {TreeView::modules, TreeView::calls}) {
    GrowingTree tree(context, nesting, view);
    pieces.each(
        [&](const TimePiece& piece, std::optional<std::int64_t> nj) { tree.add(piece, nj); });
    tree.finish(most_nodes, nodes);
  }
  return nodes;
}

std::vector<CallNode> call_tree(const Context& context, const Analysis& analysis,
                                std::size_t most_nodes) {
  return call_tree(context, analysis, HostNesting(context.capture, context.host, context.names),
                   most_nodes);
}

}  // namespace gf
