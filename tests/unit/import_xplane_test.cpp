#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "analyze/analyze.h"
#include "analyze/layers/layer_type.h"
#include "import/importer.h"
#include "import/xplane/details.h"
#include "import/xplane/xplane.h"
#include "support/files.h"
#include "support/xplane_writer.h"

namespace gf {
namespace {

using namespace test;  // NOLINT: what profiles are written with

TEST(Xplane, ReadsDetailsOfEveryTracer) {
  const auto nvidia = xplane::parse_details(
      "regs:168 static_shared:16 dynamic_shared:213220 grid:2,66,1 block:384,1,1 occ_pct:18.75 "
      "future:x");
  EXPECT_EQ(nvidia.registers, 168);
  EXPECT_EQ(nvidia.shared_bytes, 213236);
  EXPECT_EQ(nvidia.grid[1], 66);
  EXPECT_EQ(nvidia.block[0], 384);
  EXPECT_DOUBLE_EQ(nvidia.occupancy, 0.1875);
  const auto amd =
      xplane::parse_details(" grid:219,40,1 block:256,1,1 private_mem:0 group_mem:49280 occ_pct:0");
  EXPECT_EQ(amd.registers, -1);
  EXPECT_EQ(amd.shared_bytes, 49280);
  EXPECT_TRUE(std::isnan(amd.occupancy)) << "0 stands for not known";
  const auto copy =
      xplane::parse_details("kind_src:pageable kind_dst:device size:64 dest:0 async:1");
  EXPECT_EQ(copy.bytes, 64);
  EXPECT_EQ(copy.copy, CopyKind::host_to_device);
  EXPECT_EQ(xplane::parse_details("kind:unknown num_bytes:4 async:0").bytes, 4);
}

TEST(Xplane, ResolvesReferencesAndLateMetadataAndSkipsDerivedLines) {
  const std::string gpu =
      plane("/device:GPU:3",
            {line(14, "Stream #14(Compute)", kEpoch,
                  {event(1, 5'000, 7'000, {ref_stat(1, 2), number_stat(3, 77)})}),
             line(15, "XLA Ops", kEpoch, {event(1, 5'000, 7'000)}),
             line(16, "Steps", kEpoch, {event(1, 0, 90'000)})},
            {entry(1, "gemm")},
            {entry(1, "kernel_details"), entry(2, "regs:32 grid:4,2,1 block:128,1,1"),
             entry(3, "correlation_id")});
  const auto c = xplane::load_bytes(space({gpu}), "x", {});
  ASSERT_TRUE(c) << c.error().message();
  ASSERT_EQ(c->activities.size(), 1u);
  EXPECT_EQ(c->text(c->activities.name[0]), "gemm");
  EXPECT_EQ(c->activities.start_ns[0], kEpoch + 5);
  EXPECT_EQ(c->activities.duration_ns[0], 7);
  EXPECT_EQ(c->activities.stream[0], 14);
  EXPECT_EQ(c->activities.correlation[0], 77);
  EXPECT_EQ(c->activities.grid_x[0], 4);
  EXPECT_EQ(c->activities.registers[0], 32);
  EXPECT_EQ(c->devices.id[c->activities.device[0]], 3);
  EXPECT_EQ(c->events, 3);
}

// Two GPUs of TensorFlow: no step is marked on the host, each kernel names its operation.
TEST(Xplane, TakesStepsAndOperationsFromTheDevice) {
  const auto gpu = [](const std::string& name, std::int64_t late) {
    return plane(
        name,
        {line(14, "Stream #14(Compute)", kEpoch + late,
              {event(1, 5'000, 7'000, {ref_stat(1, 2), ref_stat(3, 4)})}),
         line(16, "Steps", kEpoch + late,
              {event(2, 0, 90'000), event(3, 100'000, 50'000), event(1, 0, 900'000)})},
        {entry(1, "EigenMetaKernel"), entry(2, "7"), entry(3, "8")},
        {entry(1, "kernel_details"), entry(2, "regs:32 grid:4,2,1 block:128,1,1"),
         entry(3, "level 0"), entry(4, "replica_" + name.substr(12) + "/dense/Cast:Cast")});
  };
  const auto c =
      xplane::load_bytes(space({gpu("/device:GPU:0", 0), gpu("/device:GPU:1", 8)}), "x", {});
  ASSERT_TRUE(c) << c.error().message();
  ASSERT_EQ(c->activities.size(), 2u);
  EXPECT_EQ(c->text(c->activities.scope[1]), "replica_1/dense/Cast:Cast");
  ASSERT_EQ(c->steps.size(), 2u);
  EXPECT_EQ(c->steps.index[0], 7);
  EXPECT_EQ(c->steps.start_ns[0], kEpoch);
  EXPECT_EQ(c->steps.duration_ns[0], 98);  // to the end of the later device
  EXPECT_EQ(c->steps.start_ns[1], kEpoch + 100);
  const auto analysis = analyze(*c, {});
  ASSERT_TRUE(analysis) << analysis.error().message();
  ASSERT_EQ(analysis->layers.size(), 1u);  // alike on both devices
  EXPECT_EQ(analysis->layers[0].name, "dense");
  EXPECT_EQ(analysis->layers[0].type, LayerType::copy);
  EXPECT_EQ(type_in_scope("jit(main)/dot_general:"), "");
}

TEST(Xplane, ACallMayHaveTheNameOfWhatItLaunches) {
  const std::string gpu =
      plane("/device:GPU:0",
            {line(14, "Stream #14(Compute)", kEpoch,
                  {event(1, 9'000, 7'000, {ref_stat(1, 2), number_stat(3, 5)})})},
            {entry(1, "loop_fusion")},
            {entry(1, "kernel_details"), entry(2, "regs:32 grid:4,2,1 block:128,1,1"),
             entry(3, "correlation_id")});
  const std::string host =
      plane("/host:CPU",
            {line(7, "python3", kEpoch,
                  {event(1, 1'000, 900'000), event(2, 2'000, 3'000, {number_stat(1, 5)})})},
            {entry(1, "train"), entry(2, "loop_fusion")}, {entry(1, "correlation_id")});
  const auto c = xplane::load_bytes(space({gpu, host}), "x", {});
  ASSERT_TRUE(c) << c.error().message();
  ASSERT_EQ(c->api_calls.size(), 1u);
  EXPECT_EQ(c->api_calls.kind[0], ApiKind::launch);
  EXPECT_EQ(c->api_calls.correlation[0], 5);
  EXPECT_EQ(c->host_ops.size(), 1u);
}

TEST(Xplane, AddsTheProfileStartToRelativeTimesOnly) {
  const std::string host =
      plane("/host:CPU",
            {line(15905481778955982452u, "python3", 2'000, {event(1, 1'999, 1)}),
             line(2, "other", kEpoch + 9, {event(1, 0, 0)})},
            {entry(1, "op")});
  const std::string environment = message([&](pbf_writer& w) {
    w.add_string(2, "Task Environment");
    w.add_message(5, entry(1, "profile_start_time"));
    w.add_message(6, message([&](pbf_writer& s) {
                    s.add_uint64(1, 1);
                    s.add_uint64(3, kEpoch);
                  }));
  });
  const auto c = xplane::load_bytes(space({host, environment}), "x", {});
  ASSERT_TRUE(c);
  ASSERT_EQ(c->host_ops.size(), 2u);
  EXPECT_EQ(c->host_ops.start_ns[0], kEpoch + 2'001);
  EXPECT_EQ(c->host_ops.duration_ns[0], 1) << "[1999, 2000) ps touches two nanoseconds' border";
  EXPECT_EQ(c->host_ops.start_ns[1], kEpoch + 9);
  EXPECT_EQ(static_cast<std::uint64_t>(c->threads.tid[0]), 15905481778955982452u);
}

TEST(Xplane, ADamagedEventCostsThatEvent) {
  const std::string broken("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 13);
  const std::string host = plane("/host:CPU",
                                 {line(1, "t", kEpoch,
                                       {event(1, 0, 1000), broken, event(1, INT64_MAX - 5, 1000),
                                        event(1, 5000, -4), event(1, 2000, 1000)})},
                                 {entry(1, "op")});
  const auto c = xplane::load_bytes(space({host}), "x", {});
  ASSERT_TRUE(c);
  EXPECT_EQ(c->host_ops.size(), 2u);
  EXPECT_EQ(c->events, 5);
  ASSERT_EQ(c->quality.size(), 1u);
  EXPECT_EQ(c->text(c->quality.code[0]), "bad_event");
  EXPECT_EQ(c->quality.count[0], 3);
}

TEST(Xplane, ACutFileKeepsWhatCameBeforeTheCut) {
  std::vector<std::string> events;
  for (int i = 0; i < 100; ++i) events.push_back(event(1, i * 1000, 1000));
  const std::string whole = message([&](pbf_writer& w) {
    w.add_message(1, message([&](pbf_writer& p) {
                    p.add_string(2, "/host:CPU");
                    p.add_message(4, entry(1, "op"));
                    p.add_message(3, line(1, "t", kEpoch, events));
                  }));
  });
  for (std::size_t length = 40; length < whole.size(); length += 7) {
    const auto c = xplane::load_bytes(std::string_view(whole).substr(0, length), "x", {});
    ASSERT_TRUE(c) << length;
    EXPECT_LE(c->host_ops.size(), 100u);
    if (length > 200) {
      EXPECT_GT(c->host_ops.size(), 5u) << length;
    }
    EXPECT_FALSE(c->quality.empty()) << length;
  }
}

TEST(Xplane, TellsThreadPoolQueuesStepsAndOperationTypes) {
  auto passage = [](std::uint64_t type_id, std::uint64_t id_id, std::int64_t id) {
    return std::vector<std::string>{number_stat(type_id, 15), number_stat(id_id, id)};
  };
  const std::string host = plane(
      "/host:CPU",
      {line(1, "python", kEpoch,
            {event(1, 0, 9'000'000, {number_stat(5, 41)}), event(2, 1'000'000, 0, passage(1, 2, 9)),
             event(5, 2'000, 1'000)}),
       line(2, "tf_Compute/2", kEpoch,
            {event(3, 3'000'000, 0, passage(3, 4, 9)), event(4, 3'100'000, 5'000)})},
      {entry(1, "train"), entry(2, "ThreadpoolListener::Record"),
       entry(3, "ThreadpoolListener::StartRegion"),
       entry(4, "Conv2D_1:_MklNativeConv2D", "_MklNativeConv2D"),
       entry(5, "EagerLocalExecute: MatMul")},
      {entry(1, "_pt"), entry(2, "_p"), entry(3, "_ct"), entry(4, "_c"), entry(5, "step_num")});
  const auto c = xplane::load_bytes(space({host}), "x", {});
  ASSERT_TRUE(c);
  ASSERT_EQ(c->steps.size(), 1u);
  EXPECT_EQ(c->steps.index[0], 41);
  EXPECT_EQ(c->text(c->steps.name[0]), "train");
  ASSERT_EQ(c->handoffs.size(), 2u);
  EXPECT_EQ(c->handoffs.id[0], 9);
  EXPECT_EQ(c->handoffs.leaves[0], 0);
  EXPECT_EQ(c->handoffs.leaves[1], 1);
  EXPECT_EQ(c->handoffs.time_ns[1], kEpoch + 3'000);
  ASSERT_EQ(c->host_ops.size(), 3u);
  EXPECT_EQ(c->text(c->host_ops.op_type[1]), "MatMul");
  EXPECT_EQ(c->text(c->host_ops.op_type[2]), "_MklNativeConv2D");
  EXPECT_EQ(c->framework, "tensorflow");
}

TEST(Xplane, EveryRunOfEventsIsReleasedInBothPasses) {
  std::vector<std::string> events;
  for (std::int64_t i = 0; i < 20'000; ++i) events.push_back(event(1, i * 1000, 1000));
  const std::string bytes =
      space({plane("/host:CPU", {line(1, "t", kEpoch, events)}, {entry(1, "a")})});
  ImportOptions options;
  options.chunk_bytes = 10'000;
  std::mutex lock;
  std::vector<std::string_view> released;
  const auto c = xplane::load_bytes(bytes, "x", options, [&](std::string_view part) {
    const std::lock_guard held(lock);
    released.push_back(part);
  });
  ASSERT_TRUE(c);
  std::map<const char*, std::size_t> times;
  std::size_t total = 0;
  for (const auto part : released) {
    ++times[part.data()];
    total += part.size();
  }
  EXPECT_GT(times.size(), 20U);
  for (const auto& [part, count] : times) EXPECT_EQ(count, 2U);
  EXPECT_GT(total, 2 * (bytes.size() - 100));
}

TEST(Xplane, RowsDoNotDependOnTheNumberOfThreads) {
  std::vector<std::string> events;
  for (std::int64_t i = 0; i < 200'000; ++i)
    events.push_back(event(static_cast<std::uint64_t>(1 + i % 3), i * 1000, 1000));
  const std::string bytes = space({plane("/host:CPU", {line(1, "t", kEpoch, events)},
                                         {entry(1, "a"), entry(2, "b"), entry(3, "c")})});
  ImportOptions one, four;
  one.threads = 1;
  four.threads = 4;
  const auto a = xplane::load_bytes(bytes, "x", one), b = xplane::load_bytes(bytes, "x", four);
  ASSERT_TRUE(a && b);
  ASSERT_EQ(a->host_ops.size(), events.size());
  ASSERT_EQ(b->host_ops.size(), events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    ASSERT_EQ(b->host_ops.start_ns[i], kEpoch + static_cast<Nanos>(i));
    ASSERT_EQ(a->host_ops.name[i], b->host_ops.name[i]);
  }
}

TEST(Xplane, ACaptureOfTpusSaysSo) {
  const auto c = xplane::load_bytes(
      space({plane("/device:TPU:0", {line(1, "XLA Ops", kEpoch, {event(1, 0, 5'000)})},
                   {entry(1, "fusion")})}),
      "tpu.xplane.pb", {}, {});
  ASSERT_FALSE(c);
  EXPECT_NE(c.error().message().find("TPU"), std::string::npos);
}

TEST(Xplane, ReadsAJaxProfileOfAnH200) {
  test::TemporaryFolder folder;
  ASSERT_TRUE(folder.unpack("examples/jax_mlp.tgz"));
  const auto c = import_file(folder.find(".xplane.pb"));
  ASSERT_TRUE(c) << c.error().message();
  EXPECT_EQ(c->format, "xplane");
  EXPECT_EQ(c->framework, "jax");
  EXPECT_EQ(c->activities.size(), 112u);
  ASSERT_EQ(c->devices.size(), 1u);
  EXPECT_EQ(c->text(c->devices.name[0]), "NVIDIA H200");
  EXPECT_EQ(c->text(c->devices.vendor[0]), "nvidia");
  EXPECT_EQ(c->devices.sm_count[0], 132);
  ASSERT_EQ(c->steps.size(), 4u);
  EXPECT_EQ(c->steps.index[3], 3);
  std::int64_t graph_launches = 0;
  for (std::size_t i = 0; i < c->api_calls.size(); ++i)
    graph_launches += c->api_calls.kind[i] == ApiKind::graph_launch;
  EXPECT_EQ(graph_launches, 4);
  EXPECT_EQ(c->quality.size(), 0u);
  EXPECT_EQ(c->activities.start_ns[0], 1795187906626144860 + 16864100 + 764984);
  EXPECT_EQ(c->text(c->activities.op[1]), "command_buffer_1");
  EXPECT_EQ(c->activities.registers[1], 168);
}

TEST(Xplane, AProfileFolderStandsForItsNewestFile) {
  test::TemporaryFolder folder;
  ASSERT_TRUE(folder.unpack("examples/jax_mlp.tgz"));
  const auto file = folder.find(".xplane.pb");
  for (const auto& named :
       {folder.path(), folder.path() + "/plugins/profile", file.substr(0, file.rfind('/'))}) {
    const auto c = import_file(named);
    ASSERT_TRUE(c) << c.error().message();
    EXPECT_EQ(c->path, file);
    EXPECT_EQ(c->activities.size(), 112u);
  }
  test::TemporaryFolder empty;
  const auto nothing = import_file(empty.path());
  ASSERT_FALSE(nothing);
  EXPECT_NE(nothing.error().message().find("directory that contains no profile"),
            std::string::npos);
}

TEST(Xplane, ReadsAnAmdProfileOfEightDevices) {
  const auto path = test::corpus("public/tracelens_mi300_jax_conv.xplane.pb");
  if (path.empty()) GTEST_SKIP() << "GPUFATHOM_CORPUS is unset";
  const auto c = import_file(path);
  ASSERT_TRUE(c) << c.error().message();
  EXPECT_EQ(c->devices.size(), 8u);
  EXPECT_EQ(c->text(c->devices.vendor[0]), "amd");
  std::int64_t linked = 0;
  for (std::size_t i = 0; i < c->activities.size(); ++i)
    for (std::size_t j = 0; j < c->api_calls.size(); ++j)
      if (c->api_calls.correlation[j] == c->activities.correlation[i]) {
        ++linked;
        break;
      }
  EXPECT_EQ(linked, static_cast<std::int64_t>(c->activities.size()));
}

}  // namespace
}  // namespace gf
