#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <string>
#include <string_view>

#include "import/importer.h"
#include "import/torch_memory/pickle.h"
#include "model/formats.h"
#include "support/captures.h"
#include "support/report_view.h"

namespace gf::torch_memory {
namespace {

using namespace std::string_view_literals;

TEST(Pickle, PlainData) {
  // pickle.dumps({"a": [1, -2, 300, 2**40, None, True], "b": ("x",)}, protocol=4)
  const auto content =
      "\x80\x04\x95\x2d\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01"
      "a\x94]\x94(K\x01J\xfe\xff\xff\xffM\x2c\x01\x8a\x06\x00\x00\x00\x00\x00\x01N\x88"
      "e\x8c\x01"
      "b\x94\x8c\x01x\x94\x85\x94u."sv;
  const auto pickle = Pickle::read(content);
  ASSERT_TRUE(pickle) << pickle.error().message();
  const auto list = pickle->at(pickle->root(), "a");
  const auto& items = pickle->items(list);
  ASSERT_EQ(items.size(), 6u);
  EXPECT_EQ(pickle->integer(items[0]), 1);
  EXPECT_EQ(pickle->integer(items[1]), -2);
  EXPECT_EQ(pickle->integer(items[2]), 300);
  EXPECT_EQ(pickle->integer(items[3]), std::int64_t{1} << 40);
  EXPECT_EQ(pickle->kind(items[4]), Pickle::Kind::none);
  const auto tuple = pickle->at(pickle->root(), "b");
  ASSERT_EQ(pickle->items(tuple).size(), 1u);
  EXPECT_EQ(pickle->text(pickle->items(tuple)[0]), "x");
}

// os.system("true"), as pickle would carry it out.
TEST(Pickle, NothingIsCarriedOut) {
  const auto old = Pickle::read("cos\nsystem\n(S'true'\ntR."sv);
  ASSERT_FALSE(old);
  EXPECT_NE(old.error().what.find("not carried out"), std::string::npos);
  const auto current = Pickle::read(
      "\x80\x04\x95\x1c\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94."sv);
  ASSERT_FALSE(current);
  EXPECT_NE(current.error().what.find("not carried out"), std::string::npos);
}

TEST(Pickle, DamageIsAnErrorWithItsPlace) {
  for (const auto content : {"\x80\x04"sv, "\x80\x04}(."sv.substr(0, 3),
                             "\x80\x04\x8c\xff"
                             "abc"sv,
                             "\x80\x04"
                             "e."sv,
                             "\x80\x04"
                             "h\x05."sv,
                             "\x80\x04."sv, "\x80\x04]K\x01K\x02s."sv,
                             "\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff."sv}) {
    const auto pickle = Pickle::read(content);
    ASSERT_FALSE(pickle);
    EXPECT_GE(pickle.error().offset, 0);
  }
}

TEST(Pickle, BoundedInValues) {
  std::string many = "\x80\x04](";
  for (int i = 0; i < 1000; ++i) many += "K\x01";
  many += "e.";
  EXPECT_TRUE(Pickle::read(many));
  EXPECT_FALSE(Pickle::read(many, 100));
}

// Snapshots are put together from a few operations of pickle.

std::string text(const std::string& value) {
  return "\x8c" + std::string(1, static_cast<char>(value.size())) + value;
}
std::string number(std::int64_t value) {
  std::string bytes = "\x8a\x08";
  for (int shift = 0; shift < 64; shift += 8)
    bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> shift);
  return bytes;
}
std::string list(const std::string& items) { return "](" + items + "e"; }
std::string dictionary(const std::string& items) { return "}(" + items + "u"; }

std::string block(std::int64_t address, std::int64_t size) {
  return dictionary(text("address") + number(address) + text("size") + number(size) +
                    text("state") + text("active_allocated") + text("frames") + list(""));
}
std::string segment(std::int64_t device, const std::string& blocks) {
  return dictionary(text("device") + number(device) + text("address") + number(0) +
                    text("total_size") + number(1 << 20) + text("blocks") + list(blocks));
}
Result<Capture> read(const std::string& segments, const std::string& traces) {
  const test::TempDir folder;
  const std::string path = folder.file("snapshot.pickle");
  std::ofstream(path, std::ios::binary)
      << "\x80\x04"
      << dictionary(text("segments") + list(segments) + text("device_traces") + list(traces))
      << ".";
  return import_file(path, {});
}

std::string repeated(const std::string& value, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += value;
  return all;
}

TEST(MemorySnapshot, BlocksAreAllocations) {
  const auto capture = read(segment(0, block(4096, 512) + block(8192, 256)), "");
  ASSERT_TRUE(capture) << capture.error().message();
  ASSERT_EQ(capture->memory_events.size(), 2u);
  EXPECT_EQ(capture->memory_events.allocated_bytes[1], 768);
}

// A file of 3 kB in which one segment, with one block a thousand times, is named a thousand times.
TEST(MemorySnapshot, OneThatRepeatsItsContentIsRefused) {
  const std::string blocks = block(4096, 512) + "\x94" + repeated(std::string("h\0", 2), 1000);
  const auto capture = read(segment(0, blocks) + "\x94" + repeated("h\x01", 1000), "");
  ASSERT_FALSE(capture);
  EXPECT_NE(capture.error().what.find("repeats its content"), std::string::npos);
  const auto history = list(dictionary(text("action") + text("alloc")) + "\x94" +
                            repeated(std::string("h\0", 2), 1000));
  EXPECT_FALSE(read("", history + "\x94" + repeated("h\x01", 1000)));
}

// With UndefinedBehaviorSanitizer these would be findings.
TEST(MemorySnapshot, AddressesAndSizesAtTheirLimits) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const auto capture = read(segment(0, block(kMost, kMost) + block(kMost - 1, kMost)), "");
  ASSERT_TRUE(capture) << capture.error().message();
  EXPECT_EQ(capture->memory_events.size(), 2u);
}

std::string entry(const std::string& action, std::int64_t address, std::int64_t size,
                  std::int64_t time_us = -1) {
  return dictionary(text("action") + text(action) + text("addr") + number(address) + text("size") +
                    number(size) + text("frames") + list("") +
                    (time_us < 0 ? "" : text("time_us") + number(time_us)));
}

// PyTorch until 2.1: a block of 512 lay there, 256 are taken, 1024 taken and given back.
TEST(MemorySnapshot, WithoutTimesTheOrderIsTheTime) {
  const std::string segments = segment(0, block(4096, 512) + block(8192, 256));
  const auto capture = read(segments, list(entry("alloc", 8192, 256) + entry("alloc", 16384, 1024) +
                                           entry("free_completed", 16384, 1024)));
  ASSERT_TRUE(capture) << capture.error().message();
  const auto& events = capture->memory_events;
  ASSERT_EQ(events.size(), 4u);
  for (std::uint32_t row = 2; row < 4; ++row)
    EXPECT_LT(events.time_ns[row - 1], events.time_ns[row]) << row;
  EXPECT_EQ(events.bytes[0], 512);
  EXPECT_EQ(capture->text(capture->threads.name[events.thread[0]]), kBeforeHistory);
  EXPECT_EQ(events.allocated_bytes[2], 512 + 256 + 1024);
  EXPECT_NE(events.thread[1], events.thread[0]);
  EXPECT_EQ(test::quality_of(*capture), (std::map<std::string, long>{{"no_timestamps", 3}}));
}

// Blocks from before the history are separated by device, and stand at the history's begin.
TEST(MemorySnapshot, WithTimesTheHistoryBeginsWithThem) {
  const auto capture =
      read(segment(0, block(4096, 512) + block(8192, 256)) +
               segment(1, block(4096, 128) + block(8192, 64)),
           list(entry("alloc", 8192, 256, 2000)) + list(entry("alloc", 8192, 64, 1000)));
  ASSERT_TRUE(capture) << capture.error().message();
  const auto& events = capture->memory_events;
  ASSERT_EQ(events.size(), 4u);
  for (const std::uint32_t row : {0u, 1u}) EXPECT_EQ(events.time_ns[row], 2000000);
  for (const std::uint32_t row : {2u, 3u}) EXPECT_EQ(events.time_ns[row], 1000000);
  for (const std::uint32_t row : {0u, 2u})
    EXPECT_EQ(capture->text(capture->threads.name[events.thread[row]]), kBeforeHistory);
  for (const std::uint32_t row : {1u, 3u})
    EXPECT_EQ(capture->text(capture->threads.name[events.thread[row]]), "allocator");
  EXPECT_TRUE(capture->quality.empty());
}

// Only a device's own blocks count for it.
TEST(MemorySnapshot, ManyDevices) {
  constexpr int kDevices = 3000;
  std::string segments, traces;
  for (int i = 0; i < kDevices; ++i) segments += segment(i, block(4096, 512));
  const auto capture = read(segments, repeated(list(""), kDevices));
  ASSERT_TRUE(capture) << capture.error().message();
  EXPECT_EQ(capture->memory_events.size(), std::size_t{kDevices});
}

}  // namespace
}  // namespace gf::torch_memory
