// Waiting for other ranks as a part of its own: against a nanosecond-by-nanosecond count on random
// captures in which collectives overlap computation, copies and each other.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/ranks/job_waiting.h"
#include "analyze/work/work.h"
#include "report/json.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

/// A device's program with what each of its kernels waits, by row of activities.
struct WaitingProgram {
  Capture capture;
  JobWaiting job;
};

WaitingProgram random_program() {
  test::CaptureBuilder build;
  WaitingProgram program;
  const int count = *rc::gen::inRange(1, 25);
  for (int i = 0; i < count; ++i) {
    const Nanos start = *rc::gen::inRange(0, 600), length = *rc::gen::inRange(0, 200);
    const int what = *rc::gen::inRange(0, 5), stream = *rc::gen::inRange(0, 3);
    if (what == 0) {
      build.activity(ActivityKind::memcpy, "Memcpy", start, start + length, -1, stream);
    } else if (what == 1) {
      build.op("aten::mm", start, start + 1);
      build.launch("gemm", {start, start + 1}, {start, start + length}, stream);
    } else {
      const auto row =
          build.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", start, start + length, stream);
      if (what == 2) continue;  // a collective of which nothing is known
      const Nanos wait = *rc::gen::inRange<Nanos>(0, length + 1);
      program.job.kernels.push_back({row, wait, *rc::gen::inRange(1, 4)});
    }
  }
  build.capture.devices.name[0] = build.capture.strings.intern("NVIDIA H200");
  build.capture.devices.sm_count[0] = 132;
  program.capture = std::move(build.capture);
  return program;
}

/// The definition applied instant by instant.
struct Counted {
  Nanos waiting = 0;
  std::map<std::string, double> by_rank;
};

Counted count(const WaitingProgram& program, Interval window) {
  const auto& activities = program.capture.activities;
  Counted counted;
  for (Nanos now = window.start; now < window.end; ++now) {
    std::vector<const KernelWait*> waiting;
    bool works = false;
    for (std::uint32_t row = 0; row < activities.size(); ++row) {
      const Nanos since = now - activities.start_ns[row];
      if (since < 0 || since >= activities.duration_ns[row]) continue;
      const KernelWait* wait = program.job.of(row);
      if (wait && since < wait->ns)
        waiting.push_back(wait);
      else
        works = true;
    }
    if (works || waiting.empty()) continue;
    ++counted.waiting;
    for (const auto* wait : waiting)
      counted.by_rank["rank " + std::to_string(wait->rank)] +=
          1.0 / static_cast<double>(waiting.size());
  }
  return counted;
}

template <class Rows>
Nanos sum_ns(const Rows& rows) {
  Nanos sum = 0;
  for (const auto& row : rows) sum += row.ns;
  return sum;
}

const WaterfallBar* bar_of(const DeviceUse& device, Bar id) {
  const auto bar = std::ranges::find(device.waterfall, id, &WaterfallBar::id);
  return bar == device.waterfall.end() ? nullptr : &*bar;
}

void check_owners(const std::vector<NamedTime>& owners, const Counted& counted) {
  RC_ASSERT(sum_ns(owners) == counted.waiting);
  // Nanoseconds that cannot be halved go to the kernel that began first.
  for (const auto& owner : owners)
    RC_ASSERT(std::abs(static_cast<double>(owner.ns) - counted.by_rank.at(owner.name)) <= 200);
}

RC_GTEST_PROP(Waiting, IsTheTimeInWhichOnlyWaitingCollectivesRun, ()) {
  const WaitingProgram program = random_program();
  AnalyzeOptions options;
  options.waiting = &program.job;
  if (*rc::gen::arbitrary<bool>()) {
    const int from = *rc::gen::inRange(0, 300);
    options.window = std::to_string(from) + ":" + std::to_string(from + *rc::gen::inRange(1, 400));
  }
  std::optional<Context> context;
  const auto analysis = analyze(program.capture, options, &context);
  RC_PRE(analysis.has_value());  // a window outside of the capture is refused
  const DeviceUse& device = analysis->devices.at(0);
  const Counted counted = count(program, context->devices.at(0).window);
  const WaterfallBar* waiting = bar_of(device, Bar::waiting);
  RC_ASSERT(waiting != nullptr);
  RC_ASSERT(waiting->ns == counted.waiting);
  check_owners(waiting->parts, counted);
  RC_ASSERT(sum_ns(waiting->kernels) == counted.waiting);
  RC_ASSERT(sum_ns(device.waterfall) == device.span_ns);
  for (const auto& bar : device.waterfall)
    if (bar.id != Bar::idle && bar.id != Bar::copy) RC_ASSERT(sum_ns(bar.kernels) == bar.ns);
  Nanos of_rows = 0;
  for (const Nanos ns : context->devices[0].waiting->ns) of_rows += ns;
  RC_ASSERT(of_rows == counted.waiting);
}

RC_GTEST_PROP(Waiting, HasItsPartInTheAccountOfThePeak, ()) {
  WaitingProgram program = random_program();
  auto& ops = program.capture.host_ops;
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    ops.shapes[op] = program.capture.strings.intern("[[64, 64], [64, 64]]");
    ops.types[op] = program.capture.strings.intern(R"(["c10::BFloat16","c10::BFloat16"])");
  }
  AnalyzeOptions options;
  options.waiting = &program.job;
  std::optional<Context> context;
  const auto analysis = analyze(program.capture, options, &context);
  RC_ASSERT(analysis.has_value());
  const WaterfallBar* waiting = bar_of(analysis->devices.at(0), Bar::waiting);
  const auto accounts = measure_work(*context, *analysis).accounts;
  RC_PRE(!accounts.empty());  // without a product that ran there is none
  for (const auto& account : accounts) {
    RC_ASSERT(sum_ns(account.parts) == account.span_ns);
    Nanos told = 0;
    for (const auto& part : account.parts) {
      RC_ASSERT(sum_ns(part.owners) == part.ns);
      if (part.id == WorkPart::waiting) told = part.ns;
    }
    RC_ASSERT(told == waiting->ns);
  }
}

RC_GTEST_PROP(Waiting, OfNoKernelChangesNothingButItsEmptyBar, ()) {
  const WaitingProgram program = random_program();
  const JobWaiting none;
  AnalyzeOptions options;
  const auto alone = analyze(program.capture, options);
  options.waiting = &none;
  auto beside = analyze(program.capture, options);
  RC_ASSERT(alone.has_value() && beside.has_value());
  for (auto& device : beside->devices) {
    RC_ASSERT(bar_of(device, Bar::waiting)->ns == 0);
    std::erase_if(device.waterfall, [](const WaterfallBar& bar) { return bar.id == Bar::waiting; });
  }
  std::string before, after;
  to_json(before, *alone);
  to_json(after, *beside);
  RC_ASSERT(before == after);
}

}  // namespace
}  // namespace gf
