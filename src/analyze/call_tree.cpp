#include "analyze/call_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
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
    each_in(line.copying, line.spans[i],
            [&](Interval part) { parts.emplace_back(part, line.rows[i]); });
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
                    .ns = idle.span().length()},
          idle.start + idle.span().length() / 2);
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

/// Time of a node, or of one owner.
struct Sums {
  Nanos ns = 0, kernel_ns = 0, copy_ns = 0, idle_ns = 0;
  std::int64_t count = 0;
  std::optional<std::int64_t> nj;

  void add(const TimePiece& piece, std::optional<std::int64_t> energy) {
    ns += piece.ns;
    (piece.kind == TreeNodeKind::kernel ? kernel_ns
     : piece.kind == TreeNodeKind::copy ? copy_ns
                                        : idle_ns) += piece.ns;
    ++count;
    if (energy) nj = nj.value_or(0) + *energy;
  }
  void add(const Sums& other) {
    ns += other.ns;
    kernel_ns += other.kernel_ns;
    copy_ns += other.copy_ns;
    idle_ns += other.idle_ns;
    count += other.count;
    if (other.nj) nj = nj.value_or(0) + *other.nj;
  }
};

/// Equal names have one number, however they come to be.
class NodeNames {
 public:
  explicit NodeNames(const Capture& capture)
      : capture_(capture),
        of_span_(capture.strings.size(), kNoRow),
        of_kernel_(capture.strings.size(), kNoRow) {}

  std::uint32_t of(std::string_view name) {
    const auto [at, fresh] =
        numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back(&at->first);
    return at->second;
  }
  std::uint32_t of_span(Text name) {
    auto& number = of_span_[static_cast<std::uint32_t>(name)];
    if (number == kNoRow) number = of(capture_.text(name));
    return number;
  }
  std::uint32_t of_kernel(Text name) {
    auto& number = of_kernel_[static_cast<std::uint32_t>(name)];
    if (number == kNoRow) number = of(short_kernel_name(capture_.text(name)));
    return number;
  }
  const std::string& operator[](std::uint32_t number) const { return *names_[number]; }

 private:
  const Capture& capture_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<const std::string*> names_;           // by number
  std::vector<std::uint32_t> of_span_, of_kernel_;  // by text: kNoRow when not asked for yet
};

/// One view while it grows. A node comes after the one above it.
class GrowingTree {
 public:
  struct Node {
    std::uint32_t above = 0, name = 0;  // of NodeNames
    TreeNodeKind kind = TreeNodeKind::window;
    Sums sums{};
  };

  GrowingTree(TreeView view, std::uint32_t top) : view_(view), nodes_{{.name = top}} {}

  std::uint32_t child(std::uint32_t parent, TreeNodeKind kind, std::uint32_t name) {
    const auto [at, fresh] = index_.place(key_of(parent, kind, name));
    if (fresh) {
      *at = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({parent, name, kind});
    }
    return *at;
  }
  const Node& node(std::uint32_t at) const { return nodes_[at]; }
  void add(std::uint32_t at, const Sums& sums) { nodes_[at].sums.add(sums); }

  /// Names are far fewer than 28 bits count.
  static_assert(EnumNames<TreeNodeKind>::names.size() <= 16);
  static std::uint64_t key_of(std::uint32_t place, TreeNodeKind kind, std::uint32_t name) {
    return std::uint64_t{place} << 32 | std::uint64_t{name} << 4 | static_cast<std::uint64_t>(kind);
  }

  /// Sums upwards, joins what is small, and numbers from `first` on.
  void finish(std::size_t most, const NodeNames& names, std::vector<CallNode>& out) {
    for (std::size_t i = nodes_.size(); i-- > 1;) nodes_[nodes_[i].above].sums.add(nodes_[i].sums);
    std::vector<Nanos> sizes;
    for (const auto& node : nodes_) sizes.push_back(node.sums.ns);
    std::ranges::sort(sizes, std::greater{});
    const Nanos least = sizes.size() > most ? sizes[most] + 1 : 0;
    order_.resize(nodes_.size() - 1);
    std::iota(order_.begin(), order_.end(), 1u);
    std::ranges::sort(order_, {}, [&](std::uint32_t node) {
      return std::tuple(nodes_[node].above, -nodes_[node].sums.ns, node);
    });
    put(0, std::nullopt, 0, least, names, out);
  }

 private:
  /// A row of the answer; its number.
  std::int64_t put(TreeNodeKind kind, std::string name, const Sums& sums,
                   std::optional<std::int64_t> parent, std::int64_t depth,
                   std::vector<CallNode>& out) const {
    const auto id = static_cast<std::int64_t>(out.size());
    out.push_back({.id = id,
                   .parent = parent,
                   .depth = depth,
                   .view = view_,
                   .kind = kind,
                   .name = std::move(name),
                   .ns = sums.ns,
                   .kernel_ns = sums.kernel_ns,
                   .copy_ns = sums.copy_ns,
                   .idle_ns = sums.idle_ns,
                   .count = sums.count,
                   .nj = sums.nj});
    return id;
  }

  void put(std::uint32_t at, std::optional<std::int64_t> parent, std::int64_t depth, Nanos least,
           const NodeNames& names, std::vector<CallNode>& out) {
    const Node& node = nodes_[at];
    const auto id = put(node.kind, names[node.name], node.sums, parent, depth, out);
    Sums others;
    std::size_t joined = 0;
    for (const auto below : std::ranges::equal_range(
             order_, at, {}, [&](std::uint32_t below) { return nodes_[below].above; })) {
      if (nodes_[below].sums.ns >= least) {
        put(below, id, depth + 1, least, names, out);
      } else {
        others.add(nodes_[below].sums);
        ++joined;
      }
    }
    if (joined > 0)
      put(TreeNodeKind::others, fmt::format("({} others)", joined), others, id, depth + 1, out);
  }

  TreeView view_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> order_;  // all below the top: by the node above, longest first
  NumberMap index_;                   // by parent, kind and name
};

/// Both views while they grow. Pieces are far more than their owners, so each is put into the sums
/// of its owner, which has its nodes from its first piece on.
class GrowingTrees {
 public:
  GrowingTrees(const Context& context, const HostNesting& nesting)
      : context_(context),
        nesting_(nesting),
        scopes_first_(names_scopes(context.capture)),
        names_(context.capture),
        path_of_(context.capture.host_ops.size(), kNoRow) {
    for (const auto reason : EnumNames<IdleReason>::names) reasons_.push_back(names_.of(reason));
  }

  void add(const TimePiece& piece, std::optional<std::int64_t> nj) {
    const auto place = place_of(base_of(piece), path_to(piece.span)), name = name_of_leaf(piece);
    const auto [at, fresh] = owner_of_.place(GrowingTree::key_of(place, piece.kind, name));
    if (fresh) {
      *at = static_cast<std::uint32_t>(owners_.size());
      owners_.push_back(
          {{.in_calls = calls_.child(places_[place].in_calls, piece.kind, name),
            .in_modules = modules_.child(places_[place].in_modules, piece.kind, name)},
           {}});
    }
    owners_[*at].second.add(piece, nj);
  }

  std::vector<CallNode> finish(std::size_t most) && {
    for (const auto& [nodes, sums] : owners_) {
      modules_.add(nodes.in_modules, sums);
      calls_.add(nodes.in_calls, sums);
    }
    std::vector<CallNode> nodes;
    modules_.finish(most, names_, nodes);
    calls_.finish(most, names_, nodes);
    return nodes;
  }

 private:
  /// A node of either view.
  struct Place {
    std::uint32_t in_calls, in_modules;
  };

  static std::uint64_t key_of(std::uint32_t place, std::uint32_t what) {
    return std::uint64_t{place} << 32 | what;
  }

  std::uint32_t name_of_leaf(const TimePiece& piece) {
    const auto& activities = context_.capture.activities;
    if (piece.kind == TreeNodeKind::idle) return reasons_[static_cast<std::size_t>(piece.reason)];
    if (piece.kind == TreeNodeKind::kernel)
      return names_.of_kernel(activities.name[piece.activity]);
    const bool copy = activities.kind[piece.activity] == ActivityKind::memcpy;
    return names_.of(copy ? name_of(activities.copy[piece.activity]) : "memset");
  }

  /// The node of a span among the calls: that of the span around it, and one more.
  std::uint32_t path_to(std::uint32_t span) {
    const auto& ops = context_.capture.host_ops;
    inside_.clear();
    for (span = nesting_.told(span); span != kNoRow && path_of_[span] == kNoRow;
         span = nesting_.around(span))
      inside_.push_back(span);
    auto path = span == kNoRow ? 0 : path_of_[span];
    for (; !inside_.empty(); inside_.pop_back()) {
      const auto row = inside_.back();
      if (!nesting_.is_step(row))
        path = calls_.child(path, kind_of_span(ops.kind[row]), names_.of_span(ops.name[row]));
      path_of_[row] = path;
    }
    return path;
  }

  /// The node among the modules that a piece lies under, with operations between or without.
  std::uint32_t base_of(const TimePiece& piece) {
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
    const auto [node, fresh] = bases_.place(key_of(phase, module));
    if (fresh)
      *node = new_module(context_.attribution.modules[module], static_cast<TrainingPhase>(phase));
    return *node;
  }

  /// The node of TensorFlow's name scope and the type of its operation; kNoRow where the text has
  /// none.
  std::uint32_t new_scope(Text scope, TrainingPhase phase) {
    const std::string_view text = context_.capture.text(scope), type = type_in_scope(text);
    if (type.empty()) return kNoRow;
    return modules_.child(new_module(around_operation(text), phase), TreeNodeKind::operation,
                          names_.of(type));
  }

  std::uint32_t new_module(std::string_view path, TrainingPhase phase) {
    std::uint32_t place = 0;
    if (phase != TrainingPhase::none)
      place = modules_.child(place, TreeNodeKind::phase, names_.of(name_of(phase)));
    for (int depth = 0; !path.empty() && depth < kDeepest; ++depth) {
      const auto end = std::min(path.find_first_of("./"), path.size());
      if (end > 0)
        place = modules_.child(place, TreeNodeKind::module, names_.of(path.substr(0, end)));
      path.remove_prefix(std::min(end + 1, path.size()));
    }
    if (!path.empty()) place = modules_.child(place, TreeNodeKind::module, names_.of(path));
    return place;
  }

  /// The place, of places_, of a path of calls that belongs to a base. Among the modules it is
  /// told by its operations alone; a base that is an operation has them in its own name.
  std::uint32_t place_of(std::uint32_t base, std::uint32_t path) {
    const auto key = key_of(base, path);
    if (const auto [known, fresh] = place_of_.place(key); !fresh) return *known;
    Place place{path, base};
    if (path != 0 && modules_.node(base).kind != TreeNodeKind::operation) {
      const auto& last = calls_.node(path);
      place.in_modules = places_[place_of(base, last.above)].in_modules;
      if (last.kind == TreeNodeKind::operation)
        place.in_modules = modules_.child(place.in_modules, last.kind, last.name);
    }
    const auto number = static_cast<std::uint32_t>(places_.size());
    places_.push_back(place);
    *place_of_.place(key).first = number;
    return number;
  }

  static constexpr int kDeepest = 100;  // parts of a module's path
  const Context& context_;
  const HostNesting& nesting_;
  const bool scopes_first_;  // they name the layers
  NodeNames names_;
  const std::uint32_t top_ = names_.of("window");
  GrowingTree modules_{TreeView::modules, top_}, calls_{TreeView::calls, top_};
  std::vector<std::uint32_t> reasons_;  // their names
  std::vector<std::uint32_t> path_of_;  // by row of host_ops: its node among the calls
  std::vector<std::uint32_t> inside_;   // of path_to()
  NumberMap bases_, scopes_;            // among the modules: by phase and module, or scope
  NumberMap place_of_;                  // by base and path
  std::vector<Place> places_;           // under which pieces lie
  NumberMap owner_of_;                  // by place, kind and name
  std::vector<std::pair<Place, Sums>> owners_;
};

}  // namespace

std::vector<CallNode> call_tree(const Context& context, const Analysis& analysis,
                                const HostNesting& nesting, std::size_t most_nodes) {
  const Pieces pieces(context, analysis);
  if (pieces.empty()) return {};
  GrowingTrees trees(context, nesting);
  pieces.each(
      [&](const TimePiece& piece, std::optional<std::int64_t> nj) { trees.add(piece, nj); });
  return std::move(trees).finish(most_nodes);
}

std::vector<CallNode> call_tree(const Context& context, const Analysis& analysis,
                                std::size_t most_nodes) {
  return call_tree(context, analysis, HostNesting(context.capture, context.host, context.names),
                   most_nodes);
}

}  // namespace gf
