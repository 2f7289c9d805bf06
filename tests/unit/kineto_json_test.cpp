// The small captures once more, read in the plainest way with another JSON library: the columns
// must be equal.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "import/importer.h"

namespace gf {

namespace {

using Json = nlohmann::json;

/// Microseconds with three decimals, through a double: exact to 1 ns below 2^53 ns, which relative
/// times are.
Nanos ns(const Json& value, Nanos base) { return base + std::llround(value.get<double>() * 1000); }

std::int64_t number(const Json& args, const char* key) {
  return args.contains(key) && args[key].is_number() ? args[key].get<std::int64_t>() : -1;
}

/// JSON texts are compared by value: white space may differ.
Json parsed(std::string_view text) { return text.empty() ? Json() : Json::parse(text); }

void expect_equal(const std::string& path) {
  auto capture = import_file(path);
  ASSERT_TRUE(capture) << capture.error().message();
  const Capture& c = *capture;
  const Json file = Json::parse(*read_whole(path, 1 << 30));
  const Nanos base = file["baseTimeNanoseconds"];
  std::size_t host = 0, api = 0, gpu = 0, flow = 0, annotation = 0;
  auto thread_is = [&](std::uint32_t row, const Json& e) {
    return c.threads.pid[row] == e["pid"].get<std::int64_t>() &&
           c.threads.tid[row] == e["tid"].get<std::int64_t>();
  };
  for (const Json& e : file["traceEvents"]) {
    const std::string cat = e.value("cat", ""), ph = e.value("ph", ""), name = e.value("name", "");
    const Json args = e.value("args", Json::object());
    if (ph == "X" && (cat == "cpu_op" || cat == "python_function" || cat == "user_annotation" ||
                      cat == "overhead")) {
      const auto& t = c.host_ops;
      ASSERT_LT(host, t.size());
      EXPECT_EQ(name_of(t.kind[host]), cat == "cpu_op"            ? "op"
                                       : cat == "python_function" ? "python"
                                       : cat == "overhead"        ? "overhead"
                                                                  : "annotation");
      EXPECT_EQ(c.text(t.name[host]), name);
      EXPECT_EQ(t.start_ns[host], ns(e["ts"], base));
      EXPECT_EQ(t.duration_ns[host], ns(e["dur"], 0));
      EXPECT_TRUE(thread_is(t.thread[host], e));
      EXPECT_EQ(t.external_id[host], number(args, "External id"));
      EXPECT_EQ(t.sequence[host], number(args, "Sequence number"));
      EXPECT_EQ(t.forward_thread[host], number(args, "Fwd thread id"));
      EXPECT_EQ(t.python_id[host], number(args, "Python id"));
      EXPECT_EQ(t.python_parent[host], number(args, "Python parent id"));
      EXPECT_EQ(t.module_id[host], number(args, "Python module id"));
      EXPECT_EQ(parsed(c.text(t.shapes[host])), args.value("Input Dims", Json()));
      EXPECT_EQ(parsed(c.text(t.types[host])), args.value("Input type", Json()));
      ++host;
    } else if (ph == "X" && (cat == "cuda_runtime" || cat == "cuda_driver")) {
      const auto& t = c.api_calls;
      ASSERT_LT(api, t.size());
      EXPECT_EQ(c.text(t.name[api]), name);
      EXPECT_EQ(t.start_ns[api], ns(e["ts"], base));
      EXPECT_EQ(t.duration_ns[api], ns(e["dur"], 0));
      EXPECT_TRUE(thread_is(t.thread[api], e));
      EXPECT_EQ(t.correlation[api], number(args, "correlation"));
      EXPECT_EQ(t.external_id[api], number(args, "External id"));
      EXPECT_EQ(t.kind[api] == ApiKind::launch, name.find("Launch") != name.npos);
      ++api;
    } else if (ph == "X" && (cat == "kernel" || cat == "gpu_memcpy" || cat == "gpu_memset")) {
      const auto& t = c.activities;
      ASSERT_LT(gpu, t.size());
      EXPECT_EQ(name_of(t.kind[gpu]), cat == "kernel" ? "kernel" : cat.substr(4));
      EXPECT_EQ(c.text(t.name[gpu]), name);
      EXPECT_EQ(t.start_ns[gpu], ns(e["ts"], base));
      EXPECT_EQ(t.duration_ns[gpu], ns(e["dur"], 0));
      EXPECT_EQ(c.devices.id[t.device[gpu]], number(args, "device"));
      EXPECT_EQ(t.stream[gpu], number(args, "stream"));
      EXPECT_EQ(t.context[gpu], number(args, "context"));
      EXPECT_EQ(t.correlation[gpu], number(args, "correlation"));
      EXPECT_EQ(t.external_id[gpu], number(args, "External id"));
      EXPECT_EQ(t.bytes[gpu], number(args, "bytes"));
      EXPECT_EQ(t.registers[gpu], number(args, "registers per thread"));
      EXPECT_EQ(t.shared_bytes[gpu], number(args, "shared memory"));
      if (cat == "kernel") {
        EXPECT_EQ((std::vector<int>{t.grid_x[gpu], t.grid_y[gpu], t.grid_z[gpu]}),
                  args["grid"].get<std::vector<int>>());
        EXPECT_EQ((std::vector<int>{t.block_x[gpu], t.block_y[gpu], t.block_z[gpu]}),
                  args["block"].get<std::vector<int>>());
        EXPECT_DOUBLE_EQ(t.occupancy[gpu], args["est. achieved occupancy %"].get<double>() / 100);
      }
      ++gpu;
    } else if (cat == "fwdbwd") {
      const auto& t = c.flows;
      ASSERT_LT(flow, t.size());
      EXPECT_EQ(t.id[flow], e["id"].get<std::int64_t>());
      EXPECT_EQ(t.time_ns[flow], ns(e["ts"], base));
      EXPECT_EQ(t.finish[flow], ph == "f");
      EXPECT_TRUE(thread_is(t.thread[flow], e));
      ++flow;
    } else if (cat == "gpu_user_annotation") {
      EXPECT_EQ(c.text(c.device_annotations.name[annotation]), name);
      EXPECT_EQ(c.device_annotations.start_ns[annotation], ns(e["ts"], base));
      ++annotation;
    }
  }
  EXPECT_EQ(host, c.host_ops.size());
  EXPECT_EQ(api, c.api_calls.size());
  EXPECT_EQ(gpu, c.activities.size());
  EXPECT_EQ(flow, c.flows.size());
  EXPECT_EQ(annotation, c.device_annotations.size());
  EXPECT_EQ(c.devices.size(), file["deviceProperties"].size());
  EXPECT_EQ(c.metadata_value("trace_id"), file["trace_id"].get<std::string>());
  EXPECT_EQ(c.metadata_value("traceName"), file["traceName"].get<std::string>());
}

}  // namespace

TEST(KinetoColumns, EqualAPlainReading) {
  expect_equal("examples/lenet_inf_b1.json.gz");
  expect_equal("examples/lenet_train_b64.json.gz");
}

}  // namespace gf
