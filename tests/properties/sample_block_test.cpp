#include "model/sample_block.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <fstream>
#include <tuple>

#include "model/counter_values.h"
#include "model/file.h"
#include "model/file_seal.h"
#include "model/sqlite.h"
#include "report/query/column_table.h"
#include "report/query/query.h"
#include "support/captures.h"
#include "support/report_view.h"

namespace gf {
namespace {

using test::TempDir;

struct Value {
  std::uint32_t device;
  Text metric;
  Nanos start, duration;
  double value;
  bool operator==(const Value&) const = default;
};

std::vector<Value> values_of(const Capture& capture, std::span<const Interval> spans,
                             const CounterFilter& filter) {
  std::vector<Value> out;
  each_counter_value(
      capture, spans, filter,
      [&](std::uint32_t device, Text metric, Nanos start, Nanos duration, double value) {
        out.push_back({device, metric, start, duration, value});
      });
  return out;
}

SampleBlock block_of(const std::vector<std::pair<std::int64_t, std::int64_t>>& spans,
                     std::size_t metrics, std::mt19937_64& random, Capture* capture = nullptr) {
  SampleBlock block;
  block.device = 0;
  for (std::size_t metric = 0; metric < metrics; ++metric)
    block.metrics.push_back(capture
                                ? capture->strings.intern("metric " + std::to_string(random() % 7))
                                : Text{static_cast<std::uint32_t>(metric + 1)});
  for (const auto& [start, end] : spans) {
    block.start_ns.push_back(start);
    block.end_ns.push_back(end);
    for (std::size_t metric = 0; metric < metrics; ++metric)
      block.values.push_back(
          random() % 5 ? std::bit_cast<float>(static_cast<std::uint32_t>(random())) : NAN);
  }
  return block;
}

/// A recording: rows of two devices and the host, and blocks of the devices, in order of time or in
/// none.
Capture random_recording(std::mt19937_64& random, bool in_order) {
  Capture capture;
  capture.device_row(3);
  capture.device_row(5);
  Nanos at = 0;
  auto time = [&]() -> Nanos {
    if (in_order) return at += static_cast<Nanos>(random() % 50);
    return static_cast<Nanos>(random() % 8 ? random() % 1000 : random());
  };
  for (std::size_t index = random() % 20; index > 0; --index) {
    auto& counter_samples = capture.counter_samples;
    const auto row = counter_samples.add();
    counter_samples.start_ns[row] = time();
    counter_samples.duration_ns[row] = static_cast<Nanos>(random() % 60);
    if (random() % 3 == 2) {
      counter_samples.device[row] = kNoRow;
    } else {
      counter_samples.device[row] = static_cast<std::uint32_t>(random() % 2);
    }
    counter_samples.metric[row] = capture.strings.intern("metric " + std::to_string(random() % 9));
    counter_samples.value[row] = static_cast<double>(random() % 100);
  }
  at = 0;
  for (std::size_t index = random() % 6; index > 0; --index) {
    std::vector<std::pair<Nanos, Nanos>> spans;
    for (std::size_t i = 1 + random() % 30; i > 0; --i) {
      const Nanos start = time();
      spans.emplace_back(start, in_order ? at += static_cast<Nanos>(random() % 20) : time());
    }
    SampleBlock block = block_of(spans, random() % 5, random, &capture);
    block.device = static_cast<std::uint32_t>(random() % 2);
    capture.sample_blocks.push_back(pack(block));
  }
  return capture;
}

/// The same capture with every value as a row.
counter_samples_table as_rows(const Capture& capture) {
  counter_samples_table rows = capture.counter_samples;
  BlockUnpacker unpacker;
  for (const auto& block : capture.sample_blocks) expand(unpacker.unpack(block), rows);
  return rows;
}

RC_GTEST_PROP(SampleBlock, UnpackGivesBackEveryBit,
              (const std::vector<std::pair<std::int64_t, std::int64_t>>& spans,
               std::uint8_t metric_count, std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  const std::size_t metrics = metric_count % 5;
  const SampleBlock block = block_of(spans, metrics, random);
  const PackedBlock packed = pack(block);
  BlockUnpacker unpacker;
  const SampleBlock& back = unpacker.unpack(packed);
  RC_ASSERT(back.start_ns == block.start_ns);
  RC_ASSERT(back.end_ns == block.end_ns);
  RC_ASSERT(back.metrics == block.metrics);
  RC_ASSERT(back.values.size() == block.values.size());
  // The parentheses keep || from being taken apart, which would compare null pointers.
  RC_ASSERT((block.values.empty() ||
             std::memcmp(back.values.data(), block.values.data(), 4 * block.values.size()) == 0));
  // What a reader of the file finds out of the bytes is what the packer knew.
  const auto checked = unpacker.checked_block(0, packed.metrics, spans.size(), packed.data);
  RC_ASSERT(checked.has_value() == !spans.empty());
  if (!checked) return;
  RC_ASSERT(checked->first_ns == packed.first_ns && checked->last_ns == packed.last_ns);
  RC_ASSERT(checked->values == packed.values);
  counter_samples_table rows;
  expand(block, rows);
  RC_ASSERT(rows.size() == packed.values);
}

RC_GTEST_PROP(SampleBlock, DamagedBytesAreRefusedOrRead,
              (std::uint64_t seed, std::uint16_t metrics, std::uint32_t samples)) {
  std::mt19937_64 random(seed);
  const SampleBlock block = block_of({{0, 5}, {7, 9}, {9, 12}, {12, 90}}, 3, random);
  std::string bytes = pack(block).data;
  if (random() % 3 == 0)
    bytes.resize(random() % bytes.size());
  else
    bytes[random() % bytes.size()] = static_cast<char>(random());
  const bool as_it_was = random() % 2;
  BlockUnpacker unpacker;
  const auto checked = unpacker.checked_block(
      0, std::vector<Text>(as_it_was ? 3 : metrics, Text{1}), as_it_was ? 4 : samples, bytes);
  if (!checked) return;
  const SampleBlock& back = unpacker.unpack(*checked);
  RC_ASSERT(back.samples() == checked->samples);
  counter_samples_table rows;
  expand(back, rows);
  RC_ASSERT(rows.size() == checked->values);
}

RC_GTEST_PROP(CounterValues, ComeTheSameFromBlocksAndRows, (std::uint64_t seed, bool in_order)) {
  std::mt19937_64 random(seed);
  const Capture packed = random_recording(random, in_order);
  Capture flat;
  flat.counter_samples = as_rows(packed);
  RC_ASSERT(counter_value_count(packed) == flat.counter_samples.size());
  for (int round = 0; round < 8; ++round) {
    Intervals spans;
    for (std::size_t index = random() % 4; index > 0; --index) {
      const auto start = static_cast<Nanos>(random() % 1200);
      spans.push_back({start, start + static_cast<Nanos>(random() % 200)});
    }
    spans = normalised(std::move(spans));
    if (round == 0) spans = {kAllTime};
    CounterFilter filter;
    if (random() % 2) {
      if (random() % 4 == 3) {
        filter.device = kNoRow;
      } else {
        filter.device = static_cast<std::uint32_t>(random() % 2);
      }
    }
    for (std::size_t index = random() % 3; index > 0; --index)
      filter.metrics.push_back(Text{static_cast<std::uint32_t>(1 + random() % 9)});
    const auto found = values_of(packed, spans, filter);
    RC_ASSERT(found == values_of(flat, spans, filter));
    // And as the words say it, value by value.
    std::vector<Value> expected;
    const auto& counter_samples = flat.counter_samples;
    for (std::size_t i = 0; i < counter_samples.size(); ++i) {
      const bool meets_one = std::any_of(spans.begin(), spans.end(), [&](const Interval& span) {
        return span == kAllTime ||
               (counter_samples.start_ns[i] < span.end &&
                end_of(counter_samples.start_ns[i], counter_samples.duration_ns[i]) >= span.start);
      });
      const bool metric =
          filter.metrics.empty() ||
          std::count(filter.metrics.begin(), filter.metrics.end(), counter_samples.metric[i]) > 0;
      if (meets_one && metric && (!filter.device || *filter.device == counter_samples.device[i]))
        expected.push_back({counter_samples.device[i], counter_samples.metric[i],
                            counter_samples.start_ns[i], counter_samples.duration_ns[i],
                            counter_samples.value[i]});
    }
    RC_ASSERT(found == expected);
  }
}

TEST(SampleBlock, StaysPackedThroughFilesAndJoins) {
  TempDir dir;
  Capture capture;
  const auto device = capture.device_row(3);
  auto writer = CaptureWriter::create(dir.file("a.gpf"));
  ASSERT_TRUE(writer);
  const SampleBlock block{device,
                          {capture.strings.intern("gpu.busy"), capture.strings.intern("dram.read")},
                          {100, 200},
                          {200, 300},
                          {0.5f, 7e9f, 0.25f, NAN}};
  capture.sample_blocks.push_back(pack(block));
  ASSERT_TRUE(writer->append(capture));
  Capture joined;
  joined.device_row(9);
  joined.strings.intern("other");
  for (const char* path : {"a.gpf", "b.gpf"}) {
    const auto back = read_capture(dir.file(path));
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_TRUE(back->counter_samples.empty());
    ASSERT_EQ(back->sample_blocks.size(), 1u);
    ASSERT_TRUE(write_capture(*back, dir.file("b.gpf")));
    joined.join(*back);
  }
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(joined.devices.id[joined.sample_blocks[static_cast<std::size_t>(i)].device], 3);
  const auto values = values_of(joined, {&kAllTime, 1}, {});
  ASSERT_EQ(values.size(), 6u);
  EXPECT_EQ(values[2].start, 200);
  EXPECT_EQ(values[2].duration, 100);
  EXPECT_EQ(joined.text(values[4].metric), "dram.read");
  EXPECT_EQ(values[4].value, 7e9f);
}

TEST(SampleBlock, ADamagedOneCostsItselfAndIsCounted) {
  TempDir dir;
  Capture capture;
  capture.device_row(0);
  std::mt19937_64 random(1);
  for (Nanos sample = 0; sample < 20; ++sample)
    capture.sample_blocks.push_back(
        pack(block_of({{10 * sample, 10 * sample + 5}}, 3, random, &capture)));
  ASSERT_TRUE(write_capture(capture, dir.file("a.gpf")));
  {
    auto db = sqlite::open(dir.file("a.gpf"), SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(db);
    ASSERT_TRUE(
        sqlite::execute(db->get(),
                        "UPDATE sample_blocks SET data = substr(data, 1, length(data) - 1) WHERE "
                        "row IN (3, 11); UPDATE sample_blocks SET device = 7 WHERE row = 5;",
                        {}));
  }
  const auto back = read_capture(dir.file("a.gpf"));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->sample_blocks.size(), 17u);
  ASSERT_EQ(back->quality.size(), 2u);
  EXPECT_EQ(back->text(back->quality.code[1]), "bad_sample_block");
  EXPECT_EQ(back->quality.count[1], 3);
  const auto source = QuerySource::open(dir.file("a.gpf"), kMostBytes);
  ASSERT_TRUE(source);
  auto db = sqlite::open("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  ASSERT_TRUE(show_capture(db->get(), *source));
  const auto said = ask(db->get(), "SELECT row, code, count FROM quality");
  ASSERT_TRUE(said);
  EXPECT_EQ(answer_csv(*said), "row,code,count\n0,changed_file,1\n1,bad_sample_block,3\n");
}

/// Rows of a sealed file are trusted, blocks of any other are unpacked: with one answer.
TEST(SampleBlock, IsBelievedInASealedFileAndLookedAtInAnyOther) {
  TempDir dir;
  auto read_after = [&](const std::string& change, bool sealed_anew) {
    std::mt19937_64 random(5);
    Capture capture;
    while (capture.sample_blocks.size() < 3) capture = random_recording(random, true);
    EXPECT_TRUE(write_capture(capture, dir.file("a.gpf")));
    {
      auto db = sqlite::open(dir.file("a.gpf"), SQLITE_OPEN_READWRITE);
      EXPECT_TRUE(sqlite::execute(db->get(), change, {}));
      if (sealed_anew) {
        EXPECT_TRUE(seal(db->get(), {}));
      }
    }
    auto back = read_capture(dir.file("a.gpf"));
    EXPECT_TRUE(back) << change;
    return std::move(back.value());
  };
  const Capture believed = read_after("", false);
  // Without a seal, as an older program wrote it, and where a row says nothing.
  for (const auto& [change, sealed_anew] :
       {std::pair("DROP TABLE seal", false),
        std::pair("ALTER TABLE sample_blocks DROP COLUMN \"values\"", true),
        std::pair("UPDATE sample_blocks SET \"values\" = NULL WHERE row % 2 = 0", true)}) {
    Capture checked = read_after(change, sealed_anew);
    if (!sealed_anew) {
      EXPECT_EQ(test::quality_of(checked)["changed_file"], 1) << change;
      checked.quality = {};
    }
    EXPECT_EQ(test::difference(checked, believed), "") << change;
  }
  // Data that does not fit loses its block; data that fits is harmless, whoever sealed it.
  const auto fewer = read_after("UPDATE sample_blocks SET samples = 1000000 WHERE row = 1", true);
  EXPECT_EQ(fewer.sample_blocks.size(), believed.sample_blocks.size() - 1);
  const auto many = read_after("UPDATE sample_blocks SET \"values\" = 1 << 40 WHERE row = 1", true);
  EXPECT_EQ(many.sample_blocks.size(), believed.sample_blocks.size() - 1);
  for (const char* lie :
       {"UPDATE sample_blocks SET \"values\" = 0", "UPDATE sample_blocks SET end_ns = start_ns",
        "UPDATE sample_blocks SET data = zeroblob(length(data)), hash = NULL",
        "UPDATE sample_blocks SET start_ns = 100, end_ns = -100"})
    as_rows(read_after(lie, true));
}

/// Statements about samples answer the same over packed ones as over a table of rows.
TEST(SampleTable, AnswersAsATableOfRowsWould) {
  TempDir dir;
  const char* const questions[] = {
      "SELECT * FROM counter_samples ORDER BY row",
      "SELECT * FROM counter_samples ORDER BY metric, row",
      "SELECT * FROM counter_samples ORDER BY metric, device, row",
      "SELECT device, metric, count(*), sum(row), min(start_ns) FROM counter_samples GROUP BY "
      "device, metric ORDER BY 1, 2",
      "SELECT metric, device, count(*), sum(row) FROM counter_samples GROUP BY metric, device "
      "ORDER BY 1, 2",
      "SELECT metric, count(*), max(row) FROM counter_samples WHERE device = 1 GROUP BY metric "
      "ORDER BY metric",
      "SELECT metric, count(value), total(row) FROM counter_samples WHERE start_ns >= 100 AND "
      "start_ns < 400 GROUP BY 1 ORDER BY 1",
      "SELECT row, start_ns, value FROM counter_samples WHERE metric = 'metric 2' ORDER BY row",
      "SELECT row, value FROM counter_samples WHERE metric IN ('metric 1', 'metric 3', 'nothing') "
      "AND device = 0 ORDER BY row",
      "SELECT row FROM counter_samples WHERE start_ns > 99.5 AND start_ns <= '300' ORDER BY row",
      "SELECT row FROM counter_samples WHERE device IS NULL OR metric < 'metric 2' ORDER BY row",
      "SELECT row FROM counter_samples WHERE device = -1 OR device = 4294967295 OR metric = 5",
      "SELECT row FROM counter_samples WHERE metric = 'METRIC 4' COLLATE NOCASE ORDER BY row DESC",
      "SELECT a.row, b.row FROM counter_samples a JOIN counter_samples b ON b.start_ns >= "
      "a.start_ns AND b.start_ns < a.start_ns + a.duration_ns AND b.device = a.device WHERE "
      "a.metric = 'metric 1' ORDER BY 1, 2",
      "SELECT DISTINCT metric FROM counter_samples ORDER BY metric",
      "SELECT count(*), (SELECT text FROM strings WHERE id = metric) FROM _counter_samples GROUP "
      "BY metric ORDER BY 2",
  };
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    const Capture capture = random_recording(random, seed % 4 != 0);
    auto plain = sqlite::open("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    Capture flat;
    flat.join(capture);
    flat.sample_blocks.clear();
    flat.counter_samples.clear();
    counter_samples_table rows = as_rows(capture);
    for (auto& metric : rows.metric) metric = flat.strings.intern(capture.text(metric));
    flat.counter_samples = rows;
    ASSERT_TRUE(store_capture(plain->get(), flat));
    ASSERT_TRUE(write_capture(capture, dir.file("a.gpf")));
    const auto source = QuerySource::open(dir.file("a.gpf"), kMostBytes);
    ASSERT_TRUE(source);
    auto packed = sqlite::open("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    ASSERT_TRUE(show_capture(packed->get(), *source));
    for (const char* question : questions) {
      const auto expected = ask(plain->get(), question), found = ask(packed->get(), question);
      ASSERT_TRUE(expected && found) << question << (found ? "" : found.error().message());
      EXPECT_EQ(answer_csv(*found), answer_csv(*expected)) << question << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace gf
