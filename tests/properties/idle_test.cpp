// The reasons of idle time against a second reading of docs/idle.md: one label for every instant,
// by looking at everything. All times are whole units, so that one instant of a unit stands for it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "analyze/analyze.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

constexpr Nanos kUnit = 5000;  // 4 units: what hardware needs; 40 units: a slow call
constexpr Nanos kHardware = 4 * kUnit;
constexpr Nanos kSlow = 40 * kUnit;

struct Spot {
  Nanos start, end;
  int thread, kind;
};
constexpr std::int64_t kThreads[] = {100, 7};  // the first is the main thread
constexpr const char* kOps[] = {"aten::mm",
                                "c10d::allreduce_",
                                "enumerate(DataLoader)#next",
                                "aten::item",
                                "Optimizer.step#SGD.step",
                                "CachingAutotuner.benchmark_all_configs (dynamo_timed)",
                                "gloo:all_reduce",
                                "aten::to"};

/// Random spans that nest properly on each thread.
std::vector<Spot> nested(int kinds) {
  auto all = *rc::gen::container<std::vector<Spot>>(rc::gen::map(
      rc::gen::tuple(rc::gen::inRange<Nanos>(-20, 150), rc::gen::inRange<Nanos>(1, 60),
                     rc::gen::inRange(0, 2), rc::gen::inRange(0, kinds)),
      [](auto t) {
        const Nanos start = std::get<0>(t) * kUnit;
        return Spot{start, start + std::get<1>(t) * kUnit, std::get<2>(t), std::get<3>(t)};
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
  b.kernel("gemm", 0, *rc::gen::inRange<Nanos>(1, 20) * kUnit);
  for (const auto& s : nested(8)) b.op(kOps[s.kind], s.start, s.end, kThreads[s.thread]);
  for (const auto& s : nested(8)) {
    const auto tid = kThreads[s.thread];
    const Nanos delay = *rc::gen::inRange<Nanos>(-5, 30) * kUnit;
    const Nanos length = *rc::gen::inRange<Nanos>(0, 25) * kUnit;
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
      case 3: {
        const auto way = *rc::gen::element(CopyKind::device_to_host, CopyKind::device_to_device);
        b.capture.activities.bytes[b.copy(way, call, device, stream, on, tid)] =
            *rc::gen::element<std::int64_t>(-1, 8, 4096);
        break;
      }
      case 4:
        b.launch(*rc::gen::element<const char*>("gemm", "ncclDevKernel_AllReduce"), call, device,
                 stream, on, tid);
        break;
      case 5:
        b.call(ApiKind::alloc, "cudaMalloc", s.start, s.end, -1, tid);
        break;
      case 6:
        b.call(ApiKind::other, "cuModuleLoadData", s.start, s.end, -1, tid);
        break;
      default:
        b.kernel("gemm", device.start, device.end, stream, on);
    }
  }
  return b;
}

/// The facts of a capture's calls, by looking at all of them.
struct Calls {
  const Capture& c;
  const std::vector<std::uint32_t>& launch;
  const Attribution& owners;

  std::uint32_t started_by(std::uint32_t call) const {
    const auto at = std::find(launch.begin(), launch.end(), call);
    return at == launch.end() ? kNoRow : static_cast<std::uint32_t>(at - launch.begin());
  }
  /// A wait on this call's thread since its last launch of any kind.
  bool told_to_wait(std::uint32_t call) const {
    const auto& calls = c.api_calls;
    Nanos last_launch = INT64_MIN, last_wait = INT64_MIN;
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      if (calls.thread[i] != calls.thread[call] || calls.start_ns[i] >= calls.start_ns[call])
        continue;
      if (c.text(calls.name[i]) == "cudaStreamWaitEvent")
        last_wait = std::max(last_wait, calls.start_ns[i]);
      else if (started_by(i) != kNoRow)
        last_launch = std::max(last_launch, calls.start_ns[i]);
    }
    return last_wait > last_launch;
  }
  /// No call that began earlier started a kernel of the name.
  bool is_first(std::uint32_t call) const {
    const auto name = c.activities.name[started_by(call)];
    for (std::uint32_t i = 0; i < launch.size(); ++i) {
      if (launch[i] == kNoRow || c.activities.name[i] != name) continue;
      const Nanos other = c.api_calls.start_ns[launch[i]], mine = c.api_calls.start_ns[call];
      if (other < mine || (other == mine && i < started_by(call))) return false;
    }
    return true;
  }
  bool one_off(std::uint32_t call) const {
    const auto& calls = c.api_calls;
    const auto& a = c.activities;
    if (c.text(calls.name[call]) == "cuModuleLoadData") return true;
    if (calls.duration_ns[call] < kSlow) return false;
    if (started_by(call) != kNoRow)
      return a.kind[started_by(call)] == ActivityKind::kernel && is_first(call);
    if (calls.kind[call] == ApiKind::sync) return false;
    Nanos first = INT64_MAX, last = INT64_MIN;
    for (std::uint32_t i = 0; i < a.size(); ++i) {
      first = std::min(first, a.start_ns[i]);
      last = std::max(last, a.start_ns[i] + a.duration_ns[i]);
    }
    for (std::uint32_t i = 0; i < calls.size(); ++i)
      if (calls.name[i] == calls.name[call] && calls.duration_ns[i] >= kSlow &&
          calls.duration_ns[i] >= calls.duration_ns[call] / 10 &&
          calls.start_ns[i] >= first + (last - first) / 2)
        return false;
    return true;
  }
};

/// A library's operator that is no copy of the program's: outermost of those around the call.
bool copies_for_itself(const Calls& facts, std::uint32_t row) {
  std::string outermost;
  for (auto op = facts.owners.op[row]; op != kNoRow; op = facts.owners.op_parent[op]) {
    const std::string name(facts.c.text(facts.c.host_ops.name[op]));
    if (!outermost.empty() && name.find('#') != name.npos) break;
    outermost = name;
  }
  return outermost.find("::") != outermost.npos && outermost != "aten::to" &&
         outermost != "aten::copy_" && outermost != "aten::_to_copy";
}

bool is_input_copy(const Calls& facts, std::uint32_t row) {
  const Capture& c = facts.c;
  const auto& a = c.activities;
  return a.kind[row] == ActivityKind::memcpy && a.copy[row] == CopyKind::host_to_device &&
         (a.bytes[row] < 0 || a.bytes[row] >= 4096) && !copies_for_itself(facts, row);
}

/// The label of instant t by one thread; empty if it has nothing open.
std::string thread_says(const Calls& facts, std::uint32_t thread, std::uint32_t next, Nanos t) {
  const Capture& c = facts.c;
  const auto& calls = c.api_calls;
  const auto& a = c.activities;
  bool open[std::size(kOps)] = {};
  for (std::uint32_t i = 0; i < c.host_ops.size(); ++i)
    if (c.host_ops.thread[i] == thread && t >= c.host_ops.start_ns[i] &&
        t < c.host_ops.start_ns[i] + c.host_ops.duration_ns[i])
      for (std::size_t k = 0; k < std::size(kOps); ++k)
        open[k] |= c.text(c.host_ops.name[i]) == kOps[k];
  std::uint32_t call = kNoRow;  // innermost: the one that began last
  for (std::uint32_t i = 0; i < calls.size(); ++i)
    if (calls.thread[i] == thread && t >= calls.start_ns[i] &&
        t < calls.start_ns[i] + calls.duration_ns[i] &&
        (call == kNoRow || calls.start_ns[i] > calls.start_ns[call]))
      call = i;
  const bool waits = call != kNoRow && calls.kind[call] == ApiKind::sync;
  if (open[5] || (call != kNoRow && facts.one_off(call))) return "start_up";
  if (open[6] || (open[1] && waits)) return "communication";
  if (open[2]) return "input";
  if (waits || open[3]) return "sync";
  if (call != kNoRow && calls.kind[call] == ApiKind::memcpy) {
    const auto copy = facts.started_by(call);
    if (is_input_copy(facts, copy)) return "input";
    const bool ended =
        a.start_ns[copy] + a.duration_ns[copy] <= calls.start_ns[call] + calls.duration_ns[call];
    const bool scalar_up = a.copy[copy] == CopyKind::host_to_device && a.bytes[copy] == 8;
    if (ended && a.copy[copy] != CopyKind::device_to_device && !scalar_up)
      return a.bytes[copy] == 8 ? "sync" : "memcpy";
  }
  if (call != kNoRow && calls.kind[call] == ApiKind::alloc) return "allocation";
  if (call == kNoRow && !open[0] && !open[1] && !open[7]) return "";
  if (next == kNoRow) return "host_other";
  return is_input_copy(facts, next) ? "input" : "launch_bound";
}

/// The device idles with work queued for longer than hardware needs, from `from` to `start`: at t
/// it waits for the other one where that worked, and had just ended or was told to be waited for.
bool waits_for_another_device(const Calls& facts, std::uint32_t next, Nanos from, Nanos t) {
  const auto& a = facts.c.activities;
  std::map<std::int64_t, int> devices;
  const Nanos start = a.start_ns[next];
  Nanos last = INT64_MIN;
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    devices[a.device[i]] = 1;
    if (a.duration_ns[i] > 0 && a.start_ns[i] < start)
      last = std::max(last, a.start_ns[i] + a.duration_ns[i]);
  }
  if (devices.size() < 2 || last == INT64_MIN) return false;
  if (last > start ? !facts.told_to_wait(facts.launch[next]) : start - last > kHardware)
    return false;
  // Worked at t, or in a pause that hardware needs.
  Nanos before = INT64_MIN, after = start;
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    const Nanos begins = a.start_ns[i], ends = begins + a.duration_ns[i];
    if (begins == ends || begins >= start || ends <= from) continue;
    if (begins <= t && t < ends) return true;
    if (ends <= t) before = std::max(before, ends);
    if (begins > t) after = std::min(after, begins);
  }
  return before != INT64_MIN && after - before <= kHardware;
}

/// The label of instant t of a gap between activities `before` and `next`.
std::string label(const Calls& facts, std::uint32_t before, std::uint32_t next, Interval gap,
                  Nanos t) {
  const Capture& c = facts.c;
  const auto& launch = facts.launch;
  const auto& calls = c.api_calls;
  const auto& a = c.activities;
  auto thread_of = [&](std::uint32_t activity) {
    return activity == kNoRow || launch[activity] == kNoRow ? kNoRow
                                                            : calls.thread[launch[activity]];
  };
  if (next != kNoRow && launch[next] == kNoRow) return "no_launch_record";
  if (next != kNoRow) {
    const auto call = launch[next];
    const Nanos returned = calls.start_ns[call] + calls.duration_ns[call];
    if (t >= returned) {
      const Nanos from = std::max(gap.start, returned);
      if (gap.end - from > kHardware)
        return waits_for_another_device(facts, next, from, t) ? "dependency" : "unexplained";
      const bool ready_elsewhere =
          before != kNoRow && returned <= gap.start && a.stream[before] != a.stream[next];
      return facts.told_to_wait(call) || ready_elsewhere ? "dependency" : "kernel_gap";
    }
  }
  std::uint32_t main = kNoRow;
  for (std::uint32_t i = 0; i < c.threads.size(); ++i)
    if (c.threads.tid[i] == 100) main = i;
  if (main == kNoRow && c.threads.size() > 0) main = 0;
  const auto launching = thread_of(next), previous = thread_of(before);
  for (auto thread :
       {launching, launching == kNoRow && previous == kNoRow ? kNoRow : main, previous})
    if (thread != kNoRow)
      if (const auto said = thread_says(facts, thread, next, t); !said.empty()) return said;
  return "host_other";
}

RC_GTEST_PROP(IdleReasons, AreThoseOfTheTable, ()) {
  auto b = random_capture();
  const Capture& c = b.capture;
  AnalyzeOptions options;
  options.window = *rc::gen::element<std::string>("all", "0:300us", "50us:1500us", "150us:155us");
  std::optional<Context> context;
  const auto result = analyze(c, options, &context);
  if (!result) return;  // the range lies outside this capture
  const auto& a = c.activities;
  for (std::size_t d = 0; d < context->devices.size(); ++d) {
    const auto& line = context->devices[d];
    std::map<std::string, Nanos> expected;
    Nanos covered = line.window.start;
    std::uint32_t before = kNoRow;
    const Calls facts{c, context->launches, context->attribution};
    auto label_gap = [&](Nanos end, std::uint32_t next) {
      for (Nanos t = covered; t < end; t += kUnit)
        expected[label(facts, before, next, {covered, end}, t)] += kUnit;
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
    Nanos labelled = INT64_MIN;
    for (const auto& p : line.idle_pieces) {
      pieces += p.span().length();
      RC_ASSERT(p.start >= labelled);  // one label for each instant
      labelled = p.span().end;
    }
    RC_ASSERT(found == expected);
    RC_ASSERT(sum == result->devices[d].idle_ns);
    RC_ASSERT(pieces == result->devices[d].idle_ns);
  }
}

}  // namespace
}  // namespace gf
