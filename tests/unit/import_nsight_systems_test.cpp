#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "import/formats.h"
#include "import/importer.h"
#include "model/sqlite.h"
#include "support/captures.h"
#include "support/folded.h"
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
  EXPECT_EQ(test::quality_of(c), (std::map<std::string, long>{
                                     {"bad_event", 5}, {"open_range", 1}, {"short_kernels", 1}}));
}

/// Little-endian, in the hexadecimal that SQL takes.
std::string hex(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += fmt::format("{:02x}", value >> (8 * i) & 0xff);
  return text;
}

/// A payload as the exporter writes it: domain, schema, size, offset, then the values.
std::string payload(std::uint64_t schema, const std::string& values) {
  return "x'" + hex(1, 8) + hex(schema, 8) + hex(values.size() / 2, 8) + hex(32, 8) + values + "'";
}

template <class Column>
std::vector<std::int64_t> values(const Column& column) {
  return {column.begin(), column.end()};
}

TEST(NsightSystems, RangesOfNcclDescribeItsKernels) {
  constexpr std::uint64_t kComm = 0xfedcba9876543210;
  const std::string init = payload(7, hex(kComm, 8) + hex(4, 4) + hex(2, 4) + hex(0, 8));
  const std::string reduce = payload(8, hex(kComm, 8) + hex(4096, 8) + hex(0, 8));
  const std::string send = payload(9, hex(kComm, 8) + hex(64, 8) + hex(3, 8));
  const Export file(
      R"sql(
    CREATE TABLE StringIds(id INTEGER, value TEXT);
    INSERT INTO StringIds VALUES (1, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'), (2,
      'cudaLaunchKernelExC_v11060'), (3, 'gemm'), (4, 'ncclDevKernel_SendRecv'), (5,
      'ncclSymkDevKernel_AllReduce_AGxLL_R_sum_f32');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER,
      contextId INTEGER, streamId INTEGER, correlationId INTEGER, shortName INTEGER,
      globalPid INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (200, 250, 0, 1, 7, 5, 1, 0x2A000000), (260,
      270, 0, 1, 7, 6, 3, 0x2A000000), (300, 350, 0, 1, 7, 7, 5, 0x2A000000), (400, 450, 0, 1, 7,
      8, 4, 0x2A000000);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, globalTid INTEGER,
      correlationId INTEGER, nameId INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (80, 90, 0x2A00002B, 5, 2), (95, 97,
      0x2A00002B, 6, 2), (130, 140, 0x2A00002B, 7, 2), (160, 170, 0x2A00002B, 8, 2);
    CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId INTEGER, schemaId INTEGER, idx INTEGER,
      type INTEGER, name TEXT, offset INTEGER);
    INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1, 7, 0, 18, 'NCCL communicator ID', 0), (1,
      7, 1, 5, 'No. of ranks', 8), (1, 7, 2, 5, 'Rank', 12), (1, 8, 0, 18,
      'NCCL communicator ID', NULL), (1, 8, 1, 22, 'Message size [bytes]', NULL), (1, 8, 2, 9001,
      'Reduction operation', NULL), (1, 9, 0, 18, 'NCCL communicator ID', 0), (1, 9, 1, 22,
      'Message size [bytes]', 8), (1, 9, 2, 5, 'Peer rank', 16);
    CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT,
      globalTid INTEGER, domainId INTEGER, binaryData BLOB);
    INSERT INTO NVTX_EVENTS VALUES
      (10, 20, 59, 'ncclCommInitRankConfig', 0x2A00002B, 1, )sql" +
      init + "), (70, 99, 59, 'ncclAllReduce', 0x2A00002B, 1, " + reduce +
      "), (110, 115, 59, 'ncclAllReduce', 0x2A00002B, 1, " + reduce +
      "), (116, 120, 59, 'ncclAllReduce', 0x2A00002B, 1, " + reduce +
      "), (150, 171, 59, 'ncclSend', 0x2A00002B, 1, " + send +
      "), (180, 190, 59, 'ncclAllReduce', 0x2A00002B, 1, x'00'), (190, 195, 59, 'x', 0x2A00002B, "
      "1, NULL);");
  const auto loaded = import_file(file.path());
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message();
  const Capture& c = *loaded;
  ASSERT_EQ(c.collectives.size(), 3u);
  const auto& told = c.collectives;
  EXPECT_EQ(values(told.activity), (std::vector<std::int64_t>{0, 2, 3}));
  EXPECT_EQ(c.text(told.name[0]), "ncclAllReduce");
  EXPECT_EQ(values(told.in_elements), (std::vector<std::int64_t>{4096, 8192, 64}));
  EXPECT_EQ(values(told.sequence), (std::vector<std::int64_t>{0, 1, -1}));
  EXPECT_EQ(told.group_size[0], 4);
  EXPECT_EQ(c.text(told.group_name[0]), "0xfedcba9876543210");
  EXPECT_EQ(told.from_rank[2], 2);
  EXPECT_EQ(told.to_rank[2], 3);
  EXPECT_EQ(c.metadata_value("nccl.rank"), "2");
  EXPECT_EQ(c.metadata_value("nccl.world_size"), "4");
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

TEST(NsightSystems, AnOlderExportNamesItsGpuInAnotherTable) {
  const Export file(R"sql(
    CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
    CREATE TABLE TARGET_INFO_GPU(vmId INTEGER, deviceId INTEGER, name TEXT, busLocation TEXT);
    INSERT INTO TARGET_INFO_GPU VALUES (281474976710656, 0, 'RTX 3080', '0000:02:00.0');
    CREATE TABLE TARGET_INFO_CUDA_GPU(vmId INTEGER, name TEXT, globalMemorySize INTEGER,
      coreClockRate INTEGER, numMultiprocessors INTEGER, computeCapabilityMajor INTEGER,
      computeCapabilityMinor INTEGER, deviceId INTEGER, pid INTEGER);
    INSERT INTO TARGET_INFO_CUDA_GPU VALUES (281474976710656, 'RTX 3080', 10495524864, 1740000, 68,
      8, 6, 0, 7);
  )sql");
  const auto loaded = import_file(file.path());
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message();
  const auto& devices = loaded->devices;
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(loaded->text(devices.name[0]), "RTX 3080");
  EXPECT_EQ(devices.sm_count[0], 68);
  EXPECT_EQ(devices.memory_bytes[0], 10495524864);
  EXPECT_EQ(devices.clock_khz[0], 1740000);
}

TEST(NsightSystems, AnAdapterWithoutCudaIsNoGpu) {
  const Export file(R"sql(
    CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
    CREATE TABLE TARGET_INFO_GPU(id INTEGER, cuDevice INTEGER, name TEXT, smCount INTEGER);
    INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'RTX 4060', 24),
      (1, 0, 'Microsoft Basic Render Driver', 0);
  )sql");
  const auto loaded = import_file(file.path());
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message();
  ASSERT_EQ(loaded->devices.size(), 1u);
  EXPECT_EQ(loaded->text(loaded->devices.name[0]), "RTX 4060");
  EXPECT_EQ(loaded->devices.sm_count[0], 24);
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

TEST(NsightSystems, WhatAllRowsShareIsKeptOnce) {
  const Export file(R"sql(
    CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
    CREATE TABLE StringIds(id INTEGER, value TEXT);
    INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE at(i) AS (SELECT 0 UNION ALL
      SELECT i + 1 FROM at WHERE i < 999) SELECT 1000 * i + 50 AS start, 1000 * i + 550 AS end,
      0 AS deviceId, 1 AS contextId, 7 AS streamId, i AS correlationId, 16777216 AS globalPid,
      1 AS demangledName, 64 AS gridX, 1 AS gridY, 1 AS gridZ, 128 AS blockX, 1 AS blockY,
      1 AS blockZ, 32 AS registersPerThread, 0 AS staticSharedMemory,
      16 AS dynamicSharedMemory FROM at;
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME AS SELECT start - 40 AS start, start - 10 AS end,
      16777217 AS globalTid, correlationId, 2 AS nameId FROM CUPTI_ACTIVITY_KIND_KERNEL;
    CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION AS SELECT end AS start, end + 5 AS end,
      0 AS deviceId, 7 AS streamId, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL;
    CREATE TABLE NVTX_EVENTS AS SELECT start - 45 AS start, end + 10 AS end, 59 AS eventType,
      'layer' AS text, 16777217 AS globalTid FROM CUPTI_ACTIVITY_KIND_KERNEL;
    CREATE TABLE TARGET_INFO_GPU_METRICS(typeId INTEGER, metricId INTEGER, metricName TEXT);
    INSERT INTO TARGET_INFO_GPU_METRICS VALUES (256, 1, 'SMs Active [Throughput %]');
    CREATE TABLE GPU_METRICS AS SELECT start AS timestamp, 256 AS typeId, 1 AS metricId,
      50 AS value FROM CUPTI_ACTIVITY_KIND_KERNEL;
  )sql");
  const auto loaded = import_file(file.path());
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message();
  EXPECT_EQ(test::unfolded_columns(*loaded), std::vector<std::string>{});
  EXPECT_TRUE(loaded->activities.duration_ns.folded());
  EXPECT_EQ(loaded->activities.size(), 1000U);
  EXPECT_EQ(loaded->activities.shared_bytes[999], 16);
  EXPECT_EQ(loaded->syncs.size(), 1000U);
  EXPECT_EQ(loaded->counter_samples.duration_ns[999], 1000);
  EXPECT_EQ(loaded->counter_samples.start_ns[999], 998'050);
}

constexpr const char* kTwoKernels = R"sql(
    CREATE TABLE StringIds(id INTEGER, value TEXT);
    INSERT INTO StringIds VALUES (1, 'gemm'), (3, 'step 1');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER,
      streamId INTEGER, correlationId INTEGER, shortName INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 150, 0, 7, 5, 1), (200, 300, 0, 7, 6, 1);
    CREATE TABLE NVTX_EVENTS_V2(start INTEGER, end INTEGER, eventType INTEGER, textId INTEGER,
      globalTid INTEGER);
    INSERT INTO NVTX_EVENTS_V2 VALUES (70, 310, 59, 3, 0x2A00002B);
  )sql";

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string packed(const std::string& content) {
  std::string out(ZSTD_compressBound(content.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), content.data(), content.size(), 3));
  return out;
}

// Exports since 2026.1 may call the table of ranges so.
TEST(NsightSystems, RangesOfANewerTable) {
  const Export file(kTwoKernels);
  const auto c = import_file(file.path());
  ASSERT_TRUE(c.has_value()) << c.error().message();
  ASSERT_EQ(c->host_ops.size(), 1u);
  EXPECT_EQ(c->text(c->host_ops.name[0]), "step 1");
}

TEST(NsightSystems, ACompressedExportIsReadAsItIs) {
  const Export file(kTwoKernels);
  const test::TempDir dir;
  const auto whole = bytes_of(file.path());
  const auto path = dir.file("run.sqlite.zst");
  std::ofstream(path, std::ios::binary) << packed(whole);
  const auto c = import_file(path);
  ASSERT_TRUE(c.has_value()) << c.error().message();
  EXPECT_EQ(c->path, path);
  EXPECT_EQ(c->bytes, static_cast<std::int64_t>(whole.size()));
  ASSERT_EQ(c->activities.size(), 2u);
  EXPECT_EQ(c->activities.duration_ns[0] + c->activities.duration_ns[1], 150);

  ImportOptions small;
  small.max_bytes = whole.size() - 1;
  const auto refused = import_file(path, small);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().what.find("grows past the limit"), std::string::npos)
      << refused.error().message();

  std::ofstream(path, std::ios::binary) << packed(whole).substr(0, packed(whole).size() - 9);
  const auto cut = import_file(path);
  ASSERT_FALSE(cut.has_value());
  EXPECT_NE(cut.error().what.find("zstd data ends early"), std::string::npos)
      << cut.error().message();
}

// Its copies have the names of an export's tables, its kernels do not.
TEST(NsightSystems, ADatabaseOfNvprofIsNoExport) {
  constexpr const char* kCopies = R"sql(
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (100, 150, 0);
    CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT);)sql";
  const Export serial(std::string(kCopies) +
                      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER);");
  const Export usual(
      std::string(kCopies) +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start INTEGER, end INTEGER);");
  for (const auto* file : {&serial, &usual}) {
    const auto c = import_file(file->path());
    ASSERT_TRUE(c.has_value()) << c.error().message();
    EXPECT_EQ(c->format, "nvprof");
    EXPECT_EQ(c->activities.size(), 1u);
    const auto opened = nsys::load(file->path(), {});
    ASSERT_FALSE(opened.has_value());
    EXPECT_NE(opened.error().what.find("database of nvprof"), std::string::npos);
  }
}

TEST(NsightSystems, AnEmptyExportSaysSo) {
  const Export file("CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);");
  const auto c = import_file(file.path());
  ASSERT_TRUE(c.has_value()) << c.error().message();
  EXPECT_EQ(test::quality_of(*c), (std::map<std::string, long>{{"no_events", 1}}));
}

}  // namespace
}  // namespace gf
