// Runtime phases and queues: exact against brute force, and on captures whose queues are known by
// construction.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "analyze/analyze.h"
#include "analyze/runtime/shares.h"
#include "analyze/runtime/trace.h"
#include "model/launches.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

rc::Gen<QueueItem> item() {
  return rc::gen::map(rc::gen::pair(rc::gen::inRange<Nanos>(0, 60), rc::gen::inRange<Nanos>(0, 30)),
                      [](auto p) { return QueueItem{p.first, p.first + p.second}; });
}

RC_GTEST_PROP(RuntimeQueue, DepthEmptyTimeAndMeanAreExact, ()) {
  const auto items = *rc::gen::container<std::vector<QueueItem>>(item());
  const Nanos start = *rc::gen::inRange<Nanos>(0, 40);
  const Interval window{start, start + *rc::gen::inRange<Nanos>(1, 60)};
  const auto curve = depth_curve(items, window);
  const auto sum = summarise(items, window, 0);
  std::int64_t integral = 0, empty = 0, most = 0;
  std::size_t at = 0;
  for (Nanos t = window.start; t < window.end; ++t) {
    const auto depth = std::count_if(items.begin(), items.end(), [&](const QueueItem& i) {
      return i.enter <= t && t < i.leave;
    });
    while (at + 1 < curve.size() && curve[at + 1].at <= t) ++at;
    RC_ASSERT(curve[at].depth == depth);
    integral += depth;
    empty += depth == 0;
    most = std::max<std::int64_t>(most, depth);
  }
  RC_ASSERT(static_cast<std::int64_t>(sum.integral) == integral);
  RC_ASSERT(sum.empty_ns == empty);
  RC_ASSERT(sum.max == most);
  RC_ASSERT(total(sum.empty) == empty);
}

RC_GTEST_PROP(RuntimeQueue, ThinningKeepsLengthMeanAndExtremes, ()) {
  const auto items = *rc::gen::container<std::vector<QueueItem>>(item());
  const Interval window{3, 3 + *rc::gen::inRange<Nanos>(1, 80)};
  const auto sum = summarise(items, window, *rc::gen::inRange<std::size_t>(1, 100));
  const auto& parts = sum.parts;
  Nanos length = 0;
  double integral = 0;
  std::int64_t most = 0;
  for (const auto& p : parts) {
    RC_ASSERT(p.start_ns == window.start + length);
    length += p.duration_ns;
    integral += p.mean * static_cast<double>(p.duration_ns);
    most = std::max(most, p.max);
  }
  RC_ASSERT(length == window.length());
  RC_ASSERT(most == sum.max);
  RC_ASSERT(std::abs(integral - static_cast<double>(sum.integral)) < 1e-6);
}

RC_GTEST_PROP(RuntimeQueue, PairingFindsWhatWasThereBefore, ()) {
  // A queue with `before` items in it when the capture begins; one thread fills it, another empties
  // it, first in first out.
  const auto before = *rc::gen::inRange<std::int64_t>(0, 4);
  const auto puts = *rc::gen::container<std::vector<Nanos>>(rc::gen::inRange<Nanos>(1, 20));
  std::vector<Interval> entered;
  Nanos now = 1000;
  for (const Nanos gap : puts) {
    entered.push_back({now + gap, now + gap + 3});
    now += gap + 3;
  }
  std::vector<Nanos> left;
  Nanos free = 10;
  for (std::int64_t i = 0; i < before; ++i) left.push_back(free++);
  std::vector<QueueItem> truth;
  for (const auto& e : entered) {
    free = std::max(free, e.end) + *rc::gen::inRange<Nanos>(0, 15);
    left.push_back(free);
    truth.push_back({e.end, free++});
  }
  std::int64_t found = -1;
  const auto items = pair_in_order(entered, left, now + 10'000, found);
  RC_ASSERT(found == before);
  RC_ASSERT(items.size() == truth.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    RC_ASSERT(items[i].enter == truth[i].enter);
    RC_ASSERT(items[i].leave == truth[i].leave);
  }
}

RC_GTEST_PROP(RuntimePhases, EveryNanosecondHasTheFirstPhaseThatHolds, ()) {
  constexpr std::size_t kOther = index_of(RuntimePhase::other);
  const Interval window{10, 90};
  std::array<std::array<Intervals, 2>, kOther> spans;  // two threads
  PhaseSets sets;
  for (std::size_t p = 0; p < kOther; ++p)
    for (auto& set : spans[p]) {
      for (const auto& i : *rc::gen::container<std::vector<QueueItem>>(item()))
        set.push_back({i.enter, i.leave});
      set = normalised(std::move(set));
      sets[p].push_back(set);
    }
  const auto timeline = overlay(sets, window);
  Intervals within;
  for (const auto& i : *rc::gen::container<std::vector<QueueItem>>(item()))
    within.push_back({i.enter, i.leave});
  within = clip(normalised(std::move(within)), window);
  for (const Intervals& part : {Intervals{window}, within}) {
    std::array<Nanos, kRuntimePhases> label{}, present{};
    Nanos cpu_only = 0, gpu_only = 0, both = 0;
    for (const auto& span : part)
      for (Nanos t = span.start; t < span.end; ++t) {
        auto holds = [&](std::size_t p) {
          for (const auto& set : spans[p])
            if (std::any_of(set.begin(), set.end(),
                            [&](const Interval& i) { return i.start <= t && t < i.end; }))
              return true;
          return false;
        };
        std::size_t first = kOther;
        for (std::size_t p = kOther; p-- > 0;)
          if (holds(p)) {
            first = p;
            ++present[p];
          }
        ++label[first];
        const bool cpu = holds(index_of(RuntimePhase::cpu_kernel)),
                   gpu = holds(index_of(RuntimePhase::gpu_kernel));
        cpu_only += cpu && !gpu;
        gpu_only += gpu && !cpu;
        both += cpu && gpu;
      }
    present[kOther] = label[kOther];
    const auto sums = sum_phases(timeline, part);
    const auto times = phase_times(sums);
    for (std::size_t p = 0; p < kRuntimePhases; ++p) {
      RC_ASSERT(times[p].ns == label[p]);
      RC_ASSERT(times[p].present_ns == present[p]);
    }
    const auto k = kernel_shares(sums, 0);
    RC_ASSERT(k.cpu_kernel_ns == cpu_only);
    RC_ASSERT(k.gpu_kernel_ns == gpu_only);
    RC_ASSERT(k.both_ns == both);
    RC_ASSERT(k.cpu_kernel_ns + k.gpu_kernel_ns + k.both_ns + k.overhead_ns == total(part));
  }
}

/// Host events that nest, as a second reading of docs/runtime.md sees them.
struct HostEvent {
  Nanos start, end;
  int thread, what;
  bool covers(const HostEvent& o) const {
    return thread == o.thread && start < o.start && o.end < end;
  }
};
constexpr int kLaunchCall = 5, kSyncCall = 6, kAllocCall = 7;
constexpr const char* kEvents[] = {"aten::mm", "aten::view", "my_code",
                                   "autograd::engine::evaluate_function: MmBackward0",
                                   "aten::item"};

std::vector<HostEvent> nested_events() {
  const auto all = *rc::gen::container<std::vector<HostEvent>>(
      rc::gen::map(rc::gen::tuple(rc::gen::inRange<Nanos>(0, 150), rc::gen::inRange<Nanos>(1, 80),
                                  rc::gen::inRange(0, 2), rc::gen::inRange(0, 8)),
                   [](auto t) {
                     return HostEvent{std::get<0>(t), std::get<0>(t) + std::get<1>(t),
                                      std::get<2>(t), std::get<3>(t)};
                   }));
  std::vector<HostEvent> kept;
  for (const auto& e : all)
    if (std::all_of(kept.begin(), kept.end(), [&](const HostEvent& k) {
          return k.thread != e.thread || e.end <= k.start || k.end <= e.start || k.covers(e) ||
                 e.covers(k);
        }))
      kept.push_back(e);
  return kept;
}

RC_GTEST_PROP(RuntimePhases, ThreadsAndOperationsAreThoseOfASecondReading, ()) {
  const auto events = nested_events();
  test::CaptureBuilder b;
  b.capture.framework = "pytorch";
  for (const auto& e : events) {
    const std::int64_t tid = 100 + e.thread;
    if (e.what == kLaunchCall)
      b.launch("gemm", {e.start, e.end}, {e.start + 5, e.start + 12}, 7, 0, tid);
    else if (e.what == kSyncCall)
      b.call(ApiKind::sync, "cudaDeviceSynchronize", e.start, e.end, -1, tid);
    else if (e.what == kAllocCall)
      b.call(ApiKind::alloc, "cudaMalloc", e.start, e.end, -1, tid);
    else
      b.op(kEvents[e.what], e.start, e.end, tid);
  }
  Context context{b.capture, {}};
  context.launches = join_launches(b.capture);
  context.host = HostThreads(b.capture);
  RuleLookup rules(b.capture);
  const auto trace = trace_runtime(context, rules);

  auto phase_of = [&](const HostEvent& e) {
    if (e.what == kLaunchCall) return RuntimePhase::launch;
    if (e.what == kSyncCall || e.what == 4) return RuntimePhase::wait;
    if (e.what == kAllocCall || e.what == 2) return RuntimePhase::other;
    if (e.what == 3) return RuntimePhase::dequeue;
    if (e.what == 1) return RuntimePhase::enqueue;
    const bool inside = std::any_of(events.begin(), events.end(), [&](const HostEvent& i) {
      return e.covers(i) && i.what != kSyncCall && i.what != kAllocCall;
    });
    if (inside) return RuntimePhase::enqueue;
    return RuntimePhase::cpu_kernel;
  };
  auto ruled = [](const HostEvent& e) { return e.what != 2 && e.what < kLaunchCall; };
  for (int thread = 0; thread < 2; ++thread) {
    const auto row = b.thread(100 + thread);
    for (Nanos t = 0; t < 240; ++t) {
      const HostEvent* innermost = nullptr;  // that says which phase it is
      for (const auto& e : events)
        if (e.thread == thread && e.start <= t && t < e.end && phase_of(e) != RuntimePhase::other &&
            (!innermost || innermost->covers(e)))
          innermost = &e;
      for (std::size_t p = 0; p < index_of(RuntimePhase::other) && row < trace.threads.size();
           ++p) {
        const auto& set = trace.threads[row][p];
        const bool holds = std::any_of(
            set.begin(), set.end(), [&](const Interval& i) { return i.start <= t && t < i.end; });
        RC_ASSERT(holds == (innermost && index_of(phase_of(*innermost)) == p));
      }
    }
  }
  // One operation for each outermost event that a rule knows, with all that is inside it and what
  // that started.
  std::size_t outermost = 0;
  for (const auto& e : events) {
    if (!ruled(e) || std::any_of(events.begin(), events.end(),
                                 [&](const HostEvent& o) { return ruled(o) && o.covers(e); }))
      continue;
    ++outermost;
    const auto found =
        std::find_if(trace.operations.begin(), trace.operations.end(), [&](const Operation& o) {
          return o.start_ns == e.start &&
                 b.capture.host_ops.thread[o.row] == b.thread(100 + e.thread);
        });
    RC_ASSERT(found != trace.operations.end());
    PhaseTimes expected{};
    for (Nanos t = e.start; t < e.end; ++t) {
      const HostEvent* innermost = &e;
      for (const auto& i : events)
        if (e.covers(i) && i.start <= t && t < i.end && phase_of(i) != RuntimePhase::other &&
            innermost->covers(i))
          innermost = &i;
      ++expected[index_of(phase_of(*innermost))];
    }
    for (const auto& i : events)
      if (i.what == kLaunchCall && e.covers(i)) {
        expected[index_of(RuntimePhase::gpu_kernel)] += 7;
        expected[index_of(RuntimePhase::queued)] += std::max<Nanos>(0, i.start + 5 - i.end);
      }
    RC_ASSERT(trace.times_of(*found) == expected);
  }
  RC_ASSERT(trace.operations.size() == outermost);
}

/// TensorFlow's eager runtime over `n` operations: enqueue takes `e` on the Python thread, dequeue
/// `d` and the kernel `k` on the executor. SYNC runs the second inside the first; ASYNC passes it
/// to another thread through a queue.
struct Eager {
  test::CaptureBuilder b;
  std::vector<QueueItem> queue;
  Nanos end = 0;
  Eager(bool async, int n, Nanos e, Nanos d, Nanos k) {
    b.capture.framework = "tensorflow";
    Nanos python = 1000, executor = 1000;
    for (int i = 0; i < n; ++i) {
      const Nanos start = python, enqueued = start + e;
      if (async) {
        b.op("EagerLocalExecute: MatMul", start, enqueued, 1);
        const Nanos run = std::max(executor, enqueued);
        queue.push_back({enqueued, run});
        b.op("EagerKernelExecute", run, run + d + k, 2);
        b.op("KernelAndDeviceOp::Run", run + d, run + d + k, 2);
        executor = run + d + k;
        python = enqueued + 1;
      } else {
        b.op("EagerLocalExecute: MatMul", start, enqueued + d + k, 1);
        b.op("EagerKernelExecute", enqueued, enqueued + d + k, 1);
        b.op("KernelAndDeviceOp::Run", enqueued + d, enqueued + d + k, 1);
        python = enqueued + d + k + 1;
      }
    }
    end = std::max(python, executor);
  }
};

Nanos phase(const RuntimeInfo& r, std::string_view name) {
  for (const auto& p : r.phases)
    if (name_of(p.phase) == name) return p.ns;
  return -1;
}

RC_GTEST_PROP(RuntimeEager, SyncAndAsyncDifferAsConstructed, ()) {
  const int n = *rc::gen::inRange(2, 30);
  const Nanos e = *rc::gen::inRange<Nanos>(1, 50), d = *rc::gen::inRange<Nanos>(1, 20),
              k = *rc::gen::inRange<Nanos>(1, 100);
  Eager sync(false, n, e, d, k), async(true, n, e, d, k);
  const auto s = analyze(sync.b.capture, {}), a = analyze(async.b.capture, {});
  RC_ASSERT(bool(s) && bool(a));
  // SYNC: everything one after the other, no queue.
  RC_ASSERT(s->runtime.queues.empty());
  RC_ASSERT(s->runtime.modes == std::vector<std::string>{"eager_sync"});
  RC_ASSERT(phase(s->runtime, "enqueue") == n * e);
  RC_ASSERT(phase(s->runtime, "dequeue") == n * d);
  RC_ASSERT(phase(s->runtime, "cpu_kernel") == n * k);
  // ASYNC: the same kernel time in less time, and a queue whose items are known.
  RC_ASSERT(a->runtime.modes == std::vector<std::string>{"eager_async"});
  RC_ASSERT(phase(a->runtime, "cpu_kernel") == n * k);
  RC_ASSERT(a->runtime.duration_ns <= s->runtime.duration_ns);
  RC_ASSERT(a->runtime.queues.size() == 1u);
  const auto& q = a->runtime.queues[0];
  const Interval window{a->runtime.start_ns, a->runtime.start_ns + a->runtime.duration_ns};
  const auto truth = summarise(async.queue, window, 0);
  RC_ASSERT(q.items == n);
  RC_ASSERT(q.empty_ns == truth.empty_ns);
  RC_ASSERT(q.max_depth == truth.max);
  Nanos empty = 0, loaded = 0;
  for (const auto& p : q.when_empty) empty += p.ns;
  for (const auto& p : q.when_loaded) loaded += p.ns;
  RC_ASSERT(empty == q.empty_ns);
  RC_ASSERT(empty + loaded == a->runtime.duration_ns);
  // Each operation carries both its sides.
  RC_ASSERT(a->runtime.operations.at(1).type == "MatMul");
  RC_ASSERT(a->runtime.operations.at(1).count == n);
  for (const auto& p : a->runtime.operations.at(1).phases)
    if (p.phase == RuntimePhase::dequeue) RC_ASSERT(p.total_ns == n * d);
}

TEST(RuntimeEager, AnOperationOfTheAsyncQueueHasTheDeviceWorkThatItsExecutorStarted) {
  test::CaptureBuilder b;
  b.capture.framework = "tensorflow";
  b.op("EagerLocalExecute: MatMul", 0, 10, 1);
  b.op("EagerKernelExecute", 20, 60, 2);
  b.launch("gemm", {30, 40}, {50, 90}, 7, 0, 2);
  const auto a = analyze(b.capture, {});
  ASSERT_TRUE(a);
  ASSERT_EQ(a->runtime.operations.size(), 2u);
  EXPECT_EQ(a->runtime.operations[1].type, "MatMul");
  std::map<std::string, Nanos> times;
  for (const auto& p : a->runtime.operations[1].phases)
    times[std::string(name_of(p.phase))] = p.total_ns;
  // Queued twice: 10 to 20 in the framework's queue, 40 to 50 in the device's.
  EXPECT_EQ(
      times,
      (std::map<std::string, Nanos>{
          {"enqueue", 10}, {"queued", 20}, {"dequeue", 30}, {"launch", 10}, {"gpu_kernel", 40}}));
}

TEST(RuntimeGpu, LaunchQueueKernelAndOverheadOfAnEagerProgram) {
  test::CaptureBuilder b;
  b.capture.framework = "pytorch";
  b.op("aten::linear", 0, 100);
  b.op("aten::addmm", 10, 90);
  b.launch("sgemm", {20, 40}, {50, 200});
  b.op("aten::relu", 100, 160);
  b.launch("relu", {110, 130}, {200, 230});  // 70 ns in the queue behind the other kernel
  b.call(ApiKind::sync, "cudaDeviceSynchronize", 170, 260);
  AnalyzeOptions options;
  const auto a = analyze(b.capture, options);
  ASSERT_TRUE(a);
  const auto& r = a->runtime;
  EXPECT_EQ(r.start_ns, 0);
  EXPECT_EQ(r.duration_ns, 260);
  EXPECT_EQ(phase(r, "gpu_kernel"), 180);
  EXPECT_EQ(phase(r, "wait"), 30);
  EXPECT_EQ(phase(r, "launch"), 20);
  EXPECT_EQ(phase(r, "enqueue"), 30);
  EXPECT_EQ(phase(r, "other"), 0);
  ASSERT_EQ(r.queues.size(), 1u);
  EXPECT_EQ(r.queues[0].id, "device:0");
  EXPECT_EQ(r.queues[0].items, 2);
  EXPECT_EQ(r.queues[0].empty_ns, 260 - 10 - 70);
  ASSERT_EQ(r.operations.size(), 3u);
  EXPECT_EQ(r.operations[1].type, "aten::linear");
  ASSERT_FALSE(r.waits.empty());
  EXPECT_EQ(r.waits[0].name, "cudaDeviceSynchronize");
}

}  // namespace
}  // namespace gf
