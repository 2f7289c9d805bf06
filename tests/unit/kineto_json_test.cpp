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
  if (args.contains(key) && args[key].is_number()) return args[key].get<std::int64_t>();
  return -1;
}

/// JSON texts are compared by value: white space may differ.
Json parsed(std::string_view text) {
  if (text.empty()) return Json();
  return Json::parse(text);
}

void expect_equal(const std::string& path) {
  auto capture = import_file(path);
  ASSERT_TRUE(capture) << capture.error().message();
  const Capture& loaded = *capture;
  const Json file = Json::parse(*read_whole(path, 1 << 30));
  const Nanos base = file["baseTimeNanoseconds"];
  std::size_t host = 0, api = 0, gpu = 0, flow = 0, annotation = 0;
  auto thread_is = [&](std::uint32_t row, const Json& json) {
    return loaded.threads.pid[row] == json["pid"].get<std::int64_t>() &&
           loaded.threads.tid[row] == json["tid"].get<std::int64_t>();
  };
  for (const Json& event : file["traceEvents"]) {
    const std::string cat = event.value("cat", ""), ph = event.value("ph", ""),
                      name = event.value("name", "");
    const Json args = event.value("args", Json::object());
    if (ph == "X" && (cat == "cpu_op" || cat == "python_function" || cat == "user_annotation" ||
                      cat == "overhead")) {
      const auto& host_ops = loaded.host_ops;
      ASSERT_LT(host, host_ops.size());
      EXPECT_EQ(name_of(host_ops.kind[host]), cat == "cpu_op"            ? "op"
                                              : cat == "python_function" ? "python"
                                              : cat == "overhead"        ? "overhead"
                                                                         : "annotation");
      EXPECT_EQ(loaded.text(host_ops.name[host]), name);
      EXPECT_EQ(host_ops.start_ns[host], ns(event["ts"], base));
      EXPECT_EQ(host_ops.duration_ns[host], ns(event["dur"], 0));
      EXPECT_TRUE(thread_is(host_ops.thread[host], event));
      EXPECT_EQ(host_ops.external_id[host], number(args, "External id"));
      EXPECT_EQ(host_ops.sequence[host], number(args, "Sequence number"));
      EXPECT_EQ(host_ops.forward_thread[host], number(args, "Fwd thread id"));
      EXPECT_EQ(host_ops.python_id[host], number(args, "Python id"));
      EXPECT_EQ(host_ops.python_parent[host], number(args, "Python parent id"));
      EXPECT_EQ(host_ops.module_id[host], number(args, "Python module id"));
      EXPECT_EQ(parsed(loaded.text(host_ops.shapes[host])), args.value("Input Dims", Json()));
      EXPECT_EQ(parsed(loaded.text(host_ops.types[host])), args.value("Input type", Json()));
      ++host;
    } else if (ph == "X" && (cat == "cuda_runtime" || cat == "cuda_driver")) {
      const auto& api_calls = loaded.api_calls;
      ASSERT_LT(api, api_calls.size());
      EXPECT_EQ(loaded.text(api_calls.name[api]), name);
      EXPECT_EQ(api_calls.start_ns[api], ns(event["ts"], base));
      EXPECT_EQ(api_calls.duration_ns[api], ns(event["dur"], 0));
      EXPECT_TRUE(thread_is(api_calls.thread[api], event));
      EXPECT_EQ(api_calls.correlation[api], number(args, "correlation"));
      EXPECT_EQ(api_calls.external_id[api], number(args, "External id"));
      EXPECT_EQ(api_calls.kind[api] == ApiKind::launch, name.find("Launch") != name.npos);
      ++api;
    } else if (ph == "X" && (cat == "kernel" || cat == "gpu_memcpy" || cat == "gpu_memset")) {
      const auto& activities = loaded.activities;
      ASSERT_LT(gpu, activities.size());
      EXPECT_EQ(name_of(activities.kind[gpu]), cat == "kernel" ? "kernel" : cat.substr(4));
      EXPECT_EQ(loaded.text(activities.name[gpu]), name);
      EXPECT_EQ(activities.start_ns[gpu], ns(event["ts"], base));
      EXPECT_EQ(activities.duration_ns[gpu], ns(event["dur"], 0));
      EXPECT_EQ(loaded.devices.id[activities.device[gpu]], number(args, "device"));
      EXPECT_EQ(activities.stream[gpu], number(args, "stream"));
      EXPECT_EQ(activities.context[gpu], number(args, "context"));
      EXPECT_EQ(activities.correlation[gpu], number(args, "correlation"));
      EXPECT_EQ(activities.external_id[gpu], number(args, "External id"));
      EXPECT_EQ(activities.bytes[gpu], number(args, "bytes"));
      EXPECT_EQ(activities.registers[gpu], number(args, "registers per thread"));
      EXPECT_EQ(activities.shared_bytes[gpu], number(args, "shared memory"));
      if (cat == "kernel") {
        EXPECT_EQ((std::vector<int>{activities.grid_x[gpu], activities.grid_y[gpu],
                                    activities.grid_z[gpu]}),
                  args["grid"].get<std::vector<int>>());
        EXPECT_EQ((std::vector<int>{activities.block_x[gpu], activities.block_y[gpu],
                                    activities.block_z[gpu]}),
                  args["block"].get<std::vector<int>>());
        EXPECT_DOUBLE_EQ(activities.occupancy[gpu],
                         args["est. achieved occupancy %"].get<double>() / 100);
      }
      ++gpu;
    } else if (cat == "fwdbwd") {
      const auto& flows = loaded.flows;
      ASSERT_LT(flow, flows.size());
      EXPECT_EQ(flows.id[flow], event["id"].get<std::int64_t>());
      EXPECT_EQ(flows.time_ns[flow], ns(event["ts"], base));
      EXPECT_EQ(flows.finish[flow], ph == "f");
      EXPECT_TRUE(thread_is(flows.thread[flow], event));
      ++flow;
    } else if (cat == "gpu_user_annotation") {
      EXPECT_EQ(loaded.text(loaded.device_annotations.name[annotation]), name);
      EXPECT_EQ(loaded.device_annotations.start_ns[annotation], ns(event["ts"], base));
      ++annotation;
    }
  }
  EXPECT_EQ(host, loaded.host_ops.size());
  EXPECT_EQ(api, loaded.api_calls.size());
  EXPECT_EQ(gpu, loaded.activities.size());
  EXPECT_EQ(flow, loaded.flows.size());
  EXPECT_EQ(annotation, loaded.device_annotations.size());
  EXPECT_EQ(loaded.devices.size(), file["deviceProperties"].size());
  EXPECT_EQ(loaded.metadata_value("trace_id"), file["trace_id"].get<std::string>());
  EXPECT_EQ(loaded.metadata_value("traceName"), file["traceName"].get<std::string>());
}

}  // namespace

TEST(KinetoColumns, EqualAPlainReading) {
  expect_equal("examples/lenet_inf_b1.json.gz");
  expect_equal("examples/lenet_train_b64.json.gz");
}

}  // namespace gf
