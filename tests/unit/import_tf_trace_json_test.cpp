#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "import/formats.h"
#include "import/importer.h"
#include "support/files.h"

namespace gf {
namespace {

constexpr const char* kNames =
    R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[{"ph":"M",)"
    R"("pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},)"
    R"j({"ph":"M","pid":1,"tid":14,"name":"thread_name",)j"
    R"j("args":{"name":"Stream #14(Compute)"}},{"ph":"M","pid":1,"tid":15,)j"
    R"j("name":"thread_name","args":{"name":"XLA Ops"}},)j"
    R"({"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},{"ph":"M",)"
    R"("pid":701,"tid":5,"name":"thread_name","args":{"name":"python"}},)";

Result<Capture> load(std::string text) {
  const auto size = text.size();
  text.append(tf_trace_json::kPadding, '\0');
  return tf_trace_json::load_text(std::string_view(text).substr(0, size), "t", {});
}

std::string span(int pid, int tid, const std::string& ts, const std::string& dur,
                 const std::string& name, const std::string& args = {}) {
  return R"({"ph":"X","pid":)" + std::to_string(pid) + R"(,"tid":)" + std::to_string(tid) +
         R"(,"ts":)" + ts + R"(,"dur":)" + dur + R"(,"name":")" + name + '"' +
         (args.empty() ? "" : R"(,"args":{)" + args + "}") + "},";
}

TEST(TfTraceJson, RoundsPrintedDoublesAndReadsTextArguments) {
  const auto correlation_id77 =
      load(kNames +
           span(1, 14, "51.332999999999998", "857.83799999999997", "gemm",
                R"("kernel_details":"regs:32 grid:4,2,1 block:128,1,1","correlation_id":"77")") +
           span(1, 15, "51.332999999999998", "857.83799999999997", "fusion") +
           span(701, 5, "1", "0.000001", "op") + "{}]}");
  ASSERT_TRUE(correlation_id77) << correlation_id77.error().message();
  ASSERT_EQ(correlation_id77->activities.size(), 1u)
      << "the XLA Ops line repeats the stream's time";
  EXPECT_EQ(correlation_id77->activities.start_ns[0], 51'333);
  EXPECT_EQ(correlation_id77->activities.duration_ns[0], 857'838);
  EXPECT_EQ(correlation_id77->activities.correlation[0], 77);
  EXPECT_EQ(correlation_id77->activities.grid_y[0], 2);
  EXPECT_EQ(correlation_id77->activities.stream[0], 14);
  ASSERT_EQ(correlation_id77->host_ops.size(), 1u);
  EXPECT_EQ(correlation_id77->host_ops.duration_ns[0], 0);
  EXPECT_EQ(correlation_id77->events, 3);
}

TEST(TfTraceJson, ADamagedEventCostsThatEventAndACutFileItsTail) {
  const auto damaged = load(kNames + span(701, 5, "1", "1", "a") +
                            R"({"ph":"X","pid":701,"tid":5,"ts":nonsense,"dur":1,"name":"b"},)" +
                            R"({"ph":"X","pid":701,"tid":5,"ts":2,"dur":-1,"name":"c"},)" +
                            span(701, 5, "3", "1", "d") + "{}]}");
  ASSERT_TRUE(damaged);
  EXPECT_EQ(damaged->host_ops.size(), 2u);
  EXPECT_EQ(damaged->text(damaged->quality.code[0]), "bad_event");
  EXPECT_EQ(damaged->quality.count[0], 2);
  const auto cut = load(kNames + span(701, 5, "1", "1", "a") + R"({"ph":"X","pid":70)");
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->host_ops.size(), 1u);
  EXPECT_EQ(cut->text(cut->quality.code[0]), "truncated_input");
}

TEST(TfTraceJson, SaysThatTheTailIsMissingAtTheEventCap) {
  std::string text = kNames;
  for (int i = 0; i < 1'000'000; ++i)
    text += R"({"ph":"X","pid":701,"tid":5,"ts":1,"dur":1,"name":"a"},)";
  const auto capped = load(text + "{}]}");
  ASSERT_TRUE(capped);
  ASSERT_GE(capped->quality.size(), 1u);
  EXPECT_EQ(capped->text(capped->quality.code[0]), "event_cap");
}

/// Name and, relative to the first one, the time of every device activity.
std::vector<std::tuple<std::string, Nanos, Nanos>> work(const Capture& capture) {
  std::vector<std::tuple<std::string, Nanos, Nanos>> all;
  Nanos first = INT64_MAX;
  for (std::size_t i = 0; i < capture.activities.size(); ++i)
    first = std::min(first, capture.activities.start_ns[i]);
  for (std::size_t i = 0; i < capture.activities.size(); ++i)
    all.emplace_back(capture.text(capture.activities.name[i]),
                     capture.activities.start_ns[i] - first, capture.activities.duration_ns[i]);
  std::sort(all.begin(), all.end());
  return all;
}

TEST(TfTraceJson, EqualsTheXplaneOfTheSameRunToTheNanosecond) {
  test::TemporaryFolder folder, alone;
  ASSERT_TRUE(folder.unpack("examples/jax_mlp.tgz"));
  const auto json = folder.find(".trace.json.gz");
  const auto beside = import_file(json);
  ASSERT_TRUE(beside);
  EXPECT_EQ(beside->format, "xplane") << "the xplane file beside it is preferred";
  EXPECT_EQ(beside->metadata_value("read_instead_of"), json);
  std::filesystem::copy_file(json, alone.path() + "/vm.trace.json.gz");
  const auto capture = import_file(alone.path() + "/vm.trace.json.gz");
  ASSERT_TRUE(capture) << capture.error().message();
  EXPECT_EQ(capture->format, "tf_trace_json");
  EXPECT_EQ(capture->framework, "jax");
  EXPECT_EQ(capture->activities.size(), 112u);
  EXPECT_EQ(work(*capture), work(*beside));
  EXPECT_EQ(capture->steps.size(), beside->steps.size());
  for (std::size_t i = 0; i < capture->activities.size(); ++i)
    EXPECT_GT(capture->activities.correlation[i], 0);
}

}  // namespace
}  // namespace gf
