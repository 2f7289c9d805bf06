#include "analyze/attribution/attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/attribution/forward_table.h"
#include "analyze/traits.h"
#include "model/capture.h"

namespace gf {

namespace {

class ModulePaths {
 public:
  /// `paths` outlives this object; its entry 0 is the empty path.
  explicit ModulePaths(std::vector<std::string>& paths);

  /// The path of a module or scope called `name` inside the path `parent`. `label` is the part of
  /// the name shown.
  std::uint32_t child(std::uint32_t parent, StringId name, std::string_view label);
  /// The same for a scope that the user named by an annotation.
  std::uint32_t scope(std::uint32_t parent, StringId name, std::string_view label) {
    const auto id = child(parent, name, label);
    if (id >= is_scope_.size()) is_scope_.resize(id + 1, false);
    is_scope_[id] = true;
    return id;
  }
  bool is_scope(std::uint32_t id) const { return id < is_scope_.size() && is_scope_[id]; }
  /// The path that an operation's own "module" text gives: a hierarchy such as
  /// "top(ResNet)::forward.layer1(Block)", or a call stack with "nn.Module: X" frames, innermost
  /// first. 0 when the text names no module.
  std::uint32_t recorded(StringId text, std::string_view view);

 private:
  std::uint32_t add(std::string path);
  std::vector<std::string>& paths_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  // parent path and name
  std::unordered_map<std::uint32_t, std::uint32_t> recorded_;  // by text
  std::unordered_map<std::string, std::uint32_t> known_;
  std::vector<bool> is_scope_;
};

// Modules nested deeper than any program nests them count with the one around them: each would be
// as long as all above it together.
constexpr std::size_t kLongestPath = 4 << 10;

ModulePaths::ModulePaths(std::vector<std::string>& paths) : paths_(paths) {
  for (std::uint32_t i = 1; i < paths.size(); ++i) known_.emplace(paths[i], i);
}

std::uint32_t ModulePaths::add(std::string path) {
  if (path.empty()) return 0;
  const auto [at, fresh] =
      known_.try_emplace(std::move(path), static_cast<std::uint32_t>(paths_.size()));
  if (fresh) paths_.push_back(at->first);
  return at->second;
}

std::uint32_t ModulePaths::child(std::uint32_t parent, StringId name, std::string_view label) {
  if (paths_[parent].size() > kLongestPath) return parent;
  const auto key = static_cast<std::uint64_t>(parent) << 32 | static_cast<std::uint32_t>(name);
  const auto [at, fresh] = children_.try_emplace(key, 0u);
  if (fresh) {
    std::string path = paths_[parent];
    if (!path.empty()) path += '.';
    path += label;
    at->second = add(std::move(path));
  }
  return at->second;
}

std::uint32_t ModulePaths::recorded(StringId text, std::string_view view) {
  if (text == StringId::none) return 0;
  const auto [at, fresh] = recorded_.try_emplace(static_cast<std::uint32_t>(text), 0u);
  if (!fresh) return at->second;
  constexpr std::string_view kFrame = "nn.Module: ";
  std::string path;
  if (view.find(kFrame) != std::string_view::npos) {
    for (auto from = view.find(kFrame); from != std::string_view::npos;
         from = view.find(kFrame, from)) {
      from += kFrame.size();
      std::string module(view.substr(from, view.find_first_of(";\n", from) - from));
      if (path.empty()) {
        path = module;
      } else {
        path = fmt::format("{}.{}", module, path);
      }  // innermost first in the text
    }
  } else if (view.find('(') != std::string_view::npos && view.find(';') == std::string_view::npos &&
             view.find(".py") == std::string_view::npos) {
    path = std::string(view);
    if (const auto call = path.find("::forward"); call != std::string::npos) path.erase(call, 9);
  }
  // add() may move the map's nodes but not `at`: unordered_map keeps references, and known_ is
  // another map.
  return at->second = add(std::move(path));
}

enum Phase : std::uint8_t {
  kOtherPhase = 0,
  kForwardPhase = 1,
  kBackwardPhase = 2,
  kOptimizerPhase = 3,
  kRecomputePhase = 4
};

/// The attribution of a launch, from the innermost open span of its thread.
struct Answer {
  std::uint32_t op = kNoRow;
  std::uint32_t forward_op = kNoRow;
  std::uint32_t module = 0;
  std::uint8_t phase = kOtherPhase;
};

/// One open span of a thread, with what it inherits from those around it.
struct Open {
  Nanos closes = INT64_MAX;     // from then on it is over: an instant is open while it lasts
  std::uint32_t span = kNoRow;  // innermost operation or annotation, for op_parent
  std::uint32_t op = kNoRow;    // innermost operation
  std::uint32_t module = 0;     // from module frames and recorded hierarchies
  std::uint32_t scope = 0;      // from user annotations
  ForwardTable::Entry forward;  // of the innermost backward operation
  std::uint8_t phase = kOtherPhase;
  bool recomputes = false;  // a backward operation that runs a forward pass again
};

Nanos end_of(Nanos start, Nanos duration) {
  return start > INT64_MAX - duration ? INT64_MAX : start + duration;
}

/// The questions: slots of the answers by row of api_calls, and by row of host_ops (as if launched
/// at that operation's start).
struct Questions {
  std::vector<std::uint32_t> of_call;
  std::unordered_map<std::uint32_t, std::uint32_t> of_op;
  std::uint32_t count = 0;
};

/// Walks all host spans in order of start, one stack a thread, and answers the questions on the
/// way.
class HostSweep {
 public:
  HostSweep(const Capture& capture, const HostThreads& host, const Names& names,
            const Questions& questions, ModulePaths& paths, Attribution& result)
      : capture_(capture),
        questions_(questions),
        result_(result),
        names_(names),
        paths_(paths),
        forward_(capture),
        stacks_(capture.threads.size(), {kAroundAll}),
        answers_(questions.count) {
    result_.op_parent.assign(capture.host_ops.size(), kNoRow);
    for (std::uint32_t thread = 0; thread < host.threads(); ++thread)
      if (!host.ops(thread).empty() || !host.calls(thread).empty()) {
        heads_.push_back({thread, host.ops(thread), host.calls(thread)});
        find_next_call(heads_.back());
      }
  }

  std::vector<Answer> run() {
    // The thread that is furthest behind goes on until it has caught up with the next one: a
    // backward operation then finds the forward operations of every other thread that began before
    // it.
    auto later = [&](const Head& left, const Head& right) {
      const Nanos left_start = next_start(left), right_start = next_start(right);
      return left_start != right_start ? left_start > right_start : left.thread > right.thread;
    };
    std::make_heap(heads_.begin(), heads_.end(), later);
    while (!heads_.empty()) {
      std::pop_heap(heads_.begin(), heads_.end(), later);
      Head head = heads_.back();
      heads_.pop_back();
      Nanos until = heads_.empty() ? INT64_MAX : next_start(heads_.front());
      if (!advance(head, until)) continue;
      heads_.push_back(head);
      std::push_heap(heads_.begin(), heads_.end(), later);
    }
    return std::move(answers_);
  }

 private:
  struct Head {
    std::uint32_t thread;
    std::span<const std::uint32_t> ops, calls;  // still to do
    Nanos next_call = INT64_MAX;                // when the first of them starts
  };
  /// Around every span of a thread; never ends.
  static constexpr Open kAroundAll{};

  Nanos next_start(const Head& head) const {
    return head.ops.empty() ? INT64_MIN : capture_.host_ops.start_ns[head.ops.front()];
  }

  void find_next_call(Head& head) const {
    head.next_call =
        head.calls.empty() ? INT64_MAX : Nanos{capture_.api_calls.start_ns[head.calls.front()]};
  }

  /// Answers the questions of the calls that start before `time`; of all that are left where the
  /// thread is done.
  void ask_before(Head& head, Nanos time, bool done = false) {
    while (head.next_call < time || (done && !head.calls.empty())) {
      if (const auto slot = questions_.of_call[head.calls.front()]; slot != kNoRow)
        answers_[slot] = answer(head.thread, head.next_call);
      head.calls = head.calls.subspan(1);
      find_next_call(head);
    }
  }

  /// Opens the operations of a thread that start at or before `until`, at least one; false when the
  /// thread is done.
  bool advance(Head& head, Nanos until) {
    if (!head.ops.empty()) {
      std::size_t done = 0;
      Nanos start = capture_.host_ops.start_ns[head.ops.front()];
      do {
        const auto row = head.ops[done];
        if (head.next_call < start) ask_before(head, start);
        open(row, head.thread, start);
        if (!questions_.of_op.empty())
          if (const auto asked = questions_.of_op.find(row); asked != questions_.of_op.end())
            answers_[asked->second] = answer(head.thread, start);
        if (++done == head.ops.size()) break;
        start = capture_.host_ops.start_ns[head.ops[done]];
      } while (start <= until);
      head.ops = head.ops.subspan(done);
      if (!head.ops.empty()) return true;
    }
    ask_before(head, INT64_MAX, true);
    return false;
  }

  static void close_before(std::vector<Open>& stack, Nanos time) {
    time = std::min(time, INT64_MAX - Nanos{1});
    while (stack.back().closes <= time) stack.pop_back();
  }

  void open(std::uint32_t row, std::uint32_t thread, Nanos start) {
    const auto& ops = capture_.host_ops;
    auto& stack = stacks_[thread];
    close_before(stack, start);
    Open now = stack.back();
    result_.op_parent[row] = now.span;
    now.closes = end_of(start, std::max<Nanos>(ops.duration_ns[row], 1));
    const NameWord traits = names_.host(ops.name[row]);
    switch (ops.kind[row]) {
      case HostKind::op:
        open_op(row, thread, traits, now);
        break;
      case HostKind::annotation:
        now.span = row;
        if (traits & host_is::optimizer) now.phase = kOptimizerPhase;
        if (!(traits & host_is::no_scope))
          now.scope = paths_.scope(now.scope, ops.name[row], capture_.text(ops.name[row]));
        break;
      case HostKind::python:
        if (!(traits & (host_is::module | host_is::recompute))) return;
        // The backward pass calls no module but to run its forward pass again.
        if (now.phase == kBackwardPhase) now.phase = kRecomputePhase;
        if (!(traits & host_is::module)) break;
        now.module = paths_.child(
            now.module, ops.name[row],
            capture_.text(ops.name[row]).substr(std::string_view("nn.Module: ").size()));
        break;
      default:
        return;
    }
    stack.push_back(now);
  }

  void open_op(std::uint32_t row, std::uint32_t thread, NameWord traits, Open& now) {
    const auto& ops = capture_.host_ops;
    now.span = now.op = row;
    if (ops.module[row] != Text::none)
      if (const auto recorded = paths_.recorded(ops.module[row], capture_.text(ops.module[row])))
        now.module = recorded;
    const std::int64_t sequence = ops.sequence[row];
    const bool backward = (traits & host_is::backward) || ops.forward_thread[row] > 0;
    if (traits & host_is::optimizer)
      now.phase = kOptimizerPhase;
    else if (backward)
      now.phase = kBackwardPhase;
    else if (now.phase == kOtherPhase || (now.phase == kOptimizerPhase && sequence >= 0))
      now.phase = kForwardPhase;  // an optimizer that is given a closure runs the passes inside its
                                  // own step; its own work needs no gradient and has no number
    else if (now.phase == kBackwardPhase && sequence >= 0 && runs_forward_again(thread, traits))
      now.phase = kRecomputePhase;
    now.recomputes = false;
    if ((traits & host_is::recompute) && backward) now.phase = kRecomputePhase;
    if (sequence < 0) return;
    if (backward) {
      const auto forward = forward_.find(thread, ops.forward_thread[row], sequence);
      if (forward.op != kNoRow) now.forward = forward;
    } else if (!fills_inside(row, traits)) {
      forward_.put(thread, sequence, {row, module_of(now)});
    }
  }

  /// Inside a backward operation, autograd records what will need a backward pass of its own: a
  /// checkpoint runs its forward operations, from the first that only a forward pass calls.
  bool runs_forward_again(std::uint32_t thread, NameWord traits) {
    auto& around = stacks_[thread].back();
    if (traits & host_is::forward_only) around.recomputes = true;
    return around.recomputes;
  }

  /// An operation that only fills memory for the one around it, under the same sequence number:
  /// the one around it made the backward node.
  bool fills_inside(std::uint32_t row, NameWord traits) const {
    const auto& ops = capture_.host_ops;
    const auto around = result_.op_parent[row];
    if (around == kNoRow || ops.kind[around] != HostKind::op ||
        ops.sequence[around] != ops.sequence[row])
      return false;
    return traits & (host_is::makes_empty | host_is::fills | host_is::overwrites) ||
           capture_.text(ops.name[row]) == "aten::zero_";
  }

  static std::uint32_t module_of(const Open& open) {
    return open.module ? open.module : open.scope;
  }

  Answer answer(std::uint32_t thread, Nanos time) {
    auto& stack = stacks_[thread];
    close_before(stack, time);
    const Open& open = stack.back();
    Answer answer{open.op, open.forward.op, module_of(open), open.phase};
    if (open.phase == kRecomputePhase) {
      // A forward pass that runs again: what is open on its own thread says more than the sequence
      // number of the backward operation around it.
      answer.forward_op = kNoRow;
      if (!answer.module) answer.module = open.forward.module;
      return answer;
    }
    if (open.forward.op != kNoRow && (open.forward.module || !open.module))
      answer.module = open.forward.module;
    return answer;
  }

  const Capture& capture_;
  const Questions& questions_;
  Attribution& result_;
  const Names& names_;
  ModulePaths& paths_;
  ForwardTable forward_;
  std::vector<std::vector<Open>> stacks_;  // by row of threads
  std::vector<Head> heads_;                // threads with something left, as a heap
  std::vector<Answer> answers_;
};

void take(std::uint32_t activity, const Answer& answer, Attribution& result) {
  result.op[activity] = answer.op;
  result.forward_op[activity] = answer.forward_op;
  result.module[activity] = answer.module;
  result.phase[activity] = answer.phase;
}

/// An External id of a process; of any (-1), where the source does not say whose the activity is.
struct LinkKey {
  std::int64_t id, pid;
  bool operator==(const LinkKey&) const = default;
};
struct LinkHash {
  std::size_t operator()(const LinkKey& key) const {
    return std::hash<std::int64_t>{}(key.id ^ key.pid << 32);
  }
};
using Links = std::unordered_map<LinkKey, std::uint32_t, LinkHash>;

LinkKey link_of(const Capture& capture, std::uint32_t activity) {
  return {capture.activities.external_id[activity], capture.activities.pid[activity]};
}

/// Rows of host_ops by External id, the row that starts last for each (annotations use the same
/// ids; operations win).
Links ops_by_external_id(const Capture& capture, const std::vector<std::uint32_t>& activities) {
  Links wanted;
  for (const auto activity : activities) wanted.emplace(link_of(capture, activity), kNoRow);
  const auto& ops = capture.host_ops;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (ops.kind[i] != HostKind::op || ops.external_id[i] <= 0) continue;
    const bool known = ops.thread[i] < capture.threads.size();
    for (const auto pid : {std::int64_t{-1}, known ? capture.threads.pid[ops.thread[i]] : -1}) {
      const auto found = wanted.find({ops.external_id[i], pid});
      if (found != wanted.end()) found->second = i;
    }
  }
  return wanted;
}

/// Activities whose launch does not tell: the operation that captured them into a graph, else the
/// one that the source itself linked, as if the launch had been at its start.
void link_to_operations(const Capture& capture, const HostThreads& host, const Names& names,
                        std::vector<std::uint32_t> left, ModulePaths& paths, Attribution& result) {
  const auto by_id = ops_by_external_id(capture, left);
  auto op_of = [&](std::uint32_t one) {
    const auto captured = capture.activities.captured_op[one];
    return captured != kNoRow ? captured : by_id.at(link_of(capture, one));
  };
  std::erase_if(left, [&](std::uint32_t one) { return op_of(one) == kNoRow; });
  if (left.empty()) return;
  Questions questions{std::vector<std::uint32_t>(capture.api_calls.size(), kNoRow), {}, 0};
  for (const auto one : left)
    if (questions.of_op.try_emplace(op_of(one), questions.count).second) ++questions.count;
  const auto answers = HostSweep(capture, host, names, questions, paths, result).run();
  for (const auto one : left) take(one, answers[questions.of_op.at(op_of(one))], result);
}

/// An annotation around most of the work ("train", "execute_model") is no module: it would hide the
/// operators inside it.
void drop_wide_scopes(const ModulePaths& paths, Attribution& result) {
  std::vector<std::size_t> count(result.modules.size(), 0);
  for (const auto module : result.module) ++count[module];
  for (auto& module : result.module)
    if (paths.is_scope(module) && count[module] * 2 > result.module.size()) module = 0;
}

}  // namespace

Attribution attribute(const Capture& capture, const HostThreads& host, const Names& names,
                      const std::vector<std::uint32_t>& launches) {
  Attribution result;
  const auto& activities = capture.activities;
  const std::size_t count = activities.size();
  result.op.assign(count, kNoRow);
  result.forward_op.assign(count, kNoRow);
  result.module.assign(count, 0);
  result.phase.assign(count, kOtherPhase);
  ModulePaths paths(result.modules);

  // One question a launching call: the kernels of a graph share theirs.
  Questions questions{std::vector<std::uint32_t>(capture.api_calls.size(), kNoRow), {}, 0};
  for (std::uint32_t activity = 0; activity < count; ++activity)
    if (const auto call = launches[activity]; call != kNoRow && questions.of_call[call] == kNoRow)
      questions.of_call[call] = questions.count++;
  const auto answers = HostSweep(capture, host, names, questions, paths, result).run();
  std::vector<std::uint32_t>
      left;  // activities that the launch told nothing about, with an External id to try
  for (std::uint32_t activity = 0; activity < count; ++activity) {
    if (const auto call = launches[activity]; call != kNoRow)
      take(activity, answers[questions.of_call[call]], result);
    const bool linked = result.op[activity] == kNoRow && activities.external_id[activity] > 0;
    if (linked || activities.captured_op[activity] != kNoRow) left.push_back(activity);
  }
  if (!left.empty()) link_to_operations(capture, host, names, std::move(left), paths, result);
  drop_wide_scopes(paths, result);
  return result;
}

std::vector<bool> with_inner(std::vector<bool> marked, const HostThreads& host,
                             const Attribution& attribution) {
  if (std::ranges::find(marked, true) == marked.end()) return marked;
  for (std::uint32_t thread = 0; thread < host.threads(); ++thread)
    for (const auto op : host.ops(thread))  // the operations that one encloses come after it
      if (const auto parent = attribution.op_parent[op]; parent != kNoRow && marked[parent])
        marked[op] = true;
  return marked;
}

TrainingPhase phase_in_program(const Capture& capture, std::uint32_t program_op) {
  if (program_op == kNoRow) return TrainingPhase::none;
  const auto scope = capture.text(capture.program_ops.scope[program_op]);
  if (scope.find("rematted_computation") != scope.npos) return TrainingPhase::recompute;
  if (scope.find("transpose(jvp(") != scope.npos) return TrainingPhase::backward;
  return scope.find("jvp(") == scope.npos ? TrainingPhase::none : TrainingPhase::forward;
}

bool sums_gradients(const Capture& capture, const Names& names, const Attribution& attribution,
                    std::uint32_t op) {
  const auto& name = capture.host_ops.name;
  if (op == kNoRow || !(names.host(name[op]) & host_is::adds)) return false;
  const auto outer = attribution.op_parent[op];
  return outer != kNoRow && (names.host(name[outer]) & host_is::backward);
}

std::uint32_t NamingOperations::of(std::uint32_t op) {
  const auto& ops = capture_.host_ops;
  auto in_library = [&](std::uint32_t row) {
    return ops.kind[row] == HostKind::op &&
           (names_.host(ops.name[row]) & (host_is::scoped | host_is::engine)) == host_is::scoped;
  };
  return named_by_.of(op, [&](std::uint32_t outer, std::uint32_t row) {
    return outer != kNoRow && in_library(parent_[row]) ? outer : row;
  });
}

}  // namespace gf
