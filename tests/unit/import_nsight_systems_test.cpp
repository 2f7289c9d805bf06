#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "import/importer.h"
#include "model/sqlite.h"
#include "support/report_view.h"

namespace gf {
namespace {

/// A database file that goes away with the test.
class Export {
 public:
  explicit Export(const std::string& sql) {
    path_ =
        (std::filesystem::temp_directory_path() /
         ("gf_nsys_test_" + std::to_string(::getpid()) + "_" + std::to_string(next_++) + ".sqlite"))
            .string();
    std::filesystem::remove(path_);
    auto db = sqlite::open(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    const auto done = sqlite::execute(db->get(), sql, path_);
    EXPECT_TRUE(done.has_value()) << done.error().message();
  }
  ~Export() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  static inline int next_ = 0;
  std::string path_;
};

TEST(NsightSystems, OldAndPartialSchemas) {
  const Export file(R"sql(
    CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
    INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '2.1.0');
    CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER);
    INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1000000);
    CREATE TABLE StringIds(id INTEGER, value TEXT);
    INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000'), (3, 'step 1');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER,
      contextId INTEGER, streamId INTEGER, correlationId INTEGER, shortName INTEGER,
      gridX INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 150, 0, 1, 7, 5, 1, 32), (300, 200, 0, 1,
      7, 6, 1, 32), (9223372036854775807, 9223372036854775807, 0, 1, 7, 6, 1, 32), (NULL, 5, 0,
      1, 7, 6, 1, 1);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, globalTid INTEGER,
      correlationId INTEGER, nameId INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (80, 90, 0x2A00002B, 5, 2);
    CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT,
      textId INTEGER, globalTid INTEGER);
    INSERT INTO NVTX_EVENTS VALUES (70, 200, 59, NULL, 3, 0x2A00002B), (75, NULL, 60, 'open',
      NULL, 0x2A00002B), (76, NULL, 34, 'mark', NULL, 0x2A00002B);
    CREATE TABLE TARGET_INFO_GPU_METRICS(typeId INTEGER, metricId INTEGER, metricName TEXT);
    INSERT INTO TARGET_INFO_GPU_METRICS VALUES (256, 1, 'SMs Active [Throughput %]'), (256, 2,
      'DRAM Read Bandwidth [Throughput %]');
    CREATE TABLE GPU_METRICS(rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER,
      metricId INTEGER, value INTEGER);
    INSERT INTO GPU_METRICS VALUES (1, 110, 256, 1, 50), (1, 110, 256, 2, 12), (1, -5, 256, 1,
      50), (1, 110, 999, 1, 50);
  )sql");
  const auto loaded = import_file(file.path());
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message();
  const Capture& c = *loaded;
  EXPECT_EQ(c.format, "nsight_systems");
  ASSERT_EQ(c.activities.size(), 1u);
  EXPECT_EQ(c.activities.start_ns[0], 1000100);
  EXPECT_EQ(c.activities.duration_ns[0], 50);
  EXPECT_EQ(c.text(c.activities.name[0]), "gemm");
  EXPECT_EQ(c.activities.grid_x[0], 32);
  EXPECT_EQ(c.activities.grid_y[0], -1);  // a column that the version lacks: not known
  EXPECT_EQ(c.activities.shared_bytes[0], -1);
  ASSERT_EQ(c.api_calls.size(), 1u);
  EXPECT_EQ(c.text(c.api_calls.name[0]), "cudaLaunchKernel");
  EXPECT_EQ(c.api_calls.kind[0], ApiKind::launch);
  EXPECT_EQ(c.threads.pid[c.api_calls.thread[0]], 0x2A);
  EXPECT_EQ(c.threads.tid[c.api_calls.thread[0]], 0x2B);
  ASSERT_EQ(c.host_ops.size(), 2u);
  EXPECT_EQ(c.text(c.host_ops.name[0]), "step 1");
  EXPECT_EQ(c.host_ops.duration_ns[0], 130);
  EXPECT_EQ(c.text(c.host_ops.name[1]), "open");
  ASSERT_EQ(c.counter_samples.size(), 2u);
  EXPECT_EQ(c.text(c.counter_samples.metric[0]), "sm.active_any");
  EXPECT_EQ(c.counter_samples.value[0], 0.5);
  EXPECT_EQ(test::quality_of(c),
            (std::map<std::string, long>{{"bad_event", 5}, {"open_range", 1}}));
}

TEST(NsightSystems, RangesOfPyTorchAreItsOperations) {
  const Export file(R"sql(
    CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
    CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT,
      globalTid INTEGER);
    INSERT INTO NVTX_EVENTS VALUES
      (10, 20, 59, 'aten::mm, seq = 7, op_id = 3, sizes = [[2, 4], [4, 8]]', 1),
      (30, 40, 59, 'aten::mm, seq = 8, op_id = 4, sizes = [[2, 4], [4, 8]]', 1);
  )sql");
  const auto loaded = import_file(file.path());
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message();
  const auto& ops = loaded->host_ops;
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(loaded->text(ops.name[0]), "aten::mm");
  EXPECT_EQ(ops.name[1], ops.name[0]);
  EXPECT_EQ(ops.kind[0], HostKind::op);
  EXPECT_EQ(ops.sequence[1], 8);
  EXPECT_EQ(loaded->text(ops.shapes[0]), "[[2, 4], [4, 8]]");
}

TEST(NsightSystems, MetricsGoToTheirGpu) {
  const Export file(R"sql(
    CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
    CREATE TABLE TARGET_INFO_GPU(id INTEGER, cuDevice INTEGER, name TEXT, uuid TEXT);
    INSERT INTO TARGET_INFO_GPU VALUES (0, 1, 'first in the machine', 'a'), (1, 0, 'second',
      'b');
    CREATE TABLE TARGET_INFO_GPU_METRICS(typeId INTEGER, metricId INTEGER, metricName TEXT);
    INSERT INTO TARGET_INFO_GPU_METRICS VALUES (1024, 1, 'GR Active [Throughput %]'), (1025, 1,
      'GR Active [Throughput %]'), (1025, 2, 'PCIe RX Throughput [Throughput %]');
    CREATE TABLE GPU_METRICS(timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER);
    INSERT INTO GPU_METRICS VALUES (10, 1024, 1, 70), (10, 1025, 1, 20), (10, 1025, 2, 3);
  )sql");
  const auto loaded = import_file(file.path());
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message();
  const auto& s = loaded->counter_samples;
  ASSERT_EQ(s.size(), 3u);
  EXPECT_EQ(loaded->text(loaded->devices.name[s.device[0]]), "first in the machine");
  EXPECT_EQ(loaded->devices.id[s.device[0]], 1);  // CUDA's number, which kernels have too
  EXPECT_DOUBLE_EQ(s.value[0], 0.7);
  EXPECT_EQ(loaded->text(loaded->devices.name[s.device[1]]), "second");
  EXPECT_EQ(loaded->text(s.metric[2]), "PCIe RX Throughput [Throughput %]");
  EXPECT_EQ(s.value[2], 3);
}

TEST(NsightSystems, AnEmptyExportSaysSo) {
  const Export file("CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);");
  const auto c = import_file(file.path());
  ASSERT_TRUE(c.has_value()) << c.error().message();
  EXPECT_EQ(test::quality_of(*c), (std::map<std::string, long>{{"no_events", 1}}));
}

}  // namespace
}  // namespace gf
