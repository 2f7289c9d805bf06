#include "analyze/runtime/idle_origins.h"

#include <algorithm>
#include <unordered_map>

#include "analyze/thread_sweep.h"

namespace gf {

namespace {

/// Phases of one thread at instants in order of time.
class PhaseSweep {
 public:
  explicit PhaseSweep(const ThreadPhases& sets) {
    for (std::size_t phase = 0; phase < sets.size(); ++phase)
      if (!sets[phase].empty())
        left_.push_back({static_cast<RuntimePhase>(phase), sets[phase].span()});
  }
  RuntimePhase at(Nanos time) {
    for (auto& [phase, left] : left_) {
      while (!left.empty() && left.front().end <= time) left = left.subspan(1);
      if (!left.empty() && left.front().start <= time) return phase;
    }
    return RuntimePhase::other;
  }

 private:
  struct Left {
    RuntimePhase phase;
    std::span<const Interval> set;
  };
  std::vector<Left> left_;
};

/// What pieces of idle time are joined by.
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

}  // namespace

std::vector<IdleOrigin> find_idle_origins(const Context& context, const RuntimeTrace& trace,
                                          std::size_t max_rows) {
  const auto& capture = context.capture;
  struct Sum {
    Nanos ns = 0;
    std::int64_t gaps = 0;
    Nanos last_end = INT64_MIN;
  };
  std::unordered_map<Key, Sum, KeyHash> sums;
  const bool stacks = std::find(capture.host_ops.kind.begin(), capture.host_ops.kind.end(),
                                HostKind::python) != capture.host_ops.kind.end();
  Nanos windows = 0;
  for (const auto& line : context.devices) {
    windows += line.window.length();
    struct Thread {
      PhaseSweep phases;
      ThreadSweep sweep;
    };
    // Each moves forward with the pieces of this device. Few of many threads launch anything.
    std::unordered_map<std::uint32_t, Thread> threads;
    for (const auto& piece : line.idle_pieces) {
      // The thread whose state gave the reason: that of the operation, else the one that launched
      // the next activity.
      std::uint32_t thread = kNoRow;
      if (piece.op != kNoRow) thread = capture.host_ops.thread[piece.op];
      if (thread == kNoRow && piece.next != kNoRow &&
          context.attribution.launch[piece.next] != kNoRow)
        thread = capture.api_calls.thread[context.attribution.launch[piece.next]];
      Key key{piece.reason,
              RuntimePhase::other,
              {},
              piece.next < context.attribution.module.size()
                  ? context.attribution.module[piece.next]
                  : 0,
              {}};
      if (piece.op != kNoRow) key.operation = capture.host_ops.name[piece.op];
      if (thread < capture.threads.size()) {
        auto at = threads.find(thread);
        if (at == threads.end())
          at = threads
                   .emplace(thread,
                            Thread{PhaseSweep(trace.threads[thread]),
                                   ThreadSweep(capture, context.host, context.roles, thread)})
                   .first;
        const Nanos middle = piece.span.start + piece.span.length() / 2;
        key.phase = at->second.phases.at(middle);
        if (stacks)
          if (const auto python = at->second.sweep.at(middle).python; python != kNoRow)
            key.python = capture.host_ops.name[python];
      }
      Sum& sum = sums[key];
      sum.ns += piece.span.length();
      if (piece.span.start != sum.last_end) ++sum.gaps;
      sum.last_end = piece.span.end;
    }
  }
  std::vector<std::pair<Key, Sum>> order(sums.begin(), sums.end());
  std::size_t shown = 0;
  if (max_rows) {
    shown = std::min(max_rows, order.size());
  } else {
    shown = order.size();
  }
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [](const auto& left, const auto& right) {
                      if (left.second.ns != right.second.ns)
                        return left.second.ns > right.second.ns;
                      return left.first < right.first;
                    });
  std::vector<IdleOrigin> origins;
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [key, sum] = order[i];
    IdleOrigin origin;
    origin.cause = key.reason;
    origin.phase = key.phase;
    origin.operation = capture.text(key.operation);
    if (key.module != 0) origin.module = context.attribution.modules[key.module];
    origin.python = capture.text(key.python);
    origin.ns = sum.ns;
    origin.gaps = sum.gaps;
    if (windows > 0) {
      const double share = static_cast<double>(sum.ns) / static_cast<double>(windows);
      origin.share = share;
      if (share < 1 && can_be_gained(key.reason)) origin.speedup = 1 / (1 - share);
    }
    origins.push_back(std::move(origin));
  }
  return origins;
}

}  // namespace gf
