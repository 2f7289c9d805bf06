#include <gtest/gtest.h>

#include "import/trace_rows.h"
#include "support/folded.h"

namespace gf {
namespace {

TEST(TraceRows, WhatAllRowsShareIsKeptOnce) {
  Capture capture;
  TraceRows rows(capture);
  DeviceWork work{.device = rows.device(0, "nvidia"), .name = capture.strings.intern("gemm")};
  work.stream = 7;
  work.grid = {64, 1, 1};
  const auto thread = rows.thread(1, 2);
  for (Nanos start = 0; start < 1000; start += 10) {
    work.start = work.correlation = start;
    work.end = start + 5;
    rows.work(work);
    rows.call(start, start + 1, thread, "cudaLaunchKernel", start);
    rows.range(start, start + 8, thread, "layer");
  }
  work = {.start = 2000, .end = 2001, .device = 0, .kind = ActivityKind::memcpy};
  work.copy = CopyKind::host_to_device;
  work.bytes = 4096;
  rows.work(work);
  rows.operation(2000, 2010, thread, "aten::copy_", 7);
  rows.finish();
  EXPECT_EQ(test::unfolded_columns(capture), std::vector<std::string>{});
  EXPECT_TRUE(capture.api_calls.duration_ns.folded());
  const auto& activities = std::as_const(capture.activities);
  ASSERT_EQ(activities.size(), 101U);
  activities.each_column([](const ColumnInfo& info, const auto& column) {
    EXPECT_EQ(column.size(), 101U) << info.name;
  });
  EXPECT_EQ(activities.grid_x[99], 64);
  EXPECT_EQ(activities.grid_x[100], -1);
  EXPECT_EQ(activities.bytes[99], -1);
  EXPECT_EQ(activities.bytes[100], 4096);
  EXPECT_EQ(capture.text(activities.name[100]), "Memcpy HtoD");
  ASSERT_EQ(capture.host_ops.size(), 101U);
  EXPECT_EQ(std::as_const(capture.host_ops).external_id[99], -1);
  EXPECT_EQ(std::as_const(capture.host_ops).external_id[100], 7);
}

}  // namespace
}  // namespace gf
