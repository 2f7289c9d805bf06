// Traces and logs of other tools, each in the shape that its writer gives them: what is read, what
// links, and that damage is said.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/importer.h"
#include "model/launches.h"
#include "model/sqlite.h"
#include "support/captures.h"

namespace gf {
namespace {

using namespace std::string_view_literals;

void write(const std::string& path, std::string_view content) {
  std::filesystem::remove(path);
  if (!content.starts_with("CREATE TABLE")) {
    std::ofstream(path, std::ios::binary) << content;
    return;
  }
  auto db = sqlite::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  ASSERT_TRUE(db);
  const auto made = sqlite::execute(db->get(), std::string(content), path);
  ASSERT_TRUE(made) << made.error().message();
}

/// Time in which a GPU works: the union of all that ran.
Nanos busy(const Capture& capture, std::int32_t gpu) {
  std::vector<std::pair<Nanos, Nanos>> spans;
  const auto& rows = capture.activities;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (capture.devices.id[rows.device[i]] == gpu)
      spans.emplace_back(rows.start_ns[i], rows.start_ns[i] + rows.duration_ns[i]);
  std::ranges::sort(spans);
  Nanos sum = 0, last = INT64_MIN;
  for (const auto& [start, end] : spans) {
    sum += std::max<Nanos>(end - std::max(start, last), 0);
    last = std::max(last, end);
  }
  return sum;
}

std::size_t linked(const Capture& capture) {
  return static_cast<std::size_t>(std::ranges::count_if(
      join_launches(capture), [](std::uint32_t call) { return call != kNoRow; }));
}

// A copy from 1000 to 2000 ns, two kernels from 3000 to 5000 and 4500 to 6000 of one GPU, where the
// format says so much.
struct Sample {
  std::string_view file, content, format;
  Nanos busy;
  std::size_t rows, calls, linked;
};

constexpr Sample kSamples[] = {
    {"run.nvvp",
     "CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT);"
     "INSERT INTO StringTable VALUES(1, 'gemm'), (2, 'Tesla V100');"
     "CREATE TABLE CUPTI_ACTIVITY_KIND_DEVICE(id INT, name INT, numMultiprocessors INT);"
     "INSERT INTO CUPTI_ACTIVITY_KIND_DEVICE VALUES(0, 2, 80);"
     "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, streamId INT,"
     " correlationId INT, bytes INT, copyKind INT);"
     "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(1000, 2000, 0, 7, 1, 64, 1);"
     "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start INT, end INT, deviceId INT,"
     " streamId INT, correlationId INT, name INT);"
     "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES(3000, 5000, 0, 7, 2, 1),"
     " (4500, 6000, 0, 8, 3, 1);"
     "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, cbid INT, processId INT,"
     " threadId INT, correlationId INT);"
     "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(900, 950, 41, 5, 5, 1),"
     " (2900, 2950, 211, 5, 5, 2), (2960, 2990, 211, 5, 5, 3)",
     "nvprof", 4000, 3, 3, 3},
    {"trace.csv",
     "==5== NVPROF is profiling process 5, command: train\n"
     "\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid "
     "Z\",\"Size\",\"Device\",\"Stream\",\"Name\"\n"
     "us,us,,,,KB,,,\n"
     "1.0,1.0,,,,1.0,\"Tesla V100 (0)\",7,\"[CUDA memcpy HtoD]\"\n"
     "==5== Warning: something\n"
     "3.0,2.0,8,1,1,,\"Tesla V100 (0)\",7,\"gemm\"\n"
     "4.5,1.5,8,1,1,,\"Tesla V100 (0)\",8,\"gemm\"\n",
     "gpu_trace_csv", 4000, 3, 0, 0},
    {"r_cuda_gpu_trace.csv",
     "Generating SQLite file r.sqlite from r.nsys-rep\n"
     "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,Bytes (MB),Device,Strm,Name\n"
     "1000,1000,1,None,None,None,1.0,NVIDIA H100 (0),7,[CUDA memcpy Host-to-Device]\n"
     "3000,2000,2,8,1,1,,NVIDIA H100 (0),7,\"gemm<1, 2>\"\n"
     "4500,1500,3,8,1,1,,NVIDIA H100 (0),8,gemm\n",
     "gpu_trace_csv", 4000, 3, 0, 0},
    {"r.jsonl",
     "{\"data\": [\"[Unknown]\", \"gemm\", \"cudaLaunchKernel_v7000\"]}\n"
     R"({"Type": 48, "TraceProcessEvent": {"startNs": "900", "endNs": "950", "correlationId": 2,)"
     R"("name": "2", "globalTid": "283929953173546"}})"
     "\n"
     R"({"Type": 80, "CudaEvent": {"startNs": "1000", "endNs": "2000", "correlationId": 1,)"
     R"("deviceId": 0, "streamId": "7", "memcpy": {"sizebytes": "64", "copyKind": "1"}}})"
     "\n"
     R"({"Type": 79, "CudaEvent": {"startNs": "3000", "endNs": "5000", "correlationId": 2,)"
     R"("deviceId": 0, "streamId": "7", "globalPid": "283929953173504",)"
     R"("kernel": {"demangledName": "1", "gridX": 8}}})"
     "\n"
     R"({"Type": 79, "CudaEvent": {"startNs": "4500", "endNs": "6000", "correlationId": 3,)"
     R"("deviceId": 0, "streamId": "8", "kernel": {"demangledName": "1", "gridX": 8}}})"
     "\n",
     "nsight_systems_json", 4000, 3, 1, 1},
    {"9_results.json",
     R"({"rocprofiler-sdk-tool": [{"metadata": {"pid": 9}, "agents": [)"
     R"({"id": {"handle": 40}, "type": 1}, {"id": {"handle": 41}, "type": 2, "cu_count": 304,)"
     R"( "product_name": "AMD Instinct MI300X"}], "strings": {"buffer_records": [)"
     R"({"kind": "HIP_RUNTIME_API", "operations": ["none", "hipLaunchKernel"]}]},)"
     R"("kernel_symbols": [{"kernel_id": 5, "formatted_kernel_name": "gemm"}],)"
     R"("buffer_records": {"hip_api": [{"kind": 0, "operation": 1, "thread_id": 9,)"
     R"("correlation_id": {"internal": 2}, "start_timestamp": 900, "end_timestamp": 950}],)"
     R"("kernel_dispatch": [{"start_timestamp": 3000, "end_timestamp": 5000, "thread_id": 9,)"
     R"("correlation_id": {"internal": 2}, "dispatch_info": {"agent_id": {"handle": 41},)"
     R"("queue_id": {"handle": 1}, "kernel_id": 5, "workgroup_size": {"x": 256, "y": 1, "z": 1},)"
     R"("grid_size": {"x": 2560, "y": 1, "z": 1}}, "stream_id": {"handle": 3}},)"
     R"({"start_timestamp": 4500, "end_timestamp": 6000, "correlation_id": {"internal": 3},)"
     R"("dispatch_info": {"agent_id": {"handle": 41}, "kernel_id": 5}, "stream_id": {"handle": 4}}],)"
     R"("memory_copy": [{"start_timestamp": 1000, "end_timestamp": 2000, "bytes": 64,)"
     R"("src_agent_id": {"handle": 40}, "dst_agent_id": {"handle": 41}}]}}]})",
     "rocprofv3_json", 4000, 3, 1, 1},
    {"9_results.db",
     "CREATE TABLE rocpd_metadata_ab(tag TEXT, value TEXT);"
     "INSERT INTO rocpd_metadata_ab VALUES('schema_version', '3');"
     "CREATE TABLE rocpd_string_ab(id INT, string TEXT);"
     "INSERT INTO rocpd_string_ab VALUES(1, 'hipLaunchKernel'), (2, 'MEMORY_COPY_HOST_TO_DEVICE');"
     "CREATE TABLE rocpd_info_agent_ab(id INT, type TEXT, type_index INT, product_name TEXT);"
     "INSERT INTO rocpd_info_agent_ab VALUES(0, 'CPU', 0, ''), (2, 'GPU', 0, 'AMD Instinct "
     "MI300X');"
     "CREATE TABLE rocpd_info_kernel_symbol_ab(id INT, display_name TEXT);"
     "INSERT INTO rocpd_info_kernel_symbol_ab VALUES(4, 'gemm');"
     "CREATE TABLE rocpd_event_ab(id INT, stack_id INT, correlation_id INT);"
     "INSERT INTO rocpd_event_ab VALUES(1, 11, 0), (2, 11, 0), (3, 12, 0);"
     "CREATE TABLE rocpd_kernel_dispatch_ab(start INT, \"end\" INT, pid INT, agent_id INT,"
     " kernel_id INT, stream_id INT, event_id INT, grid_size_x INT, workgroup_size_x INT);"
     "INSERT INTO rocpd_kernel_dispatch_ab VALUES(3000, 5000, 7, 2, 4, 1, 2, 2560, 256),"
     " (4500, 6000, 7, 2, 4, 2, 3, 2560, 256);"
     "CREATE TABLE rocpd_memory_copy_ab(start INT, \"end\" INT, pid INT, name_id INT,"
     " dst_agent_id INT, src_agent_id INT, size INT);"
     "INSERT INTO rocpd_memory_copy_ab VALUES(1000, 2000, 7, 2, 2, 0, 64);"
     "CREATE TABLE rocpd_region_ab(start INT, \"end\" INT, pid INT, tid INT, name_id INT,"
     " event_id INT);"
     "INSERT INTO rocpd_region_ab VALUES(900, 950, 7, 7, 1, 1)",
     "rocpd", 4000, 3, 1, 1},
    {"trace.rpd",
     "CREATE TABLE rocpd_string(id INT, string TEXT);"
     "INSERT INTO rocpd_string VALUES(1, 'hipLaunchKernel'), (2, 'gemm'), (3, 'KernelExecution'),"
     " (4, 'CopyHostToDevice'), (5, ''), (6, 'Task'), (7, 'hipGraphLaunch');"
     "CREATE TABLE rocpd_api(id INT, pid INT, tid INT, start INT, \"end\" INT, apiName_id INT);"
     "INSERT INTO rocpd_api VALUES(1, 5, 5, 900, 950, 1), (2, 5, 5, 960, 990, 7);"
     "CREATE TABLE rocpd_op(id INT, gpuId INT, queueId INT, start INT, \"end\" INT,"
     " description_id INT, opType_id INT);"
     "INSERT INTO rocpd_op VALUES(1, 0, 1, 1000, 2000, 5, 4), (2, 0, 1, 3000, 5000, 2, 3),"
     " (3, 0, 2, 4500, 6000, 5, 6);"
     "CREATE TABLE rocpd_api_ops(api_id INT, op_id INT);"
     "INSERT INTO rocpd_api_ops VALUES(1, 2), (2, 3);"
     "CREATE TABLE rocpd_monitor(deviceType TEXT, deviceId INT, monitorType TEXT, start INT,"
     " \"end\" INT, value TEXT);"
     "INSERT INTO rocpd_monitor VALUES('gpu', 0, 'sclk', 1000, 2000, '2100')",
     "rpd", 4000, 3, 2, 2},
    {"app.1.json",
     R"({ "traceEvents":[{"ph": "M", "name": "process_name", "pid": 9, "ts": 0,)"
     R"("args": {"name": "[RANK 0] DEVICE<Level Zero> 0 Intel(R) Max 1550"}},)"
     R"({"ph": "X", "tid": 1, "pid": 9, "name": "zeCommandListAppendMemoryCopy(M2D)[64 bytes]",)"
     R"("cat": "gpu_op", "ts": 1790000000000001.000000, "dur": 1.0, "args": {"id": "1"}},)"
     R"({"ph": "s", "tid": 4, "pid": 4, "cat": "Flow_H2D_2_0", "ts": 1790000000000000.9, "id": 2},)"
     R"({"ph": "X", "tid": 4, "pid": 4, "name": "zeCommandQueueExecuteCommandLists",)"
     R"("cat": "cpu_op", "ts": 1790000000000000.900, "dur": 0.05},)"
     R"({"ph": "X", "tid": 1, "pid": 9, "name": "gemm[SIMD32 {304; 1; 2} {256; 1; 1}]",)"
     R"("cat": "gpu_op", "ts": 1790000000000003.000000, "dur": 2.0, "args": {"id": "2"}},)"
     R"({"ph": "X", "tid": 2, "pid": 9, "name": "gemm[SIMD32 {304; 1; 2} {256; 1; 1}]",)"
     R"("cat": "gpu_op", "ts": 1790000000000004.500000, "dur": 1.5, "args": {"id": "3"}}]})",
     "unitrace", 4000, 3, 1, 1},
    {"p.chrome_trace",
     R"({"displayTimeUnit":"us","traceEvents":[{"name":"gemm","cat":"kernel","ph":"X","ts":3.0,)"
     R"("dur":2.0,"tid":1,"args":{"call_stack":["ROOT","gemm"]}}]})"
     "\n"
     R"({"displayTimeUnit":"us","traceEvents":[{"name":"gemm","cat":"kernel","ph":"X","ts":4.5,)"
     R"("dur":1.5,"tid":2,"args":{"call_stack":["ROOT","gemm"]}}]})"
     "\n",
     "proton", 3000, 2, 0, 0},
    {"times.json",
     R"([{"startEnqMs": 0.0005, "endEnqMs": 0.0009, "startH2dMs": 0.001, "endH2dMs": 0.002,)"
     R"("startComputeMs": 0.003, "endComputeMs": 0.006, "startD2hMs": 0.006, "endD2hMs": 0.006}])",
     "trtexec", 4000, 3, 0, 0},
    {"trace.pftrace",
     "\x0a\x15\x50\x09\x62\x0f\xc2\x01\x0c\x08\x0b\x12\x08gemm_k_1\x68\x01"
     "\x0a\x11\x40\xb8\x17\x50\x09\xaa\x03\x09\x10\xd0\x0f\x58\x00\x68\x01\x70\x0b"
     "\x0a\x11\x40\x94\x23\x50\x09\xaa\x03\x09\x10\xdc\x0b\x58\x00\x68\x02\x70\x0b"sv,
     "perfetto", 3000, 2, 0, 0},
    {"kernel_details.csv",
     "Stream ID,Name,Accelerator Core,Start Time(us),Duration(us)\n"
     "1,MatMul,AI_CORE,\"1736413971558973.000\t\",2.0\n"
     "N/A,hcom_allReduce,HCCL,\"1736413971558974.500\t\",1.5\n",
     "ascend", 3000, 2, 0, 0},
    // Two arrows end where a task begins: from its call, and from the framework's operation. Tasks
    // that wait for others are no work.
    {"trace_view.json",
     R"([{"ph":"M","name":"process_name","pid":4,"tid":0,"args":{"name":"Ascend Hardware"}},)"
     R"({"ph":"M","name":"process_name","pid":7,"tid":0,"args":{"name":"Python"}},)"
     R"({"ph":"M","name":"process_name","pid":702,"tid":0,"args":{"name":"CANN"}},)"
     R"({"ph":"X","cat":"cpu_op","name":"aten::add","pid":7,"tid":7,"ts":"2.500","dur":2.0},)"
     R"({"ph":"X","name":"AscendCL@aclnnAdd","pid":702,"tid":8,"ts":"2.600","dur":0.2},)"
     R"({"ph":"s","cat":"HostToDevice","id":"9","pid":702,"tid":8,"ts":"2.700"},)"
     R"({"ph":"f","cat":"HostToDevice","id":"9","pid":4,"tid":3,"ts":"3.000"},)"
     R"({"ph":"X","name":"aclnnAdd_Add","pid":4,"tid":3,"ts":"3.000","dur":2.0,)"
     R"("args":{"Task Type":"AI_CORE"}},{"ph":"X","name":"Notify_Wait","pid":4,"tid":3,)"
     R"("ts":"9.000","dur":5.0,"args":{"Task Type":"NOTIFY_WAIT"}},)"
     R"({"ph":"X","name":"MEMCPY_ASYNC","pid":4,"tid":4,"ts":"4.500","dur":1.5,)"
     R"("args":{"Task Type":"MEMCPY_ASYNC"}}])",
     "ascend_trace", 3000, 2, 1, 1},
    {"ort.json",
     R"([{"cat" : "Session","pid" :8,"tid" :8,"dur" :1,"ts" :0,"ph" : "X","name" :)"
     R"("session_initialization","args" : {}},{"cat" : "Node","pid" :8,"tid" :8,"dur" :1,"ts" :1,)"
     R"("ph" : "X","name" :"MatMul_1_kernel_time","args" : {"op_name" : "MatMul",)"
     R"("provider" : "CUDAExecutionProvider"}},{"cat" : "Kernel","pid" :-1,"tid" :-1,"dur" :2,)"
     R"("ts" :3,"ph" : "X","name" :"gemm","args" : {"stream" : "7","grid_x" : "8"}},)"
     R"({"cat" : "Kernel","pid" :-1,"tid" :-1,"dur" :1,"ts" :4,"ph" : "X","name" :)"
     R"("MemcpyHostToDevice","args" : {"stream" : "8"}}])",
     "onnxruntime", 2000, 2, 0, 0},
    // PyTorch 2.14: what is said of a track is in its slices; all begin before any ends.
    {"torch.pftrace",
     "\x0a\x15\xe2\x03\x12\x08\x01\x22\x0e\x08\x05\x10\x06*\x08thread 6"
     "\x0a\x15\xe2\x03\x12\x08\x02\x22\x0e\x08\x00\x10\x07*\x08stream 7"
     "\x0a\x15\xe2\x03\x12\x08\x03\x22\x0e\x08\x00\x10\x08*\x08stream 8"
     "\x0aQP\x01h\x01\x62K\x12\x0c\x08\x01\x12\x08\x61ten::mm\x12\x14\x08\x02\x12\x10\x63u"
     "daLaunchKernel\x12\x08\x08\x03\x12\x04gemm\x12\x0a\x08\x04\x12\x06Memcpy\x12\x0f\x08"
     "\x05\x12\x0bStream Sync"
     "\x0a @\xe0\x12P\x01h\x02Z\x17H\x01X\x01P\x01\x22\x0fR\x0b\x45xternal id \x04"
     "\x0a+@\x84\x07P\x01h\x02Z\x22H\x01X\x01P\x02\x22\x09R\x04\x63\x62id \xd3\x01\x22\x0f"
     "R\x0b\x63orrelation \x01"
     "\x0a+@\xd4\x16P\x01h\x02Z\x22H\x01X\x01P\x02\x22\x09R\x04\x63\x62id \xd3\x01\x22\x0f"
     "R\x0b\x63orrelation \x02"
     "\x0a+@\x90\x17P\x01h\x02Z\x22H\x01X\x01P\x02\x22\x09R\x04\x63\x62id \xd3\x01\x22\x0f"
     "R\x0b\x63orrelation \x03"
     "\x0a\x62@\xb8\x17P\x01h\x02ZYH\x01X\x02P\x03\x22\x0aR\x06\x64\x65vice \x00\x22\x0aR"
     "\x06stream \x07\x22\x0fR\x0b\x63orrelation \x02\x22\x12R\x04gridb\x02 \x08\x62\x02 "
     "\x01\x62\x02 \x01\x22\x14R\x05\x62lockb\x03 \x80\x01\x62\x02 \x01\x62\x02 \x01"
     "\x0a\x38@\x94#P\x01h\x02Z/H\x01X\x03P\x03\x22\x0aR\x06\x64\x65vice \x00\x22\x0aR\x06"
     "stream \x08\x22\x0fR\x0b\x63orrelation \x03"
     "\x0aV@\xe8\x07P\x01h\x02ZMH\x01X\x02P\x04\x22\x0aR\x06\x64\x65vice \x00\x22\x0aR\x06"
     "stream \x07\x22\x0fR\x0b\x63orrelation \x01\x22\x09R\x05\x62ytes @\x22\x11R\x09\x63o"
     "py kind2\x04HtoD"
     "\x0aW@\xf0.P\x01h\x02ZNH\x01X\x02P\x05\x22\x0aR\x06\x64\x65vice \x00\x22\x0aR\x06str"
     "eam \x07\x22\x0fR\x0b\x63orrelation \x09\x22\x1dR\x0e\x63uda_sync_kind2\x0bStream Sy"
     "nc"
     "\x0a\x0b@\xb3\x17P\x01Z\x04H\x02X\x01"
     "\x0a\x0b@\xb6\x07P\x01Z\x04H\x02X\x01"
     "\x0a\x0b@\x86\x17P\x01Z\x04H\x02X\x01"
     "\x0a\x0b@\xae\x17P\x01Z\x04H\x02X\x01"
     "\x0a\x0b@\x88'P\x01Z\x04H\x02X\x02"
     "\x0a\x0b@\xf0.P\x01Z\x04H\x02X\x03"
     "\x0a\x0b@\xd0\x0fP\x01Z\x04H\x02X\x02"
     "\x0a\x0b@\xa8\x46P\x01Z\x04H\x02X\x02"sv,
     "perfetto", 4000, 3, 3, 3},
    // Later versions: GPU work as stages, and ranges over it that are no work.
    {"stages.pftrace",
     "\x0a\x15\xe2\x03\x12\x08\x01\x22\x0e\x08\x05\x10\x06*\x08thread 6"
     "\x0a\xa2\x01P\x01h\x01\x62\x9b\x01\x12\x0c\x08\x01\x12\x08\x61ten::mm\x12\x14\x08"
     "\x02\x12\x10\x63udaLaunchKernel\x12\x08\x08\x03\x12\x04gemm\xc2\x01\x0a\x08\x01\x12"
     "\x06Kernel\xc2\x01\x0a\x08\x02\x12\x06Memcpy\xc2\x01\x0a\x08\x03\x12\x06Memset\xc2"
     "\x01\x0e\x08\x04\x12\x0a\x41nnotation\xc2\x01\x0c\x08\x64\x12\x08stream 7\xc2>\x08"
     "\x08\x01\x1a\x04gemm\xca>\x18\x08\x01\x12\x14registers_per_thread"
     "\x0a @\xd4\x16P\x01h\x02Z\x17H\x01X\x01P\x02\x22\x0fR\x0b\x63orrelation \x02"
     "\x0a @\x90\x17P\x01h\x02Z\x17H\x01X\x01P\x02\x22\x0fR\x0b\x63orrelation \x03"
     "\x0a @\x84\x07P\x01h\x02Z\x17H\x01X\x01P\x02\x22\x0fR\x0b\x63orrelation \x01"
     "\x0a\x0b@\x86\x17P\x01Z\x04H\x02X\x01"
     "\x0a\x0b@\xae\x17P\x01Z\x04H\x02X\x01"
     "\x0a\x0b@\xb6\x07P\x01Z\x04H\x02X\x01"
     "\x0ah@\xb8\x17P\x01h\x02\xaa\x03^\x08\x07\x10\xd0\x0fX\x00hdp\x01(\x01\xa0\x01\x03"
     "\x98\x01\x01\xaa\x01\x17\x0a\x06\x08\x08\x10\x01\x18\x01\x12\x07\x08\x80\x01\x10\x01"
     "\x18\x01\x1a\x04\x08\x01 (2\x10\x0a\x0b\x63orrelation\x12\x01\x32\x32\x0e\x0a\x09str"
     "eam id\x12\x01\x37\x32\x0d\x0a\x04\x61rch\x12\x05sm_90"
     "\x0a<@\x94#P\x01h\x02\xaa\x03\x32\x08\x07\x10\xdc\x0bX\x00hdp\x01(\x01\x98\x01\x01"
     "\x32\x10\x0a\x0b\x63orrelation\x12\x01\x33\x32\x0e\x0a\x09stream id\x12\x01\x38"
     "\x0a\x36@\xe8\x07P\x01h\x02\xaa\x03,\x08\x07\x10\xe8\x07X\x00hdp\x02(\x01\x32\x10"
     "\x0a\x0b\x63orrelation\x12\x01\x31\x32\x0b\x0a\x05\x62ytes\x12\x02\x36\x34"
     "\x0a\x17@\xe8\x07P\x01h\x02\xaa\x03\x0d\x08\x07\x10\xa8\x46X\x00hdp\x04(\x01"sv,
     "perfetto", 4000, 3, 3, 3},
    {"results.pftrace",
     "\x0a(\xe2\x03%\x08\x01\x12!COMPUTE AGENT [2] QUEUE [0] (GPU)"
     "\x0a(\xe2\x03%\x08\x02\x12!COMPUTE AGENT [3] QUEUE [0] (GPU)"
     "\x0a)\xe2\x03&\x08\x03\x12\x22\x43OPY to AGENT [2] THREAD [5] (GPU)"
     "\x0a\x15\xe2\x03\x12\x08\x04\x22\x0e\x08\x05\x10\x05*\x08THREAD 5"
     "\x0a\x45P\x01h\x01\x62\x3f\x12\x08\x08\x01\x12\x04gemm\x12\x1e\x08\x02\x12\x1aMEMORY"
     "_COPY_HOST_TO_DEVICE\x12\x13\x08\x03\x12\x0fhipLaunchKernel"
     "\x0a\x42@\xd4\x16P\x01h\x02Z9H\x01X\x04P\x03\xb2\x01\x07hip_api\x22\x0bR\x07\x63orr_"
     "id \x02\x22\x0dR\x08\x62\x65gin_ns \xd4\x16\x22\x0bR\x06\x65nd_ns \x86\x17"
     "\x0a\x0b@\x86\x17P\x01Z\x04H\x02X\x04"
     "\x0a`@\xb8\x17P\x01h\x02ZWH\x01X\x01P\x01\xb2\x01\x0fkernel_dispatch\x22\x0dR\x08"
     "\x62\x65gin_ns \xb8\x17\x22\x0bR\x06\x65nd_ns \x88'\x22\x0bR\x07\x63orr_id \x02\x22"
     "\x09R\x05\x61gent \x02\x22\x09R\x05queue \x01"
     "\x0a\x0b@\xc0%P\x01Z\x04H\x02X\x01"
     "\x0a`@\xc0%P\x01h\x02ZWH\x01X\x01P\x01\xb2\x01\x0fkernel_dispatch\x22\x0dR\x08\x62"
     "\x65gin_ns \x94#\x22\x0bR\x06\x65nd_ns \xf0.\x22\x0bR\x07\x63orr_id \x03\x22\x09R"
     "\x05\x61gent \x02\x22\x09R\x05queue \x01"
     "\x0a\x0b@\xf0.P\x01Z\x04H\x02X\x01"
     "\x0a`@\xb8\x17P\x01h\x02ZWH\x01X\x02P\x01\xb2\x01\x0fkernel_dispatch\x22\x0dR\x08"
     "\x62\x65gin_ns \xb8\x17\x22\x0bR\x06\x65nd_ns \x88'\x22\x0bR\x07\x63orr_id \x04\x22"
     "\x09R\x05\x61gent \x03\x22\x09R\x05queue \x01"
     "\x0a\x0b@\x88'P\x01Z\x04H\x02X\x02"
     "\x0a\x46@\xe8\x07P\x01h\x02Z=H\x01X\x03P\x02\xb2\x01\x0bmemory_copy\x22\x0dR\x08\x62"
     "\x65gin_ns \xe8\x07\x22\x0bR\x06\x65nd_ns \xd0\x0f\x22\x0bR\x07\x63orr_id \x01"
     "\x0a\x0b@\xd0\x0fP\x01Z\x04H\x02X\x03"sv,
     "perfetto", 4000, 4, 1, 1},
};

TEST(OtherTools, WhatRanIsReadToTheNanosecond) {
  const test::TempDir dir;
  for (const auto& sample : kSamples) {
    const auto path = dir.file(std::string(sample.file).c_str());
    write(path, sample.content);
    const auto capture = import_file(path);
    ASSERT_TRUE(capture) << capture.error().message();
    EXPECT_EQ(capture->format, sample.format) << sample.file;
    EXPECT_EQ(busy(*capture, 0), sample.busy) << sample.file;
    EXPECT_EQ(capture->activities.size(), sample.rows) << sample.file;
    EXPECT_EQ(capture->api_calls.size(), sample.calls) << sample.file;
    EXPECT_EQ(linked(*capture), sample.linked) << sample.file;
  }
}

TEST(OtherTools, AFileThatEndsEarlyIsAnErrorOrSaysSo) {
  const test::TempDir dir;
  for (const auto& sample : kSamples) {
    if (sample.content.starts_with("CREATE TABLE")) continue;
    const auto path = dir.file(std::string(sample.file).c_str());
    for (std::size_t cut = 1; cut < sample.content.size(); cut += 7) {
      write(path, sample.content.substr(0, cut));
      const auto capture = import_file(path);
      EXPECT_TRUE(capture || !capture.error().what.empty()) << cut;
    }
  }
}

TEST(OtherTools, RocprofTakesAllFilesOfAProcess) {
  const test::TempDir dir;
  write(dir.file("5_agent_info.csv"),
        "\"Node_Id\",\"Agent_Type\",\"Cu_Count\",\"Name\",\"Product_Name\"\n"
        "0,\"CPU\",0,\"CPU\",\"CPU\"\n2,\"GPU\",304,\"gfx942\",\"AMD Instinct MI300X\"\n"
        "3,\"GPU\",304,\"gfx942\",\"AMD Instinct MI300X\"\n");
  write(dir.file("5_kernel_trace.csv"),
        "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Dispatch_Id\",\"Kernel_Name\",\"Correlation_Id\","
        "\"Start_Timestamp\",\"End_Timestamp\",\"Workgroup_Size_X\",\"Grid_Size_X\"\n"
        "\"KERNEL_DISPATCH\",\"Agent 3\",1,1,\"gemm<1, 2>\",2,4500,6000,256,2561\n"
        "\"KERNEL_DISPATCH\",\"Agent 2\",1,2,\"gemm<1, 2>\",3,3000,5000,256,2560\n");
  write(dir.file("5_memory_copy_trace.csv"),
        "\"Kind\",\"Direction\",\"Source_Agent_Id\",\"Destination_Agent_Id\",\"Correlation_Id\","
        "\"Start_Timestamp\",\"End_Timestamp\"\n"
        "\"MEMORY_COPY\",\"MEMORY_COPY_DEVICE_TO_HOST\",\"Agent 3\",\"Agent 0\",1,1000,2000\n");
  write(dir.file("5_hip_api_trace.csv"),
        "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\","
        "\"Start_Timestamp\",\"End_Timestamp\"\n"
        "\"HIP_RUNTIME_API_EXT\",\"hipLaunchKernel\",5,5,2,2900,2950\n");
  for (const auto& path :
       {dir.file("5_kernel_trace.csv"), dir.file("5_hip_api_trace.csv"), dir.path.string()}) {
    const auto capture = import_file(path);
    ASSERT_TRUE(capture) << capture.error().message();
    EXPECT_EQ(busy(*capture, 0), 2000) << path;
    EXPECT_EQ(busy(*capture, 1), 2500) << path;
    EXPECT_EQ(linked(*capture), 1u);
    // Work-items are no blocks, and the last block may not be full.
    EXPECT_EQ(capture->activities.grid_x[0], 11);
    EXPECT_EQ(capture->text(capture->devices.name[1]), "AMD Instinct MI300X");
  }
}

TEST(OtherTools, ANewerSchemaOfRocpdIsRefusedByItsNumber) {
  const test::TempDir dir;
  write(dir.file("x.db"),
        "CREATE TABLE rocpd_metadata_ab(tag TEXT, value TEXT);"
        "INSERT INTO rocpd_metadata_ab VALUES('schema_version', '4');"
        "CREATE TABLE rocpd_kernel_dispatch_ab(start INT)");
  const auto capture = import_file(dir.file("x.db"));
  ASSERT_FALSE(capture);
  EXPECT_NE(capture.error().what.find("schema 4"), std::string::npos) << capture.error().message();
}

/// Values of a metric, by GPU and in the order of time.
std::map<std::int32_t, std::vector<double>> values_by_device(const Capture& capture,
                                                             std::string_view metric) {
  std::map<std::int32_t, std::vector<double>> found;
  const auto& rows = capture.counter_samples;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (capture.text(rows.metric[i]) == metric)
      found[capture.devices.id[rows.device[i]]].push_back(rows.value[i]);
  return found;
}

using Values = std::map<std::int32_t, std::vector<double>>;

TEST(Fleet, ScrapesOfAllVersionsGiveTheSameUnits) {
  const test::TempDir dir;
  write(dir.file("old.prom"),
        "# HELP DCGM_FI_DEV_POWER_USAGE x\n# TYPE DCGM_FI_DEV_POWER_USAGE gauge\n"
        "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-1\",pod=\"a\"} 612.5\n"
        "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-1\",pod=\"b\"} 612.5\n"
        "DCGM_FI_DEV_SM_CLOCK{gpu=\"0\",UUID=\"GPU-1\"} 1980\n"
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu=\"0\",UUID=\"GPU-1\"} 5000\n"
        "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-1\"} 50\n");
  write(dir.file("new.prom"),
        "# TYPE DCGM_FI_DEV_BOARD_POWER_WATTS gauge\n"
        "DCGM_FI_DEV_BOARD_POWER_WATTS{gpu=\"0\",UUID=\"GPU-1\"} 612.5\n"
        "DCGM_FI_DEV_SM_CLOCK_HERTZ{gpu=\"0\",UUID=\"GPU-1\"} 1.98e+09\n"
        "DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL{gpu=\"0\",UUID=\"GPU-1\"} 5\n"
        "DCGM_FI_DEV_GPU_UTIL_RATIO{gpu=\"0\",UUID=\"GPU-1\"} 0.5\n");
  for (const char* file : {"old.prom", "new.prom"}) {
    const auto capture = import_file(dir.file(file));
    ASSERT_TRUE(capture) << capture.error().message();
    EXPECT_EQ(values_by_device(*capture, "power.average"), (Values{{0, {612.5}}})) << file;
    EXPECT_EQ(values_by_device(*capture, "clock.sm"), (Values{{0, {1.98e9}}})) << file;
    EXPECT_EQ(values_by_device(*capture, "energy.module"), (Values{{0, {5}}})) << file;
    EXPECT_EQ(values_by_device(*capture, "monitor.gpu"), (Values{{0, {0.5}}})) << file;
  }
}

TEST(Fleet, ZeroBesideABusyGpuWasNotMeasured) {
  const test::TempDir dir;
  write(dir.file("m.prom"),
        "# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
        "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 100\nDCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu=\"0\"} 0\n"
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{gpu=\"0\"} 0\n"
        "DCGM_FI_DEV_GPU_UTIL{gpu=\"1\"} 0\nDCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu=\"1\"} 0\n");
  const auto capture = import_file(dir.file("m.prom"));
  ASSERT_TRUE(capture) << capture.error().message();
  EXPECT_EQ(values_by_device(*capture, "gpu.busy"), (Values{{1, {0}}}));
  EXPECT_EQ(values_by_device(*capture, "tensor.active"), (Values{}));
  EXPECT_EQ(values_by_device(*capture, "monitor.gpu"), (Values{{0, {1}}, {1, {0}}}));
  EXPECT_TRUE(capture->noted(QualityCode::no_reading));
}

TEST(Fleet, ARangeOfPrometheusKeepsItsTimes) {
  const test::TempDir dir;
  write(dir.file("r.json"),
        R"({"status": "success", "data": {"resultType": "matrix", "result": [{"metric":)"
        R"({"__name__": "DCGM_FI_DEV_POWER_USAGE", "gpu": "0", "Hostname": "n"}, "values":)"
        R"([[1790000000.0, "600"], [1790000015, "620"], [1790000060.5, "630"]]}, {"metric":)"
        R"({"__name__": "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gpu": "0", "Hostname": "n"}, "values":)"
        R"([[1790000000, "0.9"], [1790000015, "NaN"], [1790000030, "0.7"]]}]}})");
  const auto capture = import_file(dir.file("r.json"));
  ASSERT_TRUE(capture) << capture.error().message();
  EXPECT_EQ(values_by_device(*capture, "power.module"), (Values{{0, {600, 620, 630}}}));
  EXPECT_EQ(values_by_device(*capture, "gpu.busy"), (Values{{0, {0.9, 0.7}}}));
  std::set<Nanos> ends;
  for (std::size_t i = 0; i < capture->counter_samples.size(); ++i)
    ends.insert(capture->counter_samples.start_ns[i] + capture->counter_samples.duration_ns[i]);
  EXPECT_TRUE(ends.contains(1790000060500000000));

  write(dir.file("nameless.json"),
        R"({"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {},)"
        R"("values": [[1790000000, "1"]]}]}})");
  const auto nameless = import_file(dir.file("nameless.json"));
  ASSERT_FALSE(nameless);
  EXPECT_NE(nameless.error().message().find("__name__"), std::string::npos);
}

TEST(Fleet, TablesOfWeightsAndBiases) {
  const test::TempDir dir;
  write(dir.file("h.csv"),
        "_runtime,_timestamp,system.gpu.0.gpu,system.gpu.0.powerWatts,system.gpu.1.powerWatts\n"
        "0.5,1790000000.5,25,100,\n15.5,1790000015.5,50,300,\n");
  write(dir.file("c.csv"),
        "\"Relative Time (Process)\",\"run-a - system/gpu.0.powerWatts\","
        "\"run-a - system/gpu.0.powerWatts__MIN\"\n0.25,100,95\n15.25,300,295\n");
  for (const char* file : {"h.csv", "c.csv"}) {
    const auto capture = import_file(dir.file(file));
    ASSERT_TRUE(capture) << capture.error().message();
    EXPECT_EQ(values_by_device(*capture, "power.module"), (Values{{0, {100, 300}}})) << file;
  }
  EXPECT_EQ(values_by_device(*import_file(dir.file("h.csv")), "monitor.gpu"),
            (Values{{0, {0.25, 0.5}}}));
}

TEST(Fleet, LogsOfAmdSmiAreOfAmd) {
  const test::TempDir dir;
  write(dir.file("a.csv"),
        "'CTRL' + 'C' to stop watching output:\n"
        "timestamp,gpu,gfx_activity,vcn_activity,socket_power\n"
        "1786553852,0,80,\"['N/A', 'N/A']\",700\n\n"
        "timestamp,gpu,gfx_activity,vcn_activity,socket_power\n"
        "1786553853,0,90,\"['N/A', 'N/A']\",710\n");
  const auto capture = import_file(dir.file("a.csv"));
  ASSERT_TRUE(capture) << capture.error().message();
  EXPECT_EQ(values_by_device(*capture, "power.module"), (Values{{0, {700, 710}}}));
  EXPECT_EQ(capture->text(capture->devices.vendor[0]), "amd");
}

TEST(RocprofCompute, CountersOfEachDispatch) {
  const test::TempDir dir;
  write(dir.file("pmc_perf.csv"),
        "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,Kernel_ID,SQ_WAVES,"
        "Start_Timestamp,End_Timestamp\n"
        "0,0,77824,256,\"gemm<1, 2>\",10,1216.0,1071423114883652.50,1071423114890652.00\n");
  const auto capture = import_file(dir.file("pmc_perf.csv"));
  ASSERT_TRUE(capture) << capture.error().message();
  ASSERT_EQ(capture->report_kernels.size(), 1u);
  EXPECT_DOUBLE_EQ(capture->report_kernels.duration_ns[0], 6999.5);
  EXPECT_EQ(capture->report_kernels.grid_x[0], 304);
  ASSERT_EQ(capture->kernel_counters.size(), 1u);
  EXPECT_EQ(capture->kernel_counters.value[0], 1216);
  EXPECT_TRUE(capture->activities.empty());
}

}  // namespace
}  // namespace gf
