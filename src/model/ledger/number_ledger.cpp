// Numbers of calls: a process counts its calls upwards, so that a thread's rise with time, and
// calls that are missing leave a hole.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/format.h"
#include "core/order.h"
#include "model/ledger/laws.h"
#include "model/ledger/ledger.h"

namespace gf {

namespace {

/// A number this much lower than the one before it has wrapped around, or a profiler began anew.
constexpr std::int64_t kWrapped = std::int64_t{1} << 31;
/// A hole is of at least so many numbers, and of more than one in so many of all, where there are
/// so many calls: numbers of calls that are not recorded lie between them, at most 4 % in a row.
constexpr std::int64_t kHoleNumbers = 50, kHoleShare = 10, kManyCalls = 50;

}  // namespace

void check_numbers(Capture& capture) {
  const auto& calls = capture.api_calls;
  std::vector<std::uint32_t> order;
  order.reserve(calls.size());
  for (std::uint32_t call = 0; call < calls.size(); ++call)
    if (calls.correlation[call] >= 0) order.push_back(call);
  const auto count = static_cast<std::int64_t>(order.size());
  if (count < kManyCalls) return;
  sort_nearly_ordered(order.begin(), order.end(), [&](auto left, auto right) {
    const Nanos start = calls.start_ns[left], other = calls.start_ns[right];
    return start != other ? start < other : left < right;
  });
  std::vector<std::int64_t> last(capture.threads.size() + 1, -1);  // by thread
  std::int64_t falls = 0, hole = 0, low = INT64_MAX, high = 0, before = -1;
  for (const auto call : order) {
    const auto number = calls.correlation[call];
    const auto thread = std::min<std::size_t>(calls.thread[call], capture.threads.size());
    falls += number < last[thread] && last[thread] - number < kWrapped;
    last[thread] = number;
    hole = std::max(hole, before < 0 ? 0 : number - before);
    low = std::min(low, number);
    high = std::max(high, number);
    before = number;
  }
  if (falls > 0)
    tell(capture, Law::numbers_rise, {.count = falls, .of = count},
         fmt::format("{} of {} calls of the runtime have a lower number than the call before them "
                     "on their thread: the host's clock went back, or numbers were changed",
                     format_count(falls), format_count(count)));
  else if (hole > kHoleNumbers && hole > (high - low) / kHoleShare &&
           capture.recording_windows.empty())
    capture.note_quality(
        QualityCode::calls_missing,
        fmt::format("of the {} numbers of the runtime's calls, {} in a row are not in the capture: "
                    "the calls between were not recorded, and what they launched is missing",
                    format_count(high - low + 1), format_count(hole - 1)),
        hole - 1);
}

}  // namespace gf
