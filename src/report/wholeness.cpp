#include "report/wholeness.h"

#include <fmt/format.h>

#include "model/quality.h"
#include "report/text/format.h"

namespace gf {

namespace {

std::string sentence(std::int64_t count, std::string_view code, std::string_view detail) {
  return fmt::format("{} x {}: {}", format_count(count), code, detail);
}

}  // namespace

std::vector<std::string> shortcomings(const Capture& c) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < c.quality.size(); ++i)
    if (const auto code = c.text(c.quality.code[i]); makes_partial(code))
      found.push_back(sentence(c.quality.count[i], code, c.text(c.quality.detail[i])));
  return found;
}

std::vector<std::string> shortcomings(const Analysis& a) {
  std::vector<std::string> found;
  for (const auto& q : a.quality)
    if (makes_partial(q.code)) found.push_back(sentence(q.count, q.code, q.detail));
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
