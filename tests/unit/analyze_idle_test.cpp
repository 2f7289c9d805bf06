// One small timeline for each row of the table of docs/idle.md.
#include <gtest/gtest.h>

#include <map>

#include "analyze/analyze.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

using test::CaptureBuilder;
using Causes = std::map<std::string, Nanos>;

Causes causes(const CaptureBuilder& b, const char* window = "all", std::size_t device = 0) {
  const auto a = analyze(b.capture, {.window = window});
  if (!a) return {{a.error().message(), -1}};
  Causes out;
  Nanos sum = 0;
  for (const auto& c : a->devices.at(device).idle) sum += out[std::string(name_of(c.cause))] = c.ns;
  EXPECT_EQ(sum, a->devices[device].idle_ns);
  return out;
}

/// A kernel [0, 100) launched at -20; what follows is the test's.
CaptureBuilder with_first_kernel() {
  CaptureBuilder b;
  b.launch("first", {-20, -10}, {0, 100});
  return b;
}

TEST(Idle, LaunchBoundInsideOperatorsAndLaunchCalls) {
  auto b = with_first_kernel();
  b.op("aten::mm", 90, 160);
  b.launch("next", {150, 170}, {180, 200});
  // Nothing open until 90 (busy anyway); operator or launch call until 170; launched, not started
  // until 180.
  EXPECT_EQ(causes(b), (Causes{{"launch_bound", 70}, {"kernel_gap", 10}}));
}

TEST(Idle, StartUpWhileAGraphIsCaptured) {
  auto b = with_first_kernel();
  b.call(ApiKind::other, "cudaStreamBeginCapture", 100, 110);
  b.op("aten::mm", 110, 300);
  b.call(ApiKind::launch, "cudaLaunchKernel", 120, 130);  // starts nothing: it is captured
  b.call(ApiKind::other, "cudaStreamEndCapture", 310, 320);
  b.op("aten::add", 320, 360);
  b.launch("next", {350, 360}, {360, 400});
  EXPECT_EQ(causes(b), (Causes{{"start_up", 220}, {"launch_bound", 40}}));
}

TEST(Idle, HostOtherWhereNothingIsOpen) {
  auto b = with_first_kernel();
  b.mark("ProfilerStep#1", -50, 500);  // a mark is not an operation
  b.op("aten::mm", 130, 160);
  b.launch("next", {150, 155}, {160, 200});
  EXPECT_EQ(causes(b), (Causes{{"host_other", 30}, {"launch_bound", 25}, {"kernel_gap", 5}}));
}

// A clock that was set between two kernels: one piece holds two years.
TEST(Idle, YearsAreOneGapInSeveralPieces) {
  constexpr Nanos kYears = Nanos{1} << 60;
  auto b = with_first_kernel();
  b.launch("next", {kYears - 10, kYears}, {kYears, kYears + 100});
  std::optional<Context> context;
  const auto a = analyze(b.capture, {}, &context);
  ASSERT_TRUE(a) << a.error().message();
  Nanos sum = 0, end = 100;
  for (const auto& piece : context->devices.front().idle_pieces) {
    EXPECT_EQ(piece.start, end);
    end = piece.span().end;
    sum += piece.span().length();
  }
  EXPECT_EQ(sum, kYears - 100);
  ASSERT_FALSE(a->devices.front().idle.empty());
  EXPECT_EQ(a->devices.front().idle.front().gaps, 1);
}

TEST(Idle, SyncWhileTheHostIsBlocked) {
  auto b = with_first_kernel();
  b.call(ApiKind::sync, "cudaStreamSynchronize", 50, 120);
  b.op("aten::item", 120, 130);
  b.call(ApiKind::memcpy, "cudaMemcpy", 130, 135);
  b.launch("next", {140, 150}, {150, 200});
  EXPECT_EQ(causes(b), (Causes{{"sync", 30}, {"host_other", 5}, {"launch_bound", 15}}));
}

TEST(Idle, SyncWhileJaxBlocksUntilAValueIsReady) {
  auto b = with_first_kernel();
  b.op("$api.py:2851 block_until_ready", 50, 140);
  b.op("$api.py:2850 try_to_block", 60, 130);
  b.launch("next", {140, 150}, {150, 200});
  EXPECT_EQ(causes(b), (Causes{{"sync", 40}, {"launch_bound", 10}}));
}

TEST(Idle, CopiesToTheDeviceAreInputWhenLarge) {
  auto large = with_first_kernel();
  const auto row = large.copy(CopyKind::host_to_device, {110, 150}, {140, 200});
  large.capture.activities.bytes[row] = 1 << 20;
  large.op("aten::to", 105, 150);
  EXPECT_EQ(causes(large), (Causes{{"host_other", 5}, {"input", 35}}));
}

TEST(Idle, ACopyBlocksWhenTheHostWaitedForIt) {
  // [call returns, copy ends, bytes] -> the label of the time in the call
  const auto in_call = [](Nanos returns, Nanos ends, std::int64_t bytes, CopyKind direction) {
    auto b = with_first_kernel();
    const auto row = b.copy(direction, {110, returns}, {140, ends});
    b.capture.activities.bytes[row] = bytes;
    b.launch("next", {300, 310}, {310, 320});
    auto found = causes(b, "110:140");
    EXPECT_EQ(found.size(), 1u);
    return found.begin()->first;
  };
  EXPECT_EQ(in_call(150, 200, 1 << 20, CopyKind::device_to_host), "launch_bound");  // under way
  EXPECT_EQ(in_call(220, 200, 1 << 20, CopyKind::device_to_host), "memcpy");
  EXPECT_EQ(in_call(220, 200, 16, CopyKind::device_to_host), "sync");  // a value
  EXPECT_EQ(in_call(150, 200, 8, CopyKind::host_to_device), "launch_bound");
  EXPECT_EQ(in_call(220, 200, 1 << 20, CopyKind::device_to_device), "launch_bound");
}

TEST(Idle, DataLoaderIsInputWhateverItDoes) {
  auto b = with_first_kernel();
  b.op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 100, 150);
  b.op("aten::stack", 110, 140);
  b.call(ApiKind::sync, "cudaEventSynchronize", 120, 130);
  b.launch("next", {160, 170}, {170, 200});
  EXPECT_EQ(causes(b), (Causes{{"input", 50}, {"host_other", 10}, {"launch_bound", 10}}));
}

TEST(Idle, CommunicationIsTheHostWaitingForOtherRanks) {
  auto b = with_first_kernel();
  b.op("c10d::allreduce_", 100, 120);
  b.call(ApiKind::sync, "cudaStreamSynchronize", 110, 120);
  b.op("gloo:all_reduce", 120, 125);
  b.op("aten::add", 125, 140);
  b.launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", {130, 140}, {140, 200});
  // Merely enqueuing a collective late is launching late.
  EXPECT_EQ(causes(b), (Causes{{"launch_bound", 10 + 15}, {"communication", 15}}));
}

TEST(Idle, JaxWaitsForItsValues) {
  auto b = with_first_kernel();
  b.python("$array.py:300 block_until_ready", 90, 130);
  b.launch("next", {140, 150}, {150, 200});
  EXPECT_EQ(causes(b), (Causes{{"sync", 30}, {"host_other", 10}, {"launch_bound", 10}}));
}

constexpr Nanos us = 1000;

TEST(Idle, OneOffWorkIsStartUp) {
  auto b = with_first_kernel();
  b.python("torch/_inductor/compile_fx.py(600): compile_fx_inner", 100, 1000 * us);
  b.python("torch/_inductor/compile_fx.py(900): run", 1000 * us, 1100 * us);  // every step
  b.call(ApiKind::other, "cuModuleLoadData", 1100 * us, 1101 * us);
  b.launch("slow and first", {1101 * us, 1400 * us}, {1400 * us, 1500 * us});
  EXPECT_EQ(causes(b), (Causes{{"start_up", 1300 * us - 100}, {"host_other", 100 * us}}));
}

TEST(Idle, SlowCallsAreStartUpUnlessTheyRepeat) {
  for (const bool again : {false, true}) {
    auto b = with_first_kernel();
    b.call(ApiKind::alloc, "cudaMalloc", 100, 500 * us);
    b.launch("next", {500 * us, 501 * us}, {501 * us, 600 * us});
    if (again) b.call(ApiKind::alloc, "cudaMalloc", 600 * us, 900 * us);
    b.launch("next", {900 * us, 901 * us}, {901 * us, 1000 * us});
    const auto found = causes(b, "0:600us");
    if (again)
      EXPECT_EQ(found, (Causes{{"allocation", 500 * us - 100}, {"launch_bound", 1 * us}}));
    else
      EXPECT_EQ(found.at("start_up"), 500 * us - 100);
  }
}

TEST(Idle, ACallThatTakesATenthOfItsTimeLaterWasStartUp) {
  for (const Nanos later : {500 * us, 400 * us}) {
    auto b = with_first_kernel();
    b.call(ApiKind::alloc, "cudaFree", 100, 4600 * us);
    b.launch("next", {4600 * us, 4601 * us}, {4601 * us, 5000 * us});
    b.call(ApiKind::alloc, "cudaFree", 5000 * us, 5000 * us + later);
    b.launch("next", {8900 * us, 8901 * us}, {8901 * us, 9000 * us});
    const auto found = causes(b, "0:4700us");
    EXPECT_EQ(found.count("start_up"), later < 450 * us ? 1u : 0u);
    EXPECT_EQ(found.at(later < 450 * us ? "start_up" : "allocation"), 4600 * us - 100);
  }
}

TEST(Idle, AFirstUseIsStartUp) {
  // A fuser compiles inside the operation that launches what it made: nothing tells but the time.
  for (const Nanos compiled : {2000 * us, 900 * us}) {
    auto b = with_first_kernel();
    b.op("forward", 100, compiled + 20 * us);
    b.launch("fused_mul_add", {compiled, compiled + 10 * us}, {compiled + 10 * us, 9000 * us});
    const bool slow = compiled > 1000 * us;
    EXPECT_EQ(causes(b).count("start_up"), slow ? 1u : 0u);
    EXPECT_EQ(causes(b).at(slow ? "start_up" : "launch_bound"),
              compiled - 100 + (slow ? 0 : 10 * us));
  }
}

TEST(Idle, AnOperationThatTakesLongBeforeAnotherLaunchesIsNoFirstUse) {
  auto b = with_first_kernel();
  b.op("aten::sort", 100, 2000 * us);
  b.op("aten::add", 2000 * us, 2020 * us);
  b.launch("next", {2000 * us, 2010 * us}, {2010 * us, 3000 * us});
  EXPECT_EQ(causes(b), (Causes{{"launch_bound", 2010 * us - 100}}));
  auto again = with_first_kernel();  // a kernel that had run
  again.launch("next", {60, 90}, {100, 200});
  again.op("aten::add", 200, 2020 * us);
  again.launch("next", {2000 * us, 2010 * us}, {2010 * us, 3000 * us});
  EXPECT_EQ(causes(again).count("start_up"), 0u);
}

TEST(Idle, TritonCompilesWithNothingOpen) {
  for (const char* name : {"triton_poi_fused_add_0", "add_kernel"}) {
    auto b = with_first_kernel();
    b.call(ApiKind::sync, "cudaDeviceSynchronize", 5000 * us, 5001 * us);
    b.launch(name, {20'000 * us, 20'010 * us}, {20'010 * us, 21'000 * us});
    const bool made = std::string_view(name).starts_with("triton_");
    EXPECT_EQ(causes(b).at(made ? "start_up" : "host_other"),
              made ? 14'999 * us : 19'999 * us - 100);
  }
}

TEST(Idle, MemoryThatAFirstCallOfAnOperationAllocatesIsStartUp) {
  auto b = with_first_kernel();
  b.op("aten::cudnn_convolution", 100, 40'000 * us);
  b.call(ApiKind::alloc, "cudaFree", 200 * us, 30'000 * us);
  b.launch("convolve", {39'000 * us, 39'010 * us}, {39'010 * us, 41'000 * us});
  b.op("aten::cudnn_convolution", 41'000 * us, 41'050 * us);
  b.launch("convolve", {41'010 * us, 41'020 * us}, {41'020 * us, 90'000 * us});
  b.call(ApiKind::alloc, "cudaFree", 91'000 * us, 101'000 * us);
  b.launch("convolve", {101'000 * us, 101'010 * us}, {101'010 * us, 102'000 * us});
  EXPECT_EQ(causes(b).at("allocation"), 10'000 * us);
}

TEST(Idle, AGapLongerThanHardwareNeedsIsUnexplained) {
  for (const std::int64_t stream : {7, 20}) {
    auto b = with_first_kernel();
    b.launch("next", {30, 40}, {64'000 * us, 64'001 * us}, stream);
    EXPECT_EQ(causes(b), (Causes{{"unexplained", 64'000 * us - 100}}));
    const auto a = analyze(b.capture, {});
    ASSERT_TRUE(a);
    ASSERT_EQ(a->quality.size(), 1u);
    EXPECT_EQ(a->quality[0].code, "unexplained_gaps");
    for (const auto& origin : a->runtime.idle) EXPECT_FALSE(origin.speedup);
  }
}

/// Two devices with everything launched at once: kernels [50, 150), [250, 350) ms on device 0,
/// [150, 250), [350, 450) ms on device 1.
CaptureBuilder taking_turns() {
  CaptureBuilder b;
  constexpr Nanos ms = 1'000'000;
  for (Nanos turn = 0; turn < 4; ++turn)
    b.launch("gemm", {10 * turn, 10 * turn + 5}, {(50 + 100 * turn) * ms, (150 + 100 * turn) * ms},
             7, static_cast<int>(turn % 2));
  return b;
}

TEST(Idle, DevicesThatTakeTurnsWaitForEachOther) {
  constexpr Nanos ms = 1'000'000;
  const auto b = taking_turns();
  EXPECT_EQ(causes(b, "0:450ms", 0).at("dependency"), 100 * ms);
  const auto second = causes(b, "0:450ms", 1);
  EXPECT_EQ(second.at("dependency"), 200 * ms);
  EXPECT_FALSE(second.contains("unexplained")) << "0 is where the first kernel starts";
}

TEST(Idle, AnotherDeviceThatWorksOnIsNoReasonWithoutAnEvent) {
  constexpr Nanos ms = 1'000'000;
  for (const bool event : {false, true}) {
    CaptureBuilder b;
    b.launch("first", {0, 5}, {10, 100}, 7, 0);
    b.launch("other", {6, 8}, {10, 90 * ms}, 7, 1);
    if (event) b.call(ApiKind::other, "cudaStreamWaitEvent", 8, 9);
    b.launch("next", {10, 12}, {50 * ms, 60 * ms}, 7, 0);
    EXPECT_EQ(causes(b).contains("dependency"), event);
    EXPECT_EQ(causes(b).contains("unexplained"), !event);
  }
}

TEST(Idle, AnotherDeviceThatEndedLongBeforeIsNoReason) {
  constexpr Nanos ms = 1'000'000;
  CaptureBuilder b;
  b.launch("first", {0, 5}, {10, 100}, 7, 0);
  b.launch("other", {6, 8}, {10, 20 * ms}, 7, 1);
  b.launch("next", {10, 12}, {50 * ms, 60 * ms}, 7, 0);
  EXPECT_EQ(causes(b).at("unexplained"), 50 * ms - 100);
}

TEST(Idle, DevicesOfOtherProcessesAreNoReason) {
  auto b = taking_turns();
  b.pid = 200;
  const auto other = b.thread(200);
  for (std::uint32_t call = 1; call < 4; call += 2) b.capture.api_calls.thread[call] = other;
  EXPECT_FALSE(causes(b, "all", 0).contains("dependency"));
}

TEST(Idle, TheMainThreadIsAskedWhenTheLaunchingThreadDoesNothing) {
  auto b = with_first_kernel();
  b.call(ApiKind::sync, "cudaDeviceSynchronize", 60, 120);                // main thread, 100
  b.op("autograd::engine::evaluate_function: MmBackward0", 130, 160, 7);  // autograd thread
  b.launch("next", {140, 150}, {150, 200}, 7, 0, 7);
  EXPECT_EQ(causes(b), (Causes{{"sync", 20}, {"host_other", 10}, {"launch_bound", 20}}));
}

TEST(Idle, TheThreadThatLaunchedLastIsAskedToo) {
  CaptureBuilder b;
  b.op("autograd::engine::evaluate_function: MmBackward0", -30, 120, 7);
  b.launch("last of backward", {-20, -10}, {0, 100}, 7, 0, 7);
  b.op("aten::add_", 130, 150);
  b.launch("next", {140, 150}, {150, 200});
  EXPECT_EQ(causes(b), (Causes{{"launch_bound", 40}, {"host_other", 10}}));
}

TEST(Idle, DependencyAfterAStreamWait) {
  auto b = with_first_kernel();
  b.call(ApiKind::other, "cudaStreamWaitEvent", 10, 20);
  b.launch("next", {30, 40}, {110, 200});
  b.launch("after", {50, 60}, {203, 210});
  EXPECT_EQ(causes(b), (Causes{{"dependency", 10}, {"kernel_gap", 3}}));
}

TEST(Idle, AWaitOfAnotherStreamDoesNotCount) {
  auto b = with_first_kernel();
  b.call(ApiKind::other, "cudaStreamWaitEvent", 10, 20, 77);
  const auto s = b.capture.syncs.add();
  b.capture.syncs.correlation[s] = 77;
  b.capture.syncs.stream[s] = 20;
  b.launch("next", {30, 40}, {110, 200});
  EXPECT_EQ(causes(b), (Causes{{"kernel_gap", 10}}));
}

TEST(Idle, DependencyWhenReadyOnAnotherStream) {
  auto b = with_first_kernel();
  b.launch("next", {30, 40}, {105, 200}, 20);
  EXPECT_EQ(causes(b), (Causes{{"dependency", 5}}));
}

TEST(Idle, NoLaunchRecord) {
  auto b = with_first_kernel();
  b.op("aten::mm", 90, 160);
  b.kernel("next", 150, 200);
  EXPECT_EQ(causes(b), (Causes{{"no_launch_record", 50}}));
}

TEST(Idle, GapsInsideAGraphLaunchAreNotTheHosts) {
  CaptureBuilder b;
  b.call(ApiKind::graph_launch, "cudaGraphLaunch", 0, 500, 9);
  b.activity(ActivityKind::kernel, "a", 100, 200, 9);
  b.activity(ActivityKind::kernel, "b", 210, 300, 9);
  b.activity(ActivityKind::kernel, "c", 305, 400, 9, 8);
  EXPECT_EQ(causes(b), (Causes{{"kernel_gap", 10}, {"dependency", 5}}));
}

TEST(Idle, AnActivityOfNoDurationEndsAGap) {
  auto b = with_first_kernel();
  b.launch("tiny", {110, 120}, {125, 125});
  b.launch("next", {130, 150}, {150, 200});
  EXPECT_EQ(causes(b), (Causes{{"host_other", 15}, {"launch_bound", 30}, {"kernel_gap", 5}}));
}

TEST(Idle, AtTheEndsOfARange) {
  auto b = with_first_kernel();
  b.op("aten::mm", 110, 150);
  b.launch("next", {120, 150}, {150, 200});
  EXPECT_EQ(causes(b, "50:130"), (Causes{{"host_other", 10}, {"launch_bound", 20}}));
  EXPECT_EQ(causes(b, "130:160"), (Causes{{"launch_bound", 20}}));
  EXPECT_EQ(causes(b, "180:260"), Causes{});  // the capture ends: nothing is known of what follows
  b.op("print", 250, 260);
  EXPECT_EQ(causes(b, "180:260"), (Causes{{"host_other", 60}}));
}

TEST(Idle, OperatorsAreSplitExactly) {
  auto b = with_first_kernel();
  b.op("aten::linear", 100, 160);
  b.op("aten::t", 110, 120);
  b.op("aten::addmm", 120, 155);
  b.launch("next", {130, 150}, {160, 200});
  const auto a = analyze(b.capture, {});
  ASSERT_TRUE(a);
  const auto& idle = a->devices[0].idle;
  ASSERT_EQ(idle[0].cause, IdleReason::launch_bound);
  std::map<std::string, Nanos> ops;
  for (const auto& o : idle[0].operators) ops[o.name] = o.ns;
  EXPECT_EQ(ops, (std::map<std::string, Nanos>{
                     {"aten::linear", 10}, {"aten::t", 10}, {"aten::addmm", 30}}));
  EXPECT_EQ(idle[0].gaps, 1);
}

}  // namespace
}  // namespace gf
