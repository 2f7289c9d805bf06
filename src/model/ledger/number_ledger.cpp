// Numbers of calls: a process counts its calls upwards, so that a thread's rise with time, and
// calls that are missing leave a hole.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/format.h"
#include "core/order.h"
#include "model/check.h"
#include "model/ledger/laws.h"
#include "model/ledger/ledger.h"

namespace gf {

namespace {

/// A number this much lower than the one before it has wrapped around, or a profiler began anew.
constexpr std::int64_t kWrapped = std::int64_t{1} << 31;
/// A hole is of at least so many numbers, where there are so many calls.
constexpr std::int64_t kHoleNumbers = 50, kManyCalls = 50;
/// A process makes no call in less, on all its threads: where more numbers are missing than there
/// was time for calls, a tool gave numbers that do not count.
constexpr Nanos kShortestCall = 50;
/// A loop of the host's is of so many operations, with those inside of them, in nineteen of twenty.
constexpr std::size_t kNamesOfALoop = 5;

struct Hole {
  std::int64_t missing = 0, of = 0;  // numbers, of a process
  Interval between;                  // the calls before and behind it
};

/// The most numbers in a row that no call of their process has: processes and threads take turns,
/// so that calls that follow each other in time may be far apart in their numbers.
Hole widest_hole(const Capture& capture) {
  const auto& calls = capture.api_calls;
  std::vector<std::tuple<std::int64_t, std::int64_t, std::uint32_t>> all;  // process, number, call
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    if (calls.correlation[call] < 0) continue;
    const auto thread = calls.thread[call];
    all.emplace_back(thread < capture.threads.size() ? capture.threads.pid[thread] : -1,
                     calls.correlation[call], call);
  }
  std::sort(all.begin(), all.end());
  Hole widest;
  for (std::size_t from = 0, to = 0; from < all.size(); from = to) {
    const auto [process, low, first] = all[from];
    Hole hole;
    for (to = from + 1; to < all.size() && std::get<0>(all[to]) == process; ++to) {
      const auto [same, number, call] = all[to];
      const auto [of, before, last] = all[to - 1];
      hole.of = number - low + 1;
      if (number - before - 1 <= hole.missing) continue;
      hole.missing = number - before - 1;
      hole.between = {calls.start_ns[last], calls.start_ns[call]};
    }
    if (hole.missing > widest.missing) widest = hole;
  }
  return widest;
}

/// True if the host did little else than a few operations again and again. A profiler counts calls
/// that it leaves out, as of the device that is set: a thousand views of a tensor make thousands.
bool one_loop(const Capture& capture, Interval span) {
  const auto& ops = capture.host_ops;
  std::unordered_map<StringId, std::int64_t> of_name;
  std::int64_t all = 0;
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    const Nanos start = ops.start_ns[op];
    if (ops.kind[op] != HostKind::op || start <= span.start || start >= span.end) continue;
    ++of_name[ops.name[op]];
    ++all;
  }
  std::vector<std::int64_t> counts;
  for (const auto& [name, count] : of_name) counts.push_back(count);
  const auto few = std::min<std::size_t>(counts.size(), kNamesOfALoop);
  std::partial_sort(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(few), counts.end(),
                    std::greater<>());
  counts.resize(few);
  const auto again = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  return all >= kManyCalls && again * 20 >= all * 19;
}

/// A number for the process of each thread, and for calls of no known thread.
std::vector<std::size_t> processes(const Capture& capture) {
  std::vector<std::size_t> out;
  std::map<std::int64_t, std::size_t> known;
  for (const auto pid : capture.threads.pid)
    out.push_back(known.try_emplace(pid, known.size()).first->second);
  out.push_back(known.size());
  return out;
}

}  // namespace

void check_numbers(const Capture& capture, Capture& notes) {
  const auto& calls = capture.api_calls;
  std::int64_t count = 0;
  Nanos latest = INT64_MIN;
  bool in_order = true;
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    if (calls.correlation[call] < 0) continue;
    ++count;
    in_order = in_order && calls.start_ns[call] >= latest;
    latest = calls.start_ns[call];
  }
  if (count < kManyCalls) return;
  std::vector<std::uint32_t> order;  // of time, where the rows are in another one
  if (!in_order) {
    order.reserve(static_cast<std::size_t>(count));
    for (std::uint32_t call = 0; call < calls.size(); ++call)
      if (calls.correlation[call] >= 0) order.push_back(call);
    sort_nearly_ordered(order.begin(), order.end(), [&](auto left, auto right) {
      const Nanos start = calls.start_ns[left], other = calls.start_ns[right];
      return start != other ? start < other : left < right;
    });
  }
  const std::size_t rows = in_order ? calls.size() : order.size();
  std::vector<std::int64_t> last(capture.threads.size() + 1, -1);  // by thread
  const auto process = processes(capture);
  std::vector<std::int64_t> last_of(process.size(), -1);
  std::int64_t falls = 0, repeats = 0, hole = 0, low = INT64_MAX, high = 0, before = -1;
  for (std::size_t at = 0; at < rows; ++at) {
    const auto call = in_order ? static_cast<std::uint32_t>(at) : order[at];
    const auto number = calls.correlation[call];
    if (number < 0) continue;
    const auto thread = std::min<std::size_t>(calls.thread[call], capture.threads.size());
    falls += number < last[thread] && last[thread] - number < kWrapped;
    repeats += number == last_of[process[thread]];
    last[thread] = last_of[process[thread]] = number;
    hole = std::max(hole, before < 0 ? 0 : number - before);
    low = std::min(low, number);
    high = std::max(high, number);
    before = number;
  }
  if (repeats > 0)
    notes.note_quality(QualityCode::repeated_call,
                       "a call has the number of the one before it: calls are in the capture "
                       "twice, or numbers were changed",
                       repeats);
  if (falls > 0)
    return tell(
        notes, Law::numbers_rise, {.count = falls, .of = count},
        fmt::format("{} of {} calls of the runtime have a lower number than the call before "
                    "them on their thread: the host's clock went back, or numbers were "
                    "changed",
                    format_count(falls), format_count(count)));
  if (hole <= kHoleNumbers ||
      !beyond_bound(Law::numbers_have_no_hole, {hole - 1, high - low + 1}) ||
      !capture.recording_windows.empty())
    return;
  const Hole widest = widest_hole(capture);
  // Work of the missing calls may have run at any time.
  const Breach missing{.count = widest.missing, .of = widest.of, .time = kLongestTotal};
  const Nanos room = widest.between.end - widest.between.start;
  if (missing.count >= kHoleNumbers && missing.count <= room / kShortestCall &&
      beyond_bound(Law::numbers_have_no_hole, missing) && !one_loop(capture, widest.between))
    tell(
        notes, Law::numbers_have_no_hole, missing,
        fmt::format("of the {} numbers of the runtime's calls, {} in a row are not in the capture: "
                    "the calls between were not recorded, and what they launched is missing",
                    format_count(missing.of), format_count(missing.count)));
}

}  // namespace gf
