// Launch records by correlation, dense or scattered, of several processes, against a search through
// all calls.
#include "model/launches.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/capture_builder.h"

namespace gf {

RC_GTEST_PROP(Launches, AreThoseOfTheSameNumberAndProcess, ()) {
  test::CaptureBuilder builder;
  const auto spread = *rc::gen::element<std::int64_t>(1, 100, 1'000'000'000'000);
  const auto number = [&] { return *rc::gen::inRange<std::int64_t>(-1, 12) * spread; };
  for (int i = *rc::gen::inRange(0, 30); i > 0; --i) {
    builder.pid = *rc::gen::inRange(100, 103);
    builder.call(*rc::gen::element(ApiKind::launch, ApiKind::memcpy, ApiKind::sync, ApiKind::other),
                 "call", i, i + 1, number(), builder.pid);
  }
  for (int i = *rc::gen::inRange(0, 30); i > 0; --i)
    builder.capture.activities
        .pid[builder.activity(ActivityKind::kernel, "k", i, i + 1, number())] =
        *rc::gen::element<std::int64_t>(-1, 100, 101, 102);
  const auto& calls = builder.capture.api_calls;
  const auto& activities = builder.capture.activities;
  const auto launch = join_launches(builder.capture);
  RC_ASSERT(launch.size() == activities.size());
  for (std::uint32_t i = 0; i < activities.size(); ++i) {
    std::uint32_t expected = kNoRow;
    bool starts = false;
    for (std::uint32_t call = 0; call < calls.size(); ++call) {
      if (activities.correlation[i] < 0 || calls.correlation[call] != activities.correlation[i])
        continue;
      if (activities.pid[i] >= 0 &&
          builder.capture.threads.pid[calls.thread[call]] != activities.pid[i])
        continue;
      const bool c_starts =
          calls.kind[call] == ApiKind::launch || calls.kind[call] == ApiKind::memcpy;
      if (expected == kNoRow || (c_starts && !starts)) {
        expected = call;
        starts = c_starts;
      }
    }
    RC_ASSERT(launch[i] == expected);
  }
}

// A file that repeats one number throughout would cost the square of its size, minutes here, if all
// calls were looked at for each.
TEST(Launches, ANumberThatRepeatsCostsNoMore) {
  test::CaptureBuilder builder;
  for (int i = 0; i < 300'000; ++i)
    builder.call(i % 2 ? ApiKind::launch : ApiKind::other, "call", i, i + 1, 7, builder.pid);
  for (int i = 0; i < 300'000; ++i) builder.activity(ActivityKind::kernel, "k", i, i + 1, 7);
  const Launches::Rows launch = join_launches(builder.capture);
  EXPECT_EQ(std::vector<std::uint32_t>(300'000, 1), launch);
}

}  // namespace gf
