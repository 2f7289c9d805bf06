// Each rule about the host and the capture on a small timeline: once with what it looks for, once
// without.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/analyze.h"
#include "analyze/context.h"
#include "analyze/finding_ids.h"
#include "analyze/findings/findings.h"
#include "analyze/replay/what_if.h"
#include "model/chips.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

using test::CaptureBuilder;

std::optional<Finding> finding(const CaptureBuilder& b, FindingId id, const char* window = "all") {
  const auto a = analyze(b.capture, {.window = window});
  EXPECT_TRUE(a) << a.error().message();
  if (!a) return {};
  const auto at = std::find_if(a->findings.begin(), a->findings.end(),
                               [&](const Finding& f) { return f.id == id; });
  return at == a->findings.end() ? std::nullopt : std::optional(*at);
}

/// A kernel [0, 1000) launched at -20; what follows is the test's.
CaptureBuilder start() {
  CaptureBuilder b;
  b.launch("first", {-20, -10}, {0, 1000});
  return b;
}

TEST(Findings, SyncInStep) {
  auto b = start();
  b.call(ApiKind::sync, "cudaStreamSynchronize", 500, 1030);
  b.launch("next", {1040, 1045}, {1050, 2000});
  const auto f = finding(b, FindingId::sync_in_step);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 45) << "30 from the end of the kernel until the call has returned, and 15 "
                               "until the next launch: the host had no lead";
  EXPECT_NE(f->evidence.find("1 synchronizing call"), std::string::npos) << f->evidence;
  EXPECT_NE(f->evidence.find("cudaStreamSynchronize"), std::string::npos) << f->evidence;

  auto overlapped = start();
  overlapped.launch("next", {20, 30}, {1001, 2000});
  overlapped.call(ApiKind::sync, "cudaStreamSynchronize", 500, 1990);
  EXPECT_FALSE(finding(overlapped, FindingId::sync_in_step))
      << "a wait while the device works costs nothing";
}

TEST(Findings, OneElementwiseKernelHasNothingToBeFusedWith) {
  CaptureBuilder b;
  b.launch("softmax_fused", {-20, -10}, {0, 100'000});
  EXPECT_FALSE(finding(b, FindingId::unfused_elementwise));
  b.launch("softmax_fused", {10, 20}, {100'001, 200'000});
  EXPECT_FALSE(finding(b, FindingId::unfused_elementwise)) << "nor if it runs again";
  b.launch("gelu_kernel", {30, 40}, {200'001, 300'000});
  EXPECT_TRUE(finding(b, FindingId::unfused_elementwise));

  CaptureBuilder alone;
  for (Nanos at = 0; at < 1'200'000; at += 300'000) {
    alone.launch("softmax_fused", {at - 20, at - 10}, {at, at + 100'000});
    alone.launch("sgemm", {at, at + 10}, {at + 100'001, at + 150'000});
    alone.launch("gelu_kernel", {at + 20, at + 30}, {at + 150'001, at + 250'000});
    alone.launch("sgemm", {at + 40, at + 50}, {at + 250'001, at + 290'000});
  }
  EXPECT_FALSE(finding(alone, FindingId::unfused_elementwise)) << "each stands between products";
}

TEST(Findings, BlockingCopies) {
  auto b = start();
  const auto row = b.copy(CopyKind::device_to_host, {1010, 1200}, {1100, 1190});
  b.capture.activities.name[row] = b.capture.strings.intern("Memcpy DtoH (Device -> Pageable)");
  b.capture.activities.bytes[row] = 4096;
  b.launch("next", {1210, 1215}, {1220, 2000});
  const auto f = finding(b, FindingId::blocking_copies);
  ASSERT_TRUE(f);
  EXPECT_NE(f->evidence.find("1 copy from or to pageable memory, 4.1 kB"), std::string::npos)
      << f->evidence;
  EXPECT_GE(*f->gain_ns, 90) << "the copy itself, with no kernel beside it";

  auto pinned = start();
  const auto beside = pinned.copy(CopyKind::device_to_host, {100, 110}, {200, 290}, 9);
  pinned.capture.activities.name[beside] =
      pinned.capture.strings.intern("Memcpy DtoH (Device -> Pinned)");
  pinned.launch("next", {120, 130}, {1001, 2000});
  EXPECT_FALSE(finding(pinned, FindingId::blocking_copies));
}

TEST(Findings, DeviceAllocations) {
  auto b = start();
  for (Nanos at = 1010; at < 1090; at += 10) b.call(ApiKind::alloc, "cudaMalloc", at, at + 8);
  b.launch("next", {1120, 1130}, {1140, 2000});
  const auto f = finding(b, FindingId::device_allocations);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 64);
  EXPECT_NE(f->evidence.find("8 calls, "), std::string::npos) << f->evidence;

  auto once = start();
  once.call(ApiKind::alloc, "cudaMalloc", 1010, 1110);
  once.launch("next", {1120, 1130}, {1140, 2000});
  EXPECT_FALSE(finding(once, FindingId::device_allocations))
      << "without steps, a single call may be start-up";

  auto before = start();
  before.call(ApiKind::alloc, "cudaMalloc", -500, -300);
  before.launch("next", {1120, 1130}, {1140, 2000});
  EXPECT_FALSE(finding(before, FindingId::device_allocations))
      << "what was allocated before the window is no loss in it";

  auto ahead = start();
  for (Nanos at = 10; at < 90; at += 10) ahead.call(ApiKind::alloc, "cudaMalloc", at, at + 8);
  ahead.launch("next", {120, 130}, {1001, 2000});
  EXPECT_FALSE(finding(ahead, FindingId::device_allocations)) << "nothing waits for them";
}

TEST(Findings, InputBound) {
  auto b = start();
  for (Nanos at = 1000; at < 5000; at += 1000) {
    b.op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, at + 200);
    b.launch("next", {at + 200, at + 210}, {at + 210, at + 1000});
  }
  const auto f = finding(b, FindingId::input_bound);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 4 * 210) << "and the launches after it, which the host could not do before";

  auto once = start();
  once.op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1000, 1200);
  once.launch("next", {1200, 1210}, {1210, 2000});
  EXPECT_FALSE(finding(once, FindingId::input_bound))
      << "without steps, one wait for input may be the first";

  auto early = start();
  early.op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 100, 300);
  early.launch("next", {310, 320}, {1001, 2000});
  EXPECT_FALSE(finding(early, FindingId::input_bound));
}

TEST(Findings, ExposedCommunication) {
  auto b = start();
  b.launch("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", {500, 510}, {900, 1300}, 9);
  b.launch("next", {520, 530}, {1300, 2000});
  const auto f = finding(b, FindingId::exposed_communication);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 300) << "100 of its 400 ns run beside a kernel";

  auto hidden = start();
  hidden.launch("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", {500, 510}, {600, 990}, 9);
  hidden.launch("next", {520, 530}, {1001, 2000});
  EXPECT_FALSE(finding(hidden, FindingId::exposed_communication));
}

/// Steps whose host waits for the device, which idles for 200 us until the call returns.
CaptureBuilder waiting_steps(int steps, int kernels, bool marked) {
  CaptureBuilder b;
  Nanos at = 0, device = 0;
  for (int step = 0; step < steps; ++step) {
    const Nanos begin = at;
    for (int i = 0; i < kernels; ++i, at += 2000) {
      device = std::max(device, at + 3000);
      b.launch("work", {at, at + 1500}, {device, device + 5000});
      device += 5000;
    }
    b.call(ApiKind::sync, "cudaDeviceSynchronize", at, device + 200'000);
    at = device + 200'010;
    if (marked) b.mark("ProfilerStep#" + std::to_string(step), begin, at);
  }
  return b;
}

TEST(Findings, GainsOfLongCapturesAreReplayedInTheirMiddle) {
  const double share = 200.0 / (200 + 5 * 600 + 3);
  for (const bool marked : {true, false})
    for (const int steps : {12, 120}) {
      const auto f = finding(waiting_steps(steps, 600, marked), FindingId::sync_in_step);
      ASSERT_TRUE(f);
      ASSERT_TRUE(f->replayed) << steps << " steps, " << (marked ? "marked" : "without marks");
      EXPECT_NEAR(*f->replayed, share, 0.01);
    }
}

TEST(Findings, WhatTwoClaimIsGainedOnce) {
  constexpr int kKernels = 600;
  const auto b = waiting_steps(12, kKernels, true);
  std::optional<Context> context;
  ASSERT_TRUE(analyze(b.capture, {.window = "all"}, &context));
  FindingClaim first{FindingId::recomputation, {}}, second{FindingId::casts, {}},
      other{FindingId::growing_concat, {}};
  for (std::uint32_t row = 0; row < b.capture.activities.size(); ++row) {
    if (row % kKernels < kKernels / 2) continue;  // the first may wait for their launches
    if (row % 2 == 1) first.time.activities.push_back(row);
    if (row % 2 == 1) second.time.activities.push_back(row);
    if (row % 4 == 0) other.time.activities.push_back(row);
  }
  auto gains = [&](std::vector<FindingClaim> claims) {
    WhatIfChanges changes;
    changes.claims = std::move(claims);
    std::vector<Nanos> found;
    const auto answer = what_if(*context, changes);
    for (const auto& row : answer->changes) found.push_back(row.gain_ns);
    return found;
  };
  constexpr Nanos kGone = 4750;  // of a kernel: a twentieth is left
  const Nanos own = kKernels / 4 * kGone, less = kKernels / 8 * kGone;
  EXPECT_EQ(gains({first, second}), (std::vector{own, own, own}));
  EXPECT_EQ(gains({first, other}), (std::vector{own, less, own + less}));
  FindingClaim wait{FindingId::gil_stalls, {}};
  for (std::uint32_t call = 0; call < b.capture.api_calls.size(); ++call)
    if (b.capture.api_calls.kind[call] == ApiKind::sync)
      wait.time.host.push_back(
          {b.capture.api_calls.start_ns[call],
           b.capture.api_calls.start_ns[call] + b.capture.api_calls.duration_ns[call]});
  EXPECT_NEAR(static_cast<double>(gains({wait}).front()), 203'010, 100)
      << "the stall and the wait of the next step's first launch";
}

TEST(Findings, WhatWasLaunchedBeforeTheRecordingIsGoneWithItsKind) {
  CaptureBuilder b;
  FindingClaim claim{FindingId::layout_copies, {}};
  Nanos at = 0;
  for (int i = 0; i < 4; ++i, at += 10'000) {
    b.kernel("copy", at, at + 5000);
    b.kernel("work", at + 5000, at + 10'000);
  }
  for (Nanos i = 0; i < 12; ++i, at += 5000) {
    const auto row =
        b.launch(i % 2 == 0 ? "copy" : "work", {i * 2000, i * 2000 + 1000}, {at, at + 5000});
    if (i % 2 == 0) claim.time.activities.push_back(row);
  }
  std::optional<Context> context;
  ASSERT_TRUE(analyze(b.capture, {.window = "all"}, &context));
  WhatIfChanges changes;
  changes.claims = {claim};
  EXPECT_EQ(what_if(*context, changes)->changes.front().gain_ns, (4 + 6) * 4750);
  claim.time.activities.resize(4);  // too few of the kind to speak for it
  changes.claims = {claim};
  EXPECT_EQ(what_if(*context, changes)->changes.front().gain_ns, 4 * 4750);
}

TEST(Findings, AChangeThatFindsNoKernelIsNoData) {
  const auto b = waiting_steps(12, 20, true);
  std::optional<Context> context;
  ASSERT_TRUE(analyze(b.capture, {.window = "all"}, &context));
  WhatIfChanges changes;
  changes.with = {With::tensor_cores};
  EXPECT_FALSE(what_if(*context, changes)->changes.front().share)
      << "the kernels have no shapes: whether they multiply is not known";
  changes.without = {Without::sync};
  const auto answer = what_if(*context, changes);
  for (const auto& row : answer->changes)
    EXPECT_EQ(row.share.has_value(), row.change != "tensor_cores") << row.change;
  const auto& together = answer->changes.back();
  for (const auto& row : answer->changes) EXPECT_GE(together.gain_ns, row.gain_ns) << row.change;
}

/// Twelve steps of one operation after the other, each of 100 us of the host and 1 us of the
/// device, 10 us apart.
struct HostBoundSteps : CaptureBuilder {
  std::vector<std::vector<std::uint32_t>> rows;  // of activities, by operation

  explicit HostBoundSteps(const std::vector<std::string>& operations) : rows(operations.size()) {
    constexpr Nanos kUs = 1000;
    Nanos at = 0;
    for (int step = 0; step < 12; ++step) {
      const Nanos begin = at;
      for (std::size_t i = 0; i < operations.size(); ++i, at += 110 * kUs) {
        op(operations[i], at, at + 100 * kUs);
        rows[i].push_back(
            launch(operations[i], {at + 50 * kUs, at + 60 * kUs}, {at + 62 * kUs, at + 63 * kUs}));
        if (operations[i] == "aten::is_nonzero")
          call(ApiKind::sync, "cudaStreamSynchronize", at + 61 * kUs, at + 64 * kUs);
      }
      mark("ProfilerStep#" + std::to_string(step), begin, at);
    }
  }

  double gain(const WhatIfChanges& changes) const {
    std::optional<Context> context;
    EXPECT_TRUE(analyze(capture, {.window = "all"}, &context));
    return static_cast<double>(what_if(*context, changes)->changes.front().gain_ns);
  }
};

TEST(Findings, WhatIsAskedOnlyToBeReadGoesWithTheWait) {
  const HostBoundSteps asks({"aten::mm", "aten::isnan", "aten::any", "aten::is_nonzero"});
  WhatIfChanges changes;
  changes.without = {Without::sync};
  EXPECT_NEAR(asks.gain(changes), 320'000, 2000) << "and the way from one to the next";
  const HostBoundSteps reads({"aten::isnan", "aten::any", "aten::mm", "aten::is_nonzero"});
  EXPECT_NEAR(reads.gain(changes), 100'000, 2000) << "what is asked before is asked for others";
}

TEST(Findings, MemoryThatAnOperationSetsGoesWithItsKernels) {
  for (const bool set : {true, false}) {
    HostBoundSteps b({"aten::mm", "aten::embedding_dense_backward"});
    WhatIfChanges changes;
    FindingClaim claim{FindingId::dense_embedding_gradients, {}};
    for (std::size_t step = 0; step < b.rows[1].size(); ++step) {
      claim.time.activities.push_back(b.rows[1][step]);
      const Nanos begin = b.capture.activities.start_ns[b.rows[1][step]] - 32'000;
      const auto other = b.launch("Memset", {begin, begin + 5000}, {begin + 7000, begin + 8000});
      if (set) b.capture.activities.kind[other] = ActivityKind::memset;
    }
    changes.claims = {claim};
    EXPECT_NEAR(b.gain(changes), set ? 100'000 : 0, 2000);
  }
}

TEST(Findings, AnotherGpuIsTheRatioOfItsCeilings) {
  auto b = waiting_steps(12, 600, true);
  b.capture.devices.name[0] = b.capture.strings.intern("NVIDIA H200");
  std::optional<Context> context;
  ASSERT_TRUE(analyze(b.capture, {.window = "all"}, &context));
  WhatIfChanges changes;
  changes.gpu_as = find_product("H100");
  const auto answer = what_if(*context, changes);
  const double longer = 600 * 5000 * (4800.0 / 3352 - 1);
  EXPECT_NEAR(static_cast<double>(answer->changes.front().gain_ns), -longer, longer / 100);
  EXPECT_EQ(answer->changes.front().change, "gpu H100");
}

/// Steps of the given lengths, back to back, each filled by one kernel.
CaptureBuilder steps(std::initializer_list<Nanos> lengths) {
  CaptureBuilder b;
  Nanos at = 0;
  int number = 0;
  for (const Nanos length : lengths) {
    b.mark("ProfilerStep#" + std::to_string(number++), at, at + length);
    b.launch("work", {at, at + 5}, {at + 5, at + length});
    at += length;
  }
  return b;
}

TEST(Findings, WarmUpInWindow) {
  const auto b = steps({5000, 4800, 4600, 1000, 1001, 999, 1000, 1000, 1001, 999, 1000});
  const auto f = finding(b, FindingId::warm_up_in_window, "steps");
  ASSERT_TRUE(f);
  EXPECT_NE(f->text.find("from before the run was stable"), std::string::npos) << f->text;
  EXPECT_FALSE(finding(b, FindingId::warm_up_in_window, "stable"));
  EXPECT_FALSE(finding(steps({5000, 1000, 1001, 999, 1000, 1000, 1001, 999, 1000}),
                       FindingId::warm_up_in_window, "steps"))
      << "a first step that is far from the others is start-up, and no part of the window";
  auto behind = steps({5000, 1000, 1001, 999, 1000, 1000, 1001, 999, 1000});
  behind.kernel("of_earlier_steps", 0, 4000);
  behind.capture.activities.start_ns[0] = 4000;  // the first step's own follows
  behind.capture.activities.duration_ns[0] = 1000;
  EXPECT_FALSE(finding(behind, FindingId::warm_up_in_window, "steps"))
      << "the device works off what was launched before the first step";
  EXPECT_FALSE(finding(steps({1000, 1000, 1001, 999, 1000, 1000, 1001, 999, 1000}),
                       FindingId::warm_up_in_window, "steps"));
}

TEST(Findings, AFirstStepOfManyIsStartUpWhereNoneAreAlike) {
  const auto a = analyze(steps({100000, 1960, 1050, 1220, 1109, 1040, 764, 717, 675, 449}).capture,
                         {.window = "steps"});
  ASSERT_TRUE(a);
  EXPECT_EQ(a->window.start_ns, 100'000) << "the window begins with the second step";
  EXPECT_FALSE(finding(steps({3000, 1960, 1050, 1220, 1109, 1040, 764, 717, 675, 449}),
                       FindingId::warm_up_in_window, "steps"));
}

TEST(Findings, ObserverEffectOnlyWithAProfilerInTheProcess) {
  auto b = start();
  b.launch("next", {1200, 2300}, {2310, 3000});  // a shorter call is recorded in next to no time
  EXPECT_FALSE(finding(b, FindingId::observer_effect));
  b.capture.format = "kineto";
  EXPECT_TRUE(finding(b, FindingId::observer_effect));
}

TEST(Findings, EveryGainIsAtMostTheWindow) {
  auto b = start();
  for (Nanos at = 1000; at < 9000; at += 1000)
    for (const std::int64_t thread : {100, 101})
      b.call(ApiKind::alloc, "cudaMalloc", at, at + 900, -1, thread);
  b.launch("next", {9000, 9010}, {9010, 9100});
  const auto a = analyze(b.capture, {});
  ASSERT_TRUE(a);
  for (const auto& f : a->findings) EXPECT_LE(f.gain_ns.value_or(0), 9100) << name_of(f.id);
  const auto f = finding(b, FindingId::device_allocations);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, a->devices[0].idle_ns)
      << "two threads that allocate at once cannot give back more than the idle time";
}

/// Kernels back to back, each under an operation of its own, on a device of 100 SMs.
struct Sequence : CaptureBuilder {
  Nanos at = 0;
  std::uint32_t run(std::string_view operation, std::string_view kernel, Nanos length,
                    std::int32_t blocks = 1000) {
    const Nanos call = host;
    host += 10;
    if (!operation.empty()) op(operation, call, call + 9);
    const auto row = launch(kernel, {call + 1, call + 5}, {at, at + length});
    capture.activities.grid_x[row] = blocks;
    capture.activities.grid_y[row] = 1;
    capture.activities.grid_z[row] = 1;
    capture.devices.sm_count[0] = 100;
    at += length;
    return row;
  }

 private:
  Nanos host = -1'000'000;
};

TEST(Findings, SmallGridsLeaveCollectivesOut) {
  Sequence b;
  b.run("aten::mm", "gemm", 1000);
  b.run("c10d::allreduce_", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 1000, 4);
  EXPECT_FALSE(finding(b, FindingId::small_grids));
  b.run("aten::mm", "small_gemm", 1000, 20);
  const auto f = finding(b, FindingId::small_grids);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 800) << "80 of 100 SMs without a block";
}

TEST(Findings, InstructionsThatDifferInTheirNumberAreOnePlace) {
  Sequence b;
  const auto instruction = [&](const char* kernel, const char* op, const char* scope, Nanos ns) {
    const auto row = b.run("", kernel, ns, 200);
    b.capture.activities.op[row] = b.capture.strings.intern(op);
    b.capture.activities.scope[row] = b.capture.strings.intern(scope);
  };
  for (const char* op : {"custom-call.3", "custom-call.4", "custom-call.12"})
    instruction("radix_sort", op, "jit(f)/sort", 100'000);
  instruction("scatter", "custom-call.5", "jit(f)/other", 150'000);
  instruction("loop", "fusion", "jit(f)", 200'000);
  const auto f = finding(b, FindingId::kernel_bound);
  ASSERT_TRUE(f);
  EXPECT_NE(f->text.find("46 %, is custom-call of jit(f)/sort (3 kernels, most of it radix_sort)"),
            std::string::npos)
      << f->text;
}

TEST(Findings, BlocksOfFewThreadsLeaveLanesEmpty) {
  Sequence b;
  const auto block = [&](std::uint32_t row, int threads) {
    b.capture.activities.block_x[row] = threads;
    b.capture.activities.block_y[row] = b.capture.activities.block_z[row] = 1;
  };
  block(b.run("aten::mm", "gemm", 1000, 200), 33);
  EXPECT_FALSE(finding(b, FindingId::partial_warps)) << "33 of 64 lanes";
  block(b.run("", "one", 3200, 20), 1);
  EXPECT_FALSE(finding(b, FindingId::partial_warps)) << "fewer blocks than SMs";
  block(b.run("", "one", 3200, 200), 1);
  const auto f = finding(b, FindingId::partial_warps);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 3100) << "31 of 32 lanes";
}

TEST(Findings, ProductsInALossAreProducts) {
  Sequence b;
  const auto row = b.run("", "ampere_bf16_gemm", 10'000, 200);
  b.capture.activities.occupancy[row] = 0.1f;
  EXPECT_FALSE(finding(b, FindingId::low_occupancy));
  const auto other = b.run("CrossEntropyLoss", "gemm_fusion_dot_5", 10'000, 200);
  b.capture.activities.occupancy[other] = 0.1f;
  EXPECT_FALSE(finding(b, FindingId::low_occupancy));
  const auto scan = b.run("", "scan", 10'000, 200);
  b.capture.activities.occupancy[scan] = 0.1f;
  EXPECT_TRUE(finding(b, FindingId::low_occupancy));
}

TEST(Findings, TinyKernelsTakeOnlyTheirOwnGaps) {
  Sequence b;
  for (int i = 0; i < 6; ++i) {
    b.run("aten::add", "add", 1000);
    b.at += 100;
  }
  b.run("aten::mm", "gemm", 9000);
  const auto f = finding(b, FindingId::tiny_kernels);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 6 * 1000 + 5 * 100) << "the last gap is before the product";
}

TEST(Findings, EagerAttention) {
  auto attention = [](bool batched) {
    Sequence b;
    const char* product = batched ? "aten::bmm" : "aten::mm";
    b.run("aten::linear", "gemm", 500);
    b.run(product, "gemm", 1000);
    b.run("aten::div", "scale", 100);
    b.run("aten::masked_fill_", "mask", 100);
    b.run("aten::_softmax", "softmax_warp_forward", 200);
    b.run(product, "gemm", 1000);
    b.run("aten::linear", "gemm", 500);
    return b;
  };
  const auto f = finding(attention(true), FindingId::eager_attention);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 2400) << "from product to product";
  EXPECT_FALSE(finding(attention(false), FindingId::eager_attention))
      << "a softmax between ordinary layers is a router or a classifier";
}

TEST(Findings, OddSizes) {
  Sequence b;
  b.run("aten::addmm", "cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_tn_align1", 1000);
  b.run("aten::addmm", "cutlass_80_simt_sgemm_128x256_8x4_nt_align1", 1000);
  const auto f = finding(b, FindingId::odd_sizes);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 1000) << "FP32 on the ordinary pipes is aligned to one element always";

  Sequence transforms;
  transforms.run("aten::_fft_r2c", "void multi_bluestein_fft<256u, float>(int)", 3000);
  transforms.run("aten::add", "add", 10);
  const auto prime = finding(transforms, FindingId::odd_sizes);
  ASSERT_TRUE(prime);
  EXPECT_NE(prime->text.find("large prime factor"), std::string::npos) << prime->text;
}

TEST(Findings, CopiesByIndexAndWithinTheMemory) {
  Sequence gathers;
  gathers.run("aten::index", "vectorized_gather_kernel<16, long>", 800);
  gathers.run("aten::mm", "gemm", 200);
  EXPECT_TRUE(finding(gathers, FindingId::memory_bound));
  Sequence looks_up;
  looks_up.run("aten::embedding", "vectorized_gather_kernel<16, long>", 800);
  looks_up.run("aten::mm", "gemm", 200);
  EXPECT_FALSE(finding(looks_up, FindingId::memory_bound)) << "a table is read so";
  Sequence joins;
  joins.run("aten::cat", "CatArrayBatchedCopy_contig<unsigned int, 2, 128, 1>", 800);
  joins.run("aten::mm", "gemm", 200);
  EXPECT_TRUE(finding(joins, FindingId::memory_bound));

  auto inside = start();
  inside.copy(CopyKind::device_to_device, {100, 110}, {1001, 1300});
  EXPECT_TRUE(finding(inside, FindingId::layout_copies));
  auto beside = start();
  beside.copy(CopyKind::device_to_device, {100, 110}, {200, 500}, 9);
  EXPECT_FALSE(finding(beside, FindingId::layout_copies)) << "a kernel runs meanwhile";
}

TEST(Findings, NoChannelsLast) {
  Sequence b;
  b.run("aten::cudnn_convolution", "cudnn::nchwToNhwcKernel<__nv_bfloat16>", 100);
  b.run("aten::cudnn_convolution", "sm90_xmma_fprop_nhwc", 1000);
  EXPECT_TRUE(finding(b, FindingId::no_channels_last));
  Sequence last;
  last.run("aten::cudnn_convolution", "sm90_xmma_fprop_nhwc", 1000);
  EXPECT_FALSE(finding(last, FindingId::no_channels_last));
}

TEST(Findings, SmallBatch) {
  auto launched_late = [](std::int32_t blocks) {
    CaptureBuilder b;
    for (Nanos at = 0; at < 300'000; at += 10'000) {
      b.op("aten::mm", at, at + 4'000);
      const auto row = b.launch("gemm", {at + 3'000, at + 4'000}, {at + 4'100, at + 5'000});
      b.capture.activities.grid_x[row] = blocks;
      b.capture.activities.block_x[row] = 128;
      b.capture.devices.sm_count[0] = 100;
    }
    return b;
  };
  const auto f = finding(launched_late(10), FindingId::small_batch);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->group, FindingGroup::batch);
  EXPECT_GT(f->gain_ns, 280'000) << "kernels fill a hundredth of the warp slots while they run";
  EXPECT_FALSE(finding(launched_late(1000), FindingId::small_batch));
}

TEST(Findings, LowOccupancy) {
  auto with = [](double occupancy) {
    Sequence b;
    const auto row = b.run("aten::native_batch_norm", "batch_norm_kernel", 1000);
    b.capture.activities.occupancy[row] = occupancy;
    b.run("aten::add", "add", 10);
    return b;
  };
  EXPECT_TRUE(finding(with(0.12), FindingId::low_occupancy));
  EXPECT_FALSE(finding(with(0.5), FindingId::low_occupancy));

  const auto of_threads = [&](std::int32_t threads) {
    auto b = with(0.12);
    b.capture.devices.name[0] = b.capture.strings.intern("NVIDIA H200");
    b.capture.activities.block_x[0] = threads;
    return b;
  };
  EXPECT_TRUE(finding(of_threads(128), FindingId::low_occupancy))
      << "40 of 64 warps could be there";
  EXPECT_FALSE(finding(of_threads(32), FindingId::low_occupancy)) << "the whole grid has ten a SM";
}

TEST(Findings, AProductExpandsForItself) {
  const auto copied = [](bool inside, const char* then = "aten::softmax") {
    CaptureBuilder b;
    if (inside) b.op("aten::matmul", 0, 100);
    b.op("aten::expand", 5, 10);
    b.op("aten::reshape", 15, 40);
    b.op("aten::clone", 16, 39);
    b.op("aten::copy_", 17, 38);
    b.launch("at::native::elementwise_kernel<direct_copy_kernel_cuda>", {20, 25}, {200, 1200});
    b.op("aten::bmm", 50, 90);
    b.launch("gemm", {60, 65}, {1201, 3000});
    b.op(then, 110, 120);
    return b;
  };
  EXPECT_TRUE(finding(copied(false), FindingId::expanded_keys));
  EXPECT_FALSE(finding(copied(false, "aten::relu"), FindingId::expanded_keys))
      << "a product without a softmax is no attention";
  EXPECT_FALSE(finding(copied(true), FindingId::expanded_keys));
}

TEST(Findings, DenseEmbeddingGradients) {
  Sequence b;
  b.run("aten::mm", "gemm", 1000);
  EXPECT_FALSE(finding(b, FindingId::dense_embedding_gradients));
  b.run("aten::embedding_dense_backward", "compute_grad_weight", 60);
  EXPECT_FALSE(finding(b, FindingId::dense_embedding_gradients)) << "no table is set to zero";
  b.run("aten::embedding_dense_backward",
        "void vectorized_elementwise_kernel<4, FillFunctor<float>>", 40);
  const auto f = finding(b, FindingId::dense_embedding_gradients);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 100);
  EXPECT_NEAR(*f->replayed, 95.0 / 1100, 1e-4) << "a twentieth is left";
}

TEST(Findings, UnfusedOptimiser) {
  auto updates = [](const char* kernel) {
    Sequence b;
    b.mark("Optimizer.step#AdamW.step", -1'000'000, -900'000);
    for (int i = 0; i < 60; ++i) b.run("aten::addcdiv_", kernel, 100);
    b.mark("ProfilerStep#1", -1'000'000, b.at);
    return b;
  };
  EXPECT_TRUE(finding(updates("vectorized_elementwise_kernel"), FindingId::unfused_optimiser));
  EXPECT_FALSE(finding(updates("multi_tensor_apply_kernel"), FindingId::unfused_optimiser));

  auto by_group = [](std::int32_t blocks) {
    Sequence b;
    b.mark("Optimizer.step#AdamW.step", -1'000'000, -900'000);
    for (int i = 0; i < 60; ++i) b.run("aten::_fused_adamw_", "multi_tensor_apply_kernel", 100);
    b.mark("ProfilerStep#1", -1'000'000, b.at);
    b.capture.devices.sm_count[0] = 132;
    auto& rows = b.capture.activities;
    for (std::uint32_t row = 0; row < rows.size(); ++row)
      rows.grid_x[row] = blocks, rows.grid_y[row] = rows.grid_z[row] = 1;
    return b;
  };
  EXPECT_TRUE(finding(by_group(8), FindingId::unfused_optimiser)) << "a group for each tensor";
  EXPECT_FALSE(finding(by_group(320), FindingId::unfused_optimiser)) << "each fills the device";
}

TEST(Findings, Fp64OfTensorsNotOfScalars) {
  const auto beside = [](std::string_view kernel, Nanos length) {
    Sequence b;
    b.run("aten::mm", "gemm", 1000);
    b.run("aten::add", kernel, length);
    return finding(b, FindingId::fp64);
  };
  const auto f = beside(
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<double> "
      ">(int)",
      1000);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 1000);
  EXPECT_NEAR(*f->replayed, 0.2, 1e-4) << "half of the bytes or less, and six tenths of the time";
  EXPECT_TRUE(beside("cupy_add__float32_float64_float64", 1000));
  EXPECT_TRUE(beside("julia_square_1(CuDeviceArray<Float64, (int)1, (int)1>)", 1000));
  EXPECT_FALSE(beside("cupy_add__float32_float32_float32", 1000));
  EXPECT_FALSE(beside("vecAdd(double *, double *, double *, int)", 1000))
      << "somebody wrote it for doubles";
  EXPECT_FALSE(
      beside("void at::native::multi_tensor_apply_kernel<at::native::FusedAdamMathFunctor<"
             "float, 4>, float const*, double, double>(float const*, double, double)",
             1000));
  EXPECT_FALSE(beside("cupy_add__float64_float64_float64", 100)) << "a tenth of the kernel time";
  EXPECT_TRUE(beside("cutlass_80_wmma_tensorop_d884gemm_64x64", 100)) << "a twentieth of products";
  EXPECT_TRUE(
      beside("void regular_fft<256u, EPT<16u>, unsigned int, double, HostConfig>(int)", 1000));

  const auto of_program = [](std::string_view type) {
    Sequence b;
    const auto row = b.run("", "loop_multiply_fusion", 1000);
    b.run("", "copy_fusion", 10);
    const auto op = b.capture.program_ops.add();
    b.capture.program_ops.type[op] = b.capture.strings.intern(type);
    b.capture.activities.program_op[row] = op;
    return finding(b, FindingId::fp64);
  };
  EXPECT_TRUE(of_program("complex128"));
  EXPECT_TRUE(of_program("fp64"));
  EXPECT_FALSE(of_program("fp32"));
}

TEST(Findings, DeterministicAlgorithms) {
  const auto adds = [](std::string_view outer, std::string_view inner) {
    CaptureBuilder b;
    b.launch("gemm", {-20, -10}, {0, 1000});
    b.op(outer, 0, 100);
    b.op(inner, 10, 90);
    b.launch("DeviceRadixSort", {20, 30}, {1000, 1500});
    return finding(b, FindingId::deterministic);
  };
  const auto f = adds("aten::scatter_add_", "aten::index_put_");
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 500);
  EXPECT_NE(f->text.find("1 x aten::scatter_add_"), std::string::npos) << f->text;
  EXPECT_FALSE(adds("aten::index_put", "aten::index_put_")) << "which sorts in any case";
  EXPECT_FALSE(adds("aten::scatter_add_", "aten::copy_"));

  const auto makes = [](std::string_view outer) {
    CaptureBuilder b;
    b.launch("gemm", {-20, -10}, {0, 1000});
    for (Nanos i = 0; i < 4; ++i) {
      b.op(outer, 100 * i, 100 * i + 50);
      b.op("aten::fill_", 100 * i + 10, 100 * i + 40);
      b.launch("fill", {100 * i + 20, 100 * i + 30}, {1000 + 100 * i, 1100 + 100 * i});
    }
    return finding(b, FindingId::deterministic);
  };
  ASSERT_TRUE(makes("aten::empty"));
  EXPECT_EQ(makes("aten::empty")->gain_ns, 400);
  EXPECT_FALSE(makes("aten::full")) << "which is asked to";
}

/// Backward passes, each over these nodes, one kernel of 100 a node.
std::optional<Finding> repeated_backward(const std::vector<std::vector<std::int64_t>>& passes,
                                         bool makes_graph = false) {
  CaptureBuilder b;
  Nanos at = 0;
  for (const auto& nodes : passes)
    for (const auto number : nodes) {
      const auto row = b.op("autograd::engine::evaluate_function: MmBackward0", at, at + 90);
      b.capture.host_ops.sequence[row] = number;
      b.capture.host_ops.forward_thread[row] = 1;
      const auto inner = b.op("aten::mm", at + 10, at + 80);
      if (makes_graph) {
        b.capture.host_ops.sequence[inner] = 1000 + at;
        b.capture.host_ops.forward_thread[inner] = 0;
      }
      b.launch("gemm", {at + 20, at + 30}, {at + 100, at + 200});
      at += 100;
    }
  return finding(b, FindingId::repeated_backward);
}

TEST(Findings, RepeatedBackward) {
  const auto f = repeated_backward({{6, 5, 3, 2, 1}, {8, 7, 3, 2, 1}});
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 300) << "the heads are others, the trunk is the same";
  EXPECT_FALSE(repeated_backward({{6, 5, 3, 2, 1}, {16, 15, 13, 12, 11}})) << "the next step";
  EXPECT_FALSE(repeated_backward({{3, 2, 1}, {3, 2, 1}}, true))
      << "derivatives of derivatives need the first pass";
}

TEST(Findings, RepeatedFactorization) {
  const auto factors = [](std::vector<std::int32_t> blocks, Nanos length) {
    Sequence b;
    for (const auto count : blocks) {
      b.run("aten::linalg_cholesky_ex", "getrf_wo_pivot", length, count);
      b.run("aten::mm", "gemm", 1'000'000);
    }
    return b;
  };
  const auto f = finding(factors({8, 8, 8, 8}, 1'000'000), FindingId::repeated_factorization);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 3'000'000) << "the first has to be";
  EXPECT_FALSE(finding(factors({8, 9, 10, 11}, 1'000'000), FindingId::repeated_factorization))
      << "of other sizes";
  EXPECT_FALSE(finding(factors(std::vector<std::int32_t>(40, 8), 100'000),
                       FindingId::repeated_factorization))
      << "small ones in a loop";
  auto trained = factors({8, 8, 8, 8}, 1'000'000);
  trained.mark("Optimizer.step#SGD.step", -1'000'000, -900'000);
  EXPECT_FALSE(finding(trained, FindingId::repeated_factorization)) << "what is trained changes";
}

TEST(Findings, WhatIsOutsideTheSteps) {
  auto b = CaptureBuilder();
  b.call(ApiKind::alloc, "cudaMalloc", 100, 400);
  b.launch("loads", {0, 10}, {20, 120});
  b.copy(CopyKind::host_to_device, {410, 420}, {420, 920});
  b.mark("ProfilerStep#1", 1000, 1500);
  b.launch("gemm", {1010, 1020}, {1020, 1400});
  const auto a = analyze(b.capture, {.window = "steps"});
  ASSERT_TRUE(a);
  ASSERT_TRUE(a->window.outside);
  EXPECT_EQ(a->window.outside->duration_ns, 1000 - 20);
  EXPECT_EQ(a->window.outside->kernel_busy_ns, 100);
  EXPECT_EQ(a->window.outside->copies_ns, 500);
  EXPECT_EQ(a->window.outside->allocation_ns, 400 - 120);
  b.mark("ProfilerStep#2", 1500, 2500);
  b.launch("gemm", {1510, 1520}, {1520, 2400});
  EXPECT_FALSE(analyze(b.capture, {.window = "steps"})->window.outside)
      << "most of it is the steps";
}

TEST(Findings, RecompilationInTwoSteps) {
  auto compiling = [](Nanos second) {
    auto b = steps({1000, 1000, 1000});
    b.op("_compile.compile_inner (dynamo_timed)", 100, 500);
    b.op("_compile.compile_inner (dynamo_timed)", second, second + 400);
    return b;
  };
  const auto f = finding(compiling(1100), FindingId::recompilation, "steps");
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 800);
  EXPECT_FALSE(finding(compiling(520), FindingId::recompilation, "steps"))
      << "two functions that the first step compiles";
}

TEST(Findings, RecompilationWithoutSteps) {
  auto compiling = [](int variants) {
    CaptureBuilder b;
    for (int i = 0; i < 3; ++i) {
      const Nanos at = i * 10'000;
      b.op("entire_frame_compile (dynamo_timed)", at, at + 4000);
      b.op("Torch-Compiled Region: 0/" + std::to_string(i % variants), at + 4100, at + 4300);
      b.launch("triton_poi_fused_0", {at + 4150, at + 4160}, {at + 4200, at + 9000});
    }
    return b;
  };
  EXPECT_TRUE(finding(compiling(3), FindingId::recompilation));
  EXPECT_FALSE(finding(compiling(2), FindingId::recompilation))
      << "once more is common: a size becomes dynamic";
}

TEST(Findings, OperatorsOfAnyLibraryWorkOnTheCpu) {
  auto working = [](const char* op) {
    CaptureBuilder b;
    b.capture.framework = "pytorch";
    for (int i = 0; i < 10; ++i) {
      const Nanos at = i * 1'000'000;
      b.op(op, at, at + 800'000);
      b.op("aten::mm", at + 800'000, at + 820'000);
      b.launch("gemm", {at + 801'000, at + 805'000}, {at + 806'000, at + 1'000'000});
    }
    return b;
  };
  EXPECT_TRUE(finding(working("aten::sort"), FindingId::cpu_operators));
  EXPECT_TRUE(finding(working("torchvision::nms"), FindingId::cpu_operators));
  EXPECT_FALSE(finding(working("c10d::allreduce_"), FindingId::cpu_operators));
  EXPECT_FALSE(finding(working("autograd::engine::evaluate_function"), FindingId::cpu_operators));
  EXPECT_FALSE(finding(working("aten::unbind"), FindingId::cpu_operators)) << "only views";
  EXPECT_FALSE(finding(working("command_buffer::update"), FindingId::cpu_operators))
      << "XLA launches by it";
}

TEST(Findings, Fp32ByNameOfProductsAndAttention) {
  const auto beside = [](std::string_view kernel, std::string_view other) {
    Sequence b;
    b.run("aten::mm", kernel, 10'000);
    b.run("aten::mul", other, 10'000);
    return finding(b, FindingId::fp32_without_tensor_cores);
  };
  constexpr auto kBf16 = "vectorized_elementwise_kernel<4, MulFunctor<c10::BFloat16> >";
  EXPECT_TRUE(beside("ampere_sgemm_128x64_tn", kBf16));
  EXPECT_FALSE(beside("internal::gemvx::kernel<int, int, float, float, float, float, true>", kBf16))
      << "a product with one vector is bound by memory";
  const auto attention = beside("fmha_cutlassF_f32_aligned_64x64_rf_sm80(Params)", kBf16);
  ASSERT_TRUE(attention);
  EXPECT_NE(attention->text.find("50 % of kernel time is attention in FP32"), std::string::npos)
      << attention->text;
  EXPECT_FALSE(beside("fmha_cutlassF_f32_aligned_64x64_rf_sm80(Params)", "MulFunctor<float>"));
  EXPECT_FALSE(beside("fmha_cutlassF_bf16_aligned_64x64_rf_sm80(Params)", kBf16));
}

TEST(Findings, WhatCompilesAgainIsToldThoughTheGpuHardlyWorks) {
  CaptureBuilder b;
  for (Nanos i = 0; i < 4; ++i) {
    const Nanos at = i * 100'000'000;
    b.op("PjRtCApiClient::CompileAndLoad(jit_train)", at, at + 90'000'000);
    b.launch("fusion", {at + 91'000'000, at + 91'000'010}, {at + 91'000'020, at + 91'020'000});
  }
  EXPECT_TRUE(finding(b, FindingId::recompilation));
  EXPECT_FALSE(finding(b, FindingId::little_work));
}

TEST(Findings, OneActivityIsTooLittle) {
  CaptureBuilder one;
  one.launch("layer_norm", {0, 5}, {20, 218});
  EXPECT_TRUE(finding(one, FindingId::little_work));
  EXPECT_FALSE(finding(one, FindingId::kernel_bound));
  one.launch("layer_norm", {30, 35}, {220, 400});
  EXPECT_FALSE(finding(one, FindingId::little_work));
}

/// Three collectives a device; device 3 begins late, all end together.
CaptureBuilder collectives(bool other_kernels, const char* name_of_last) {
  CaptureBuilder b;
  for (Nanos step = 0; step < 3; ++step)
    for (std::int32_t device = 0; device < 4; ++device) {
      const Nanos t = step * 20'000;
      if (other_kernels) b.launch("conv", {t, t + 10}, {t + 20, t + 4'000}, 7, device);
      b.launch(step == 2 && device == 1 ? name_of_last : "ncclDevKernel_Generic", {t + 15, t + 18},
               {t + (device == 3 ? 14'000 : 5'000), t + 14'200}, 9, device);
    }
  return b;
}

TEST(Findings, DevicesOfOneCaptureWaitForTheLateOne) {
  const auto late =
      finding(collectives(true, "ncclDevKernel_Generic"), FindingId::exposed_communication);
  ASSERT_TRUE(late);
  EXPECT_NE(late->text.find("late rank, mostly for GPU 3"), std::string::npos) << late->text;
  const auto unlike =
      finding(collectives(true, "ncclDevKernel_Reduce"), FindingId::exposed_communication);
  ASSERT_TRUE(unlike);
  EXPECT_NE(unlike->text.find("waiting and transfer not separated"), std::string::npos)
      << unlike->text;
}

TEST(Findings, NothingIsExposedWhereCollectivesAloneWereKept) {
  const auto f =
      finding(collectives(false, "ncclDevKernel_Generic"), FindingId::exposed_communication);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->text.find("Exposed"), std::string::npos) << f->text;
  EXPECT_NE(f->text.find("cannot show"), std::string::npos) << f->text;
  EXPECT_FALSE(f->gain_ns);
}

TEST(Findings, WaitsStandBeforeLateLaunches) {
  auto waiting = [](Nanos wait) {
    CaptureBuilder b;
    for (int i = 0; i < 40; ++i) {
      const Nanos at = i * 100'000;
      b.op("aten::mul", at, at + 90'000);
      b.launch("mul", {at + 80'000, at + 89'000}, {at + 89'500, at + 90'000});
      b.call(ApiKind::sync, "cudaStreamSynchronize", at + 90'000, at + 90'000 + wait);
    }
    return b;
  };
  auto first = [](const CaptureBuilder& b) {
    const auto a = analyze(b.capture, {});
    EXPECT_TRUE(a);
    return a->findings.front().id;
  };
  EXPECT_EQ(first(waiting(6000)), FindingId::sync_in_step);
  EXPECT_EQ(first(waiting(1100)), FindingId::launch_bound);
}

TEST(Findings, ThePlaceOfKernelsWithoutAKnownCauseIsTold) {
  CaptureBuilder b;
  b.mark("ranking", -100, 5000);
  b.python("rank.py(7): order", -90, 4000);
  b.op("aten::sort", -50, 0);
  b.launch("sorts", {-20, -10}, {0, 100'000});
  b.launch("other", {10, 20}, {200'000, 210'000});
  const auto f = finding(b, FindingId::missing_counters);
  ASSERT_TRUE(f);
  for (const auto* part : {"aten::sort (1 kernel, most of it sorts)", "in ranking", "rank.py(7)"})
    EXPECT_NE(f->text.find(part), std::string::npos) << f->text;
}

TEST(Findings, HostBusyElsewhere) {
  CaptureBuilder b;
  b.launch("first", {-20, -10}, {0, 1000});
  b.launch("next", {3'000'000, 3'000'010}, {3'000'020, 4'000'000});
  const auto f = finding(b, FindingId::host_bound);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 2'999'000);
  EXPECT_NEAR(*f->replayed, 2'999.0 / 4'000, 1e-3);
  EXPECT_FALSE(finding(start(), FindingId::host_bound));
}

TEST(Findings, WithoutOperatorsAKernelTellsWhereTheHostIsBusy) {
  constexpr Nanos kMs = 1'000'000;
  const auto waiting = [](int every, bool with_copy) {
    CaptureBuilder b;
    Nanos at = 0;
    for (int i = 0; i < 40; ++i) {
      b.launch("gemm", {at, at + 10}, {at + 20, at + 500'000});
      at += 500'000 + (i % every == every - 1 ? 6 * kMs : 1'000);
      if (with_copy) {
        b.copy(CopyKind::host_to_device, {at, at + 10}, {at + 20, at + 1'000});
        at += 2'000;
      }
      b.launch("void attention<64>(float*)", {at, at + 10}, {at + 20, at + 500'000});
      at += 501'000;
    }
    return b;
  };
  for (const bool with_copy : {false, true}) {
    const auto f = finding(waiting(8, with_copy), FindingId::host_bound);
    ASSERT_TRUE(f);
    for (const auto* part : {"of it before attention", "typical of plans"})
      EXPECT_NE(f->text.find(part), std::string::npos) << f->text;
    EXPECT_NE(f->evidence.find("5 of 40 launches of attention wait, the middle one 6"),
              std::string::npos)
        << f->evidence;
  }
  const auto often = finding(waiting(2, false), FindingId::host_bound);
  ASSERT_TRUE(often);
  EXPECT_NE(often->text.find("of it before attention"), std::string::npos) << often->text;
  EXPECT_EQ(often->text.find("typical"), std::string::npos) << "every other launch is no exception";
}

TEST(Findings, StallsAtOnePlaceAreNotThoseOfALock) {
  constexpr Nanos kMs = 1'000'000;
  const auto stalling = [](bool at_one_place) {
    CaptureBuilder b;
    b.capture.framework = "pytorch";
    for (int i = 0; i < 10; ++i) {
      const Nanos at = i * 6 * kMs;
      const auto name = at_one_place ? std::string("aten::mm") : "aten::mm" + std::to_string(i);
      b.op(name, at, at + 100);
      b.launch("sgemm", {at + 10, at + 20}, {at + 30, at + 800'000});
    }
    return b;
  };
  EXPECT_TRUE(finding(stalling(false), FindingId::gil_stalls));
  EXPECT_FALSE(finding(stalling(true), FindingId::gil_stalls)) << "a loop that sleeps";
  EXPECT_TRUE(finding(stalling(true), FindingId::host_bound));
}

TEST(Findings, TwoPausesOfTwoStepsMayBeginInOneHalf) {
  const auto pausing = [](Nanos second) {
    constexpr Nanos kMs = 1'000'000;
    CaptureBuilder b;
    b.mark("ProfilerStep#1", 0, 8 * kMs);
    b.mark("ProfilerStep#2", 8 * kMs, 18 * kMs);
    b.launch("first", {10, 20}, {30, kMs});
    b.launch("next", {5 * kMs, 5 * kMs + 10}, {5 * kMs + 20, 8 * kMs + 20});
    b.launch("third", {8 * kMs + 10, 8 * kMs + 20}, {8 * kMs + 30, 8 * kMs + 500'000});
    b.launch("fourth", {second, second + 10}, {second + 20, 18 * kMs});
    return b;
  };
  EXPECT_TRUE(finding(pausing(12'000'000), FindingId::host_bound, "steps"));
  EXPECT_FALSE(finding(pausing(8'600'000), FindingId::host_bound, "steps")) << "once is not again";
}

TEST(Findings, WhatIsBusyGetsItsLayersAndTheCommandComesLast) {
  Sequence b;
  b.run("aten::mm", "gemm", 900);
  b.run("aten::add", "add", 100);
  const auto a = analyze(b.capture, {});
  ASSERT_TRUE(a);
  ASSERT_GE(a->findings.size(), 2u);
  const auto f = finding(b, FindingId::kernel_bound);
  ASSERT_TRUE(f);
  EXPECT_NE(f->text.find("MatMul 90 %, Elementwise 10 %"), std::string::npos) << f->text;
  EXPECT_EQ(a->findings.back().id, FindingId::missing_counters);
  EXPECT_EQ(a->findings.back().command.find("--profile-from-start"), std::string::npos)
      << "that collects nothing in a program that never calls cudaProfilerStart";
}

}  // namespace
}  // namespace gf
