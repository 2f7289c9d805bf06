#include "analyze/runtime/idle_origins.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/runtime/host_lines.h"

namespace gf {

namespace {

/// Phases of one thread, to be asked at instants.
class ThreadPhases {
 public:
  ThreadPhases(const RuntimeTrace& trace, std::uint32_t thread) {
    for (const auto& s : trace.segments)
      if (s.thread == thread) segments_.push_back(&s);
  }
  RuntimePhase at(Nanos time) const {
    auto it = std::upper_bound(segments_.begin(), segments_.end(), time, [](Nanos t, const PhaseSegment* s) { return t < s->span.start; });
    if (it == segments_.begin() || (*std::prev(it))->span.end <= time) return RuntimePhase::other;
    return (*std::prev(it))->phase;
  }

 private:
  std::vector<const PhaseSegment*> segments_;
};

}  // namespace

std::vector<IdleOrigin> find_idle_origins(const Context& context, const RuntimeTrace& trace, std::size_t max_rows) {
  const auto& c = context.capture;
  struct Sum { Nanos ns = 0; std::int64_t gaps = 0; Nanos last_end = INT64_MIN; };
  using Key = std::tuple<IdleReason, RuntimePhase, Text, std::uint32_t, Text>;  // reason, phase, operation, module, Python line
  std::map<Key, Sum> sums;
  std::map<std::uint32_t, std::pair<HostLines, ThreadPhases>> threads;
  Nanos windows = 0;
  for (const auto& line : context.devices) {
    windows += line.window.length();
    for (const auto& piece : line.idle_pieces) {
      // The thread whose state gave the reason: that of the operation, else the one that launched the next activity.
      std::uint32_t thread = piece.op != kNoRow ? c.host_ops.thread[piece.op] : kNoRow;
      if (thread == kNoRow && piece.next != kNoRow && context.attribution.launch[piece.next] != kNoRow) thread = c.api_calls.thread[context.attribution.launch[piece.next]];
      RuntimePhase phase = RuntimePhase::other;
      Text operation{}, python{};
      if (piece.op != kNoRow) operation = c.host_ops.name[piece.op];
      if (thread != kNoRow) {
        auto it = threads.find(thread);
        if (it == threads.end()) it = threads.emplace(thread, std::pair{HostLines(context, thread), ThreadPhases(trace, thread)}).first;
        const Nanos middle = piece.span.start + piece.span.length() / 2;
        phase = it->second.second.at(middle);
        const auto at = it->second.first.at(middle);
        if (at.python != kNoRow) python = c.host_ops.name[at.python];
      }
      const std::uint32_t module = piece.next < context.attribution.module.size() ? context.attribution.module[piece.next] : 0;
      Sum& sum = sums[{piece.reason, phase, operation, module, python}];
      sum.ns += piece.span.length();
      if (piece.span.start != sum.last_end) ++sum.gaps;
      sum.last_end = piece.span.end;
    }
  }
  std::vector<IdleOrigin> origins;
  for (const auto& [key, sum] : sums) {
    const auto& [reason, phase, operation, module, python] = key;
    IdleOrigin o;
    o.cause = name_of(reason);
    o.phase = name_of(phase);
    o.operation = c.text(operation);
    if (module != 0) o.module = context.attribution.modules[module];
    o.python = c.text(python);
    o.ns = sum.ns;
    o.gaps = sum.gaps;
    if (windows > 0) {
      const double share = static_cast<double>(sum.ns) / static_cast<double>(windows);
      o.share = share;
      if (share < 1) o.speedup = 1 / (1 - share);
    }
    origins.push_back(std::move(o));
  }
  std::stable_sort(origins.begin(), origins.end(), [](const auto& a, const auto& b) { return a.ns > b.ns; });
  if (max_rows && origins.size() > max_rows) origins.resize(max_rows);
  return origins;
}

}  // namespace gf
