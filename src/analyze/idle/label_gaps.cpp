#include "analyze/idle/label_gaps.h"

#include <algorithm>

namespace gf {

namespace {

/// Copies to the device below this size are scalars and indices of an operation, not the input of a
/// step.
constexpr std::int64_t kInputBytes = 4096;

/// The main thread of each thread's process: the one numbered like the process, else the one with
/// the most operations.
std::vector<std::uint32_t> main_threads(const Context& context) {
  const auto& threads = context.capture.threads;
  std::map<std::int64_t, std::uint32_t> main;
  auto better = [&](std::uint32_t a, std::uint32_t b) {
    if ((threads.tid[a] == threads.pid[a]) != (threads.tid[b] == threads.pid[b]))
      return threads.tid[a] == threads.pid[a];
    return context.host.ops(a).size() > context.host.ops(b).size();
  };
  for (std::uint32_t t = 0; t < threads.size(); ++t) {
    const auto [at, added] = main.emplace(threads.pid[t], t);
    if (!added && better(t, at->second)) at->second = t;
  }
  std::vector<std::uint32_t> out(threads.size());
  for (std::uint32_t t = 0; t < threads.size(); ++t) out[t] = main[threads.pid[t]];
  return out;
}

}  // namespace

GapLabeller::GapLabeller(const Context& context, const LaunchFacts& facts)
    : context_(context), capture_(context.capture), facts_(facts), main_of_(main_threads(context)) {
  const auto& a = capture_.activities;
  std::vector<char> known(capture_.strings.size(), -1);
  collective_.assign(known.size(), false);
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    if (a.kind[i] != ActivityKind::kernel) continue;
    const auto name = static_cast<std::uint32_t>(a.name[i]);
    if (known[name] >= 0) continue;
    known[name] = is_collective_kernel(capture_.text(a.name[i]));
    collective_[name] = known[name] > 0;
  }
  const auto& c = capture_.collectives;
  for (std::uint32_t i = 0; i < c.size(); ++i)
    if (c.activity[i] < a.size())
      collective_[static_cast<std::uint32_t>(a.name[c.activity[i]])] = true;
}

std::vector<IdlePiece> GapLabeller::label(const DeviceTimeline& line, IdleSums& sums) {
  sums_ = &sums;
  pieces_.clear();
  pieces_.reserve(
      8 * line.idle.size());  // most gaps have fewer; room that stays untouched costs nothing
  sweeps_.clear();
  // An activity of no duration ends a gap too: what came before it waited for it.
  Nanos covered = line.window.start;
  std::uint32_t before = kNoRow;
  for (std::size_t i = 0; i < line.rows.size(); ++i) {
    if (line.spans[i].start > covered)
      label_gap({{covered, line.spans[i].start}, before, line.rows[i]});
    if (before == kNoRow || line.spans[i].end >= covered) before = line.rows[i];
    covered = std::max(covered, line.spans[i].end);
  }
  if (covered < line.window.end) {
    // Idle at the end of the window: what the device waited for may come after it.
    const auto& a = capture_.activities;
    std::uint32_t next = kNoRow;
    for (std::uint32_t i = 0; i < a.size(); ++i)
      if (a.device[i] == line.device && a.start_ns[i] >= line.window.end &&
          (next == kNoRow || a.start_ns[i] < a.start_ns[next]))
        next = i;
    label_gap({{covered, line.window.end}, before, next});
  }
  return std::move(pieces_);
}

void GapLabeller::label_gap(const Gap& gap) {
  const auto& calls = capture_.api_calls;
  if (gap.next != kNoRow && gap.before != kNoRow && same_graph_launch(gap.before, gap.next)) {
    const bool same_stream =
        capture_.activities.stream[gap.before] == capture_.activities.stream[gap.next];
    return emit(gap.span.start, gap.span.end,
                same_stream ? IdleReason::kernel_gap : IdleReason::dependency, kNoRow, gap.next);
  }
  const std::uint32_t call = gap.next == kNoRow ? kNoRow : context_.attribution.launch[gap.next];
  if (gap.next != kNoRow && call == kNoRow)
    return emit(gap.span.start, gap.span.end, IdleReason::no_launch_record, kNoRow, gap.next);
  const Nanos returned =
      call == kNoRow ? INT64_MAX : calls.start_ns[call] + calls.duration_ns[call];
  const Nanos split = std::clamp(returned, gap.span.start, gap.span.end);
  if (split > gap.span.start) {
    candidates_.clear();
    const auto launching = launching_thread(gap.next), previous = launching_thread(gap.before);
    for (auto thread :
         {launching, main_thread(launching != kNoRow ? launching : previous), previous})
      if (thread != kNoRow &&
          std::find(candidates_.begin(), candidates_.end(), thread) == candidates_.end())
        candidates_.push_back(thread);
    label_host(gap, gap.span.start, split, 0);
  }
  if (split < gap.span.end) {
    const auto& op = context_.attribution.op;
    emit(split, gap.span.end, reason_after_launch(gap, returned),
         gap.next < op.size() ? op[gap.next] : kNoRow, gap.next);
  }
}

/// What the host did in [from, to), asked of one candidate thread after the other until one has
/// something open.
void GapLabeller::label_host(const Gap& gap, Nanos from, Nanos to, std::size_t candidate) {
  if (candidate >= candidates_.size())
    return emit(from, to, IdleReason::host_other, kNoRow, gap.next);
  sweep(candidates_[candidate])
      .each_state(from, to, [&](Nanos start, Nanos end, const ThreadState& state) {
        bool open = false;
        const IdleReason reason = reason_of(state, gap, open);
        if (open)
          emit(start, end, reason, state.op != kNoRow ? state.op : state.named, gap.next);
        else if (candidate + 1 < candidates_.size())
          label_host(gap, start, end, candidate + 1);
        else
          emit(start, end, IdleReason::host_other, state.named, gap.next);
      });
}

IdleReason GapLabeller::reason_of(const ThreadState& state, const Gap& gap, bool& open) const {
  open = true;
  if (state.roles & kCommunication) return IdleReason::communication;
  if (state.roles & kInput) return IdleReason::input;
  const auto& a = capture_.activities;
  auto is_input_copy = [&](std::uint32_t row) {
    return row != kNoRow && a.kind[row] == ActivityKind::memcpy &&
           a.copy[row] == CopyKind::host_to_device &&
           (a.bytes[row] < 0 || a.bytes[row] >= kInputBytes);
  };
  if (state.call != kNoRow) {
    const auto kind = capture_.api_calls.kind[state.call];
    if (kind == ApiKind::sync) return IdleReason::sync;
    if (kind == ApiKind::memcpy) {
      if (is_input_copy(facts_.started[state.call])) return IdleReason::input;
      const bool returns_at_once =
          capture_.text(capture_.api_calls.name[state.call]).find("Async") !=
          std::string_view::npos;
      return returns_at_once ? IdleReason::memcpy : IdleReason::sync;
    }
  }
  if (state.roles & kWaits) return IdleReason::sync;
  open = state.call != kNoRow || state.op != kNoRow;
  if (!open || gap.next == kNoRow) return IdleReason::host_other;
  if (collective_[static_cast<std::uint32_t>(a.name[gap.next])]) return IdleReason::communication;
  if (is_input_copy(gap.next)) return IdleReason::input;
  return IdleReason::launch_bound;
}

/// The launch call had returned and the device still idled.
IdleReason GapLabeller::reason_after_launch(const Gap& gap, Nanos returned) const {
  if (facts_.waits[context_.attribution.launch[gap.next]]) return IdleReason::dependency;
  const auto& a = capture_.activities;
  // It stood ready before the gap and began when another stream had finished.
  if (gap.before != kNoRow && returned <= gap.span.start &&
      a.stream[gap.before] != a.stream[gap.next])
    return IdleReason::dependency;
  return IdleReason::kernel_gap;
}

/// All kernels of one graph launch share its correlation.
bool GapLabeller::same_graph_launch(std::uint32_t x, std::uint32_t y) const {
  const auto& a = capture_.activities;
  return a.correlation[x] >= 0 && a.correlation[x] == a.correlation[y] && a.pid[x] == a.pid[y];
}

void GapLabeller::emit(Nanos from, Nanos to, IdleReason reason, std::uint32_t op,
                       std::uint32_t next) {
  if (from >= to) return;
  sums_->add({from, to}, reason, op, next);
  if (!pieces_.empty()) {
    auto& last = pieces_.back();
    if (last.span.end == from && last.reason == reason && last.next == next) {
      last.span.end = to;
      if (to - from > longest_) {
        longest_ = to - from;
        last.op = op;
      }
      return;
    }
  }
  longest_ = to - from;
  pieces_.push_back({{from, to}, op, next, reason});
}

ThreadSweep& GapLabeller::sweep(std::uint32_t thread) {
  auto at = sweeps_.find(thread);
  if (at == sweeps_.end())
    at =
        sweeps_.emplace(thread, ThreadSweep(capture_, context_.host, context_.roles, thread)).first;
  return at->second;
}

std::uint32_t GapLabeller::main_thread(std::uint32_t thread) const {
  return thread < main_of_.size() ? main_of_[thread] : kNoRow;
}

std::uint32_t GapLabeller::launching_thread(std::uint32_t activity) const {
  if (activity == kNoRow || context_.attribution.launch[activity] == kNoRow) return kNoRow;
  const auto thread = capture_.api_calls.thread[context_.attribution.launch[activity]];
  return thread < capture_.threads.size() ? thread : kNoRow;
}

}  // namespace gf
