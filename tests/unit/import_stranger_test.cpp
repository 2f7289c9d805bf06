#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "import/importer.h"
#include "import/stranger.h"
#include "model/sqlite.h"
#include "support/captures.h"

namespace gf {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kTorch = "export_chrome_trace", kExport = "nsys export --type sqlite",
                           kNsys = "nsys profile", kSmi = "nvidia-smi --query-gpu=timestamp",
                           kRocprof = "rocprofv3 --kernel-trace", kAmdLog = "amd-smi metric",
                           kNpu = "kernel_details.csv", kXpu = "ProfilerActivity.XPU",
                           kJob = "gpufathom ranks";

struct Foreign {
  std::string_view file, content;  // of an SQLite database: the statement that makes its tables
  std::string_view tool, next;     // parts of the sentence
};

constexpr Foreign kForeign[] = {
    // Nsight Systems and nvprof.
    {"report.nsys-rep", "NSYS", "Nsight Systems", kExport},
    {"renamed.bin", "NVIDIA Tegra Profiler Report 1.\n\x01\x02", "Nsight Systems", kExport},
    {"report.qdrep", "x", "Nsight Systems", kExport},
    {"report.qdstrm", "x", "unfinished", "QdstrmImporter"},
    {"kern_sum.csv", "Time (%),Total Time (ns),Instances,Avg (ns),Name\n100,2,3,1,k\n",
     "summary of nsys stats", kExport},
    {"chatter.csv", "Generating SQLite file r.sqlite from r.nsys-rep\nProcessing [r.sqlite]\n",
     "nsys stats", "SQLite file"},
    {"trace.csv",
     "==26644== NVPROF is profiling process 26644, command: python train.py\n\"Start\",\"Duration\""
     "\ns,ms\n",
     "nvprof", kNsys},
    // AMD.
    {"rpd.json", R"([ {} ,{"name":"process_name","ph":"M","pid":"2","args":{"name":"GPU2"}}])",
     "rpd2tracing.py", kRocprof},
    {"results.csv", "\"Index\",\"KernelName\",\"gpu-id\",\"BeginNs\",\"EndNs\"\n", "rocprof (AMD)",
     kRocprof},
    {"amd.csv", "gpu,gfx_activity,umc_activity,socket_power\n0,80,10,700\n", "amd-smi", kAmdLog},
    {"amd.json", R"({"gpu_data": [{"gpu": 0, "usage": {"gfx_activity": {"value": 4}}}]})",
     "amd-smi", kAmdLog},
    {"rocm_smi.csv", "device,Average Graphics Package Power (W),GPU use (%)\ncard0,719.0,97\n",
     "rocm-smi", kAmdLog},
    // Ascend, Intel, Apple.
    {"ascend_pytorch_profiler.db",
     "CREATE TABLE STRING_IDS(id INTEGER, value TEXT); CREATE TABLE CANN_API(startNs INTEGER)",
     "Ascend NPU", kNpu},
    {"xctrace.xml", "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node/></trace-query-result>\n",
     "xctrace", "Apple's GPUs"},
    {"metrics.app.csv", "Kernel, GpuTime[ns], GpuCoreClocks[cycles]\ngemm, 1, 2\n", "unitrace",
     kXpu},
    // Clusters.
    {"node.prom", "# HELP node_load1 x\n# TYPE node_load1 gauge\nnode_load1 1\n",
     "Prometheus exporter", kSmi},
    {"smi.txt", "Fri Nov 27\n+-----+\n| NVIDIA-SMI 580.95   Driver Version: 580.95 |\n",
     "nvidia-smi", kSmi},
    {"pmon.txt", "# gpu         pid   type     sm    mem\n# Idx           #    C/G      %\n",
     "pmon", "nvidia-smi dmon"},
    // Frameworks and engines.
    {"et.json", R"({"schema": "1.1.1-chakra.0.0.4", "nodes": [{"id": 1, "ctrl_deps": 0}]})",
     "execution trace", kTorch},
    {"averages.txt", "Name    Self CPU %      Self CPU   CPU total %   # of Calls\naten::mm 3 %\n",
     "averages", kTorch},
    {"events.out.tfevents.17.host.1", "\x18\x00\x00\x00\x01\x02\x03\x04", "TensorBoard",
     "plugins/profile"},
    {"nccl_trace_rank_0",
     "\x80\x02}(X\x09\x00\x00\x00pg_configX\x07\x00\x00\x00"
     "entries]u."sv,
     "flight recorder", kJob},
    {"fr.json", R"({"version": "2.10", "pg_config": {}, "entries": []})", "flight recorder", kJob},
    {"inspector.log", R"({"header":{"rank":0},"coll_perf":{"coll":"AllReduce","coll_sn":3}})",
     "inspector", kJob},
    {"nccl.txt", "host:1:2 [0] NCCL INFO Bootstrap : Using eth0\n", "log of NCCL", kJob},
    {"run.hatchet_msgpack", "\x93\x83\xa5\x00\x01\x02"sv, "Proton", kTorch},
    {"trace.pftrace", "\x0a\x0f\x40\x01\x50\x02\x62\x09GPU Queue\x0a\x01\x02", "Perfetto", kTorch},
    {"systems.proto",
     "\x0a\x1a\x50\x02\x62\x16"
     "rocm_kernel_dispatch 1\x0a\x01\x02",
     "ROCm Systems Profiler", "ROCPROFSYS_USE_ROCPD=ON"},
    {"torch.pftrace",
     "\x0a\x0f\x50\x02\x62\x0b"
     "cpu_op 1234\x0a\x01\x02",
     "Perfetto trace of PyTorch", "trace.json"},
    // Traces of the CPU.
    {"perf.data", "PERFILE2\x68\x01\x02", "perf (Linux)", kTorch},
    {"py.json", R"({"$schema":"https://www.speedscope.app/file-format-schema.json"})", "speedscope",
     kTorch},
    {"viz.json", R"({"traceEvents":[{"ph":"X"}],"viztracer_metadata":{"version":"1"}})",
     "VizTracer", kTorch},
    {"browser.json", R"({"traceEvents":[{"ph":"X","cat":"devtools.timeline","name":"RunTask"}]})",
     "web browser", kTorch},
};

void write_or_fill(const std::string& path, std::string_view content) {
  if (!content.starts_with("CREATE TABLE")) {
    std::ofstream(path, std::ios::binary) << content;
    return;
  }
  auto db = sqlite::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  ASSERT_TRUE(db);
  ASSERT_TRUE(sqlite::execute(db->get(), std::string(content), path));
}

TEST(Stranger, IsNamedWithWhatToDo) {
  const test::TempDir dir;
  EXPECT_GE(std::size(kForeign), 32u);
  for (const auto& foreign : kForeign) {
    const std::string path = dir.file(std::string(foreign.file).c_str());
    write_or_fill(path, foreign.content);
    const auto capture = import_file(path);
    ASSERT_FALSE(capture) << foreign.file;
    const auto message = capture.error().message();
    EXPECT_NE(message.find(foreign.tool), std::string::npos) << message;
    EXPECT_NE(message.find(foreign.next), std::string::npos) << message;
    EXPECT_TRUE(message.ends_with("gpufathom help formats lists what is read)")) << message;
  }
}

TEST(Stranger, FoldersToo) {
  struct Folder {
    const char *name, *file, *tool, *next;
  };
  const test::TempDir dir;
  for (const auto& folder :
       {Folder{"host_1_ascend_pt", "profiler_info_0.txt_", "torch_npu", "kernel_details.csv"},
        Folder{"workload", "pmc_perf.csv", "rocprof-compute", "pmc_perf.csv"},
        Folder{"dumps", "nccl_trace_rank_3", "flight recorder", "gpufathom ranks"}}) {
    std::filesystem::create_directory(dir.path / folder.name);
    std::ofstream(dir.path / folder.name / folder.file) << "x";
    if (std::string_view(folder.name).ends_with("_ascend_pt"))
      std::filesystem::create_directory(dir.path / folder.name / "ASCEND_PROFILER_OUTPUT");
    const auto capture = import_file(dir.file(folder.name));
    ASSERT_FALSE(capture) << folder.name;
    EXPECT_NE(capture.error().message().find(folder.tool), std::string::npos)
        << capture.error().message();
    EXPECT_NE(capture.error().message().find(folder.next), std::string::npos)
        << capture.error().message();
  }
}

// A row that fits what an importer reads would refuse it.
TEST(Stranger, CapturesAreNone) {
  using Content = std::pair<std::string_view, std::string_view>;
  for (const auto& [path, head] : std::initializer_list<Content>{
           {"t.json", R"({"schemaVersion": 1, "traceEvents": []})"},
           {"cpu.json", R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "args": {"Call stack": "f",
                           "Stream Id": 3}}]})"},
           {"prof.json", R"([{"ph": "X", "cat": "Kernel", "name": "k", "ts": 1, "dur": 2}])"},
           {"power.csv", "timestamp, index, power.draw [W]\n2026/11/20 12:34:56.789, 0, 60 W\n"},
           {"monitor.csv", "unix_time_s,gpu,power_instant_w,energy_mj\n1,0,60,1\n"},
           {"dmon.txt", "# gpu    pwr  gtemp\n# Idx      W      C\n    0     60     40\n"},
           {"dcgm.txt", "#Entity   GRACT  SMACT\nID\nGPU 0     0.5    0.4\n"},
           {"run.sqlite",
            "SQLite format 3\0 META_DATA_EXPORT StringIds CUPTI_ACTIVITY_KIND_MEMCPY"sv},
           {"host.xplane.pb", "\x0a\x20\x12\x09/host:CPU 1234567890123456"},
           {"report.csv", "\"ID\",\"Process ID\",\"Kernel Name\"\n\"0\",\"1\",\"k\"\n"},
       })
    EXPECT_EQ(find_stranger(path, head), nullptr) << path;
}

TEST(Stranger, EveryRowOfAProfilerSaysWhatToDo) {
  for (const auto& row : strangers()) {
    EXPECT_FALSE(row.what.empty());
    EXPECT_EQ(row.writer.empty(), row.next.empty()) << row.what;
    EXPECT_FALSE(row.shape == Shape::any && row.named.empty() && row.begins.empty()) << row.what;
  }
}

TEST(Stranger, ALogWithoutTimesNamesTheColumn) {
  const test::TempDir dir;
  const std::string path = dir.file("power.csv");
  for (const char* content :
       {"power.draw [W]\n13.60 W\n", "power.draw [W], clocks.sm [MHz]\n1, 2\n",
        "index, power.draw\n0, 13.60\n"}) {
    std::ofstream(path, std::ios::binary) << content;
    const auto log = import_file(path);
    ASSERT_FALSE(log);
    EXPECT_NE(log.error().what.find("no column of time (timestamp)"), std::string::npos)
        << log.error().what;
  }
}

TEST(Stranger, JsonOnOneLineIsNoLog) {
  const test::TempDir dir;
  const std::string path = dir.file("trace.json");
  std::ofstream(path, std::ios::binary)
      << R"({"traceEvents":[{"ph":"X","cat":"power.draw [W]","name":"clocks.sm","ts":1,"dur":2,)"
         R"("pid":1,"tid":1},{"name":"temperature.gpu", "utilization.gpu":1}]})";
  EXPECT_EQ(format_of_file(path), "kineto");
}

}  // namespace
}  // namespace gf
