#include <gtest/gtest.h>

#include "analyze/kernel_rates/align_samples.h"
#include "analyze/window.h"

namespace gf {
namespace {

void add_kernel(Capture& c, std::uint32_t device, Nanos start, Nanos ns) {
  const auto row = c.activities.add();
  c.activities.start_ns[row] = start;
  c.activities.duration_ns[row] = ns;
  c.activities.device[row] = device;
}

void add_window(Capture& c, Nanos start, Nanos ns, std::int64_t pid = -1) {
  const auto row = c.recording_windows.add();
  c.recording_windows.pid[row] = pid;
  c.recording_windows.start_ns[row] = start;
  c.recording_windows.duration_ns[row] = ns;
}

/// Kernels of 100 ns every 200 ns in three stretches; between them the program went on, but nobody
/// looked.
Capture three_stretches() {
  Capture c;
  const auto device = c.device_row(0);
  for (const auto& [start, n] : {std::pair<Nanos, int>{1000, 5}, {100'000, 20}, {900'000, 7}})
    for (int i = 0; i < n; ++i) add_kernel(c, device, start + 200 * i, 100);
  return c;
}

TEST(Window, AllOfARecordingWithGapsIsItsLongestWindow) {
  Capture c = three_stretches();
  const auto whole = choose_window(c, "all", Steps{});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->kind, WindowKind::all);
  EXPECT_EQ(whole->duration_ns, 900'000 + 200 * 6 + 100 - 1000);
  add_window(c, 900, 1500);
  add_window(c, 99'000, 5200);
  add_window(c, 899'000, 3000);
  const auto longest = choose_window(c, "all", Steps{});
  ASSERT_TRUE(longest);
  EXPECT_EQ(longest->kind, WindowKind::recording_window);
  EXPECT_EQ(longest->start_ns, 100'000);
  EXPECT_EQ(longest->end_ns, 100'000 + 200 * 19 + 100);
  EXPECT_EQ(choose_window(c, "0:50us", Steps{})->kind, WindowKind::range)
      << "a chosen range stays what was chosen";
}

TEST(Window, AllOfSeveralDevicesIsNoRangeThatSomebodyChose) {
  Capture c;
  add_kernel(c, c.device_row(0), 0, 100);
  EXPECT_EQ(choose_window(c, "auto", Steps{})->kind, WindowKind::all);
  add_kernel(c, c.device_row(1), 400, 100);
  const auto whole = choose_window(c, "auto", Steps{});
  EXPECT_EQ(whole->kind, WindowKind::common);
  EXPECT_EQ(whole->duration_ns, 500);
  EXPECT_EQ(choose_window(c, "0:300ns", Steps{})->kind, WindowKind::range);
}

TEST(Window, AWindowOfAProgramThatLoadsIsNotTheRecordings) {
  Capture c;
  const auto device = c.device_row(0);
  // Two seconds of loading with a kernel at each end, then one second of work.
  add_window(c, 0, 2'000'000);
  add_kernel(c, device, 0, 100);
  add_kernel(c, device, 1'999'000, 100);
  add_window(c, 3'000'000, 1'000'000);
  for (Nanos at = 3'000'000; at < 4'000'000; at += 1000) add_kernel(c, device, at, 900);
  EXPECT_EQ(choose_window(c, "all", Steps{})->start_ns, 3'000'000);
}

/// Two ranks whose kernels of 100 ns come every 200 ns, and a launcher that runs none.
Capture two_ranks(Nanos second_opens) {
  Capture c;
  const auto first = c.device_row(0), second = c.device_row(1);
  add_window(c, 0, 100'000, 1);
  add_window(c, 0, 10'000, 10);
  add_window(c, second_opens, 10'000, 20);
  for (const auto& [device, pid, start] :
       {std::tuple{first, 10, Nanos{0}}, {second, 20, second_opens}})
    for (Nanos at = start; at < start + 10'000; at += 200) {
      add_kernel(c, device, at, 100);
      c.activities.pid[c.activities.size() - 1] = pid;
    }
  return c;
}

TEST(Window, OfSeveralProcessesThatWhichAllWereRecordedIn) {
  const auto both = choose_window(two_ranks(4'000), "all", Steps{});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->start_ns, 4'000);
  EXPECT_EQ(both->end_ns, 9'900);
}

TEST(Window, WhereTheyHardlyMeetTheLongestOfOne) {
  const auto one = choose_window(two_ranks(9'000), "all", Steps{});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->start_ns, 9'000);
  EXPECT_EQ(one->end_ns, 18'900);
}

TEST(Window, AProcessWithoutWorkMakesNoSecondWindow) {
  Capture c = three_stretches();
  for (auto& pid : c.activities.pid) pid = 7;
  add_window(c, 900, 1'000'000, 7);
  add_window(c, 99'000, 5200, 8);
  EXPECT_TRUE(recorded_throughout(c, {1000, 900'000}));
  EXPECT_FALSE(recorded_throughout(c, {0, 900'000}));
  add_window(c, 2'000'000, 3000, 7);
  EXPECT_FALSE(recorded_throughout(c, {1000, 900'000}));
}

TEST(Window, OneWindowIsTheWholeRecording) {
  Capture c = three_stretches();
  add_window(c, 0, 2'000'000);
  EXPECT_EQ(choose_window(c, "all", Steps{})->kind, WindowKind::all);
}

TEST(Window, SamplesBetweenWindowsAreNotLaidOverKernels) {
  Capture c;
  const auto device = c.device_row(0);
  const Text busy = c.strings.intern("gpu.busy"), issue = c.strings.intern("issue.active");
  // 2 s of a program that is busy in an irregular rhythm throughout; kernels are known in two
  // windows of half a second.
  std::uint64_t state = 1;
  const Nanos begin = 1'000'000'000, end = 3'000'000'000;
  std::vector<Interval> runs;
  for (Nanos t = begin; t < end;) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const Nanos ns = 100'000 + static_cast<Nanos>(state >> 44);
    runs.push_back({t, t + ns});
    t += ns + 50'000 + static_cast<Nanos>((state >> 20) & 0x7ffff);
  }
  const Interval windows[] = {{1'200'000'000, 1'700'000'000}, {2'300'000'000, 2'800'000'000}};
  for (const auto& w : windows) {
    add_window(c, w.start, w.length());
    for (const auto& r : runs)
      if (r.start >= w.start && r.end <= w.end) add_kernel(c, device, r.start, r.length());
  }
  std::size_t first = 0;
  for (Nanos from = begin; from + 1'000'000 <= end; from += 1'000'000) {
    double covered = 0;
    while (first < runs.size() && runs[first].end <= from) ++first;
    for (std::size_t i = first; i < runs.size() && runs[i].start < from + 1'000'000; ++i)
      covered += static_cast<double>(std::min(runs[i].end, from + 1'000'000) -
                                     std::max(runs[i].start, from)) /
                 1e6;
    for (const auto& [id, v] : {std::pair{busy, covered}, std::pair{issue, covered / 2}}) {
      const auto row = c.counter_samples.add();
      c.counter_samples.start_ns[row] = from;
      c.counter_samples.duration_ns[row] = 1'000'000;
      c.counter_samples.device[row] = device;
      c.counter_samples.metric[row] = id;
      c.counter_samples.value[row] = v;
    }
  }
  const auto aligned = align_samples(c, device);
  ASSERT_GT(aligned.rows.size(), 900u);
  EXPECT_LT(aligned.rows.size(), 1001u);
  for (const auto& row : aligned.rows)
    EXPECT_TRUE((row.span.start >= windows[0].start && row.span.end <= windows[0].end) ||
                (row.span.start >= windows[1].start && row.span.end <= windows[1].end))
        << row.span.start;
}

}  // namespace
}  // namespace gf
