// Fast ways of reading against plain ones: inflating by ISA-L in whatever pieces, against what zlib
// packed; and profiles decoded in chunks on several threads, against one piece on one thread.
// Traces have tests of their own (kineto_values_test.cpp, kineto_readers_test.cpp,
// kineto_chunks_test.cpp), capture files, too (column_blocks_test.cpp, sample_block_test.cpp).
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <zlib.h>

#include <fstream>
#include <random>

#include "import/input.h"
#include "import/xplane/xplane.h"
#include "support/captures.h"
#include "support/files.h"
#include "support/xplane_writer.h"

namespace gf {

namespace {

/// A member of a gzip file as zlib writes it, by any of its levels, strategies and windows, with
/// any of the header's optional fields.
std::string gzip_member(std::string_view text, std::mt19937_64& random) {
  constexpr int kStrategies[] = {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED};
  z_stream stream{};
  const int window = static_cast<int>(9 + random() % 7);
  EXPECT_EQ(deflateInit2(&stream, static_cast<int>(random() % 10), Z_DEFLATED, window + 16,
                         static_cast<int>(1 + random() % 9), kStrategies[random() % 5]),
            Z_OK);
  std::string extra(random() % 300, 'e'), name = "trace.json", comment(random() % 40, 'c');
  gz_header header{};
  if (random() % 2) {
    header.extra = reinterpret_cast<Bytef*>(extra.data());
    header.extra_len = static_cast<uInt>(extra.size());
  }
  if (random() % 2) header.name = reinterpret_cast<Bytef*>(name.data());
  if (random() % 2) header.comment = reinterpret_cast<Bytef*>(comment.data());
  header.hcrc = random() % 2;
  EXPECT_EQ(deflateSetHeader(&stream, &header), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 4096, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Bytes that compress well, hardly or not at all.
std::string random_content(std::mt19937_64& random) {
  std::string out;
  const std::size_t size = random() % (random() % 4 ? 3000 : 300'000);
  const unsigned kinds = 1 + static_cast<unsigned>(random() % 256);
  while (out.size() < size) {
    if (!out.empty() && random() % 3 == 0) {
      const std::size_t from = random() % out.size();
      out += out.substr(from, random() % 300);
    } else {
      out += static_cast<char>(random() % kinds);
    }
  }
  return out;
}

/// One plane of the host and one of a device, whose events use numbers, texts and references.
std::string random_profile(std::mt19937_64& random) {
  using namespace test;  // NOLINT: what profiles are written with
  const auto events = [&](std::size_t count) {
    std::vector<std::string> out;
    for (std::int64_t at = 0; out.size() < count;
         at += static_cast<std::int64_t>(random() % 9000)) {
      std::vector<std::string> stats;
      if (random() % 2) stats.push_back(number_stat(1, static_cast<std::int64_t>(random() % 500)));
      if (random() % 3 == 0) stats.push_back(ref_stat(2, 1 + random() % 5));
      if (random() % 5 == 0)
        stats.push_back(number_stat(3, static_cast<std::int64_t>(random() % 9)));
      out.push_back(event(1 + random() % 7, at, static_cast<std::int64_t>(random() % 9000), stats));
    }
    return out;
  };
  std::vector<std::string> names, stats;
  for (std::uint64_t id = 1; id < 7; ++id) names.push_back(entry(id, "name " + std::to_string(id)));
  stats = {entry(1, "correlation_id"), entry(2, "hlo_op"), entry(3, "context_id"),
           entry(4, "fusion"), entry(5, "dot")};
  std::vector<std::string> host, device;
  for (std::uint64_t id = 0; id < 1 + random() % 4; ++id)
    host.push_back(line(id, "thread " + std::to_string(id), kEpoch, events(random() % 400)));
  for (std::uint64_t id = 0; id < 1 + random() % 4; ++id)
    device.push_back(line(id, "Stream #" + std::to_string(id), kEpoch, events(random() % 400)));
  return space(
      {plane("/host:CPU", host, names, stats), plane("/device:GPU:0", device, names, stats)});
}

/// The same profile in small chunks on several threads as in one piece.
void expect_same_in_chunks(const std::string& bytes) {
  ImportOptions plain;
  plain.threads = 1;
  plain.chunk_bytes = bytes.size() + 1;
  const auto whole = xplane::load_bytes(bytes, "a.xplane.pb", plain);
  EXPECT_TRUE(rc::check([&] {
    ImportOptions options;
    options.threads = *rc::gen::inRange<unsigned>(1, 5);
    options.chunk_bytes = *rc::gen::inRange<std::size_t>(1, 20'000);
    const auto pieces = xplane::load_bytes(bytes, "a.xplane.pb", options);
    RC_ASSERT(whole.has_value() == pieces.has_value());
    if (whole) RC_ASSERT(test::difference(*whole, *pieces) == "");
  }));
}

}  // namespace

TEST(FastPaths, GzipInWhateverPiecesIsWhatWasPacked) {
  const test::TempDir dir;
  const std::string path = dir.file("a.gz");
  EXPECT_TRUE(rc::check([&](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string content, packed;
    for (auto members = 1 + random() % 3; members > 0; --members) {
      const std::string text = random_content(random);
      content += text;
      packed += gzip_member(text, random);
    }
    std::ofstream(path, std::ios::binary) << packed;
    auto input = Input::open(path, 1 << 30);
    RC_ASSERT(input.has_value());
    std::string read, block(100'000, '\0');
    for (;;) {
      const std::size_t want = 1 + random() % block.size();
      const auto got = input->read(block.data(), want);
      RC_ASSERT(got.has_value());
      read.append(block, 0, *got);
      if (*got < want) break;
    }
    RC_ASSERT(input->damage().empty());
    RC_ASSERT(read == content);
  }));
}

TEST(FastPaths, ProfilesInChunksOnThreadsAreTheWholeOnes) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    std::mt19937_64 random(seed);
    expect_same_in_chunks(random_profile(random));
  }
  for (const char* archive : {"examples/jax_mlp.tgz", "examples/tf_lenet_eager.tgz"}) {
    const test::TemporaryFolder folder;
    ASSERT_TRUE(folder.unpack(archive));
    const auto bytes = read_whole(folder.find(".xplane.pb"), 1 << 30);
    ASSERT_TRUE(bytes);
    expect_same_in_chunks(*bytes);
  }
}

}  // namespace gf
