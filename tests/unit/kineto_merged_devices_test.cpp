// Traces of several processes in one file: process and number together are the device.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "import/formats.h"
#include "support/captures.h"

namespace gf {
namespace {

struct MergedTrace {
  std::string events;

  void add(const std::string& cat, const std::string& pid, const std::string& tid, int ts, int dur,
           const std::string& args, const std::string& name = "k") {
    events += std::string(events.empty() ? "" : ",") + R"({"ph":"X","cat":")" + cat +
              R"(","name":")" + name + R"(","pid":)" + pid + R"(,"tid":)" + tid + R"(,"ts":)" +
              std::to_string(ts) + R"(,"dur":)" + std::to_string(dur) + R"(,"args":{)" + args +
              "}}";
  }
  void kernel(const std::string& pid, int device, int ts, int correlation = 1,
              const std::string& cat = "kernel") {
    add(cat, pid, "7", ts, 10,
        R"("device":)" + std::to_string(device) + R"(,"stream":7,"correlation":)" +
            std::to_string(correlation));
  }
  void launch(const std::string& pid, int ts, int correlation = 1) {
    add("cuda_runtime", pid, "1", ts, 2, R"("correlation":)" + std::to_string(correlation));
  }

  Capture read(const std::string& before = R"("schemaVersion":1,)",
               std::size_t chunk_bytes = 0) const {
    const test::TempDir dir;
    const std::string path = dir.file("merged.json");
    std::ofstream(path) << "{" + before + R"("traceEvents":[)" + events + "]}";
    ImportOptions options;
    options.chunk_bytes = chunk_bytes;
    auto capture = kineto::load(path, options);
    EXPECT_TRUE(capture) << capture.error().message();
    return capture ? std::move(*capture) : Capture{};
  }
};

/// Kernels by number of the device.
std::map<std::int32_t, int> kernels(const Capture& capture) {
  std::map<std::int32_t, int> out;
  for (const auto device : capture.activities.device) ++out[capture.devices.id[device]];
  return out;
}

using Kernels = std::map<std::int32_t, int>;

bool told(const Capture& capture, std::string_view what) {
  for (std::size_t i = 0; i < capture.quality.size(); ++i)
    if (capture.text(capture.quality.code[i]) == "merged_devices")
      return capture.text(capture.quality.detail[i]).find(what) != std::string_view::npos;
  return false;
}

TEST(KinetoMergedDevices, DeviceZeroOfThreeHostsIsThreeGpus) {
  MergedTrace trace;
  for (int i = 0; i < 300; ++i) trace.kernel("\"[TP0" + std::to_string(i % 3) + "] 0\"", 0, 20 * i);
  const std::string described =
      R"("schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H100","numSms":132}],)";
  for (const std::size_t chunk : {0UL, 4096UL}) {
    const auto capture = trace.read(described, chunk);
    EXPECT_EQ(kernels(capture), (Kernels{{0, 100}, {1, 100}, {2, 100}}));
    EXPECT_TRUE(told(capture,
                     "GPU 1 is device 0 of process [TP01] 0, GPU 2 is device 0 of process "
                     "[TP02] 0"));
    for (std::uint32_t row = 0; row < capture.devices.size(); ++row)
      EXPECT_EQ(capture.text(capture.devices.name[row]), "NVIDIA H100");
  }
}

TEST(KinetoMergedDevices, AnOffsetOfProcessesIsAnotherHost) {
  MergedTrace trace;
  for (int i = 0; i < 5; ++i) {
    trace.kernel("100000", 0, 20 * i);
    trace.kernel("100001", 1, 20 * i);
    trace.kernel("0", 0, 20 * i);
    trace.kernel("1", 1, 20 * i, 1, "gpu_memcpy");
  }
  EXPECT_EQ(kernels(trace.read()), (Kernels{{0, 5}, {1, 5}, {2, 5}, {3, 5}}));
}

TEST(KinetoMergedDevices, RanksOfOneHostKeepTheirNumbers) {
  MergedTrace trace;
  for (int i = 0; i < 5; ++i) {
    trace.kernel("\"[TP01] 1\"", 1, 20 * i);
    trace.kernel("\"[TP00] 0\"", 0, 20 * i);
  }
  const auto capture = trace.read();
  EXPECT_EQ(kernels(capture), (Kernels{{0, 5}, {1, 5}}));
  EXPECT_FALSE(told(capture, ""));
}

TEST(KinetoMergedDevices, OneProcessIsOneDeviceWhateverItIsCalled) {
  for (const char* pid : {"0", "3", "\"3\"", "4711", "\"CUDA\"", "\"GPU 3\""}) {
    MergedTrace trace;
    for (int i = 0; i < 5; ++i) trace.kernel(pid, 3, 20 * i);
    EXPECT_EQ(kernels(trace.read()), (Kernels{{3, 5}})) << pid;
  }
}

TEST(KinetoMergedDevices, CopiesOfAnotherProcessAreOfTheSameDevice) {
  MergedTrace trace;
  for (int i = 0; i < 5; ++i) {
    trace.kernel("\"kernels\"", 0, 20 * i);
    trace.kernel("\"copies\"", 0, 20 * i + 10, 1, "gpu_memcpy");
  }
  EXPECT_EQ(kernels(trace.read()), (Kernels{{0, 10}}));
}

TEST(KinetoMergedDevices, ProgramsThatShareAGpuAreToldByTheirProcess) {
  MergedTrace trace;
  for (int i = 0; i < 5; ++i)
    for (const char* pid : {"4711", "4712"}) {
      trace.launch(pid, 20 * i, i);
      trace.kernel(pid, 0, 20 * i + 5, i);
    }
  const auto capture = trace.read();
  EXPECT_EQ(kernels(capture), (Kernels{{0, 10}}));
  const std::set<std::int64_t> pids(capture.activities.pid.begin(), capture.activities.pid.end());
  EXPECT_EQ(pids, (std::set<std::int64_t>{4711, 4712}));
}

TEST(KinetoMergedDevices, EachRanksKernelsBelongToItsOwnProcess) {
  MergedTrace trace;
  for (int i = 0; i < 5; ++i)
    for (const char* rank : {"[TP00] ", "[TP01] "}) {
      const std::string prefix = std::string("\"") + rank;
      trace.launch(prefix + (rank[4] == '0' ? "500\"" : "501\""), 20 * i, i);
      trace.kernel(prefix + "0\"", 0, 20 * i + 5, i);
    }
  const auto capture = trace.read();
  EXPECT_EQ(kernels(capture), (Kernels{{0, 5}, {1, 5}}));
  for (std::uint32_t row = 0; row < capture.activities.size(); ++row)
    EXPECT_EQ(capture.activities.pid[row],
              500 + capture.devices.id[capture.activities.device[row]]);
  const std::set<std::int64_t> pids(capture.threads.pid.begin(), capture.threads.pid.end());
  EXPECT_EQ(pids, (std::set<std::int64_t>{500, 501}));
}

TEST(KinetoMergedDevices, TracesBehindEachOtherAreOfTheProcessesBesideThem) {
  const auto launch = [](MergedTrace& trace, const char* pid, int device, int begin) {
    for (int i = 1; i <= 30; ++i) {
      trace.add("cuda_runtime", pid, "1", begin + 20 * i, 2,
                R"("correlation":)" + std::to_string(i), "cudaLaunchKernel");
      if (i % 7 == 0)
        for (int k = i - 6; k <= i; ++k)
          trace.kernel(std::to_string(device), device, begin + 20 * k + 5, k);
    }
  };
  for (const std::size_t chunk_bytes : {0u, 150u, 700u}) {
    MergedTrace apart, shared;
    launch(apart, "500", 0, 0);
    launch(apart, "501", 1, 3);
    launch(shared, "500", 0, 0);
    launch(shared, "501", 0, 3);
    for (const auto* trace : {&apart, &shared}) {
      const auto capture = trace->read(R"("schemaVersion":1,)", chunk_bytes);
      EXPECT_EQ(kernels(capture), (Kernels{{0, 28}, {1, 28}}));
      EXPECT_EQ(told(capture, "GPU 1 is device 0 of process 501"), trace == &shared);
      for (std::uint32_t row = 0; row < capture.activities.size(); ++row)
        EXPECT_EQ(capture.activities.pid[row], row < 28 ? 500 : 501);
    }
  }
}

}  // namespace
}  // namespace gf
