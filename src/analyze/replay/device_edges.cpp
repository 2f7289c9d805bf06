#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <ranges>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyze/replay/device_work.h"
#include "analyze/traits.h"
#include "core/order.h"
#include "core/statistics.h"
#include "core/strings.h"

namespace gf {

namespace {

constexpr Nanos kInDoubt = 3 * kNsPerUs;  // of a start that nothing known explains
constexpr Nanos kNear = 10 * kNsPerUs;
// A collective begins up to so much after what it waited for.
constexpr Nanos kNearOfCollective = 200 * kNsPerUs;

/// The least time from launch to start and from one activity to the next, by kind of activity.
/// Capped: where every kernel waits for a collective the usual time would hide that.
struct Floors {
  std::array<Nanos, 3> launch{}, gap{};

  explicit Floors(const ReplayWork& work) {
    constexpr Nanos kMostLaunch = 12 * kNsPerUs, kMostGap = 3 * kNsPerUs;
    constexpr Nanos kQueued = 50 * kNsPerUs;
    std::array<std::vector<double>, 3> launches, gaps;
    for (const auto& one : work.activities) {
      if (one.call == kNoRow) continue;
      const auto kind = kind_of(work, one);
      const Nanos called = work.call_start(one.call);
      const auto* before = one.before < 0 ? nullptr : &at(work, one.before);
      if (!before || before->end < called)
        launches[kind].push_back(static_cast<double>(one.start - called));
      else if (called + kQueued < before->end)
        gaps[kind].push_back(static_cast<double>(one.start - before->end));
    }
    for (std::size_t kind = 0; kind < launch.size(); ++kind) {
      launch[kind] = low(std::move(launches[kind]), 4 * kNsPerUs, kMostLaunch);
      gap[kind] = low(std::move(gaps[kind]), 800, kMostGap);
    }
  }

  static std::size_t kind_of(const ReplayWork& work, const ReplayActivity& one) {
    return static_cast<std::size_t>(work.context.capture.activities.kind[one.row]);
  }

 private:
  static const ReplayActivity& at(const ReplayWork& work, std::int64_t place) {
    return work.activities[static_cast<std::size_t>(place)];
  }
  static Nanos low(std::vector<double> values, Nanos otherwise, Nanos most) {
    constexpr double kLow = 0.1;
    if (values.empty()) return otherwise;
    return std::min(static_cast<Nanos>(quantile(std::move(values), kLow)), most);
  }
};

/// When an activity could have begun by what is known of it.
struct Bounds {
  Nanos by_launch = INT64_MIN, by_stream = INT64_MIN;
  Nanos known() const { return std::max(by_launch, by_stream); }
};

class DeviceEdges {
 public:
  DeviceEdges(const ReplayWork& work, const std::vector<std::uint32_t>& launch_node,
              GraphDraft& draft)
      : work_(work), launch_node_(launch_node), draft_(draft), floors_(work) {
    ends_.reserve(work.activities.size());
    for (std::uint32_t place = 0; place < work.activities.size(); ++place)
      ends_.push_back({work.activities[place].end, place});
    sort_nearly_ordered(ends_.begin(), ends_.end(), std::less<>());
  }

  void run() {
    for (std::uint32_t place = 0; place < work_.activities.size(); ++place) vote(place);
    for (std::uint32_t place = 0; place < work_.activities.size(); ++place) add(place);
  }

 private:
  const ReplayActivity& at(std::int64_t place) const {
    return work_.activities[static_cast<std::size_t>(place)];
  }

  Bounds bounds_of(const ReplayActivity& one, std::uint32_t launch_node) const {
    const auto kind = Floors::kind_of(work_, one);
    Bounds bounds;
    if (launch_node != kNoNode)
      bounds.by_launch = work_.call_start(one.call) + floors_.launch[kind];
    if (one.before >= 0) bounds.by_stream = at(one.before).end + floors_.gap[kind];
    return bounds;
  }

  /// Activities of other streams that ended shortly before this one began, the latest first.
  std::vector<std::uint32_t> candidates(std::uint32_t place) const {
    constexpr std::size_t kMost = 30, kMostLooks = 500;  // more end so near only where all overlap
    const auto& one = work_.activities[place];
    const Nanos known = bounds_of(one, launch_node_[place]).known();
    std::vector<std::uint32_t> found;
    if (known != INT64_MIN && one.start - known <= kInDoubt) return found;
    const auto& streams = work_.context.capture.activities.stream;
    auto next = std::ranges::upper_bound(ends_, one.start + kNsPerUs / 2, {},
                                         &std::pair<Nanos, std::uint32_t>::first);
    for (std::size_t looks = 0; next != ends_.begin() && found.size() < kMost && looks < kMostLooks;
         ++looks) {
      const auto& [end, other] = *--next;
      const auto& earlier = work_.activities[other];
      if (end < one.start - kNearOfCollective || (known != INT64_MIN && end < known - kNsPerUs))
        break;
      const bool of_ranks = one.collective >= 0 || earlier.collective >= 0;
      if (end < one.start - kNear && !of_ranks) continue;
      if (streams[earlier.row] != streams[one.row] && earlier.start < one.start)
        found.push_back(other);
    }
    return found;
  }

  using Kind = std::pair<std::uint32_t, std::int64_t>;  // name and stream
  Kind kind_of(std::uint32_t place) const {
    const auto& activities = work_.context.capture.activities;
    const auto row = work_.activities[place].row;
    return {static_cast<std::uint32_t>(activities.name[row]), activities.stream[row]};
  }

  /// The pair of kinds that is seen most often in the whole capture is the one that waits.
  void vote(std::uint32_t place) {
    std::vector<Kind> seen;
    for (const auto other : candidates(place)) seen.push_back(kind_of(other));
    std::ranges::sort(seen);
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (const auto& kind : seen) ++votes_[{kind_of(place), kind}];
  }

  std::int64_t waited_for(std::uint32_t place) const {
    const Nanos start = work_.activities[place].start;
    std::int64_t best = -1, most = -1;
    for (const auto other : candidates(place)) {
      const bool near = work_.activities[other].end >= start - kNear;
      const std::int64_t votes = near ? votes_.at({kind_of(place), kind_of(other)}) : 0;
      if (votes <= most) continue;  // the latest wins among equals
      most = votes;
      best = other;
    }
    return best;
  }

  void add(std::uint32_t place) {
    const auto& one = work_.activities[place];
    const auto kind = Floors::kind_of(work_, one);
    const auto launch = launch_node_[place];
    const Bounds bounds = bounds_of(one, launch);
    const auto other = waited_for(place);
    if (other >= 0)
      draft_.add_edge(at(other).node, one.node, WaitsFor::other_stream, one.start - at(other).end);
    if (launch != kNoNode) {
      const Nanos lag = one.start - work_.call_start(one.call);
      const bool binds = other < 0 && bounds.by_launch >= bounds.by_stream;
      draft_.add_edge(launch, one.node, WaitsFor::launch,
                      binds ? lag : std::min(lag, floors_.launch[kind]));
    }
    if (one.before >= 0) {
      const Nanos lag = one.start - at(one.before).end;
      const bool binds = other < 0 && bounds.by_stream > bounds.by_launch;
      draft_.add_edge(at(one.before).node, one.node, WaitsFor::stream,
                      binds ? lag : std::min(lag, floors_.gap[kind]));
    }
  }

  const ReplayWork& work_;
  const std::vector<std::uint32_t>& launch_node_;
  GraphDraft& draft_;
  Floors floors_;
  std::vector<std::pair<Nanos, std::uint32_t>> ends_;
  std::map<std::pair<Kind, Kind>, std::int64_t> votes_;
};

/// A collective that the framework launches waits for what was launched before it, where nearly
/// all of its kind do: while it came late anyway, that does not show.
void add_order_of_collectives(const ReplayWork& work, GraphDraft& draft) {
  struct Seen {
    std::int64_t after = 0, beside = 0;
  };
  const auto& streams = work.context.capture.activities.stream;
  std::map<std::int64_t, Seen> by_stream;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::int64_t last = -1;
  for (const auto place : work.launched) {
    const auto& one = work.activities[place];
    if (one.collective < 0) {
      last = place;
      continue;
    }
    if (last < 0) continue;
    const auto& before = work.activities[static_cast<std::size_t>(last)];
    Seen& seen = by_stream[streams[one.row]];
    ++(one.start >= before.end - 2 * kNsPerUs ? seen.after : seen.beside);
    pairs.push_back({place, static_cast<std::uint32_t>(last)});
  }
  constexpr std::int64_t kFew = 50;  // one in so many may be damaged
  for (const auto& [place, before] : pairs) {
    const auto& one = work.activities[place];
    const auto& earlier = work.activities[before];
    const Seen& seen = by_stream[streams[one.row]];
    if (seen.beside * kFew > seen.after + seen.beside) continue;
    draft.add_edge(earlier.node, one.node, WaitsFor::other_stream,
                   std::min(kNsPerUs, one.start - earlier.end));
  }
}

}  // namespace

void add_device_edges(const ReplayWork& work, const std::vector<std::uint32_t>& launch_node,
                      GraphDraft& draft) {
  DeviceEdges(work, launch_node, draft).run();
  add_order_of_collectives(work, draft);
}

namespace {

constexpr Nanos kTolerance = 2 * kNsPerUs;

enum class CallType : std::uint8_t {
  none,
  device,
  event,
  stream,
  copy,
  copy_async,
  memory,
  queues
};

CallType type_of(NameWord is) {
  struct TypeOf {
    NameWord traits;
    CallType type;
  };
  // The first that holds.
  static constexpr TypeOf kTypes[] = {
      {call_is::stream_wait, CallType::none},        {call_is::awaits_device, CallType::device},
      {call_is::awaits_event, CallType::event},      {call_is::awaits_stream, CallType::stream},
      {call_is::copies_async, CallType::copy_async}, {call_is::copies, CallType::copy},
      {call_is::keeps_memory, CallType::memory},     {call_is::queues, CallType::queues},
  };
  for (const auto& [traits, type] : kTypes)
    if ((is & traits) != 0) return type;
  return CallType::none;
}

/// Goes through the calls by start; knows what was launched before each.
class Finder {
 public:
  explicit Finder(const ReplayWork& work) : work_(work), capture_(work.context.capture) {
    for (const auto thread : work.threads)
      for (const auto call : work.calls(thread)) calls_.push_back(call);
    // Those of a thread are in order.
    const auto& table = capture_.api_calls;
    const auto rest = [&](std::uint32_t call) {
      return std::tuple(table.thread[call], -table.duration_ns[call], call);
    };
    sort_nearly_ordered(calls_.begin(), calls_.end(), [&](std::uint32_t left, std::uint32_t right) {
      const Nanos start = table.start_ns[left], other = table.start_ns[right];
      return start != other ? start < other : rest(left) < rest(right);
    });
    std::unordered_map<std::uint32_t, std::vector<double>> by_name;
    for (const auto call : calls_)
      by_name[name_of(call)].push_back(static_cast<double>(duration(call)));
    for (auto& [name, values] : by_name)
      median_[name] = static_cast<Nanos>(median(std::move(values)));
  }

  std::vector<BlockingCall> run() {
    std::vector<BlockingCall> found;
    for (const auto call : calls_) {
      learn_launches_before(work_.call_start(call));
      const auto on = waits_on(call);
      if (on < 0) continue;
      const auto& activity = work_.activities[static_cast<std::size_t>(on)];
      if (activity.start >= work_.call_end(call)) continue;
      found.push_back(described(call, static_cast<std::uint32_t>(on)));
    }
    settle_lags(found);
    std::ranges::stable_sort(found, {}, [&](const auto& one) { return work_.call_end(one.call); });
    return found;
  }

 private:
  static constexpr std::size_t kRecent = 256;  // launches that an event may stand for

  std::uint32_t name_of(std::uint32_t call) const {
    return static_cast<std::uint32_t>(capture_.api_calls.name[call]);
  }
  Nanos duration(std::uint32_t call) const { return capture_.api_calls.duration_ns[call]; }

  void learn_launches_before(Nanos start) {
    for (; next_ < work_.launched.size(); ++next_) {
      const auto place = work_.launched[next_];
      const auto& activity = work_.activities[place];
      if (work_.call_start(activity.call) >= start) break;
      last_of_stream_[capture_.activities.stream[activity.row]] = place;
      recent_.push_back(place);
      if (recent_.size() > kRecent) recent_.pop_front();
    }
  }

  /// The one that ended last, of those that ended after `after` and by the end of the call.
  std::int64_t last_ended(const auto& places, Nanos after, Nanos until) const {
    std::int64_t last = -1;
    for (const std::uint32_t place : places) {
      const Nanos end = work_.activities[place].end;
      if (end <= after || end > until + kTolerance) continue;
      if (last < 0 || end > work_.activities[static_cast<std::size_t>(last)].end) last = place;
    }
    return last;
  }

  std::int64_t waits_on(std::uint32_t call) const {
    const Nanos start = work_.call_start(call), end = work_.call_end(call);
    const auto streams = std::views::values(last_of_stream_);
    auto during_or_before = [&](const auto& places) {
      const auto during = last_ended(places, start, end);
      return during >= 0 ? during : done_before(end);
    };
    switch (type_of_call(call)) {
      case CallType::none:
        return -1;
      case CallType::device:
        return last_ended(streams, INT64_MIN, end);
      case CallType::stream:
        return during_or_before(streams);
      case CallType::event:
        return during_or_before(recent_);
      case CallType::copy:
      case CallType::copy_async:
        return of_copy(call);
      case CallType::memory:
        return last_ended(streams, start, end);
      case CallType::queues:
        return of_full_queue(call);
    }
    return -1;
  }

  /// The activity launched last, if it was done by then.
  std::int64_t done_before(Nanos end) const {
    if (recent_.empty() || work_.activities[recent_.back()].end > end + kTolerance) return -1;
    return recent_.back();
  }

  CallType type_of_call(std::uint32_t call) const {
    return type_of(work_.context.names.call(capture_.api_calls.name[call]));
  }

  /// A copy from or to memory that is not pinned ends with the copy itself.
  std::int64_t of_copy(std::uint32_t call) const {
    constexpr Nanos kShort = 10 * kNsPerUs;
    const auto own = last_of_call(call);
    if (own < 0) return -1;
    const auto& activity = work_.activities[static_cast<std::size_t>(own)];
    const NameWord is = work_.context.names.kernel(capture_.activities.name[activity.row]);
    const bool async = type_of_call(call) == CallType::copy_async;
    if (async && (is & kernel_is::pageable) == 0) return -1;
    if (work_.call_end(call) < activity.end - kTolerance) return -1;
    if (duration(call) <= kShort && (is & kernel_is::to_host) == 0) return -1;
    return own;
  }

  std::int64_t last_of_call(std::uint32_t call) const {
    const Nanos start = work_.call_start(call);
    std::int64_t last = -1;
    for (std::size_t i = next_; i < work_.launched.size(); ++i) {
      const auto& activity = work_.activities[work_.launched[i]];
      if (work_.call_start(activity.call) > start) break;
      if (activity.call == call) last = work_.launched[i];
    }
    return last;
  }

  /// A launch that found the device's queue full returns as the device begins one of those before.
  std::int64_t of_full_queue(std::uint32_t call) const {
    constexpr Nanos kLong = 40 * kNsPerUs;
    constexpr std::int64_t kTimesMedian = 8, kQueue = 500;
    const Nanos took = duration(call);
    if (took <= kLong || took <= kTimesMedian * median_.at(name_of(call))) return -1;
    const auto begun = std::ranges::upper_bound(work_.activities, work_.call_end(call), {},
                                                &ReplayActivity::start) -
                       work_.activities.begin();
    const std::int64_t pending = static_cast<std::int64_t>(next_) - begun;
    if (begun == 0 || (pending <= kQueue && !returned_with_device(call, pending))) return -1;
    return begun - 1;
  }

  /// Events and waits fill the queue too, and are not recorded: the device stood still for as long
  /// as the call did, and went on just before it returned.
  bool returned_with_device(std::uint32_t call, std::int64_t pending) const {
    constexpr Nanos kStoodStill = kNsPerMs, kJustBefore = 100 * kNsPerUs;
    constexpr std::int64_t kFewest = 32, kOnOtherStreams = 2;
    if (duration(call) < kStoodStill || pending < kFewest) return false;
    auto begun_by = [&](Nanos time) {
      return std::ranges::upper_bound(work_.activities, time, {}, &ReplayActivity::start) -
             work_.activities.begin();
    };
    const Nanos start = work_.call_start(call), end = work_.call_end(call);
    const auto before = begun_by(end - kJustBefore);
    return before - begun_by(start + kJustBefore) <= kOnOtherStreams && begun_by(end) > before;
  }

  BlockingCall described(std::uint32_t call, std::uint32_t on) const {
    constexpr Nanos kHalf = kNsPerUs / 2, kOwn = 3 * kNsPerUs;
    BlockingCall out{call, on};
    const Nanos end = work_.activities[on].end;
    out.waited = end > work_.call_start(call) + kHalf;
    out.own = std::min(duration(call), out.waited ? kOwn : median_.at(name_of(call)));
    out.lag = work_.call_end(call) - end;
    return out;
  }

  /// One that did not wait could have returned as early as those that did.
  static void settle_lags(std::vector<BlockingCall>& found) {
    constexpr Nanos kUsual = 100 * kNsPerUs;
    std::vector<double> lags;
    for (const auto& one : found)
      if (one.waited && one.lag < kUsual) lags.push_back(static_cast<double>(one.lag));
    constexpr double kLow = 0.1;
    const Nanos floor =
        lags.empty() ? 4 * kNsPerUs
                     : std::max<Nanos>(0, static_cast<Nanos>(quantile(std::move(lags), kLow)));
    for (auto& one : found)
      if (!one.waited) one.lag = std::min(floor, one.lag);
  }

  const ReplayWork& work_;
  const Capture& capture_;
  std::vector<std::uint32_t> calls_;                 // by start
  std::unordered_map<std::uint32_t, Nanos> median_;  // duration, by name
  std::size_t next_ = 0;                             // of work_.launched
  std::map<std::int64_t, std::uint32_t> last_of_stream_;
  std::deque<std::uint32_t> recent_;
};

}  // namespace

std::vector<BlockingCall> find_blocking_calls(const ReplayWork& work) { return Finder(work).run(); }

}  // namespace gf
