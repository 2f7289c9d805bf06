#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include "analyze/runtime/runtime.h"
#include "analyze/thread_sweep.h"

namespace gf {

namespace {

/// Phases of one thread at instants: quickest in order of time.
class PhaseSweep {
 public:
  explicit PhaseSweep(const ThreadPhases& sets) {
    for (std::size_t phase = 0; phase < sets.size(); ++phase)
      if (!sets[phase].empty())
        sets_.push_back({static_cast<RuntimePhase>(phase), sets[phase].span(), 0});
  }
  RuntimePhase at(Nanos time) {
    if (time < last_)
      for (auto& set : sets_) set.next = 0;
    last_ = time;
    for (auto& set : sets_) {
      move_on(set, time);
      if (set.next < set.spans.size() && set.spans[set.next].start <= time) return set.phase;
    }
    return RuntimePhase::other;
  }

 private:
  struct Set {
    RuntimePhase phase;
    std::span<const Interval> spans;
    std::size_t next;  // the first that has not ended
  };
  static void move_on(Set& set, Nanos time) {
    constexpr int kNear = 8;
    for (int i = 0; i < kNear; ++i) {
      if (set.next == set.spans.size() || set.spans[set.next].end > time) return;
      ++set.next;
    }
    const auto at = std::partition_point(set.spans.begin() + static_cast<std::ptrdiff_t>(set.next),
                                         set.spans.end(),
                                         [time](const Interval& span) { return span.end <= time; });
    set.next = static_cast<std::size_t>(at - set.spans.begin());
  }
  std::vector<Set> sets_;
  Nanos last_ = INT64_MIN;
};

/// The key by which pieces of idle time are joined.
struct Key {
  IdleReason reason;
  RuntimePhase phase;
  Text operation;
  std::uint32_t module;
  Text python;
  auto operator<=>(const Key&) const = default;
};
struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash =
        static_cast<std::uint64_t>(key.reason) << 8 | static_cast<std::uint64_t>(key.phase);
    for (const auto part : {static_cast<std::uint32_t>(key.operation), key.module,
                            static_cast<std::uint32_t>(key.python)}) {
      hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

/// Time that the capture cannot explain, and what is done once, promise no faster steps.
bool can_be_gained(IdleReason reason) {
  return reason != IdleReason::unexplained && reason != IdleReason::start_up &&
         reason != IdleReason::no_launch_record;
}

struct Sum {
  Nanos ns = 0;
  std::int64_t gaps = 0;
  Nanos last_end = INT64_MIN;
};
using Sums = std::unordered_map<Key, Sum, KeyHash>;

/// Activity of the host's threads at the middle of each idle piece.
class PieceOrigins {
 public:
  PieceOrigins(const Context& context, const RuntimeTrace& trace, bool stacks)
      : context_(context),
        trace_(trace),
        stacks_(stacks),
        threads_(context.capture.threads.size()) {}

  Key key_of(const IdlePiece& piece) {
    const auto& capture = context_.capture;
    Key key{piece.reason, RuntimePhase::other, {}, 0, {}};
    if (piece.next < context_.attribution.module.size())
      key.module = context_.attribution.module[piece.next];
    if (piece.op != kNoRow) key.operation = capture.host_ops.name[piece.op];
    const auto thread = thread_of(piece);
    if (thread >= capture.threads.size()) return key;
    auto& state = state_of(thread);
    const Nanos middle = piece.start + piece.span().length() / 2;
    key.phase = state.phases.at(middle);
    if (stacks_)
      if (const auto python = state.sweep.at(middle).python; python != kNoRow)
        key.python = capture.host_ops.name[python];
    return key;
  }

 private:
  struct Thread {
    PhaseSweep phases;
    ThreadSweep sweep;
  };
  /// The thread whose state gave the reason: that of the operation, else the one that launched the
  /// next activity.
  std::uint32_t thread_of(const IdlePiece& piece) const {
    const auto& capture = context_.capture;
    std::uint32_t thread = kNoRow;
    if (piece.op != kNoRow) thread = capture.host_ops.thread[piece.op];
    if (thread != kNoRow || piece.next == kNoRow) return thread;
    const auto launch = context_.launches[piece.next];
    return launch == kNoRow ? kNoRow : capture.api_calls.thread[launch];
  }
  Thread& state_of(std::uint32_t thread) {
    auto& state = threads_[thread];
    if (!state)
      state = std::make_unique<Thread>(
          Thread{PhaseSweep(trace_.threads[thread]),
                 ThreadSweep(context_.capture, context_.host, context_.names, thread, {})});
    return *state;
  }

  const Context& context_;
  const RuntimeTrace& trace_;
  bool stacks_;
  // By row of threads, of those that launch anything. Each moves forward with the pieces of a
  // device, and back to the next one's.
  std::vector<std::unique_ptr<Thread>> threads_;
};

IdleOrigin origin_of(const Context& context, const Key& key, const Sum& sum, Nanos windows) {
  IdleOrigin origin;
  origin.cause = key.reason;
  origin.phase = key.phase;
  origin.operation = context.capture.text(key.operation);
  if (key.module != 0) origin.module = context.attribution.modules[key.module];
  origin.python = context.capture.text(key.python);
  origin.ns = sum.ns;
  origin.gaps = sum.gaps;
  if (windows > 0) {
    const double share = static_cast<double>(sum.ns) / static_cast<double>(windows);
    origin.share = share;
    if (share < 1 && can_be_gained(key.reason)) origin.speedup = 1 / (1 - share);
  }
  return origin;
}

}  // namespace

std::vector<IdleOrigin> find_idle_origins(const Context& context, const RuntimeTrace& trace,
                                          std::size_t max_rows) {
  const auto& kinds = context.capture.host_ops.kind;
  const bool stacks = std::find(kinds.begin(), kinds.end(), HostKind::python) != kinds.end();
  Sums sums;
  Sums::value_type* last = nullptr;  // pieces one after the other mostly have one origin
  Nanos windows = 0;
  PieceOrigins origins_of(context, trace, stacks);
  for (const auto& line : context.devices) {
    windows += line.window.length();
    for (const auto& piece : line.idle_pieces) {
      const Key key = origins_of.key_of(piece);
      if (!last || last->first != key) last = &*sums.try_emplace(key).first;
      Sum& sum = last->second;
      sum.ns += piece.span().length();
      if (piece.start != sum.last_end) ++sum.gaps;
      sum.last_end = piece.span().end;
    }
  }
  std::vector<std::pair<Key, Sum>> order(sums.begin(), sums.end());
  std::size_t shown = order.size();
  if (max_rows > 0) shown = std::min(max_rows, shown);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [](const auto& left, const auto& right) {
                      if (left.second.ns != right.second.ns)
                        return left.second.ns > right.second.ns;
                      return left.first < right.first;
                    });
  std::vector<IdleOrigin> origins;
  for (std::size_t i = 0; i < shown; ++i)
    origins.push_back(origin_of(context, order[i].first, order[i].second, windows));
  // Rows that were cut become one row a cause, so that the list still sums to the idle time.
  std::map<IdleReason, std::pair<std::int64_t, Sum>> others;
  for (std::size_t i = shown; i < order.size(); ++i) {
    auto& [rows, sum] = others[order[i].first.reason];
    ++rows;
    sum.ns += order[i].second.ns;
    sum.gaps += order[i].second.gaps;
  }
  for (const auto& [reason, rest] : others) {
    Key key{reason, RuntimePhase::other, {}, 0, {}};
    origins.push_back(origin_of(context, key, rest.second, windows));
    origins.back().operation = fmt::format("({} others)", rest.first);
  }
  return origins;
}

}  // namespace gf
