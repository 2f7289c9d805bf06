#include "analyze/runtime/shares.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <span>

namespace gf {

namespace {

std::optional<double> per_item(Nanos ns, std::int64_t items) {
  if (items > 0) return std::optional<double>(static_cast<double>(ns) / static_cast<double>(items));
  return std::nullopt;
}

constexpr PhaseMask bit_of(std::size_t phase) { return static_cast<PhaseMask>(1u << phase); }

void add(Intervals& set, Interval span, Interval window) {
  span = {std::max(span.start, window.start), std::min(span.end, window.end)};
  if (span.start < span.end) set.push_back(span);
}

/// Walks the union of several sorted, disjoint sets: it is never in memory as a whole.
class UnionWalk {
 public:
  /// From the first member on that ends after `from`.
  UnionWalk(std::span<const std::span<const Interval>> sets, Nanos from) {
    for (const auto set : sets) {
      const auto first = std::partition_point(set.begin(), set.end(),
                                              [&](const Interval& i) { return i.end <= from; });
      left_ += static_cast<std::size_t>(set.end() - first);
      if (first != set.end()) waiting_.emplace_back(first, set.end());
    }
    std::make_heap(waiting_.begin(), waiting_.end(), later);
    next();
  }
  /// No more members than these are left at the beginning.
  std::size_t most() const { return left_; }
  bool ended() const { return !member_; }
  const Interval& member() const { return *member_; }
  void next() {
    member_.reset();
    while (!waiting_.empty()) {
      const Interval& first = waiting_.front().front();
      if (!member_)
        member_ = first;
      else if (first.start <= member_->end)
        member_->end = std::max(member_->end, first.end);
      else
        return;
      skip_first();
    }
  }

 private:
  using Left = std::span<const Interval>;
  static bool later(const Left& one, const Left& other) {
    return one.front().start > other.front().start;
  }
  void skip_first() {
    waiting_[0] = waiting_[0].subspan(1);
    if (waiting_[0].empty()) {
      waiting_[0] = waiting_.back();
      waiting_.pop_back();
    }
    for (std::size_t at = 0, child = 1; child < waiting_.size(); at = child, child = 2 * at + 1) {
      if (child + 1 < waiting_.size() && later(waiting_[child], waiting_[child + 1])) ++child;
      if (!later(waiting_[at], waiting_[child])) return;
      std::swap(waiting_[at], waiting_[child]);
    }
  }

  std::vector<Left> waiting_;  // a heap: the one that begins first in front
  std::optional<Interval> member_;
  std::size_t left_ = 0;
};

/// Sums up to every so many pieces, so that a long span costs no more than a short one.
constexpr std::size_t kPiecesTogether = 1024;

std::vector<PhaseTimeline::Before> sum_up(const PhaseTimeline& timeline) {
  PhaseTimeline::Before at{timeline.window.start, {}};
  std::vector<PhaseTimeline::Before> before;
  before.reserve(timeline.length_ns.size() / kPiecesTogether + 1);
  for (std::size_t i = 0; i < timeline.length_ns.size(); ++i) {
    if (i % kPiecesTogether == 0) before.push_back(at);
    at.sums[timeline.phases[i]] += timeline.length_ns[i];
    at.start_ns += timeline.length_ns[i];
  }
  return before;
}

}  // namespace

PhaseTimeline overlay(const PhaseSets& sets, Interval window) {
  std::vector<UnionWalk> walks;
  std::array<PhaseMask, std::tuple_size_v<PhaseSets>> bits{};  // by walk
  // By walk: where its member begins, or ends when it holds now.
  std::array<Nanos, std::tuple_size_v<PhaseSets>> changes;
  changes.fill(INT64_MAX);
  std::size_t most = 1;  // pieces; one begins where a member of a walk does, or ends
  for (std::size_t phase = 0; phase < sets.size(); ++phase) {
    UnionWalk walk(sets[phase], window.start);
    if (walk.ended()) continue;
    most += 2 * walk.most();
    bits[walks.size()] = bit_of(phase);
    changes[walks.size()] = std::max(walk.member().start, window.start);
    walks.push_back(std::move(walk));
  }
  PhaseTimeline timeline;
  timeline.window = window;
  timeline.length_ns.reserve(most);
  timeline.phases.reserve(most);
  PhaseMask phases = 0;
  for (Nanos now = window.start; now < window.end;) {
    Nanos next = window.end;
    for (std::size_t i = 0; i < walks.size(); ++i) {
      if (changes[i] <= now) {
        phases ^= bits[i];
        if (phases & bits[i]) {
          changes[i] = walks[i].member().end;
        } else {
          walks[i].next();
          changes[i] = walks[i].ended() ? INT64_MAX : walks[i].member().start;
        }
      }
      next = std::min(next, changes[i]);
    }
    timeline.length_ns.push_back(next - now);
    timeline.phases.push_back(phases);
    now = next;
  }
  timeline.before = sum_up(timeline);
  return timeline;
}

PhaseTimeline lay_out_phases(const Context& context, const RuntimeTrace& trace, Interval window) {
  std::array<Intervals, std::tuple_size_v<PhaseSets>> devices;
  const auto& activities = context.capture.activities;
  const auto& calls = context.capture.api_calls;
  for (const auto phase : {RuntimePhase::gpu_kernel, RuntimePhase::queued})
    devices[index_of(phase)].reserve(activities.size());
  for (std::uint32_t i = 0; i < activities.size(); ++i) {
    const Interval span = span_of(activities, i);
    auto phase = RuntimePhase::memcpy;
    if (activities.kind[i] == ActivityKind::kernel) phase = RuntimePhase::gpu_kernel;
    add(devices[index_of(phase)], span, window);
    if (const auto call = context.launches[i]; call != kNoRow)
      add(devices[index_of(RuntimePhase::queued)],
          {calls.start_ns[call] + calls.duration_ns[call], span.start}, window);
  }
  for (const auto& item : trace.framework_queue)
    add(devices[index_of(RuntimePhase::queued)], {item.enter, item.leave}, window);
  PhaseSets sets;
  for (std::size_t phase = 0; phase < sets.size(); ++phase) {
    devices[phase] = normalised(std::move(devices[phase]));
    sets[phase].push_back(devices[phase]);
    for (const auto& thread : trace.threads) sets[phase].push_back(thread[phase].span());
  }
  return overlay(sets, window);
}

namespace {

/// Walks over the pieces of a timeline, from the first to the last.
class PieceWalk {
 public:
  explicit PieceWalk(const PhaseTimeline& timeline)
      : timeline_(timeline), pieces_(timeline.length_ns.size()), start_(timeline.window.start) {}

  /// To the piece that holds `time`, from where it is on.
  void seek(Nanos time) {
    skip_to(block_of(time));
    while (piece_ + 1 < pieces_ && end() <= time) step();
  }
  /// Adds what the pieces from here to the end of `span` share with it.
  void add(const Interval& span, PhaseSums& sums) {
    for (;; step()) {
      if (piece_ % kPiecesTogether == 0 && start_ >= span.start) add_blocks(span.end, sums);
      const Nanos from = std::max(span.start, start_), to = std::min(span.end, end());
      if (from < to) sums[timeline_.phases[piece_]] += to - from;
      if (end() >= span.end || piece_ + 1 == pieces_) return;
    }
  }

 private:
  Nanos end() const { return start_ + timeline_.length_ns[piece_]; }
  void step() {
    start_ = end();
    ++piece_;
  }
  /// The last block from here on that begins no later than `time`.
  std::size_t block_of(Nanos time) const {
    const auto& before = timeline_.before;
    const std::size_t here = piece_ / kPiecesTogether;
    const auto after = std::upper_bound(
        before.begin() + static_cast<std::ptrdiff_t>(here) + 1, before.end(), time,
        [](Nanos at, const PhaseTimeline::Before& block) { return at < block.start_ns; });
    return static_cast<std::size_t>(after - before.begin()) - 1;
  }
  void skip_to(std::size_t block) {
    if (block <= piece_ / kPiecesTogether) return;
    piece_ = block * kPiecesTogether;
    start_ = timeline_.before[block].start_ns;
  }
  /// Adds whole blocks, from the beginning of one.
  void add_blocks(Nanos until, PhaseSums& sums) {
    const std::size_t first = piece_ / kPiecesTogether, last = block_of(until);
    for (std::size_t mask = 0; last > first && mask < sums.size(); ++mask)
      sums[mask] += timeline_.before[last].sums[mask] - timeline_.before[first].sums[mask];
    skip_to(last);
  }

  const PhaseTimeline& timeline_;
  const std::size_t pieces_;
  std::size_t piece_ = 0;
  Nanos start_;  // of the piece
};

}  // namespace

PhaseSums sum_phases(const PhaseTimeline& timeline, const Intervals& within) {
  PhaseSums sums{};
  if (timeline.length_ns.empty()) return sums;
  PieceWalk walk(timeline);
  for (const auto& span : within) {
    walk.seek(span.start);
    walk.add(span, sums);
  }
  return sums;
}

std::vector<PhaseTime> phase_times(const PhaseSums& sums, std::int64_t items) {
  std::array<Nanos, kRuntimePhases> label{}, present{};
  for (std::size_t mask = 0; mask < sums.size(); ++mask) {
    // The lowest bit is the first phase; without any it is `other`, the one behind them.
    std::size_t first = index_of(RuntimePhase::other);
    if (mask != 0) first = static_cast<std::size_t>(std::countr_zero(mask));
    label[first] += sums[mask];
    for (std::size_t phase = 0; phase < index_of(RuntimePhase::other); ++phase)
      if (mask & bit_of(phase)) present[phase] += sums[mask];
  }
  present[index_of(RuntimePhase::other)] = label[index_of(RuntimePhase::other)];
  const Nanos whole = std::accumulate(sums.begin(), sums.end(), Nanos{0});
  std::vector<PhaseTime> times;
  for (std::size_t phase = 0; phase < kRuntimePhases; ++phase) {
    PhaseTime time;
    time.phase = static_cast<RuntimePhase>(phase);
    time.ns = label[phase];
    time.share = share_of(time.ns, whole);
    time.present_ns = present[phase];
    time.per_item_ns = per_item(time.ns, items);
    times.push_back(std::move(time));
  }
  return times;
}

KernelShares kernel_shares(const PhaseSums& sums, std::int64_t items) {
  constexpr auto kCpu = bit_of(index_of(RuntimePhase::cpu_kernel)),
                 kGpu = bit_of(index_of(RuntimePhase::gpu_kernel));
  KernelShares kernel_shares;
  for (std::size_t mask = 0; mask < sums.size(); ++mask) {
    const bool cpu = mask & kCpu, gpu = mask & kGpu;
    if (cpu && gpu)
      kernel_shares.both_ns += sums[mask];
    else if (cpu)
      kernel_shares.cpu_kernel_ns += sums[mask];
    else if (gpu)
      kernel_shares.gpu_kernel_ns += sums[mask];
    else
      kernel_shares.overhead_ns += sums[mask];
  }
  const Nanos window = std::accumulate(sums.begin(), sums.end(), Nanos{0});
  kernel_shares.cpu_kernel = share_of(kernel_shares.cpu_kernel_ns, window);
  kernel_shares.gpu_kernel = share_of(kernel_shares.gpu_kernel_ns, window);
  kernel_shares.both = share_of(kernel_shares.both_ns, window);
  kernel_shares.overhead = share_of(kernel_shares.overhead_ns, window);
  kernel_shares.overhead_per_item_ns = per_item(kernel_shares.overhead_ns, items);
  return kernel_shares;
}

}  // namespace gf
