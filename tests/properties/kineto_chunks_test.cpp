// Where a trace is cut into chunks, and how many threads read them, must not be seen in the
// capture: every column of every table, every text number and every note of damage is the same.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "import/kineto/reading.h"
#include "support/captures.h"
#include "support/files.h"
#include "support/hostile_traces.h"

namespace gf {

namespace {

Capture load(const std::string& path, std::size_t chunk_bytes, unsigned threads,
             kineto::Reading reading = kineto::Reading::learned) {
  ImportOptions options;
  options.chunk_bytes = chunk_bytes;
  options.threads = threads;
  auto capture = kineto::load_by(reading, path, options);
  if (!capture) throw std::runtime_error(capture.error().message());
  return std::move(*capture);
}

void expect_same(const std::string& path) {
  const Capture whole = load(path, 512 << 20, 1);
  EXPECT_TRUE(rc::check([&] {
    const auto chunk = *rc::gen::inRange<std::size_t>(1, 300'000);
    const auto threads = *rc::gen::inRange<unsigned>(1, 4);
    const Capture pieces = load(path, chunk, threads);
    RC_ASSERT(test::difference(whole, pieces) == "");
    RC_ASSERT(whole.strings.size() == pieces.strings.size());
    for (std::uint32_t i = 0; i < whole.strings.size(); ++i)
      RC_ASSERT(whole.strings.view(Text{i}) == pieces.strings.view(Text{i}));
  }));
}

/// With layouts of events learned and without: the same rows, texts and damage.
void expect_same_without_layouts(const std::string& path) {
  const Capture learned = load(path, 0, 1), plain = load(path, 0, 1, kineto::Reading::fast);
  ASSERT_EQ(test::difference(learned, plain), "") << path;
  ASSERT_EQ(learned.strings.size(), plain.strings.size()) << path;
  for (std::uint32_t i = 0; i < plain.strings.size(); ++i)
    ASSERT_EQ(learned.strings.view(Text{i}), plain.strings.view(Text{i})) << path;
}

std::vector<std::string> traces() {
  std::vector<std::string> files;
  const auto add = [&](const std::filesystem::path& folder) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder))
      if (file.path().string().ends_with(".json.gz")) files.push_back(file.path());
  };
  add("examples");
  if (const std::string corpus = test::corpus(""); !corpus.empty()) add(corpus);
  return files;
}

}  // namespace

TEST(KinetoLayouts, CannotBeSeenInTheCorpus) {
  for (const auto& file : traces()) expect_same_without_layouts(file);
}

/// Bytes changed, taken out or put in anywhere.
TEST(KinetoLayouts, CannotBeSeenInDamagedTraces) {
  const auto text = read_whole("examples/lenet_train_b64.json.gz", 1 << 30);
  ASSERT_TRUE(text);
  const test::TempDir dir;
  const std::string path = dir.file("damaged.json");
  EXPECT_TRUE(rc::check([&] {
    std::string damaged = *text;
    const auto list = damaged.find("traceEvents") + 20;
    for (int i = 0; i < 200; ++i) {
      const auto at = *rc::gen::inRange<std::size_t>(list, damaged.size() - 1);
      static constexpr std::string_view kOdd = "\"\\{}[],: \n0aX\xff\x01-.";
      const char odd = kOdd[*rc::gen::inRange<std::size_t>(0, kOdd.size())];
      switch (*rc::gen::inRange(0, 3)) {
        case 0:
          damaged[at] = odd;
          break;
        case 1:
          damaged.erase(at, 1);
          break;
        default:
          damaged.insert(at, 1, odd);
      }
    }
    std::ofstream(path, std::ios::binary) << damaged;
    expect_same_without_layouts(path);
    RC_ASSERT(!::testing::Test::HasFatalFailure());
  }));
}

TEST(KinetoChunks, CannotBeSeenInASoundTrace) {
  for (const char* file : {"examples/lenet_inf_b1.json.gz", "examples/lenet_train_b64.json.gz"})
    expect_same(file);
}

TEST(KinetoChunks, CannotBeSeenInADamagedTrace) {
  auto text = read_whole("examples/lenet_train_b64.json.gz", 1 << 30);
  ASSERT_TRUE(text);
  // Events with names that end early, control characters, bytes that are no UTF-8, values that are
  // no JSON.
  const std::string_view damage[] = {"\"name\": \"a \"quoted\" name\", ",
                                     "\"name\": \"tab\there\", ", "\"name\": \"\xff\xfe\", ",
                                     "\"cbid\": NaN, ", "\"x\": [1, "};
  std::size_t at = text->find("traceEvents"), index = 0;
  for (int step = 0; (at = text->find("\"ph\": \"X\"", at + 1)) != text->npos; ++step)
    if (step % 40 == 7) text->insert(at, damage[index++ % std::size(damage)]);
  ASSERT_GT(index, 10u);
  const test::TempDir dir;
  const std::string path = dir.file("damaged.json");
  std::ofstream(path, std::ios::binary) << *text;
  const Capture capture = load(path, 0, 2);
  EXPECT_EQ(capture.events, 1508);
  EXPECT_GT(capture.quality.size(), 1u);
  expect_same(path);
}

/// Threads and texts that nobody has seen before, in every event: the readers of several chunks
/// number them at the same time as the chunks before are put together.
TEST(KinetoChunks, ManyThreadsAndNamesAreReadByManyThreads) {
  const test::TempDir dir;
  const std::string path = dir.file("threads.json");
  constexpr int kThreads = 20'000;
  test::write_trace_of_many_threads(path, kThreads);
  const Capture whole = load(path, 512 << 20, 1);
  ASSERT_EQ(whole.threads.size(), kThreads);
  EXPECT_EQ(whole.text(whole.threads.name[kThreads - 1]), "worker 20000");
  for (int run = 0; run < 8; ++run) {
    const Capture pieces = load(path, 8 << 10, 4);
    ASSERT_EQ(test::difference(whole, pieces), "");
  }
}

}  // namespace gf
