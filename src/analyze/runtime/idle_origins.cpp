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
    for (std::size_t p = 0; p < sets.size(); ++p)
      if (!sets[p].empty()) left_.push_back({static_cast<RuntimePhase>(p), sets[p].span()});
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
  std::size_t operator()(const Key& k) const {
    std::uint64_t h =
        static_cast<std::uint64_t>(k.reason) << 8 | static_cast<std::uint64_t>(k.phase);
    for (const auto part :
         {static_cast<std::uint32_t>(k.operation), k.module, static_cast<std::uint32_t>(k.python)})
      h = (h ^ part) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    return h;
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
  const auto& c = context.capture;
  struct Sum {
    Nanos ns = 0;
    std::int64_t gaps = 0;
    Nanos last_end = INT64_MIN;
  };
  std::unordered_map<Key, Sum, KeyHash> sums;
  const bool stacks = std::find(c.host_ops.kind.begin(), c.host_ops.kind.end(), HostKind::python) !=
                      c.host_ops.kind.end();
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
      std::uint32_t thread = piece.op != kNoRow ? c.host_ops.thread[piece.op] : kNoRow;
      if (thread == kNoRow && piece.next != kNoRow &&
          context.attribution.launch[piece.next] != kNoRow)
        thread = c.api_calls.thread[context.attribution.launch[piece.next]];
      Key key{piece.reason,
              RuntimePhase::other,
              {},
              piece.next < context.attribution.module.size()
                  ? context.attribution.module[piece.next]
                  : 0,
              {}};
      if (piece.op != kNoRow) key.operation = c.host_ops.name[piece.op];
      if (thread < c.threads.size()) {
        auto at = threads.find(thread);
        if (at == threads.end())
          at = threads
                   .emplace(thread, Thread{PhaseSweep(trace.threads[thread]),
                                           ThreadSweep(c, context.host, context.roles, thread)})
                   .first;
        const Nanos middle = piece.span.start + piece.span.length() / 2;
        key.phase = at->second.phases.at(middle);
        if (stacks)
          if (const auto python = at->second.sweep.at(middle).python; python != kNoRow)
            key.python = c.host_ops.name[python];
      }
      Sum& sum = sums[key];
      sum.ns += piece.span.length();
      if (piece.span.start != sum.last_end) ++sum.gaps;
      sum.last_end = piece.span.end;
    }
  }
  std::vector<std::pair<Key, Sum>> order(sums.begin(), sums.end());
  const std::size_t shown = max_rows ? std::min(max_rows, order.size()) : order.size();
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [](const auto& a, const auto& b) {
                      return a.second.ns != b.second.ns ? a.second.ns > b.second.ns
                                                        : a.first < b.first;
                    });
  std::vector<IdleOrigin> origins;
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [key, sum] = order[i];
    IdleOrigin o;
    o.cause = key.reason;
    o.phase = key.phase;
    o.operation = c.text(key.operation);
    if (key.module != 0) o.module = context.attribution.modules[key.module];
    o.python = c.text(key.python);
    o.ns = sum.ns;
    o.gaps = sum.gaps;
    if (windows > 0) {
      const double share = static_cast<double>(sum.ns) / static_cast<double>(windows);
      o.share = share;
      if (share < 1 && can_be_gained(key.reason)) o.speedup = 1 / (1 - share);
    }
    origins.push_back(std::move(o));
  }
  return origins;
}

}  // namespace gf
