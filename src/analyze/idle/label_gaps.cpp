#include "analyze/idle/label_gaps.h"

#include <algorithm>
#include <map>

namespace gf {

IdleSums::IdleSums(const Context& context) : context_(context) {
  last_end_.fill(INT64_MIN);
  operators_.line_of.assign(context.capture.strings.size(), 0);
  modules_.line_of.assign(context.attribution.modules.size(), 0);
}

void IdleSums::clear() {
  ns_ = {};
  gaps_ = {};
  last_end_.fill(INT64_MIN);
  operators_.clear();
  modules_.clear();
}

void IdleSums::add(const IdlePiece& piece) {
  const auto at = static_cast<std::size_t>(piece.reason);
  ns_[at] += piece.span().length();
  if (piece.start != last_end_[at]) ++gaps_[at];  // pieces that touch are one gap
  last_end_[at] = piece.span().end;
  const auto& module_of = context_.attribution.module;
  if (piece.next < module_of.size() && module_of[piece.next] != 0)
    modules_.add(module_of[piece.next], at, piece.span().length());
}

void IdleSums::add_operators(const IdleSums& other) {
  for (std::size_t line = 1; line < other.operators_.id.size(); ++line)
    for (std::size_t reason = 0; reason < kReasons; ++reason)
      if (const Nanos time = other.operators_.ns[line][reason]; time > 0)
        operators_.add(other.operators_.id[line], reason, time);
}

template <class NameOf>
std::vector<NamedTime> IdleSums::largest(const Table& table, std::size_t reason,
                                         NameOf&& name_of_id) const {
  std::vector<std::uint32_t> lines;
  for (std::uint32_t i = 1; i < table.id.size(); ++i)
    if (table.ns[i][reason] > 0) lines.push_back(i);
  // Equal times by name, so that the order is fixed.
  std::sort(lines.begin(), lines.end(), [&](auto left, auto right) {
    if (table.ns[left][reason] != table.ns[right][reason])
      return table.ns[left][reason] > table.ns[right][reason];
    return name_of_id(table.id[left]) < name_of_id(table.id[right]);
  });
  std::vector<NamedTime> out;
  for (const auto line : lines)
    out.push_back({std::string(name_of_id(table.id[line])), table.ns[line][reason]});
  return out;
}

std::vector<IdleCause> IdleSums::causes() const {
  std::vector<IdleCause> causes;
  for (std::size_t reason = 0; reason < kReasons; ++reason) {
    if (ns_[reason] == 0) continue;
    IdleCause cause;
    cause.cause = static_cast<IdleReason>(reason);
    cause.ns = ns_[reason];
    cause.gaps = gaps_[reason];
    cause.operators = largest(operators_, reason,
                              [&](std::uint32_t id) { return context_.capture.text(Text{id}); });
    cause.modules = largest(modules_, reason, [&](std::uint32_t id) {
      return std::string_view(context_.attribution.modules[id]);
    });
    causes.push_back(std::move(cause));
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const auto& left, const auto& right) { return left.ns > right.ns; });
  return causes;
}

namespace {

/// The main thread of each thread's process: the one numbered like the process, else the one with
/// the most operations.
std::vector<std::uint32_t> main_threads(const Context& context) {
  const auto& threads = context.capture.threads;
  std::map<std::int64_t, std::uint32_t> main;
  auto better = [&](std::uint32_t left, std::uint32_t right) {
    if ((threads.tid[left] == threads.pid[left]) != (threads.tid[right] == threads.pid[right]))
      return threads.tid[left] == threads.pid[left];
    return context.host.ops(left).size() > context.host.ops(right).size();
  };
  for (std::uint32_t thread = 0; thread < threads.size(); ++thread) {
    const auto [at, added] = main.emplace(threads.pid[thread], thread);
    if (!added && better(thread, at->second)) at->second = thread;
  }
  std::vector<std::uint32_t> out(threads.size());
  for (std::uint32_t thread = 0; thread < threads.size(); ++thread)
    out[thread] = main[threads.pid[thread]];
  return out;
}

/// A process with hundreds of devices idles on all of them while its threads do one thing: beyond
/// so many looks at each event of the host, a long gap gets the reasons of a few instants in it.
constexpr std::size_t kMostLooks = 64;
constexpr std::size_t kFewEvents = 10'000;

/// By row of devices: the first activity that starts after the device's window, kNoRow without.
std::vector<std::uint32_t> first_after_windows(const Context& context) {
  const auto& activities = context.capture.activities;
  std::vector<std::uint32_t> next(context.capture.devices.size(), kNoRow);
  std::vector<Nanos> window_end(next.size(), INT64_MAX);
  for (const auto& line : context.devices) window_end[line.device] = line.window.end;
  for (std::uint32_t i = 0; i < activities.size(); ++i) {
    const auto device = activities.device[i];
    if (device >= next.size() || activities.start_ns[i] < window_end[device]) continue;
    if (next[device] == kNoRow || activities.start_ns[i] < activities.start_ns[next[device]])
      next[device] = i;
  }
  return next;
}

/// Causes that say what the host did; the others say what the device did.
bool is_of_the_host(IdleReason reason) {
  switch (reason) {
    case IdleReason::launch_bound:
    case IdleReason::host_other:
    case IdleReason::input:
    case IdleReason::sync:
    case IdleReason::memcpy:
    case IdleReason::communication:
      return true;
    default:
      return false;
  }
}

}  // namespace

GapLabeller::GapLabeller(const Context& context, const LaunchFacts& facts)
    : context_(context),
      capture_(context.capture),
      rules_(context, facts),
      turns_(context, rules_.hardware_needs()),
      captures_(context.capture),
      repeats_from_(context.window.blocks.begin_ns.value_or(INT64_MIN)),
      some_once_(repeats_from_ != INT64_MIN || !captures_.stretches().empty()),
      main_of_(main_threads(context)),
      after_window_(first_after_windows(context)),
      events_(capture_.host_ops.size() + capture_.api_calls.size()),
      most_looked_at_(kMostLooks * (events_ + kFewEvents)) {}

/// Each of three threads changes its state twice an event, and each gap asks anew, of the second
/// and the third thread once for each state of those before it.
bool GapLabeller::may_split() const {
  return context_.devices.size() + context_.others.size() == 1 &&
         12 * events_ + 3 * context_.devices.front().rows.size() < most_looked_at_;
}

/// While a graph is captured nothing that is launched runs: one-off, whatever else is open.
bool GapLabeller::once(Nanos from, Nanos to, IdleReason reason) const {
  return is_of_the_host(reason) && (captures_.at(candidates_, from) ||
                                    (to <= repeats_from_ && reason != IdleReason::launch_bound));
}

[[gnu::always_inline]] inline void GapLabeller::emit(Nanos from, Nanos to, IdleReason reason,
                                                     std::uint32_t op, std::uint32_t next) {
  if (from >= to) return;
  if (some_once_ && once(from, to, reason)) reason = IdleReason::start_up;
  if (op != kNoRow) sums_->add(op, reason, to - from);
  if (span_.end == from && piece_.reason == reason && piece_.next == next) {
    span_.end = to;
    if (to - from <= longest_) return;
  } else {
    end_piece();
    span_ = {from, to};
    piece_.reason = reason;
    piece_.next = next;
  }
  longest_ = to - from;
  piece_.op = op;
}

/// The last piece is whole.
void GapLabeller::end_piece() {
  while (span_.length() > 0) {
    piece_.start = span_.start;
    piece_.length = std::min(static_cast<std::uint64_t>(span_.length()), IdlePiece::kLongest) &
                    IdlePiece::kLongest;
    pieces_.push_back(piece_);
    span_.start = piece_.span().end;
  }
  span_ = {};
  longest_ = 0;
}

std::vector<IdlePiece> GapLabeller::label(const DeviceTimeline& line, IdleStretch stretch,
                                          IdleSums& sums) {
  sums_ = &sums;
  pieces_.clear();
  pieces_.reserve(3 * (stretch.last - stretch.first));  // more would touch large pages for nothing
  // An activity of no duration ends a gap too: what came before it waited for it.
  for (std::size_t i = stretch.first; i < stretch.last; ++i) {
    if (line.spans[i].start > stretch.covered)
      label_gap(rules_.gap({stretch.covered, line.spans[i].start}, stretch.before, line.rows[i]));
    stretch.pass(line, i);
  }
  if (stretch.last == line.rows.size() && stretch.covered < line.window.end) {
    // Idle at the end of the window: what the device waited for may come after it.
    std::uint32_t next = kNoRow;
    if (line.device < after_window_.size()) next = after_window_[line.device];
    label_gap(rules_.gap({stretch.covered, line.window.end}, stretch.before, next));
  }
  end_piece();
  return std::move(pieces_);
}

/// Pages of managed memory that moved since somebody touched them: no call asked for it.
bool GapLabeller::is_migration(std::uint32_t activity) const {
  return activity != kNoRow && capture_.activities.kind[activity] == ActivityKind::memcpy &&
         context_.launches[activity] == kNoRow &&
         capture_.text(capture_.activities.name[activity]).starts_with("Migration ");
}

void GapLabeller::label_gap(const IdleGap& gap) {
  const auto& calls = capture_.api_calls;
  if (is_migration(gap.next))
    return emit(gap.span.start, gap.span.end, IdleReason::host_other, kNoRow, gap.next);
  if (gap.next != kNoRow && gap.before != kNoRow && same_graph_launch(gap.before, gap.next))
    return label_device(gap, gap.span.start, gap.span.start, kNoRow);
  std::uint32_t call = kNoRow;
  if (gap.next != kNoRow) call = context_.launches[gap.next];
  if (gap.next != kNoRow && call == kNoRow)
    return emit(gap.span.start, gap.span.end, IdleReason::no_launch_record, kNoRow, gap.next);
  Nanos returned = 0;
  if (call == kNoRow) {
    returned = INT64_MAX;
  } else {
    returned = calls.start_ns[call] + calls.duration_ns[call];
  }
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
    label_device(gap, split, returned, gap.next < op.size() ? op[gap.next] : kNoRow);
  }
}

/// The device had the work from `from` on. For longer than hardware needs it can have waited for
/// another device alone: on this one nothing ran.
void GapLabeller::label_device(const IdleGap& gap, Nanos from, Nanos returned, std::uint32_t op) {
  const auto reason = rules_.device_late(gap, from, returned);
  if (reason != IdleReason::unexplained) return emit(from, gap.span.end, reason, op, gap.next);
  for (const auto& span : turns_.before(gap.next, from, rules_.told_to_wait(gap.next))) {
    emit(from, std::min(span.start, gap.span.end), reason, op, gap.next);
    emit(span.start, std::min(span.end, gap.span.end), IdleReason::dependency, op, gap.next);
    from = std::max(from, span.end);
  }
  emit(from, gap.span.end, reason, op, gap.next);
}

/// Labels [from, to) by what the host did: asks one candidate thread after the other until one has
/// something open.
void GapLabeller::label_host(const IdleGap& gap, Nanos from, Nanos to, std::size_t candidate) {
  if (candidate >= candidates_.size())
    return emit(from, to, IdleReason::host_other, kNoRow, gap.next);
  const auto thread = candidates_[candidate];
  auto& host = sweep(thread);
  const bool last = candidate + 1 == candidates_.size();
  auto label = [&](Nanos start, Nanos end,
                   const ThreadState& state) __attribute__((always_inline)) {
    ++looked_at_;
    if (const auto reason = rules_.host_late(thread, start, state, gap))
      emit(start, end, *reason, state.op != kNoRow ? state.op : state.named, gap.next);
    else if (last)
      emit(start, end, IdleReason::host_other, state.named, gap.next);
    else
      label_host(gap, start, end, candidate + 1);
  };
  constexpr Nanos kParts = 16;
  if (looked_at_ <= most_looked_at_ || host.events_in(from, to) <= kParts) {
    host.each_state(from, to, label);
    return;
  }
  const Nanos length = (to - from) / kParts;
  for (Nanos part = 0; part < kParts; ++part) {
    const Nanos start = from + part * length;
    Nanos end = start + length;
    if (part + 1 == kParts) end = to;
    if (start < end) label(start, end, host.at(start + (end - start) / 2));
  }
}

/// Nodes of one graph launch share its correlation; they were handed over together.
bool GapLabeller::same_graph_launch(std::uint32_t before, std::uint32_t next) const {
  const auto& activities = capture_.activities;
  if (activities.correlation[before] < 0 ||
      activities.correlation[before] != activities.correlation[next] ||
      activities.pid[before] != activities.pid[next])
    return false;
  const auto call = context_.launches[next];
  return call == kNoRow || capture_.api_calls.kind[call] == ApiKind::graph_launch;
}

ThreadSweep& GapLabeller::sweep(std::uint32_t thread) {
  auto at = sweeps_.find(thread);
  if (at == sweeps_.end())
    at =
        sweeps_.emplace(thread, ThreadSweep(capture_, context_.host, context_.names, thread)).first;
  return at->second;
}

std::uint32_t GapLabeller::main_thread(std::uint32_t thread) const {
  return thread < main_of_.size() ? main_of_[thread] : kNoRow;
}

std::uint32_t GapLabeller::launching_thread(std::uint32_t activity) const {
  if (activity == kNoRow || context_.launches[activity] == kNoRow) return kNoRow;
  const auto thread = capture_.api_calls.thread[context_.launches[activity]];
  return thread < capture_.threads.size() ? thread : kNoRow;
}

}  // namespace gf
