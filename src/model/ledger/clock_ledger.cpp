// The clocks of host and device: no kernel begins before its launch, runs on after a call that
// waited for it, or leaves an idle device waiting.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/format.h"
#include "core/order.h"
#include "core/strings.h"
#include "model/check.h"
#include "model/launches.h"
#include "model/ledger/laws.h"
#include "model/ledger/ledger.h"

namespace gf {

namespace {

/// Clocks of host and device are joined to better than this mostly; times of older profilers are
/// whole microseconds. In healthy recordings on H100s the clocks were 17 us apart for a while, or
/// drifted by up to 140 us in a second; systems slew a clock by up to 500 ppm (adjtimex(2)).
constexpr Nanos kClockSlack = 2 * kNsPerUs, kMostApart = 100 * kNsPerUs, kMostDrift = kNsPerMs;
constexpr Nanos kSlewed = 2000;  // of so many

/// In every sixteenth of a capture some kernel begins so soon after its launch, or the device is
/// behind with its work. Devices wait for each other for some milliseconds: two GPUs of a job did
/// for 3.4 ms, with launches 1.3 ms old.
constexpr std::size_t kParts = 16;
constexpr Nanos kSoon = 20 * kNsPerMs;
/// The limit where nothing is known of work before the first record: nobody queues so far ahead and
/// then ends.
constexpr Nanos kFarBehind = 500 * kNsPerMs;
/// A copy to the host and the call that waited for it end so close to each other where clocks
/// agree.
constexpr Nanos kTogether = 200 * kNsPerUs;

class ClockLedger {
 public:
  ClockLedger(const Capture& capture, const std::vector<std::uint32_t>& launches, Capture& notes)
      : capture_(capture),
        notes_(notes),
        calls_(capture.api_calls),
        rows_(capture.activities),
        launches_(launches) {}

  void run() {
    first_ = calls_.start_ns.range().first;
    const std::size_t count = launches_.size();
    find_waits();
    for (std::size_t part = 0; part < kParts; ++part) {
      const std::size_t from = part * count / kParts, to = (part + 1) * count / kParts;
      walk(from, to, soonest_[part]);
      if (!waits_.empty()) hold_waits(from, to);
    }
    tell_early();
    tell_waits();
    if (std::ranges::any_of(soonest_, [](Nanos soonest) { return is_late(soonest); })) find_late();
  }

 private:
  static constexpr Nanos kNone = std::numeric_limits<Nanos>::max();
  struct Wait {
    Nanos start, end;
  };

  static bool is_late(Nanos soonest) { return soonest != kNone && soonest > kSoon; }

  /// By how much the clocks may be apart at this time.
  Nanos slack_at(Nanos time) const {
    return std::min(kMostDrift, kMostApart + (time - first_) / kSlewed);
  }

  void walk(std::size_t from, std::size_t to, Nanos& soonest) {
    for (std::size_t row = from; row < to; ++row) {
      if (launches_[row] == kNoRow) continue;
      ++joined_;
      const Nanos launch = calls_.start_ns[launches_[row]];
      const Nanos before = launch - rows_.start_ns[row];
      soonest = std::min(soonest, -before);
      if (before <= kClockSlack) continue;
      ++early_;
      wrong_ += before > slack_at(launch);
      most_ = std::max(most_, before);
    }
  }

  void tell_early() {
    if (early_ == 0) return;
    tell(notes_, Law::kernel_after_launch,
         {.count = early_, .of = joined_, .excused = early_ - wrong_},
         fmt::format("{} of {} kernels and copies begin before the call that launched them, by up "
                     "to {}: the clocks of host and device disagree, or the times were changed",
                     format_count(early_), format_count(joined_), say_time(most_)));
  }

  std::int64_t pid_of(std::uint32_t call) const {
    if (one_process_) return 0;
    const auto thread = calls_.thread[call];
    return thread < capture_.threads.size() ? capture_.threads.pid[thread] : -1;
  }

  /// Calls that wait for all of a device, of processes that use one device.
  void find_waits() {
    one_process_ = std::ranges::all_of(capture_.threads.pid,
                                       [&](auto pid) { return pid == capture_.threads.pid[0]; });
    OncePerText waits_for_all(capture_.strings, waits_for_device);
    for (std::uint32_t call = 0; call < calls_.size(); ++call)
      if (calls_.kind[call] == ApiKind::sync && waits_for_all(calls_.name[call]))
        waits_[pid_of(call)].push_back(
            {calls_.start_ns[call], calls_.start_ns[call] + calls_.duration_ns[call]});
    if (waits_.empty()) return;
    std::unordered_map<std::int64_t, std::uint32_t> device_of;
    std::int64_t of_pid = 0;
    std::uint32_t device = kNoRow;  // of the process looked at last
    for (std::size_t row = 0; row < launches_.size(); ++row) {
      if (launches_[row] == kNoRow) continue;
      const auto pid = pid_of(launches_[row]);
      if (pid != of_pid || device == kNoRow) {
        of_pid = pid;
        device = device_of.try_emplace(pid, rows_.device[row]).first->second;
      }
      if (device != rows_.device[row]) waits_.erase(pid);
    }
    for (auto& [pid, waits] : waits_)
      std::sort(waits.begin(), waits.end(),
                [](const Wait& left, const Wait& right) { return left.start < right.start; });
  }

  /// Work launched before a wait began ends before the wait does.
  void hold_waits(std::size_t from, std::size_t to) {
    std::int64_t of_pid = 0;
    const std::vector<Wait>* waits = nullptr;
    std::size_t at = 0;  // the wait after the last launch that was looked at
    for (std::size_t row = from; row < to; ++row) {
      const auto call = launches_[row];
      if (call == kNoRow) continue;
      if (const auto pid = pid_of(call); !waits || pid != of_pid) {
        const auto found = waits_.find(pid);
        if (found == waits_.end()) continue;
        of_pid = pid;
        waits = &found->second;
        at = 0;
      }
      const Nanos launched = calls_.start_ns[call] + calls_.duration_ns[call];
      if ((at > 0 && (*waits)[at - 1].start >= launched) ||
          (at < waits->size() && (*waits)[at].start < launched))
        at = static_cast<std::size_t>(
            std::partition_point(waits->begin(), waits->end(),
                                 [&](const Wait& wait) { return wait.start < launched; }) -
            waits->begin());
      if (at == waits->size()) continue;
      ++waited_;
      const Nanos after =
          std::min(rows_.start_ns[row] + rows_.duration_ns[row], kFarthestTime) - (*waits)[at].end;
      if (after <= slack_at((*waits)[at].end)) continue;
      ++ran_past_;
      most_past_ = std::max(most_past_, after);
    }
  }

  void tell_waits() {
    if (ran_past_ == 0) return;
    tell(notes_, Law::kernel_before_wait_ends, {.count = ran_past_, .of = waited_},
         fmt::format("{} of {} kernels and copies end after a call that waited for them returned, "
                     "by up to {}: the clocks of host and device disagree, or the times were "
                     "changed",
                     format_count(ran_past_), format_count(waited_), say_time(most_past_)));
  }

  /// True for a copy that the host waited for: both ends come together where clocks agree, however
  /// full the queue was.
  bool ends_with_its_call(std::uint32_t row) const {
    const auto call = launches_[row];
    if (rows_.copy[row] != CopyKind::device_to_host || call == kNoRow) return false;
    const Nanos apart = rows_.start_ns[row] + rows_.duration_ns[row] -
                        (calls_.start_ns[call] + calls_.duration_ns[call]);
    return std::abs(apart) <= kTogether;
  }

  std::size_t part_of(std::size_t row) const {
    std::size_t part = row * kParts / rows_.size();
    while ((part + 1) * rows_.size() / kParts <= row) ++part;
    return part;
  }

  /// Parts in which every kernel begins late, though in one of them the device once had nothing to
  /// do for at least half of that while a launch waited for it.
  void find_late() {
    if (const auto [least, most] = rows_.device.range(); least != most) return;
    std::vector<std::uint32_t> order(rows_.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto begins_before = [&](std::uint32_t left, std::uint32_t right) {
      return std::pair(rows_.start_ns[left], left) < std::pair(rows_.start_ns[right], right);
    };
    sort_nearly_ordered(order.begin(), order.end(), begins_before);
    // A trace that is cut out of a busy queue begins with what was launched long before.
    Nanos ended = rows_.start_ns[order[0]], idle = 0, last_call = -kNone;
    std::size_t agreed = 0;  // rows up to here begin while the clocks agree
    for (const auto row : order) {
      if (ends_with_its_call(row)) agreed = row + std::size_t{1};
      if (const auto call = launches_[row];
          call != kNoRow && rows_.start_ns[row] > ended && is_late(soonest_[part_of(row)]))
        idle = std::max(
            idle, rows_.start_ns[row] -
                      std::max(ended, std::min(calls_.start_ns[call] + calls_.duration_ns[call],
                                               kFarthestTime)));
      ended = std::max(ended, rows_.start_ns[row] + rows_.duration_ns[row]);
    }
    for (std::size_t call = 0; call < calls_.size(); ++call)
      last_call = std::max(last_call, calls_.start_ns[call] + calls_.duration_ns[call]);
    if (rows_.start_ns[order[0]] > last_call + kFarBehind)
      idle = std::max(idle, rows_.start_ns[order[0]] - first_);
    std::int64_t late = 0;
    Nanos least = kNone;
    for (std::size_t part = 0; part < kParts; ++part) {
      const std::size_t from = part * rows_.size() / kParts;
      if (!is_late(soonest_[part]) || idle < soonest_[part] / 2 || from < agreed) continue;
      for (std::size_t row = from; row < (part + 1) * rows_.size() / kParts; ++row)
        late += launches_[row] != kNoRow;
      least = std::min(least, soonest_[part]);
    }
    if (late == 0) return;
    tell(notes_, Law::idle_device_begins_soon, {.count = late, .of = joined_},
         fmt::format("{} of {} kernels and copies begin {} or more after their launch, while the "
                     "device was idle for {}: the clocks of host and device disagree",
                     format_count(late), format_count(joined_), say_time(least), say_time(idle)));
  }

  const Capture& capture_;
  Capture& notes_;
  const api_calls_table& calls_;
  const activities_table& rows_;
  const std::vector<std::uint32_t>& launches_;
  std::array<Nanos, kParts> soonest_ = [] {
    std::array<Nanos, kParts> none{};
    none.fill(kNone);
    return none;
  }();
  std::unordered_map<std::int64_t, std::vector<Wait>> waits_;  // by process, in order of start
  std::int64_t joined_ = 0, early_ = 0, wrong_ = 0, waited_ = 0, ran_past_ = 0;
  bool one_process_ = false;
  Nanos first_ = 0, most_ = 0, most_past_ = 0;
};

}  // namespace

void check_clocks(const Capture& capture, const std::vector<std::uint32_t>& launches,
                  Capture& notes) {
  if (!capture.api_calls.empty()) ClockLedger(capture, launches, notes).run();
}

}  // namespace gf
