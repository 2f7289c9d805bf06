// What goes into the page: bytes that a browser unpacks to the same, and a bounded choice of
// events.
#include <gtest/gtest.h>
#include <zlib.h>

#include <map>
#include <set>

#include "analyze/analyze.h"
#include "import/importer.h"
#include "report/events/timeline_data.h"
#include "report/html/embed.h"
#include "report/html/page.h"
#include "support/files.h"

namespace gf {
namespace {

TEST(Embed, Base64OfTheStandard) {
  const std::pair<const char*, const char*> vectors[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"}};  // RFC 4648, section 10
  for (const auto& [plain, coded] : vectors) EXPECT_EQ(base64(plain), coded);
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(Embed, GzipUnpacksToTheSame) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919 % 1000);
  for (const auto& plain : {std::string(), std::string("x"), text}) {
    const std::string packed = gzipped(plain);
    std::string out(plain.size() + 1, '\0');
    z_stream stream{};
    ASSERT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    inflateEnd(&stream);
    EXPECT_EQ(out, plain);
    EXPECT_EQ(packed, gzipped(plain)) << "the same bytes each time";
  }
}

class TimelineOf : public testing::Test {
 protected:
  void SetUp() override {
    auto loaded = import_file("examples/resnet50_amp_eager_b64.json.gz");
    ASSERT_TRUE(loaded) << loaded.error().message();
    capture_ = std::move(*loaded);
    AnalyzeOptions options;
    options.window = "step:10";
    analysis_ = analyze(capture_, options, &context_);
    ASSERT_TRUE(analysis_);
  }
  Capture capture_;
  std::optional<Context> context_;
  Result<Analysis> analysis_;
};

TEST_F(TimelineOf, HoldsAllEventsWhenThereIsRoom) {
  const TimelineData all = timeline_data(*context_, 1'000'000);
  EXPECT_EQ(all.shown, all.total);
  EXPECT_TRUE(all.note.empty());
  std::size_t on_streams = 0;
  Nanos idle = 0;
  for (const auto& lane : all.lanes) {
    if (lane.kind == "queue") continue;
    std::map<std::uint32_t, Nanos> end_of_row;
    for (std::size_t i = 0; i < lane.start.size(); ++i) {
      EXPECT_GE(lane.start[i], 0);
      EXPECT_LE(lane.start[i] + lane.duration[i], all.duration_ns);
      EXPECT_LT(lane.row[i], lane.rows);
      EXPECT_LT(lane.name[i], all.texts.size());
      if (lane.kind == "stream" && end_of_row.count(lane.row[i])) {
        EXPECT_GE(lane.start[i], end_of_row[lane.row[i]])
            << "nothing covers another event of its row";
      }
      end_of_row[lane.row[i]] = lane.start[i] + lane.duration[i];
      if (lane.kind == "idle") idle += lane.duration[i];
    }
    if (lane.kind == "stream") {
      on_streams += lane.start.size();
      EXPECT_EQ(lane.launch.size(), lane.start.size());
      for (std::size_t i = 0; i < lane.launch.size(); ++i) {
        EXPECT_TRUE(lane.launch[i] < 0 ||
                    all.lanes.at(static_cast<std::size_t>(lane.launch_lane[i])).kind == "api");
      }
    }
  }
  EXPECT_EQ(on_streams, static_cast<std::size_t>(analysis_->devices[0].gpu_events));
  EXPECT_EQ(idle, analysis_->devices[0].idle_ns);
}

TEST_F(TimelineOf, ShowsEveryChangeOfAQueue) {
  const TimelineData all = timeline_data(*context_, 1'000'000);
  std::size_t queues = 0;
  for (const auto& lane : all.lanes) {
    if (lane.kind != "queue") continue;
    const auto& queue = analysis_->runtime.queues.at(queues++);
    Nanos at = 0, empty = 0;
    std::int64_t most = 0;
    double area = 0;
    for (std::size_t i = 0; i < lane.start.size(); ++i) {
      EXPECT_EQ(lane.start[i], at) << "no gap and no overlap";
      at += lane.duration[i];
      EXPECT_EQ(lane.low[i], lane.depth[i]) << "nothing was left out";
      if (i > 0) {
        EXPECT_NE(lane.depth[i], lane.depth[i - 1]);
      }
      if (lane.depth[i] == 0) empty += lane.duration[i];
      most = std::max(most, lane.depth[i]);
      area += static_cast<double>(lane.depth[i]) * static_cast<double>(lane.duration[i]);
    }
    EXPECT_EQ(at, all.duration_ns);
    EXPECT_EQ(empty, queue.empty_ns);
    EXPECT_EQ(most, queue.max_depth);
    EXPECT_NEAR(area / static_cast<double>(at), queue.mean_depth, 1e-9);
  }
  EXPECT_EQ(queues, analysis_->runtime.queues.size());
}

TEST(TimelineWithoutGpu, HasTheQueuesOfTheFramework) {
  test::TemporaryFolder folder;
  ASSERT_TRUE(folder.unpack("examples/tf_lenet_eager.tgz"));
  auto capture = import_file(folder.path() + "/lenet5_async_b1");
  ASSERT_TRUE(capture) << capture.error().message();
  std::optional<Context> context;
  const auto analysis = analyze(*capture, {}, &context);
  ASSERT_TRUE(analysis);
  const TimelineData all = timeline_data(*context);
  EXPECT_GT(all.duration_ns, 0);
  std::size_t queues = 0, hosts = 0;
  for (const auto& lane : all.lanes) {
    queues += lane.kind == "queue";
    hosts += lane.kind == "host";
  }
  EXPECT_EQ(queues, 2u) << "scheduling queue and thread pool";
  EXPECT_GE(hosts, 2u) << "the Python thread and the executor";
}

TEST_F(TimelineOf, KeepsTheLongestWhenThereIsNot) {
  const TimelineData few = timeline_data(*context_, 200);
  EXPECT_LE(few.shown, 200);
  EXPECT_LT(few.shown, few.total);
  EXPECT_FALSE(few.note.empty());
  EXPECT_EQ(few.total, timeline_data(*context_, 1'000'000).total);
  Nanos longest = 0, shown = 0;
  for (const auto& span : context_->devices[0].spans) longest = std::max(longest, span.length());
  for (const auto& lane : few.lanes)
    if (lane.kind == "stream")
      for (const auto ns : lane.duration) shown = std::max(shown, ns);
  EXPECT_EQ(shown, longest);
}

TEST_F(TimelineOf, PageIsBoundedAndNamesNothingOutside) {
  const auto page = analysis_html(*analysis_, &*context_);
  if (!page) GTEST_SKIP() << page.error().message();
  EXPECT_LT(page->size(), 2'000'000u);
  for (const char* outside : {"src=\"http", "href=\"http", "@import", "url(http"})
    EXPECT_EQ(page->find(outside), std::string::npos) << outside;
}

}  // namespace
}  // namespace gf
