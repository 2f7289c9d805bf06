#include "report/wholeness.h"

#include <fmt/format.h>

#include "analyze/ranks/doubts.h"
#include "model/quality.h"
#include "report/text/format.h"

namespace gf {

namespace {

std::string sentence(std::int64_t count, std::string_view code, std::string_view detail) {
  return fmt::format("{} x {}: {}", format_count(count), code, detail);
}

}  // namespace

std::vector<std::string> shortcomings(const Capture& capture) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < capture.quality.size(); ++i)
    if (const auto code = capture.text(capture.quality.code[i]); makes_partial(code))
      found.push_back(
          sentence(capture.quality.count[i], code, capture.text(capture.quality.detail[i])));
  return found;
}

std::vector<std::string> shortcomings(const Analysis& analysis) {
  std::vector<std::string> found;
  for (const auto& quality : analysis.quality)
    if (makes_partial(quality.code) && !is_job_doubt(quality.code))
      found.push_back(sentence(quality.count, quality.code, quality.detail));
  // A profile of a run on the CPU is whole without a device: its answer is the runtime's. So are
  // samples of energy.
  if (analysis.devices.empty() && analysis.energy.devices.empty() &&
      analysis.runtime.kernels.cpu_kernel_ns == 0)
    found.push_back("the capture holds no GPU event (was the profiler told to record the device?)");
  // Rates solved from a recording's own samples are no report that somebody gave.
  if (analysis.counters_source && analysis.counters_source->path != analysis.source.path &&
      (analysis.match.verdict == MatchVerdict::different_program || analysis.match.matched == 0))
    found.push_back("no counters: the report " + analysis.counters_source->path +
                    " does not belong to this trace");
  return found;
}

}  // namespace gf
