// Launch records by correlation, dense or scattered, of several processes, against a search through
// all calls.
#include "analyze/launches.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/capture_builder.h"

namespace gf {

RC_GTEST_PROP(Launches, AreThoseOfTheSameNumberAndProcess, ()) {
  test::CaptureBuilder b;
  const auto spread = *rc::gen::element<std::int64_t>(1, 100, 1'000'000'000'000);
  const auto number = [&] { return *rc::gen::inRange<std::int64_t>(-1, 12) * spread; };
  for (int i = *rc::gen::inRange(0, 30); i > 0; --i) {
    b.pid = *rc::gen::inRange(100, 103);
    b.call(*rc::gen::element(ApiKind::launch, ApiKind::memcpy, ApiKind::sync, ApiKind::other),
           "call", i, i + 1, number(), b.pid);
  }
  for (int i = *rc::gen::inRange(0, 30); i > 0; --i)
    b.capture.activities.pid[b.activity(ActivityKind::kernel, "k", i, i + 1, number())] =
        *rc::gen::element<std::int64_t>(-1, 100, 101, 102);
  const auto& calls = b.capture.api_calls;
  const auto& a = b.capture.activities;
  const auto launch = join_launches(b.capture);
  RC_ASSERT(launch.size() == a.size());
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    std::uint32_t expected = kNoRow;
    bool starts = false;
    for (std::uint32_t c = 0; c < calls.size(); ++c) {
      if (a.correlation[i] < 0 || calls.correlation[c] != a.correlation[i]) continue;
      if (a.pid[i] >= 0 && b.capture.threads.pid[calls.thread[c]] != a.pid[i]) continue;
      const bool c_starts = calls.kind[c] == ApiKind::launch || calls.kind[c] == ApiKind::memcpy;
      if (expected == kNoRow || (c_starts && !starts)) {
        expected = c;
        starts = c_starts;
      }
    }
    RC_ASSERT(launch[i] == expected);
  }
}

// A file that repeats one number throughout would cost the square of its size, minutes here, if all
// calls were looked at for each.
TEST(Launches, ANumberThatRepeatsCostsNoMore) {
  test::CaptureBuilder b;
  for (int i = 0; i < 300'000; ++i)
    b.call(i % 2 ? ApiKind::launch : ApiKind::other, "call", i, i + 1, 7, b.pid);
  for (int i = 0; i < 300'000; ++i) b.activity(ActivityKind::kernel, "k", i, i + 1, 7);
  const auto launch = join_launches(b.capture);
  EXPECT_EQ(std::vector<std::uint32_t>(300'000, 1), launch);
}

}  // namespace gf
