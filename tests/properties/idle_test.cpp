// The reasons of idle time against a second reading of docs/idle.md: one label a nanosecond, by
// looking at everything.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "analyze/analyze.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

struct Spot {
  Nanos start, end;
  int thread, kind;
};
constexpr std::int64_t kThreads[] = {100, 7};  // the first is the main thread
constexpr const char* kOps[] = {"aten::mm", "c10d::allreduce_", "enumerate(DataLoader)#next",
                                "aten::item", "Optimizer.step#SGD.step"};

/// Random spans that nest properly on each thread.
std::vector<Spot> nested(int kinds) {
  auto all = *rc::gen::container<std::vector<Spot>>(
      rc::gen::map(rc::gen::tuple(rc::gen::inRange<Nanos>(-20, 150), rc::gen::inRange<Nanos>(1, 60),
                                  rc::gen::inRange(0, 2), rc::gen::inRange(0, kinds)),
                   [](auto t) {
                     return Spot{std::get<0>(t), std::get<0>(t) + std::get<1>(t), std::get<2>(t),
                                 std::get<3>(t)};
                   }));
  std::vector<Spot> kept;
  for (const auto& s : all) {
    bool fits = true;
    for (const auto& k : kept)
      fits &= k.thread != s.thread || s.end <= k.start || k.end <= s.start ||
              (s.start > k.start && s.end < k.end) || (k.start > s.start && k.end < s.end);
    if (fits) kept.push_back(s);
  }
  return kept;
}

test::CaptureBuilder random_capture() {
  test::CaptureBuilder b;
  b.kernel("gemm", 0, *rc::gen::inRange<Nanos>(1, 20));
  for (const auto& s : nested(5)) b.op(kOps[s.kind], s.start, s.end, kThreads[s.thread]);
  for (const auto& s : nested(6)) {
    const auto tid = kThreads[s.thread];
    const Nanos delay = *rc::gen::inRange<Nanos>(-5, 30), length = *rc::gen::inRange<Nanos>(0, 25);
    const std::int64_t stream = *rc::gen::inRange(1, 3);
    const Interval call{s.start, s.end},
        device{std::max(s.start, s.end + delay), std::max(s.start, s.end + delay) + length};
    const int on = *rc::gen::inRange(0, 2);
    switch (s.kind) {
      case 0:
        b.call(ApiKind::sync, "cudaDeviceSynchronize", s.start, s.end, -1, tid);
        break;
      case 1:
        b.call(ApiKind::other, "cudaStreamWaitEvent", s.start, s.end, -1, tid);
        break;
      case 2:
        b.capture.activities
            .bytes[b.copy(CopyKind::host_to_device, call, device, stream, on, tid)] =
            *rc::gen::element<std::int64_t>(-1, 8, 4096);
        break;
      case 3:
        b.copy(CopyKind::device_to_host, call, device, stream, on, tid,
               *rc::gen::element<const char*>("cudaMemcpy", "cudaMemcpyAsync"));
        break;
      case 4:
        b.launch(*rc::gen::element<const char*>("gemm", "ncclDevKernel_AllReduce"), call, device,
                 stream, on, tid);
        break;
      default:
        b.kernel("gemm", device.start, device.end, stream, on);
    }
  }
  return b;
}

/// The label of instant t of a gap that ends with activity `next` and began after `before`.
std::string label(const Capture& c, const std::vector<std::uint32_t>& launch, std::uint32_t before,
                  std::uint32_t next, Nanos gap_start, Nanos t) {
  const auto& calls = c.api_calls;
  const auto& a = c.activities;
  auto thread_of = [&](std::uint32_t activity) {
    return activity == kNoRow || launch[activity] == kNoRow ? kNoRow
                                                            : calls.thread[launch[activity]];
  };
  auto input_copy = [&](std::uint32_t row) {
    return a.kind[row] == ActivityKind::memcpy && a.copy[row] == CopyKind::host_to_device &&
           (a.bytes[row] < 0 || a.bytes[row] >= 4096);
  };
  if (next != kNoRow && launch[next] == kNoRow) return "no_launch_record";
  if (next != kNoRow) {
    const auto call = launch[next];
    const Nanos returned = calls.start_ns[call] + calls.duration_ns[call];
    if (t >= returned) {
      bool waits = false;  // a wait on this thread since its last launch of any kind
      Nanos last_launch = INT64_MIN, last_wait = INT64_MIN;
      for (std::uint32_t i = 0; i < calls.size(); ++i) {
        if (calls.thread[i] != calls.thread[call] || calls.start_ns[i] >= calls.start_ns[call])
          continue;
        if (c.text(calls.name[i]) == "cudaStreamWaitEvent")
          last_wait = std::max(last_wait, calls.start_ns[i]);
        else if (std::find(launch.begin(), launch.end(), i) != launch.end())
          last_launch = std::max(last_launch, calls.start_ns[i]);
      }
      waits = last_wait > last_launch;
      if (waits ||
          (before != kNoRow && returned <= gap_start && a.stream[before] != a.stream[next]))
        return "dependency";
      return "kernel_gap";
    }
  }
  std::uint32_t main = kNoRow;
  for (std::uint32_t i = 0; i < c.threads.size(); ++i)
    if (c.threads.tid[i] == 100) main = i;
  if (main == kNoRow && c.threads.size() > 0) main = 0;
  const auto launching = thread_of(next), previous = thread_of(before);
  for (auto thread :
       {launching, launching == kNoRow && previous == kNoRow ? kNoRow : main, previous}) {
    if (thread == kNoRow) continue;
    bool comm = false, input = false, item = false, op = false;
    for (std::uint32_t i = 0; i < c.host_ops.size(); ++i) {
      if (c.host_ops.thread[i] != thread || t < c.host_ops.start_ns[i] ||
          t >= c.host_ops.start_ns[i] + c.host_ops.duration_ns[i])
        continue;
      const auto name = c.text(c.host_ops.name[i]);
      comm |= name == kOps[1];
      input |= name == kOps[2];
      item |= name == kOps[3];
      op |= name != kOps[2] && name != kOps[4];
    }
    if (comm) return "communication";
    if (input) return "input";
    std::uint32_t call = kNoRow;  // innermost: the one that began last
    for (std::uint32_t i = 0; i < calls.size(); ++i)
      if (calls.thread[i] == thread && t >= calls.start_ns[i] &&
          t < calls.start_ns[i] + calls.duration_ns[i] &&
          (call == kNoRow || calls.start_ns[i] > calls.start_ns[call]))
        call = i;
    if (call != kNoRow && calls.kind[call] == ApiKind::sync) return "sync";
    if (call != kNoRow && calls.kind[call] == ApiKind::memcpy) {
      const auto started = static_cast<std::uint32_t>(
          std::find(launch.begin(), launch.end(), call) - launch.begin());
      if (input_copy(started)) return "input";
      return c.text(calls.name[call]) == "cudaMemcpy" ? "sync" : "memcpy";
    }
    if (item) return "sync";
    if (call == kNoRow && !op) continue;
    if (next == kNoRow) return "host_other";
    if (c.text(a.name[next]) == "ncclDevKernel_AllReduce") return "communication";
    return input_copy(next) ? "input" : "launch_bound";
  }
  return "host_other";
}

RC_GTEST_PROP(IdleReasons, AreThoseOfTheTable, ()) {
  auto b = random_capture();
  const Capture& c = b.capture;
  AnalyzeOptions options;
  options.window = *rc::gen::element<std::string>("all", "0:60", "10:300", "30:31");
  std::optional<Context> context;
  const auto result = analyze(c, options, &context);
  if (!result) return;  // the range lies outside this capture
  const auto& a = c.activities;
  for (std::size_t d = 0; d < context->devices.size(); ++d) {
    const auto& line = context->devices[d];
    std::map<std::string, Nanos> expected;
    Nanos covered = line.window.start;
    std::uint32_t before = kNoRow;
    auto label_gap = [&](Nanos end, std::uint32_t next) {
      for (Nanos t = covered; t < end; ++t)
        ++expected[label(c, context->attribution.launch, before, next, covered, t)];
    };
    for (std::size_t i = 0; i < line.rows.size(); ++i) {
      if (line.spans[i].start > covered) label_gap(line.spans[i].start, line.rows[i]);
      if (before == kNoRow || line.spans[i].end >= covered) before = line.rows[i];
      covered = std::max(covered, line.spans[i].end);
    }
    std::uint32_t next = kNoRow;
    for (std::uint32_t i = 0; i < a.size(); ++i)
      if (a.device[i] == line.device && a.start_ns[i] >= line.window.end &&
          (next == kNoRow || a.start_ns[i] < a.start_ns[next]))
        next = i;
    label_gap(line.window.end, next);
    std::map<std::string, Nanos> found;
    Nanos sum = 0, pieces = 0;
    for (const auto& cause : result->devices[d].idle) {
      sum += found[std::string(name_of(cause.cause))] = cause.ns;
      Nanos named = 0;
      for (const auto& o : cause.operators) named += o.ns;
      RC_ASSERT(named <= cause.ns);
    }
    for (const auto& p : line.idle_pieces) pieces += p.span.length();
    RC_ASSERT(found == expected);
    RC_ASSERT(sum == result->devices[d].idle_ns);
    RC_ASSERT(pieces == result->devices[d].idle_ns);
  }
}

}  // namespace
}  // namespace gf
