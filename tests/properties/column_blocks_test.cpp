// Tables of many rows as blocks of columns: they read back equal, and what is damaged, cut or made
// to mislead is told.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "core/xxh64.h"
#include "model/file.h"
#include "model/file_columns.h"
#include "model/file_seal.h"
#include "support/captures.h"

namespace gf {
namespace {

using test::difference;
using test::random_capture;
using test::TempDir;

TEST(Xxh64, GivesTheNumbersOfItsSpecification) {
  EXPECT_EQ(xxh64(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(xxh64("abc"), 0x44BC2CF5AD770999u);
  EXPECT_EQ(xxh64("Call me Ishmael. Some years ago--never mind how long precisely-"),
            0x02A2E85470D6FD96u);
}

TEST(ColumnBlock, EveryKindOfValuesReadsBack) {
  std::mt19937_64 random(1);
  ColumnPacker packer;
  ColumnUnpacker unpacker;
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min(),
                         kHigh = std::numeric_limits<std::int64_t>::max();
  for (int round = 0; round < 400; ++round) {
    std::vector<std::int64_t> values(1 + random() % 300);
    const auto bits = random() % 65;
    const bool rising = random() % 2;
    std::int64_t last = static_cast<std::int64_t>(random());
    for (auto& value : values) {
      const std::uint64_t step = bits == 0 ? 0 : random() >> (64 - bits);
      value = static_cast<std::int64_t>((rising ? static_cast<std::uint64_t>(last) : 0) + step);
      last = value;
    }
    if (random() % 4 == 0) values[random() % values.size()] = random() % 2 ? kLow : kHigh;
    const std::string data = packer.pack(values);
    std::vector<std::int64_t> back(values.size());
    ASSERT_TRUE(unpacker.unpack(data, back)) << round;
    ASSERT_EQ(back, values) << round;
    back.push_back(0);
    EXPECT_FALSE(unpacker.unpack(data, back) && data[1] != 0) << round;
    EXPECT_FALSE(unpacker.unpack(data.substr(0, random() % 19), values)) << round;
  }
}

/// A capture whose tables are long enough to be packed, made of a short random one.
Capture long_capture(std::uint64_t seed) {
  Capture capture = random_capture(seed, 40);
  capture.sample_blocks.clear();
  capture.each_table([](auto& table) {
    if (std::remove_cvref_t<decltype(table)>::kHasKey || table.empty()) return;
    while (table.size() < kBlockRows + 100) {
      std::remove_cvref_t<decltype(table)> more;
      more.append(table);
      table.append(more);
    }
  });
  return capture;
}

TEST(ColumnBlocks, LongTablesReadBackEqual) {
  TempDir dir;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Capture before = long_capture(seed);
    ASSERT_TRUE(write_capture(before, dir.file("a.gpf")));
    const auto after = read_capture(dir.file("a.gpf"));
    ASSERT_TRUE(after) << after.error().message();
    EXPECT_EQ(difference(before, *after), "") << seed;
    EXPECT_TRUE(after->quality.size() == before.quality.size()) << "the seal is whole";
  }
}

/// Kernels that a recorder appends some thousand at a time.
Capture kernels(std::uint64_t first, std::size_t count) {
  Capture capture;
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = capture.activities.add();
    capture.activities.start_ns[row] = static_cast<I64>(1000 * (first + i));
    capture.activities.duration_ns[row] = 400;
    capture.activities.name[row] = capture.strings.intern(i % 2 ? "gemm" : "copy");
    if (i % 2 == 0) capture.activities.kind[row] = ActivityKind::memcpy;
    const auto link = capture.collectives.add();
    capture.collectives.activity[link] = row;
  }
  return capture;
}

TEST(ColumnBlocks, AppendedRowsBecomeBlocksWhenTheyAreEnough) {
  TempDir dir;
  auto writer = CaptureWriter::create(dir.file("a.gpf"));
  ASSERT_TRUE(writer);
  std::size_t rows = 0;
  Capture live = kernels(0, 0);
  for (const std::size_t count : {100u, 5000u, 5000u, 1u, 9000u, 20u}) {
    const Capture more = kernels(rows, count);
    live.join(more);
    rows += count;
    ASSERT_TRUE(writer->append(live, count == 20));
    const auto after = read_capture(dir.file("a.gpf"));
    ASSERT_TRUE(after) << after.error().message();
    ASSERT_EQ(after->activities.size(), rows);
    for (std::uint32_t row = 0; row < rows; ++row) {
      ASSERT_EQ(after->activities.start_ns[row], 1000 * row);
      ASSERT_EQ(after->collectives.activity[row], row);
    }
    EXPECT_TRUE(after->quality.empty());
  }
}

std::string error_after(const std::string& path, const std::string& sql) {
  auto db = sqlite::open(path, SQLITE_OPEN_READWRITE);
  const auto done = sqlite::execute(db->get(), sql, "");
  EXPECT_TRUE(done) << done.error().message();
  db->reset();
  const auto read = read_capture(path);
  if (!read) return read.error().message();
  return read->quality.empty() ? "" : std::string(read->text(read->quality.code[0]));
}

TEST(ColumnBlocks, WhatWasChangedIsTold) {
  const std::pair<const char*, const char*> cases[] = {
      {"UPDATE column_blocks SET data = zeroblob(length(data)) WHERE block = 2",
       "(activities.duration_ns, rows 0 to 9999) is damaged"},
      {"UPDATE column_blocks SET data = substr(data, 1, 10) WHERE block = 1", "is damaged"},
      {"UPDATE column_blocks SET data = x'' WHERE block = 1", "is damaged"},
      {"UPDATE column_blocks SET hash = 0 WHERE block = 1", "is damaged"},
      {"UPDATE column_blocks SET \"column\" = 'bytes' WHERE block = 2", "is damaged"},
      {"UPDATE column_blocks SET names = 'a' WHERE \"column\" = 'kind'", "is damaged"},
      {"UPDATE column_blocks SET row = 4 WHERE block = 1", "or has it twice"},
      {"UPDATE column_blocks SET rows = 4 WHERE block = 1", "or has it twice"},
      {"UPDATE column_blocks SET rows = 4000000000", "says that it holds 4000000000 rows"},
      {"UPDATE column_blocks SET rows = -1", "says that it holds -1 rows"},
      {"UPDATE column_blocks SET row = 9223372036854775807", "rows from 9223372036854775807 on"},
      {"INSERT INTO column_blocks SELECT block + 1000, \"table\", \"column\", row, rows, names, "
       "hash, data FROM column_blocks",
       "stands in the file twice"},
      {"DELETE FROM column_blocks WHERE block = 2", "changed_file"},
      {"DELETE FROM column_blocks", "changed_file"},
      {"DROP TABLE column_blocks", "changed_file"},
      {"UPDATE strings SET text = 'lie' WHERE text = 'gemm'", "changed_file"},
      {"UPDATE source SET events = 7", "changed_file"},
      {"CREATE TABLE more(x)", "changed_file"},
      {"DELETE FROM seal", "changed_file"},
      {"SELECT 1", ""},
  };
  for (const auto& [sql, expected] : cases) {
    TempDir dir;
    ASSERT_TRUE(write_capture(kernels(0, 10'000), dir.file("a.gpf")));
    const std::string error = error_after(dir.file("a.gpf"), sql);
    EXPECT_TRUE(*expected ? error.find(expected) != std::string::npos : error.empty())
        << sql << ": " << error;
  }
}

TEST(ColumnBlocks, SmallFilesOfManyRowsAreBounded) {
  TempDir dir;
  Capture capture;
  for (std::size_t i = 0; i < kBlockRows; ++i) capture.activities.add();
  ASSERT_TRUE(write_capture(capture, dir.file("a.gpf")));
  EXPECT_TRUE(read_capture(dir.file("a.gpf")));
  const auto refused = read_capture(dir.file("a.gpf"), {}, 1 << 20);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("--max-bytes"), std::string::npos);
}

/// Samples as a recorder packs them.
SampleBlock samples(Capture& capture) {
  SampleBlock block;
  block.device = capture.device_row(0);
  block.metrics = {capture.strings.intern("sm.active")};
  for (int i = 0; i < 4096; ++i) {
    block.start_ns.push_back(1000 * i);
    block.end_ns.push_back(1000 * i + 1000);
    block.values.push_back(static_cast<float>(i % 7) / 7);
  }
  return block;
}

/// A newer program's file of the same version, sealed by it: what is not known here is left out.
TEST(ColumnBlocks, BlocksOfUnknownTablesAndColumnsAreLeftOut) {
  TempDir dir;
  const Capture before = kernels(0, 10'000);
  ASSERT_TRUE(write_capture(before, dir.file("a.gpf")));
  {
    auto db = sqlite::open(dir.file("a.gpf"), SQLITE_OPEN_READWRITE);
    const auto done = sqlite::execute(
        db->get(),
        "CREATE TABLE _futures(row INTEGER PRIMARY KEY, x INTEGER); INSERT INTO _futures "
        "VALUES(0, 7); ALTER TABLE source ADD COLUMN from_the_future TEXT; DELETE FROM seal; "
        "INSERT INTO column_blocks(\"table\", \"column\", row, rows, names, hash, data) SELECT "
        "\"table\", 'from_the_future', row, rows, names, 0, x'07' FROM column_blocks WHERE "
        "\"column\" = 'start_ns'; "
        "INSERT INTO column_blocks(\"table\", \"column\", row, rows, names, hash, data) SELECT "
        "'futures', 'x', row, rows, names, 0, x'07' FROM column_blocks WHERE block = 1",
        "");
    ASSERT_TRUE(done) << done.error().message();
    ASSERT_TRUE(seal(db->get(), ""));
  }
  const auto after = read_capture(dir.file("a.gpf"));
  ASSERT_TRUE(after) << after.error().message();
  EXPECT_EQ(difference(before, *after), "");
  EXPECT_TRUE(after->quality.empty());
  for (const int version : {0, 3}) {
    const std::string error =
        error_after(dir.file("a.gpf"), "PRAGMA user_version = " + std::to_string(version));
    EXPECT_NE(error.find("capture format " + std::to_string(version)), std::string::npos) << error;
  }
}

/// Cut at every page, and with bits turned in every page: an error, or all that was written.
TEST(ColumnBlocks, TornAndTurnedBytesAreToldOrChangeNothing) {
  TempDir dir;
  Capture before = kernels(0, 10'000);
  before.sample_blocks.push_back(pack(samples(before)));
  ASSERT_TRUE(write_capture(before, dir.file("a.gpf")));
  std::ifstream in(dir.file("a.gpf"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const auto check = [&](const std::string& bytes, std::size_t place) {
    std::ofstream(dir.file("b.gpf"), std::ios::binary) << bytes;
    const auto read = read_capture(dir.file("b.gpf"));
    if (read && read->quality.empty()) {
      EXPECT_EQ(difference(before, *read), "") << place;
    }
  };
  std::mt19937_64 random(1);
  for (std::size_t page = 0; page < whole.size(); page += 4096) {
    check(whole.substr(0, page), page);
    for (int turn = 0; turn < 4; ++turn) {
      std::string turned = whole;
      const std::size_t place = page + random() % 4096;
      turned[place] = static_cast<char>(turned[place] ^ 1 << random() % 8);
      check(turned, place);
    }
    std::string torn = whole;  // a page that never reached the disk
    std::fill_n(torn.begin() + static_cast<std::ptrdiff_t>(page), 4096, '\0');
    check(torn, page);
  }
}

}  // namespace
}  // namespace gf
