#include "analyze/report_alone.h"

#include <algorithm>
#include <cmath>

#include "analyze/findings/finding_rows.h"
#include "model/formats.h"
#include "model/launches.h"
#include "model/metrics.h"

namespace gf {

namespace {

void forget(std::vector<Level>& levels) {
  for (auto& level : levels) {
    if (level.id != "gpu.busy"_metric && level.id != "gpu.kernel_time"_metric) continue;
    level.value.reset();
    level.low.reset();
    level.high.reset();
    level.why_missing =
        "a counter report has no time between its kernels: give a trace of the same program, "
        "gpufathom analyze TRACE --counters REPORT";
  }
}

}  // namespace

bool is_report_alone(const Analysis& analysis) { return says(analysis.source.format, kReportOnly); }

bool holds_only_report(const Capture& capture) {
  return capture.activities.empty() && capture.host_ops.empty() && !capture.report_kernels.empty();
}

namespace {

/// As many kernels as a summary's launches are laid out, while these are not more than this; beyond
/// it each row of the summary is one kernel with the time of its launches.
constexpr std::int64_t kMostLaunches = 100'000;

std::int64_t launches_of(const Capture& capture, std::uint32_t kernel) {
  return std::clamp<std::int64_t>(capture.report_kernels.launches[kernel], 1, kMostLaunches + 1);
}

std::int64_t all_launches(const Capture& capture) {
  std::int64_t sum = 0;
  for (std::uint32_t kernel = 0; kernel < capture.report_kernels.size(); ++kernel)
    sum += launches_of(capture, kernel);
  return sum;
}

}  // namespace

void lay_out_report(Capture& capture) {
  const auto& report = capture.report_kernels;
  constexpr double kLongest = 9e17;
  const bool one_by_one =
      all_launches(capture) <= std::max(kMostLaunches, static_cast<std::int64_t>(report.size()));
  Nanos at = 0;
  for (std::uint32_t kernel = 0; kernel < report.size(); ++kernel) {
    std::int64_t copies = 1;
    double nanoseconds = report.duration_ns[kernel];
    if (one_by_one)
      copies = launches_of(capture, kernel);
    else if (report.launches[kernel] > 1)
      nanoseconds *= static_cast<double>(report.launches[kernel]);
    const Nanos duration =
        nanoseconds >= 1 && nanoseconds < kLongest ? std::llround(nanoseconds) : 1;
    const std::int64_t number = report.device[kernel];
    const auto device =
        capture.device_row(number >= 0 && number < 1 << 20 ? static_cast<std::int32_t>(number) : 0);
    auto& activities = capture.activities;
    for (std::int64_t copy = 0; copy < copies; ++copy) {
      const auto row = activities.add();
      activities.start_ns[row] = at;
      activities.duration_ns[row] = duration;
      activities.device[row] = device;
      activities.kind[row] = ActivityKind::kernel;
      copy_launch(report, kernel, activities, row);
      if (at <= static_cast<Nanos>(kLongest)) at += duration;
    }
  }
}

void forget_time_line(Analysis& analysis) {
  forget(analysis.levels);
  for (auto& device : analysis.devices) forget(device.levels);
  std::erase_if(analysis.findings,
                [](const Finding& finding) { return !row_of(finding.id).of_kernels; });
  analysis.runtime = {};
  analysis.match.note =
      "Counter report only: its kernels are placed one after the other, each with its duration "
      "under the profiler. Shares are of that time; the time between kernels is unknown.";
}

}  // namespace gf
