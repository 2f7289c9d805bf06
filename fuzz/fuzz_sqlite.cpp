// Sound capture files and Nsight Systems exports with cells, tables and pages changed: what mutated
// bytes never reach, because a database whose pages do not fit together is refused early.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "analyze/analyze.h"
#include "import/importer.h"
#include "memory_file.h"
#include "model/check.h"
#include "model/file.h"
#include "report/json.h"

namespace {

constexpr const char* kExtremes[] = {"NULL",
                                     "0",
                                     "-1",
                                     "1",
                                     "9223372036854775807",
                                     "-9223372036854775808",
                                     "4611686018427387904",
                                     "9.3e18",
                                     "-9.3e18",
                                     "9e999",
                                     "-9e999",
                                     "5e-324",
                                     "4294967295",
                                     "2147483648",
                                     "'text'",
                                     "'9'",
                                     "''",
                                     "x''",
                                     "x'00ff'",
                                     "char(0) || 'after'",
                                     "printf('%.*c', 100000, 'x')",
                                     "zeroblob(1000)"};

/// An export with a few rows of what the importer reads.
constexpr const char* kExport = R"(
CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES('EXPORT_SCHEMA_VERSION', '3.11.0');
CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INT);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1790857026000000000);
CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES(1, 'gemm'), (2, 'cudaLaunchKernel_v7000'), (3, 'range');
CREATE TABLE TARGET_INFO_GPU(id INT, cuDevice INT, name TEXT, uuid TEXT, smCount INT,
  totalMemory INT, clockRate INT, computeMajor INT, computeMinor INT);
INSERT INTO TARGET_INFO_GPU VALUES(0, 0, 'NVIDIA H200', 'GPU-1', 132, 1000000, 1980000, 9, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, "end" INT, deviceId INT, contextId INT,
  streamId INT, correlationId INT, globalPid INT, demangledName INT, shortName INT, gridX INT,
  gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT, registersPerThread INT,
  staticSharedMemory INT, dynamicSharedMemory INT, graphNodeId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, "end" INT, deviceId INT, streamId INT,
  correlationId INT, globalPid INT, bytes INT, copyKind INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, "end" INT, globalTid INT, correlationId INT,
  nameId INT);
CREATE TABLE NVTX_EVENTS(start INT, "end" INT, eventType INT, text TEXT, textId INT,
  globalTid INT, domainId INT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 12) INSERT INTO
  CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 1000, i * 1000 + 400, 0, 1, 7, i, 16777216, 1, 1, 8, 1, 1,
  128, 1, 1, 32, 0, 0, NULL FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 12) INSERT INTO
  CUPTI_ACTIVITY_KIND_RUNTIME SELECT i * 1000 - 100, i * 1000 - 50, 16777217, i, 2 FROM n;
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(500, 600, 0, 7, 99, 16777216, 4096, 1);
INSERT INTO NVTX_EVENTS VALUES(900, 5000, 59, 'step', NULL, 16777217, 0);
)";

gf::Capture small_capture() {
  gf::Capture capture;
  capture.format = "kineto";
  const auto device = capture.device_row(0);
  capture.devices.name[device] = capture.strings.intern("NVIDIA H200");
  const auto thread = capture.threads.add();
  capture.threads.pid[thread] = 1;
  capture.threads.tid[thread] = 1;
  for (int i = 0; i < 12; ++i) {
    const gf::Nanos start = 1000 + 1000 * i;
    const auto op = capture.host_ops.add();
    capture.host_ops.start_ns[op] = start;
    capture.host_ops.duration_ns[op] = 700;
    capture.host_ops.thread[op] = thread;
    capture.host_ops.name[op] = capture.strings.intern("aten::mm");
    const auto call = capture.api_calls.add();
    capture.api_calls.start_ns[call] = start + 100;
    capture.api_calls.duration_ns[call] = 50;
    capture.api_calls.thread[call] = thread;
    capture.api_calls.kind[call] = gf::ApiKind::launch;
    capture.api_calls.correlation[call] = i;
    capture.api_calls.name[call] = capture.strings.intern("cudaLaunchKernel");
    const auto kernel = capture.activities.add();
    capture.activities.start_ns[kernel] = start + 200;
    capture.activities.duration_ns[kernel] = 400;
    capture.activities.device[kernel] = device;
    capture.activities.correlation[kernel] = i;
    capture.activities.name[kernel] = capture.strings.intern("gemm");
    const auto sample = capture.counter_samples.add();
    capture.counter_samples.start_ns[sample] = start;
    capture.counter_samples.duration_ns[sample] = 1000;
    capture.counter_samples.device[sample] = device;
    capture.counter_samples.metric[sample] = capture.strings.intern("sm.active");
    capture.counter_samples.value[sample] = 0.5;
  }
  gf::SampleBlock block;
  block.device = device;
  block.metrics = {capture.strings.intern("sm.active")};
  for (int i = 0; i < 16; ++i) {
    block.start_ns.push_back(1000 * i);
    block.end_ns.push_back(1000 * i + 1000);
    block.values.push_back(0.5f);
  }
  capture.sample_blocks.push_back(gf::pack(block));
  return capture;
}

using Bytes = std::vector<std::uint8_t>;

struct Table {
  std::string name;
  std::vector<std::string> columns;
};

/// A database to start from: its bytes and what can be changed in it.
struct Base {
  Bytes bytes;
  std::vector<Table> tables;
};

std::vector<std::string> texts(sqlite3* db, const std::string& sql) {
  std::vector<std::string> all;
  sqlite3_exec(
      db, sql.c_str(),
      [](void* out, int, char** cells, char**) {
        static_cast<std::vector<std::string>*>(out)->emplace_back(cells[0] ? cells[0] : "");
        return 0;
      },
      &all, nullptr);
  return all;
}

Bytes bytes_of(sqlite3* db) {
  sqlite3_int64 size = 0;
  unsigned char* data = sqlite3_serialize(db, "main", &size, 0);
  Bytes bytes(data, data + size);
  sqlite3_free(data);
  return bytes;
}

Base base_of(sqlite3* db) {
  Base base;
  for (const auto& name : texts(db, "SELECT name FROM sqlite_schema WHERE type = 'table'"))
    base.tables.push_back({name, texts(db, "SELECT name FROM pragma_table_info('" + name + "')")});
  base.bytes = bytes_of(db);
  return base;
}

gf::sqlite::Database memory_database() {
  auto db = gf::sqlite::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!db) std::abort();
  sqlite3_exec(db->get(), "PRAGMA page_size = 512; PRAGMA writable_schema = ON", nullptr, nullptr,
               nullptr);
  return std::move(*db);
}

const std::vector<Base>& bases() {
  static const std::vector<Base> all = [] {
    const auto capture = memory_database();
    if (!gf::store_capture(capture.get(), small_capture())) std::abort();
    const std::string identity =
        "PRAGMA application_id = " + std::to_string(gf::kCaptureFileId) +
        "; PRAGMA user_version = " + std::to_string(gf::kCaptureFileVersion);
    sqlite3_exec(capture.get(), identity.c_str(), nullptr, nullptr, nullptr);
    const auto nsight = memory_database();
    if (sqlite3_exec(nsight.get(), kExport, nullptr, nullptr, nullptr) != SQLITE_OK) std::abort();
    return std::vector<Base>{base_of(capture.get()), base_of(nsight.get())};
  }();
  return all;
}

std::string value(FuzzedDataProvider& input) {
  if (input.ConsumeBool()) return input.PickValueInArray(kExtremes);
  return std::to_string(input.ConsumeIntegral<std::int64_t>() >>
                        input.ConsumeIntegralInRange(0, 63));
}

std::string statement(FuzzedDataProvider& input, const Base& base) {
  const auto& table =
      base.tables[input.ConsumeIntegralInRange<std::size_t>(0, base.tables.size() - 1)];
  if (table.columns.empty()) return "";
  const auto& column =
      table.columns[input.ConsumeIntegralInRange<std::size_t>(0, table.columns.size() - 1)];
  const std::string one = " WHERE rowid = " + std::to_string(input.ConsumeIntegralInRange(0, 13));
  switch (input.ConsumeIntegralInRange(0, 9)) {
    case 0:
      return "UPDATE \"" + table.name + "\" SET \"" + column + "\" = " + value(input);
    case 1:
      return "DELETE FROM \"" + table.name + "\"" + one;
    case 2:
      return "DROP TABLE \"" + table.name + "\"";
    case 3:
      return "ALTER TABLE \"" + table.name + "\" RENAME COLUMN \"" + column + "\" TO other";
    case 4:
      return "ALTER TABLE \"" + table.name + "\" DROP COLUMN \"" + column + "\"";
    case 5:
      return "INSERT INTO \"" + table.name + "\"(\"" + column + "\") VALUES(" + value(input) + ")";
    default:
      return "UPDATE \"" + table.name + "\" SET \"" + column + "\" = " + value(input) + one;
  }
}

/// The base after the changes that the input asks for.
Bytes changed(FuzzedDataProvider& input) {
  const auto& base = bases()[input.ConsumeBool() ? 0 : 1];
  const auto db = memory_database();
  auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(base.bytes.size()));
  std::copy(base.bytes.begin(), base.bytes.end(), copy);
  const auto size = static_cast<sqlite3_int64>(base.bytes.size());
  sqlite3_deserialize(db.get(), "main", copy, size, size,
                      SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
  for (int changes = input.ConsumeIntegralInRange(1, 12); changes > 0; --changes)
    sqlite3_exec(db.get(), statement(input, base).c_str(), nullptr, nullptr, nullptr);
  Bytes bytes = bytes_of(db.get());
  constexpr std::size_t kHeader = 100;  // changed, the file would only be refused
  for (int pokes = input.ConsumeIntegralInRange(0, 4); pokes > 0 && bytes.size() > kHeader; --pokes)
    bytes[input.ConsumeIntegralInRange<std::size_t>(kHeader, bytes.size() - 1)] =
        input.ConsumeIntegral<std::uint8_t>();
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  static gf::fuzz::MemoryFile file;
  const Bytes bytes = changed(input);
  file.fill(bytes.data(), bytes.size());
  gf::ImportOptions options;
  options.max_bytes = 16 << 20;
  options.threads = 1;
  const auto capture = gf::import_file(file.path(), options);
  if (!capture) {
    if (capture.error().what.empty()) std::abort();
    return 0;
  }
  if (!gf::check_references(*capture, file.path())) std::abort();
  for (const char* window : {"all", "stable"}) {
    gf::AnalyzeOptions asked;
    asked.window = window;
    if (const auto analysis = gf::analyze(*capture, asked)) {
      std::string json;
      gf::to_json(json, *analysis);
    }
  }
  return 0;
}
