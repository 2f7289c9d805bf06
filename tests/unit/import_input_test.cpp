#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "import/importer.h"
#include "import/input.h"

namespace gf {

namespace {

namespace fs = std::filesystem;

/// A folder of its own for each test, removed afterwards.
class InputTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "gpufathom-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, std::string_view content) {
    const auto path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  fs::path folder_;
};

std::string gzip(std::string_view text) {
  isal_zstream stream;
  std::vector<std::uint8_t> level_buffer(ISAL_DEF_LVL1_DEFAULT);
  std::string out(text.size() + text.size() / 8 + 1024, '\0');
  isal_deflate_init(&stream);
  stream.level = 1;
  stream.level_buf = level_buffer.data();
  stream.level_buf_size = ISAL_DEF_LVL1_DEFAULT;
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<std::uint32_t>(text.size());
  stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream.avail_out = static_cast<std::uint32_t>(out.size());
  EXPECT_EQ(isal_deflate(&stream), COMP_OK);
  out.resize(stream.total_out);
  return out;
}

std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

/// Text that compresses, but not to nothing: about 2.5 MB.
std::string sample() {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "line " + std::to_string(i * 7919) + "\n";
  return text;
}

struct Read {
  std::string content, damage, error;
};

Read read_all(const std::string& path, std::uint64_t max_bytes = 1 << 30,
              std::size_t block = 100'003) {
  Read result;
  auto input = Input::open(path, max_bytes);
  if (!input) return {{}, {}, input.error().message()};
  std::string buffer(block, '\0');
  for (;;) {
    auto got = input->read(buffer.data(), block);
    if (!got) {
      result.error = got.error().message();
      break;
    }
    result.content.append(buffer, 0, *got);
    if (*got < block) break;
  }
  for (auto& damage : input->damage()) result.damage += name_of(damage.code);
  return result;
}

}  // namespace

TEST_F(InputTest, ReadsEveryCompression) {
  const auto text = sample();
  for (const auto& path :
       {write("plain", text), write("a.gz", gzip(text)), write("a.zst", zstd(text)),
        write("members.gz", gzip(text.substr(0, 1000)) + gzip("") + gzip(text.substr(1000))),
        write("frames.zst", zstd(text.substr(0, 1000)) + zstd(text.substr(1000))),
        write("padded.gz", gzip(text) + std::string(1024, '\0'))}) {
    const auto whole = read_all(path);
    EXPECT_EQ(whole.error, "") << path;
    EXPECT_EQ(whole.damage, "") << path;
    EXPECT_TRUE(whole.content == text) << path;
    EXPECT_TRUE(read_whole(path, 1 << 30).value() == text) << path;
  }
}

TEST_F(InputTest, KeepsWhatCameBeforeTheDamage) {
  const auto text = sample();
  for (const auto& [name, packed] : {std::pair{"a.gz", gzip(text)}, {"a.zst", zstd(text)}}) {
    const auto whole = read_all(write(name, std::string_view(packed).substr(0, packed.size() / 2)));
    EXPECT_EQ(whole.damage, "truncated_input") << name;
    EXPECT_GT(whole.content.size(), text.size() / 4) << name;
    EXPECT_TRUE(text.starts_with(whole.content)) << name;
  }
  auto flipped = gzip(text);
  flipped[flipped.size() - 6] ^= 1;  // inside the stored checksum
  auto whole = read_all(write("crc.gz", flipped));
  EXPECT_EQ(whole.damage, "bad_checksum");
  EXPECT_TRUE(whole.content == text);
  whole = read_all(write("tail.gz", gzip(text) + "more"));
  EXPECT_EQ(whole.damage, "trailing_garbage");
  EXPECT_TRUE(whole.content == text);
  whole = read_all(write("tail.zst", zstd(text) + "more text"));
  EXPECT_EQ(whole.damage, "trailing_garbage");
  EXPECT_TRUE(whole.content == text);
}

TEST_F(InputTest, AnyCutOrFlippedByteEndsTheStreamInOrder) {
  const auto text = sample().substr(0, 20'000);
  for (const auto& packed : {gzip(text), zstd(text)})
    for (std::size_t i = 1; i < packed.size(); i += 61) {
      const auto cut = read_all(write("cut", packed.substr(0, i)));
      EXPECT_TRUE(!cut.error.empty() || !cut.damage.empty() || i < 6) << i;
      auto flipped = packed;
      flipped[i] ^= 0x10;
      read_all(write("flipped", flipped));
    }
}

TEST_F(InputTest, StopsAtTheLimit) {
  const auto bomb = write("bomb.gz", gzip(std::string(10'000'000, '\0')));
  const auto whole = read_all(bomb, 1'000'000);
  EXPECT_NE(whole.error.find("grows past the limit of 1000000 bytes when decompressed"),
            std::string::npos)
      << whole.error;
  EXPECT_NE(whole.error.find("--max-bytes"), std::string::npos);
  EXPECT_EQ(read_all(bomb, 10'000'000).content.size(), 10'000'000u);
}

TEST_F(InputTest, SaysWhatAFileIsInstead) {
  auto error = [](const std::string& path) {
    auto capture = import_file(path);
    return capture ? std::string("imported") : capture.error().message();
  };
  auto has = [&](const std::string& path, std::string_view words) {
    EXPECT_NE(error(path).find(words), std::string::npos) << error(path);
  };
  has((folder_ / "missing").string(), "no such file");
  has(folder_.string(), "is a directory");
  has(write("empty", ""), "is empty");
  has(write("empty.gz", gzip("")), "is empty when decompressed");
  has(write("p", "\x89PNG\r\n\x1a\n more"), "a PNG image");
  has(write("e",
            "\x7f"
            "ELF...."),
      "an ELF program");
  has(write("z", "PK\x03\x04...."), "a zip archive");
  has(write("x",
            "\xfd"
            "7zXZ......."),
      "decompress it first: xz -d");
  has(write("t", "hello world, this is text"), "plain text");
  has(write("j.gz", gzip("{\"a\": 1}")), "JSON of an unknown format");
  has("/dev/null", "not a regular file");
  const auto sparse = (folder_ / "sparse").string();
  std::ofstream(sparse).put('\0');
  fs::resize_file(sparse, 5'000'000'000);
  has(sparse, "zeros only");
}

}  // namespace gf
