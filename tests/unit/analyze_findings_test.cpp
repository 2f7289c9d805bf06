// Each rule about the host and the capture on a small timeline: once with what it looks for, once
// without.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/analyze.h"
#include "analyze/findings/findings.h"
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
  EXPECT_EQ(f->gain_ns, 30) << "from the end of the kernel until the call has returned";
  EXPECT_NE(f->evidence.find("1 synchronising call"), std::string::npos) << f->evidence;
  EXPECT_NE(f->evidence.find("cudaStreamSynchronize"), std::string::npos) << f->evidence;

  auto overlapped = start();
  overlapped.launch("next", {20, 30}, {1001, 2000});
  overlapped.call(ApiKind::sync, "cudaStreamSynchronize", 500, 1990);
  EXPECT_FALSE(finding(overlapped, FindingId::sync_in_step))
      << "a wait while the device works costs nothing";
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
  b.call(ApiKind::alloc, "cudaMalloc", 1010, 1110);
  b.launch("next", {1120, 1130}, {1140, 2000});
  const auto f = finding(b, FindingId::device_allocations);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 100);
  EXPECT_NE(f->evidence.find("1 call, "), std::string::npos) << f->evidence;

  auto before = start();
  before.call(ApiKind::alloc, "cudaMalloc", -500, -300);
  before.launch("next", {1120, 1130}, {1140, 2000});
  EXPECT_FALSE(finding(before, FindingId::device_allocations))
      << "what was allocated before the window is no loss in it";
}

TEST(Findings, InputBound) {
  auto b = start();
  b.op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1000, 1200);
  b.launch("next", {1200, 1210}, {1210, 2000});
  const auto f = finding(b, FindingId::input_bound);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, 200);

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
  const auto b = steps({5000, 1000, 1001, 999, 1000, 1000, 1001, 999, 1000});
  const auto f = finding(b, FindingId::warm_up_in_window, "steps");
  ASSERT_TRUE(f);
  EXPECT_NE(f->text.find("a step from before the run was stable"), std::string::npos) << f->text;
  EXPECT_FALSE(finding(b, FindingId::warm_up_in_window, "stable"));
  EXPECT_FALSE(finding(steps({1000, 1000, 1001, 999, 1000, 1000, 1001, 999, 1000}),
                       FindingId::warm_up_in_window, "steps"));
}

TEST(Findings, ObserverEffectOnlyWithAProfilerInTheProcess) {
  auto b = start();
  b.launch("next", {1200, 1210}, {1220, 2000});
  EXPECT_FALSE(finding(b, FindingId::observer_effect));
  b.capture.format = "kineto";
  EXPECT_TRUE(finding(b, FindingId::observer_effect));
}

TEST(Findings, EveryGainIsAtMostTheWindow) {
  auto b = start();
  b.call(ApiKind::alloc, "cudaMalloc", 1000, 9000);
  b.call(ApiKind::alloc, "cudaMalloc", 1000, 9000, -1, 101);
  b.launch("next", {9000, 9010}, {9010, 9100});
  const auto a = analyze(b.capture, {});
  ASSERT_TRUE(a);
  for (const auto& f : a->findings) EXPECT_LE(f.gain_ns.value_or(0), 9100) << name_of(f.id);
  const auto f = finding(b, FindingId::device_allocations);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->gain_ns, a->devices[0].idle_ns)
      << "two threads that allocate at once cannot give back more than the idle time";
}

TEST(Findings, GainsOfOneGroupCountOnce) {
  auto with = [](FindingGroup group, std::optional<Nanos> gain) {
    Finding f;
    f.group = group;
    f.gain_ns = gain;
    return f;
  };
  EXPECT_EQ(joint_gain({}), 0);
  EXPECT_EQ(joint_gain({with(FindingGroup::kernels, 300), with(FindingGroup::input, 50),
                        with(FindingGroup::kernels, 200), with(FindingGroup::none, {})}),
            350);
}

}  // namespace
}  // namespace gf
