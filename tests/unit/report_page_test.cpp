// Data of the page: bytes that a browser unpacks to the same, and a bounded choice of
// events.
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <map>
#include <set>

#include "analyze/analyze.h"
#include "core/base64.h"
#include "import/importer.h"
#include "report/events/timeline_data.h"
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
  for (int i = 0; i < 500'000; ++i) text += std::to_string(i * 7919 % 1000);
  for (const auto& [plain, level] :
       {std::pair(std::string(), GzipLevel::fast), std::pair(std::string("x"), GzipLevel::fast),
        std::pair(text, GzipLevel::fast), std::pair(text, GzipLevel::small)}) {
    const std::string_view parts[] = {std::string_view(plain).substr(0, plain.size() / 3),
                                      std::string_view(plain).substr(plain.size() / 3)};
    std::string packed;
    for (const auto& part : gzipped(parts, level)) packed += part;
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
    std::string again;
    for (const auto& part : gzipped(parts, level)) again += part;
    EXPECT_EQ(packed, again) << "the same bytes each time";
  }
}

/// The page's decoding of a column: whole numbers of 7 bits a byte.
std::vector<std::uint64_t> unpacked(std::string_view bytes) {
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7, ++i) {
      const auto byte = static_cast<unsigned char>(bytes[i]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    out.push_back(value);
  }
  return out;
}

/// The numbers that were put into a column.
std::vector<std::int64_t> numbers_of(const PackedColumn& column) {
  std::vector<std::int64_t> out;
  std::int64_t last = 0;
  std::string bytes;
  for (const auto block : column.bytes()) bytes += block;
  for (const auto number : unpacked(bytes)) {
    std::uint64_t value = number;
    if (column.coding() == Coding::change) value = (number >> 1) ^ (0 - (number & 1));
    if (column.coding() != Coding::number) value += static_cast<std::uint64_t>(last);
    out.push_back(last = static_cast<std::int64_t>(value));
  }
  EXPECT_EQ(out.size(), column.size());
  return out;
}

/// A lane's columns that tests ask for, as numbers.
struct Numbers {
  explicit Numbers(const TimelineLane& lane)
      : start(numbers_of(lane.start)),
        duration(numbers_of(lane.duration)),
        name(numbers_of(lane.name)),
        site(numbers_of(lane.site)),
        call(numbers_of(lane.call)),
        correlation(numbers_of(lane.correlation)),
        low(numbers_of(lane.low)),
        depth(numbers_of(lane.depth)),
        events(numbers_of(lane.events)),
        filled(numbers_of(lane.filled)) {}
  std::size_t size() const { return start.size(); }
  std::vector<std::int64_t> start, duration, name, site, call, correlation, low, depth, events,
      filled;
};

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

std::size_t count_of(const TimelineData& data, std::string_view kind) {
  std::size_t count = 0;
  for (const auto& lane : data.lanes)
    if (lane.kind == kind) count += lane.start.size();
  return count;
}

TEST_F(TimelineOf, HoldsAllEventsWhenThereIsRoom) {
  const TimelineData all = timeline_data(*context_);
  EXPECT_EQ(all.shown, all.total);
  Nanos idle = 0;
  for (const auto& lane : all.lanes) {
    EXPECT_FALSE(lane.merged);
    const Numbers of(lane);
    for (std::size_t i = 0; i < of.size(); ++i) {
      EXPECT_GE(of.start[i], i > 0 ? of.start[i - 1] : 0) << lane.title << ": in order";
      EXPECT_LE(of.start[i] + of.duration[i], all.duration_ns);
      if (lane.kind == "idle") idle += of.duration[i];
    }
  }
  EXPECT_EQ(count_of(all, "stream"), static_cast<std::size_t>(analysis_->devices[0].gpu_events));
  EXPECT_EQ(idle, analysis_->devices[0].idle_ns);
}

TEST_F(TimelineOf, KernelsNameTheirCalls) {
  const TimelineData all = timeline_data(*context_);
  std::vector<std::int64_t> correlations;
  for (const auto& lane : all.lanes)
    if (lane.kind == "api") {
      const auto more = numbers_of(lane.correlation);
      correlations.insert(correlations.end(), more.begin(), more.end());
    }
  std::size_t named = 0;
  for (const auto& lane : all.lanes) {
    if (lane.kind != "stream") continue;
    const Numbers of(lane);
    for (std::size_t i = 0; i < of.call.size(); ++i) {
      EXPECT_LT(of.name[i], static_cast<std::int64_t>(all.things.size()));
      EXPECT_LT(of.site[i], static_cast<std::int64_t>(all.sites.size()));
      if (of.call[i] == 0) continue;
      ++named;
      EXPECT_EQ(correlations.at(static_cast<std::size_t>(of.call[i] - 1)), of.correlation[i]);
    }
  }
  EXPECT_GT(named, 800u);
}

TEST(PackedTimeline, HoldsItsColumnsInOrder) {
  TimelineData data;
  data.lanes.push_back({.kind = "api", .title = "calls"});
  auto& lane = data.lanes[0];
  const auto put = [](PackedColumn& column, std::initializer_list<std::int64_t> values) {
    for (const auto value : values) column.push_back(value);
    EXPECT_EQ(numbers_of(column), std::vector(values));
  };
  put(lane.start, {5, 300, 300, 5'000'000'000});
  put(lane.duration, {0, 127, 128, 9'000'000'000'000});
  put(lane.correlation, {7, -1, 1'000'000, 3});
  put(lane.shapes, {0, 0, 0, 0});
  const PackedTimeline parts = packed_timeline(data);
  std::string packed = parts.head;
  for (const auto column : parts.columns) packed += column;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(packed[i]); };
  const std::size_t head = byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
  const std::string json = packed.substr(4, head);
  EXPECT_NE(json.find(R"({"id":"start","coding":"rising","bytes":)"), std::string::npos) << json;
  EXPECT_EQ(json.find("shapes"), std::string::npos) << "no column that says nothing";
  const auto numbers = unpacked(std::string_view(packed).substr(4 + head));
  const std::vector<std::uint64_t> expected{
      5,  295, 0,         4'999'999'700,       // differences
      0,  127, 128,       9'000'000'000'000,   // as they are
      14, 15,  2'000'002, 2'000'000 - 6 - 1};  // differences, even up and odd down
  EXPECT_EQ(numbers, expected);
}

TEST(PackedColumn, HoldsEveryWholeNumberOf64Bits) {
  constexpr std::int64_t kDigits = std::int64_t{1} << 53;  // of a JavaScript number
  constexpr std::int64_t kExtremes[] = {
      0,       1,           -1,          INT64_MAX,   INT64_MIN, INT64_MAX - 1, INT64_MIN + 1,
      kDigits, kDigits - 1, kDigits + 1, -kDigits - 1};
  for (const Coding coding : {Coding::number, Coding::rising, Coding::change}) {
    PackedColumn column(coding);
    std::vector<std::int64_t> values;
    for (const auto before : kExtremes)
      for (const auto after : kExtremes) values.insert(values.end(), {before, after});
    for (const auto value : values) column.push_back(value);
    EXPECT_EQ(numbers_of(column), values);
  }
}

TEST_F(TimelineOf, ShowsEveryChangeOfAQueue) {
  const TimelineData all = timeline_data(*context_);
  std::size_t queues = 0;
  for (const auto& lane : all.lanes) {
    if (lane.kind != "queue") continue;
    const auto& queue = analysis_->runtime.queues.at(queues++);
    Nanos at = 0, empty = 0;
    std::int64_t most = 0;
    double area = 0;
    const Numbers of(lane);
    for (std::size_t i = 0; i < of.size(); ++i) {
      EXPECT_EQ(of.start[i], at) << "no gap and no overlap";
      at += of.duration[i];
      EXPECT_EQ(of.low[i], of.depth[i]) << "nothing was left out";
      if (i > 0) {
        EXPECT_NE(of.depth[i], of.depth[i - 1]);
      }
      if (of.depth[i] == 0) empty += of.duration[i];
      most = std::max(most, of.depth[i]);
      area += static_cast<double>(of.depth[i]) * static_cast<double>(of.duration[i]);
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

/// Events and time of each name of each lane, one by one and merged.
using Sums = std::map<std::tuple<std::string, std::string, std::string>, std::pair<Nanos, Nanos>>;

Sums sums_of(const TimelineData& data) {
  Sums sums;
  for (const auto& lane : data.lanes) {
    if (lane.kind == "queue") continue;
    const Numbers of(lane);
    for (std::size_t i = 0; i < of.size(); ++i) {
      const auto name = static_cast<std::size_t>(of.name[i]);
      std::string text = lane.kind == "stream"
                             ? data.things[name].name + " of " +
                                   data.sites[static_cast<std::size_t>(of.site[i])].op
                             : data.texts[name];
      auto& sum = sums[{lane.group, lane.kind + " " + lane.title, text}];
      sum.first += lane.merged ? of.events[i] : 1;
      sum.second += lane.merged ? of.filled[i] : of.duration[i];
    }
  }
  return sums;
}

TEST_F(TimelineOf, SumsUpToTheNanosecondWhatItDoesNotHold) {
  const TimelineData all = timeline_data(*context_);
  for (const std::size_t budget : {20u, 500u, 3000u}) {
    const TimelineData few = timeline_data(*context_, budget);
    EXPECT_EQ(few.total, all.total);
    EXPECT_LT(few.shown, few.total);
    EXPECT_LE(few.shown, static_cast<std::int64_t>(budget));
    EXPECT_EQ(sums_of(few), sums_of(all)) << budget;
    std::size_t merged = 0;
    for (const auto& lane : few.lanes)
      if (lane.merged) merged += lane.start.size();
    EXPECT_GT(merged, 0u);
  }
}

TEST_F(TimelineOf, HoldsTheLargestAndAllOfWholeSpans) {
  const TimelineData all = timeline_data(*context_);
  const TimelineData few = timeline_data(*context_, 1000);
  ASSERT_FALSE(few.whole.empty());
  const auto held = [&](const TimelineData& data, Interval within, Nanos longer_than) {
    std::multiset<std::tuple<std::string, Nanos, Nanos>> events;
    for (const auto& lane : data.lanes) {
      if (lane.merged || lane.kind == "queue") continue;
      const Numbers of(lane);
      for (std::size_t i = 0; i < of.size(); ++i)
        if (of.start[i] <= within.end && of.start[i] + of.duration[i] >= within.start &&
            of.duration[i] > longer_than)
          events.emplace(lane.group + lane.kind, of.start[i], of.duration[i]);
    }
    return events;
  };
  for (const auto& span : few.whole) EXPECT_EQ(held(few, span, -1), held(all, span, -1));
  const Interval window{few.start_ns, few.start_ns + few.duration_ns};
  const Nanos least = timeline_detail(*context_, window, 1000).longer_than;
  const auto large = held(few, {0, few.duration_ns}, least);
  EXPECT_GT(large.size(), 50u);
  EXPECT_EQ(large, held(all, {0, few.duration_ns}, least));
}

TEST_F(TimelineOf, CellsDoNotReachIntoWholeSpans) {
  const TimelineData few = timeline_data(*context_, 1000);
  for (const auto& lane : few.lanes) {
    if (!lane.merged) continue;
    const Numbers of(lane);
    for (std::size_t i = 0; i < of.size(); ++i) {
      EXPECT_GT(of.duration[i], 0);
      EXPECT_LE(of.start[i] + of.duration[i], few.duration_ns);
      for (const auto& span : few.whole)
        EXPECT_TRUE(of.start[i] >= span.end || of.start[i] + of.duration[i] <= span.start);
    }
  }
}

TEST(TimelineOfAnInstant, SumsUpWhatItDoesNotHold) {
  std::string trace = R"({"traceEvents":[)";
  for (int kernel = 0; kernel < 100; ++kernel)
    trace += (kernel > 0 ? "," : "") +
             std::string(R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":100,"dur":0,)"
                         R"("args":{"device":0,"stream":7,"correlation":)") +
             std::to_string(kernel) + "}}";
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() + "/instant.json") << trace << "]}";
  auto capture = import_file(folder.path() + "/instant.json");
  ASSERT_TRUE(capture) << capture.error().message();
  std::optional<Context> context;
  ASSERT_TRUE(analyze(*capture, {}, &context));
  const TimelineData few = timeline_data(*context, 20);
  EXPECT_EQ(few.duration_ns, 0);
  EXPECT_EQ(few.total, 100);
  const Interval window{few.start_ns, few.start_ns};
  EXPECT_EQ(timeline_detail(*context, window, 20).cells, std::vector{few.start_ns});
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
