#include "import/kineto/processes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/intervals.h"
#include "core/strings.h"

namespace gf::kineto {

namespace {

/// The host sees the end of what it waited for this much before the device's clock says so.
constexpr Nanos kClocksDiffer = 2 * kNsPerUs;
/// So many of a device's activities fit the calls of the process that launched them ...
constexpr std::int64_t kAlmostAll = 50;  // all but one in fifty
/// ... and of two that do, the right one has so many times fewer that do not.
constexpr std::int64_t kClearly = 4;

bool is_start(ApiKind kind) {
  return kind == ApiKind::launch || kind == ApiKind::graph_launch || kind == ApiKind::memcpy ||
         kind == ApiKind::memset;
}

bool may_start(ApiKind call, ActivityKind activity) {
  if (call == ApiKind::graph_launch) return true;
  return (call == ApiKind::launch) == (activity == ActivityKind::kernel);
}

class ProcessFinder {
 public:
  ProcessFinder(Capture& capture, const std::vector<ProcessTurn>& turns)
      : capture_(capture), turns_(turns) {}

  /// True where the place in the file told.
  bool run() {
    const auto starts = starting_calls();
    if (starts.empty() || by_close_numbers(starts)) return false;
    for (const auto row : starts)
      starts_.push_back({capture_.api_calls.correlation[row], pid_of(row), row});
    std::ranges::sort(starts_, {},
                      [](const Call& call) { return std::tuple(call.number, call.pid, call.row); });
    if (!share_numbers()) {
      by_number([&](std::int64_t number) {
        const Call* start = start_of(number);
        return start ? start->pid : std::int64_t{-1};
      });
      return false;
    }
    find_deadlines();
    if (by_place()) return true;
    by_device();
    return false;
  }

 private:
  struct Call {
    std::int64_t number, pid;
    std::uint32_t row;
  };
  /// Of a device and process: activities that a call of the process may have launched.
  struct Fit {
    std::int64_t fits = 0, known = 0;  // known: with a call of any process
    std::int64_t unfit() const { return known - fits; }
    bool good() const { return fits > 0 && unfit() <= known / kAlmostAll; }
  };
  using Fits = std::map<std::int64_t, Fit>;  // by process

  std::int64_t pid_of(std::uint32_t call) const {
    const Capture& read = capture_;
    const auto thread = read.api_calls.thread[call];
    return thread < read.threads.size() ? read.threads.pid[thread] : -1;
  }

  /// A number for each process that launches, by thread; 0 for other threads.
  std::vector<std::uint16_t> launching() const {
    const Capture& read = capture_;
    std::map<std::int64_t, std::uint16_t> numbers;
    std::vector<std::uint16_t> out(read.threads.size(), 0);
    std::uint32_t last = kNoRow;
    for (std::uint32_t call = 0; call < read.api_calls.size(); ++call) {
      const auto thread = read.api_calls.thread[call];
      if (thread == last || thread >= out.size() || !is_start(read.api_calls.kind[call])) continue;
      last = thread;
      const auto next =
          static_cast<std::uint16_t>(std::min<std::size_t>(numbers.size() + 1, 65535));
      if (const auto pid = read.threads.pid[thread]; pid >= 0)
        out[thread] = numbers.try_emplace(pid, next).first->second;
    }
    if (numbers.size() < 2) out.clear();
    return out;
  }

  /// Calls that start work; none where one process does all, or the file tells whose it is.
  std::vector<std::uint32_t> starting_calls() {
    const auto& calls = capture_.api_calls;
    const auto is_unknown = [](auto pid) { return pid < 0; };
    if (!std::ranges::all_of(std::as_const(capture_).activities.pid, is_unknown)) return {};
    process_ = launching();
    std::vector<std::uint32_t> starts;
    for (std::uint32_t row = 0; row < calls.size() && !process_.empty(); ++row) {
      const auto thread = calls.thread[row];
      if (calls.correlation[row] < 0 || thread >= process_.size() || process_[thread] == 0)
        continue;
      if (is_start(calls.kind[row])) starts.push_back(row);
    }
    return starts;
  }

  /// Where no two processes have calls of one number, as in most traces of several, and numbers lie
  /// close: tells by number. False otherwise.
  bool by_close_numbers(const std::vector<std::uint32_t>& starts) {
    const Capture& read = capture_;
    const auto& calls = read.api_calls;
    std::int64_t low = INT64_MAX, high = 0;
    for (const auto row : starts) {
      low = std::min<std::int64_t>(low, calls.correlation[row]);
      high = std::max<std::int64_t>(high, calls.correlation[row]);
    }
    constexpr std::uint64_t kHoles = 64;  // numbers that a call has to itself, on the average
    if (static_cast<std::uint64_t>(high - low) / kHoles >= starts.size() + 1024) return false;
    std::vector<std::uint32_t> owner(static_cast<std::size_t>(high - low) + 1, kNoRow);
    for (const auto row : starts) {
      auto& known = owner[static_cast<std::size_t>(calls.correlation[row] - low)];
      const auto before = std::exchange(known, calls.thread[row]);
      if (before != kNoRow && process_[before] != process_[known]) return false;
    }
    by_number([&](std::int64_t number) {
      const bool known = number >= low && number <= high;
      const auto thread = known ? owner[static_cast<std::size_t>(number - low)] : kNoRow;
      return thread == kNoRow ? std::int64_t{-1} : std::int64_t{read.threads.pid[thread]};
    });
    return true;
  }

  /// Where each number is of one process, its call tells whose an activity is: pid_of_call(number),
  /// -1 without a call. One whose call is missing is of the only process that works on its device.
  template <class F>
  void by_number(F&& pid_of_call) {
    constexpr std::int64_t kSeveral = -2;
    const auto& activities = std::as_const(capture_).activities;
    std::unordered_map<std::uint32_t, std::int64_t> of_device;
    std::pair<std::uint32_t, std::int64_t> last{kNoRow, -1};
    std::vector<std::int64_t> pids;
    pids.reserve(activities.size());
    for (std::uint32_t row = 0; row < activities.size(); ++row) {
      const std::int64_t pid = pids.emplace_back(pid_of_call(activities.correlation[row]));
      if (pid < 0) continue;
      const std::pair now{activities.device[row], pid};
      if (now == std::exchange(last, now)) continue;
      auto& known = of_device.try_emplace(now.first, pid).first->second;
      if (known != pid) known = kSeveral;
    }
    for (std::uint32_t row = 0; row < activities.size(); ++row) {
      if (pids[row] >= 0) continue;
      const auto known = of_device.find(activities.device[row]);
      if (known != of_device.end() && known->second >= 0) pids[row] = known->second;
    }
    capture_.activities.pid = {};
    capture_.activities.pid.append(pids);
  }

  bool share_numbers() const {
    return std::ranges::adjacent_find(starts_, [](const Call& left, const Call& right) {
             return left.number == right.number && left.pid != right.pid;
           }) != starts_.end();
  }

  /// What a thread launched last has ended when the thread's wait behind it returns.
  void find_deadlines() {
    const auto& calls = capture_.api_calls;
    OncePerText waits(capture_.strings, [](std::string_view name) {
      return name.find("Synchronize") != name.npos && name.find("Event") == name.npos;
    });
    std::vector<std::uint32_t> order;
    for (std::uint32_t row = 0; row < calls.size(); ++row)
      if (is_start(calls.kind[row]) || calls.kind[row] == ApiKind::sync) order.push_back(row);
    std::ranges::sort(order, {}, [&](std::uint32_t row) {
      return std::tuple(calls.thread[row], Nanos{calls.start_ns[row]}, row);
    });
    deadline_.assign(calls.size(), INT64_MAX);
    for (std::size_t i = 1; i < order.size(); ++i) {
      const auto wait = order[i], start = order[i - 1];
      if (calls.thread[wait] == calls.thread[start] && calls.kind[wait] == ApiKind::sync &&
          waits(calls.name[wait]) && is_start(calls.kind[start]))
        deadline_[start] = calls.start_ns[wait] + calls.duration_ns[wait] + kClocksDiffer;
    }
  }

  void add(Fits& fits, std::uint32_t row) const {
    const auto& activities = capture_.activities;
    const auto number = activities.correlation[row];
    auto call = std::ranges::lower_bound(starts_, number, {}, &Call::number);
    if (number < 0 || call == starts_.end() || call->number != number) return;
    const Nanos start = activities.start_ns[row], end = start + activities.duration_ns[row];
    std::int64_t fitted = -1;
    for (; call != starts_.end() && call->number == number; ++call) {
      if (call->pid == fitted || capture_.api_calls.start_ns[call->row] > start ||
          end > deadline_[call->row] ||
          !may_start(capture_.api_calls.kind[call->row], activities.kind[row]))
        continue;
      fitted = call->pid;
      ++fits[fitted].fits;
    }
  }

  /// Traces one behind the other: the file has the activities of a process next to its calls.
  bool by_place() {
    std::set<std::int64_t> seen;
    for (const auto& turn : turns_)
      if (turn.pid < 0 || !seen.insert(turn.pid).second) return false;
    if (seen.size() < 2) return false;
    const auto count = static_cast<std::uint32_t>(capture_.activities.size());
    const auto each = [&](auto&& apply) {
      for (std::size_t i = 0; i < turns_.size(); ++i) {
        const auto end = i + 1 < turns_.size() ? turns_[i + 1].activity : count;
        for (auto row = turns_[i].activity; row < end; ++row) apply(turns_[i].pid, row);
      }
    };
    std::map<std::int64_t, Fit> total;
    each([&](std::int64_t pid, std::uint32_t row) {
      Fits fits;
      add(fits, row);
      total[pid].known += has_start(row);
      total[pid].fits += fits[pid].fits;
    });
    if (!std::ranges::all_of(total, [](const auto& of) { return of.second.good(); })) return false;
    each([&](std::int64_t pid, std::uint32_t row) { capture_.activities.pid[row] = pid; });
    return true;
  }

  /// The first call of a number.
  const Call* start_of(std::int64_t number) const {
    const auto call = std::ranges::lower_bound(starts_, number, {}, &Call::number);
    return number >= 0 && call != starts_.end() && call->number == number ? &*call : nullptr;
  }
  bool has_start(std::uint32_t row) const {
    return start_of(capture_.activities.correlation[row]) != nullptr;
  }

  /// Traces whose events were sorted by time: a process works on the device whose activities fit
  /// its calls. Of two devices on which the same calls ran, the process has one.
  void by_device() {
    std::map<std::uint32_t, Device> devices;
    const auto& activities = capture_.activities;
    for (std::uint32_t row = 0; row < activities.size(); ++row) {
      if (!has_start(row)) continue;
      auto& device = devices[activities.device[row]];
      add(device.fits, row);
      ++device.known;
      device.numbers.insert(activities.correlation[row]);
    }
    constexpr std::size_t kMostDevices = 256;  // of a host are fewer
    if (devices.size() > kMostDevices) return;
    for (auto& [row, device] : devices)
      for (auto& [pid, fit] : device.fits) fit.known = device.known;
    for (bool found = true; std::exchange(found, false);)
      for (auto& [row, device] : devices) {
        if (device.pid >= 0 || (device.pid = the_one(device.fits)) < 0) continue;
        found = true;
        for (auto& [other_row, other] : devices)
          if (other_row != row && same_calls(device.numbers, other.numbers))
            other.fits.erase(device.pid);
      }
    for (std::uint32_t row = 0; row < activities.size(); ++row)
      if (const auto told = devices.find(activities.device[row]); told != devices.end())
        capture_.activities.pid[row] = told->second.pid;
  }

  struct Device {
    Fits fits;
    std::int64_t known = 0, pid = -1;
    std::set<std::int64_t> numbers;  // of calls
  };

  static bool same_calls(const std::set<std::int64_t>& left, const std::set<std::int64_t>& right) {
    const auto both =
        std::ranges::count_if(left, [&](auto number) { return right.contains(number); });
    return both * 2 > std::ssize(left) || both * 2 > std::ssize(right);
  }

  /// The only process that fits, or fits far better than the next one; -1 without one.
  static std::int64_t the_one(const Fits& fits) {
    std::int64_t best = -1, least = INT64_MAX, next = INT64_MAX;
    for (const auto& [pid, fit] : fits) {
      if (!fit.good()) continue;
      if (fit.unfit() >= least) {
        next = std::min(next, fit.unfit());
      } else {
        next = std::exchange(least, fit.unfit());
        best = pid;
      }
    }
    return best >= 0 && next / kClearly > least ? best : -1;
  }

  Capture& capture_;
  const std::vector<ProcessTurn>& turns_;
  std::vector<std::uint16_t> process_;  // by thread: launching()
  std::vector<Call> starts_;            // calls that start work, by number
  std::vector<Nanos> deadline_;         // by row of api_calls: when what it launched has ended
};

}  // namespace

bool tell_processes(Capture& capture, const std::vector<ProcessTurn>& turns) {
  return ProcessFinder(capture, turns).run();
}

}  // namespace gf::kineto
