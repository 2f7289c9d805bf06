#include "analyze/replay/host_cuts.h"

#include <algorithm>
#include <utility>

#include "analyze/attribution/attribution.h"
#include "analyze/findings/facts.h"
#include "analyze/replay/device_work.h"
#include "analyze/traits.h"
#include "core/strings.h"

namespace gf {

namespace {

/// Many pieces in a row are the rounds of a loop: at best one round stands for all, with what is
/// left between its pieces.
void join_rounds(Intervals& gone) {
  constexpr std::ptrdiff_t kMany = 8;
  constexpr Nanos kRound = 2 * kNsPerMs;
  Intervals joined;
  for (auto first = gone.begin(); first != gone.end();) {
    auto last = std::next(first);
    while (last != gone.end() && last->start - std::prev(last)->end <= kRound) ++last;
    if (last - first >= kMany)
      joined.push_back({first->start, std::prev(last)->end});
    else
      joined.insert(joined.end(), first, last);
    first = last;
  }
  gone = std::move(joined);
}

}  // namespace

HostCutter::HostCutter(const Context& context, const DeviceTimeline& line, Interval span,
                       const std::vector<std::vector<std::uint32_t>>& lines)
    : context_(context), capture_(context.capture), line_(line), span_(span), lines_(lines) {
  for (const auto& threads : lines)
    one_off_.push_back(ops_of(threads, [&](std::uint32_t op) {
      return (context_.names.host(capture_.host_ops.name[op]) & host_is::one_off) != 0;
    }));
  long_pauses_ = idle_by(IdleReason::host_other, kLongPause);
}

template <class Wanted>
Intervals HostCutter::ops_of(const std::vector<std::uint32_t>& threads, Wanted&& wanted) const {
  Intervals spans;
  const auto& ops = capture_.host_ops;
  for (const auto thread : threads)
    for (const auto op : begin_inside(context_.host.ops(thread), ops.start_ns, span_))
      if (wanted(op)) spans.push_back(span_of(ops, op));
  return normalised(std::move(spans));
}

Intervals HostCutter::calls_of(const std::vector<std::uint32_t>& threads, ApiKind kind) const {
  Intervals spans;
  const auto& calls = capture_.api_calls;
  for (const auto thread : threads)
    for (const auto call : begin_inside(context_.host.calls(thread), calls.start_ns, span_))
      if (calls.kind[call] == kind) spans.push_back(span_of(calls, call));
  return normalised(std::move(spans));
}

HostCuts HostCutter::cuts_of(const WhatIfChanges& changes, const Outlook& outlook,
                             const std::vector<const OfThreads*>& mended) const {
  HostCuts cuts;
  cuts.lines.resize(lines_.size());
  Intervals pauses;  // with which copies go
  for (const auto& claim : changes.claims) {
    cuts.claimed = unite(cuts.claimed, claim.time.host);
    if (is_of_host(claim)) pauses = unite(pauses, claim.time.host);
  }
  const bool at_worst = outlook.worst();
  if (asks(changes, Without::sync) && !at_worst)
    cuts.reads = outlook.whole ? &waiting_operators() : &reads();
  if (asks(changes, Without::pauses))
    pauses = unite(pauses, idle_by(IdleReason::host_other, kHostPause));
  cuts.copying = copies_around(pauses);
  cuts.claimed = unite(cuts.claimed, cuts.copying);
  if (changes.graph) cuts.stays = subtract(long_pauses_, cuts.claimed);
  // Changes that only make kernels faster leave loops as they are.
  const bool may_loop = asks(changes, Without::sync) || asks(changes, Without::copies) ||
                        asks(changes, Without::allocations) || !cuts.claimed.empty();
  if (asks(changes, Without::copies))
    for (const auto& threads : lines_) cuts.copied = unite(cuts.copied, waits_for_copies(threads));
  for (std::size_t line = 0; line < cuts.lines.size(); ++line) {
    Intervals& own = cuts.lines[line];
    if (asks(changes, Without::compiling)) own = one_off_[line];
    if (asks(changes, Without::pauses))
      own = unite(own, idle_by(IdleReason::host_other, kHostPause));
    if (asks(changes, Without::input)) own = unite(own, idle_by(IdleReason::input, 0));
    if (cuts.reads) {
      own = unite(own, ops_of(lines_[line], [&](auto op) { return (*cuts.reads)[op]; }));
      own = unite(own, calls_of(lines_[line], ApiKind::sync));
    }
    if (asks(changes, Without::allocations))
      own = unite(own, calls_of(lines_[line], ApiKind::alloc));
    // A copy from memory that is not pinned is staged by the call itself.
    if (asks(changes, Without::copies))
      own = unite(own, unite(calls_of(lines_[line], ApiKind::memcpy), cuts.copied));
    own = unite(own, cuts.claimed);
    for (const auto* host : mended)
      for (const auto thread : lines_[line])
        if (const auto found = host->find(thread); found != host->end())
          own = unite(own, found->second);
    for (const auto thread : lines_[line]) {
      if (changes.operators.empty()) break;
      Intervals& removed = cuts.removed[thread];
      removed = ops_of({thread}, [&](std::uint32_t op) { return is_removed(op, changes); });
      own = unite(own, removed);
    }
    if (!at_worst) close_gaps(lines_[line], own);
    if (outlook.whole && may_loop) join_rounds(own);
  }
  return cuts;
}

/// The calls that copy down right before a pause and up right after it: what the host works on
/// goes with its work. Copies that take far longer than the work are a matter of their own.
Intervals HostCutter::copies_around(const Intervals& pauses) const {
  constexpr Nanos kFarLonger = 3;
  const auto& activities = capture_.activities;
  const auto& calls = capture_.api_calls;
  Intervals copying, near;
  auto take = [&](std::uint32_t row, CopyKind kind) {
    const auto call = context_.launches[row];
    if (activities.kind[row] != ActivityKind::memcpy || activities.copy[row] != kind ||
        call == kNoRow)
      return false;
    near.push_back(span_of(calls, call));
    return true;
  };
  for (const auto& pause : pauses) {
    near.clear();
    const auto next = std::ranges::lower_bound(
        line_.rows, pause.end, {}, [&](std::uint32_t row) { return activities.start_ns[row]; });
    for (auto at = next; at != line_.rows.begin() && take(*(at - 1), CopyKind::device_to_host);)
      --at;
    for (auto at = next; at != line_.rows.end() && take(*at, CopyKind::host_to_device);) ++at;
    if (total(near) <= kFarLonger * pause.length())
      copying.insert(copying.end(), near.begin(), near.end());
  }
  return normalised(std::move(copying));
}

/// Between two pieces that are gone, the host only went from one to the next.
void HostCutter::close_gaps(const std::vector<std::uint32_t>& threads, Intervals& gone) const {
  constexpr Nanos kOnTheWay = 100 * kNsPerUs;
  // Gaps are short and in order: from the first row that begins in one it is not far to its end,
  // nor to the next one.
  const auto any_begins = [](auto& rows, const auto& starts, Interval gap, auto counts) {
    std::size_t near = 1;
    while (near < rows.size() && starts[rows[near]] < gap.start) near *= 2;
    const auto begins = std::ranges::lower_bound(rows.first(std::min(near, rows.size())), gap.start,
                                                 {}, [&](auto at) { return starts[at]; });
    rows = rows.subspan(static_cast<std::size_t>(begins - rows.begin()));
    for (auto row = rows.begin(); row != rows.end() && starts[*row] < gap.end; ++row)
      if (counts(*row)) return true;
    return false;
  };
  struct Ahead {
    std::span<const std::uint32_t> calls, ops;
  };
  std::vector<Ahead> ahead;  // by thread
  for (const auto thread : threads)
    ahead.push_back({context_.host.calls(thread), context_.host.ops(thread)});
  const auto nothing_begins = [&](Interval gap) {
    const auto is_op = [&](auto op) { return capture_.host_ops.kind[op] == HostKind::op; };
    return std::ranges::none_of(ahead, [&](Ahead& of) {
      return any_begins(of.calls, capture_.api_calls.start_ns, gap, [](auto) { return true; }) ||
             any_begins(of.ops, capture_.host_ops.start_ns, gap, is_op);
    });
  };
  Intervals joined;
  for (const Interval& piece : gone) {
    if (!joined.empty() && piece.start - joined.back().end <= kOnTheWay &&
        nothing_begins({joined.back().end, piece.start}))
      joined.back().end = piece.end;
    else
      joined.push_back(piece);
  }
  gone = std::move(joined);
}

/// Operations that exist to wait for a value, such as aten::item, with the questions whose answer
/// is all that is waited for: by row of host_ops.
const std::vector<bool>& HostCutter::reads() const {
  if (!reads_.empty()) return reads_;
  const auto& ops = capture_.host_ops;
  const auto& parent = context_.attribution.op_parent;
  reads_.resize(ops.size());
  for (std::uint32_t thread = 0; thread < context_.host.threads(); ++thread) {
    std::vector<std::uint32_t> questions;  // one after the other, inside the same operation
    for (const auto op : begin_inside(context_.host.ops(thread), ops.start_ns, span_)) {
      if (ops.kind[op] != HostKind::op) continue;
      const bool beside = !questions.empty() && parent[questions.back()] == parent[op];
      if (!questions.empty() && !beside &&
          ops.start_ns[op] < ops.start_ns[questions.back()] + ops.duration_ns[questions.back()])
        continue;  // inside one
      if (!beside) questions.clear();
      const NameWord is = context_.names.host(ops.name[op]);
      if ((is & host_is::waits) != 0) {
        reads_[op] = true;
        for (const auto question : std::exchange(questions, {})) reads_[question] = true;
      } else if ((is & host_is::asks_truth) != 0) {
        questions.push_back(op);
      } else {
        questions.clear();
      }
    }
  }
  return reads_ = with_inner(std::move(reads_), context_.host, context_.attribution);
}

/// The waiting calls of copies that have one of their own.
Intervals HostCutter::waits_for_copies(const std::vector<std::uint32_t>& threads) const {
  Intervals spans;
  const auto& calls = capture_.api_calls;
  for (const auto thread : threads) {
    bool copied = false;
    for (const auto call : begin_inside(context_.host.calls(thread), calls.start_ns, span_)) {
      if (copied && calls.kind[call] == ApiKind::sync) spans.push_back(span_of(calls, call));
      copied = calls.kind[call] == ApiKind::memcpy;
    }
  }
  return normalised(std::move(spans));
}

/// reads(), and every outermost operator in which a call waits: by row of host_ops.
const std::vector<bool>& HostCutter::waiting_operators() const {
  if (!waiting_.empty()) return waiting_;
  const auto& ops = capture_.host_ops;
  const auto& calls = capture_.api_calls;
  const auto is_operator = [&](Text name) {
    constexpr NameWord kHandsOn = host_is::engine | host_is::communication;
    return (context_.names.host(name) & (host_is::scoped | kHandsOn)) == host_is::scoped;
  };
  std::vector<std::uint32_t> up;  // calls
  const auto& activities = capture_.activities;
  for (const auto row : line_.rows)
    if (activities.kind[row] == ActivityKind::memcpy &&
        activities.copy[row] == CopyKind::host_to_device && context_.launches[row] != kNoRow)
      up.push_back(context_.launches[row]);
  std::ranges::sort(up);
  const auto copies_up = [&](std::uint32_t call) { return std::ranges::binary_search(up, call); };
  waiting_ = reads();
  for (std::uint32_t thread = 0; thread < context_.host.threads(); ++thread) {
    Nanos until = INT64_MIN;
    auto ahead = context_.host.calls(thread);
    const auto begin_before = [&](Nanos time) {  // of these
      return static_cast<std::size_t>(
          std::ranges::find_if(ahead, [&](auto call) { return calls.start_ns[call] >= time; }) -
          ahead.begin());
    };
    for (const auto op : begin_inside(context_.host.ops(thread), ops.start_ns, span_)) {
      if (ops.kind[op] != HostKind::op || ops.start_ns[op] < until || !is_operator(ops.name[op]))
        continue;
      until = ops.start_ns[op] + ops.duration_ns[op];
      ahead = ahead.subspan(begin_before(ops.start_ns[op]));
      const auto inside = ahead.first(begin_before(until));
      const bool waits = std::ranges::any_of(
          inside, [&](std::uint32_t call) { return calls.kind[call] == ApiKind::sync; });
      waiting_[op] = waiting_[op] || (waits && std::ranges::none_of(inside, copies_up));
    }
  }
  return waiting_ = with_inner(std::move(waiting_), context_.host, context_.attribution);
}

std::vector<bool> HostCutter::removed_by(const WhatIfChanges& changes) const {
  if (changes.operators.empty()) return {};
  std::vector<bool> removed(capture_.host_ops.size());
  for (std::uint32_t op = 0; op < removed.size(); ++op) removed[op] = is_removed(op, changes);
  return with_inner(std::move(removed), context_.host, context_.attribution);
}

/// When the device idles for a reason, in stretches of `least` and more.
Intervals HostCutter::idle_by(IdleReason reason, Nanos least) const {
  Intervals all;
  const auto& pieces = line_.idle_pieces;
  const auto first = std::ranges::partition_point(
      pieces, [&](const auto& piece) { return piece.span().end <= span_.start; });
  for (const auto& piece : std::ranges::subrange(first, pieces.end())) {
    if (piece.start >= span_.end) break;
    if (piece.reason != reason) continue;
    extend(all, piece.span());
  }
  std::erase_if(all, [&](const Interval& span) { return span.length() < least; });
  return all;
}

bool HostCutter::is_removed(std::uint32_t op, const WhatIfChanges& changes) const {
  const auto name = capture_.text(capture_.host_ops.name[op]);
  return std::ranges::any_of(changes.operators, [&](const std::string& part) {
    return name.find(part) != std::string_view::npos;
  });
}

}  // namespace gf
