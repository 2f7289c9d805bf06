// Traces that are sound, and hard on a reader.
#pragma once

#include <fmt/format.h>

#include <fstream>
#include <string>

namespace gf::test {

/// A PyTorch trace in which every event has a thread and a text of its own: readers of different
/// parts number them while the parts before are put together. Each operation launches one kernel.
inline void write_trace_of_many_threads(const std::string& path, int threads) {
  std::ofstream out(path, std::ios::binary);
  out << "{\"traceEvents\":[";
  for (int i = 1; i <= threads; ++i) {
    out << fmt::format(
        R"(
{{"ph":"M","name":"thread_name","pid":1,"tid":{0},"args":{{"name":"worker {0}"}}}},
{{"ph":"X","cat":"cpu_op","name":"op {0}","pid":1,"tid":{0},"ts":{1},"dur":9,)"
        R"("args":{{"External id":{0}}}}},
{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":{0},"ts":{1}.5,"dur":2,)"
        R"("args":{{"External id":{0},"correlation":{0}}}}},
{{"ph":"X","cat":"kernel","name":"gemm {0}","pid":0,"tid":7,"ts":{1}.9,"dur":8,)"
        R"("args":{{"External id":{0},"device":0,"stream":7,"correlation":{0}}}}}{2})",
        i, i * 10, i < threads ? "," : "\n]}\n");
  }
}

}  // namespace gf::test
