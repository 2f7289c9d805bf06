// Steps of marks against a program and a device that are played out, of which the profiler sees a
// part: it begins while the device still works on what was launched before, and records those
// kernels without their launches.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "analyze/analyze.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

struct Played {
  test::CaptureBuilder builder;
  std::vector<Nanos> starts;  // of the recorded steps
};

/// A program of `before` steps whose launches are not recorded and `recorded` steps that are.
struct MarkedProgram {
  std::int64_t before = 0, recorded = 0, streams = 1;
  std::int64_t ahead = 0;      // steps that the host may be ahead of the device
  std::vector<Nanos> kernels;  // of a step, on the first stream; on the others a little shorter
  Nanos call = 0;
  bool other_device = false;

  Played play() const {
    Played played;
    auto& b = played.builder;
    std::vector<std::pair<Interval, std::int64_t>> earlier;  // span and stream
    std::vector<Nanos> ended;                                // by step
    Nanos host = 0, free = 0, recording = 0;
    for (std::int64_t step = 0; step < before + recorded; ++step) {
      if (step > ahead) host = std::max(host, ended[static_cast<std::size_t>(step - 1 - ahead)]);
      const bool seen = step >= before;
      if (step == before) recording = host;
      const Nanos mark = host, was_free = free;
      Nanos first = INT64_MAX;
      for (const Nanos length : kernels) {
        const Interval called{host + 1, host + call};
        host += call + 1;
        const Nanos start = std::max(free, called.end + 2);
        free = start + length;
        first = std::min(first, start);
        for (std::int64_t stream = 0; stream < streams; ++stream)
          if (const Interval span{start, free - stream}; seen)
            b.launch("k", called, span, stream);
          else
            earlier.push_back({span, stream});
      }
      ended.push_back(free);
      if (!seen) continue;
      b.mark("ProfilerStep#" + std::to_string(step), mark, host);
      played.starts.push_back(std::min(first, std::max(mark, was_free)));
    }
    for (const auto& [span, stream] : earlier)
      if (span.end > recording) b.kernel("k", span.start, span.end, stream);
    for (Nanos at = recording; other_device && at < free; at += 1000)
      b.kernel("other", at, at + 900, 7, 1);
    return played;
  }
};

RC_GTEST_PROP(MarkedSteps, AreThoseOfTheProgramWhereverTheProfilerBegan, ()) {
  MarkedProgram program;
  program.before = *rc::gen::inRange<std::int64_t>(0, 6);
  program.recorded = *rc::gen::inRange<std::int64_t>(1, 7);
  program.streams = *rc::gen::inRange<std::int64_t>(1, 4);
  program.ahead = *rc::gen::inRange<std::int64_t>(0, 5);
  program.call = *rc::gen::element<Nanos>(3, 100, 1500);
  program.other_device = *rc::gen::arbitrary<bool>();
  program.kernels = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<Nanos>>(rc::gen::inRange<Nanos>(500, 1500)));
  const auto played = program.play();
  const auto analysis = analyze(played.builder.capture, {.window = "auto"});
  RC_ASSERT(analysis);
  const auto& steps = analysis->window.all_steps;
  RC_ASSERT(steps.size() == played.starts.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    RC_ASSERT(steps[i].start_ns == played.starts[i]);
    if (i > 0) RC_ASSERT(steps[i].start_ns == steps[i - 1].start_ns + steps[i - 1].duration_ns);
  }
  Nanos sum = 0;
  for (const auto& step : analysis->window.steps) sum += step.duration_ns;
  RC_ASSERT(sum == analysis->window.duration_ns);
  // All steps run the same kernels: none is far from the others but where the host was behind.
  const bool queued = program.before > 0 && steps[0].start_ns > 0 && program.ahead > 0;
  RC_CLASSIFY(queued, "work from before the profiler");
}

}  // namespace
}  // namespace gf
