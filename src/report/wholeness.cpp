#include "report/wholeness.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/text/format.h"

namespace gf {

bool loses_data(std::string_view code) {
  constexpr std::string_view kLosses[] = {
      "bad_event",         "bad_message",  "bad_row",   "bad_sample_block",     "buffer_overflow",
      "counters_ended",    "event_cap",    "gpu_lost",  "implausible_duration", "lost_samples",
      "negative_duration", "source_error", "truncated", "truncated_input",      "truncated_json",
      "unwritten_samples"};
  return std::find(std::begin(kLosses), std::end(kLosses), code) != std::end(kLosses);
}

std::vector<std::string> shortcomings(const Analysis& a) {
  std::vector<std::string> found;
  for (const auto& q : a.quality)
    if (loses_data(q.code))
      found.push_back(fmt::format("{} x {}: {}", format_count(q.count), q.code, q.detail));
  // A profile of a run on the CPU is whole without a device: its answer is the runtime's. So are
  // samples of energy.
  if (a.devices.empty() && a.energy.devices.empty() && a.runtime.kernels.cpu_kernel_ns == 0)
    found.push_back("the capture holds no GPU event (was the profiler told to record the device?)");
  if (a.counters_source &&
      (a.match.verdict == MatchVerdict::different_program || a.match.matched == 0))
    found.push_back("no counters: the report " + a.counters_source->path +
                    " does not belong to this trace");
  return found;
}

}  // namespace gf
