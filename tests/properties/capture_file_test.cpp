#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "model/file.h"
#include "support/captures.h"

namespace gf {
namespace {

using test::difference;
using test::random_capture;
using test::TempDir;

TEST(CaptureFile, ReadsBackEqual) {
  TempDir dir;
  EXPECT_TRUE(
      rc::check("every column of a random capture survives the file", [&](std::uint64_t seed) {
        const Capture before = random_capture(seed, 40);
        const std::string path = dir.file("a.gpf");
        RC_ASSERT(write_capture(before, path).has_value());
        auto after = read_capture(path);
        if (!after) RC_FAIL(after.error().message());
        RC_ASSERT(difference(before, *after) == "");
      }));
}

TEST(CaptureFile, AppendedBatchesReadBackAsOne) {
  TempDir dir;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {  // each append waits for the disk
    std::mt19937_64 random(seed);
    const std::string path = dir.file("b.gpf");
    auto writer = CaptureWriter::create(path);
    ASSERT_TRUE(writer.has_value());
    Capture live, expected;
    std::uint64_t rows = 0;
    for (int batch = 0; batch < 4; ++batch) {
      test::add_random_rows(live, random, 10);
      // The expected content of the file: the event tables grow, the others are replaced.
      Tables events = static_cast<const Tables&>(live);
      events.devices.clear();
      events.threads.clear();
      events.metadata.clear();
      events.quality.clear();
      // Rows that others name move behind those of the batches before.
      const auto move = [](auto& column, std::size_t rows_before) {
        for (auto& row : column)
          if (row != kNoRow) row += static_cast<U32>(rows_before);
      };
      move(events.collectives.activity, expected.activities.size());
      move(events.kernel_counters.kernel, expected.report_kernels.size());
      move(events.kernel_rules.kernel, expected.report_kernels.size());
      move(events.activities.program_op, expected.program_ops.size());
      move(events.activities.captured_op, expected.host_ops.size());
      move(events.host_ops.program_op, expected.program_ops.size());
      expected.each_table([&](auto& mine) {
        events.each_table([&](auto& theirs) {
          if constexpr (std::is_same_v<decltype(mine), decltype(theirs)>) mine.append(theirs);
        });
      });
      events.each_table([&](auto& table) { rows += table.size(); });
      expected.sample_blocks.insert(expected.sample_blocks.end(), live.sample_blocks.begin(),
                                    live.sample_blocks.end());
      auto ok = writer->append(live);
      ASSERT_TRUE(ok.has_value()) << ok.error().message();
      EXPECT_TRUE(live.activities.empty());
      EXPECT_TRUE(live.sample_blocks.empty());
      EXPECT_EQ(writer->rows(), rows);
    }
    expected.strings = std::move(live.strings);
    expected.devices = live.devices;
    expected.threads = live.threads;
    expected.metadata = live.metadata;
    expected.quality = live.quality;
    expected.path = live.path;
    expected.format = live.format;
    expected.framework = live.framework;
    expected.events = live.events;
    expected.bytes = live.bytes;
    auto after = read_capture(path);
    ASSERT_TRUE(after.has_value()) << after.error().message();
    EXPECT_EQ(difference(expected, *after), "") << "seed " << seed;
  }
}

// A recorder that is killed in the middle leaves a file with everything that it had appended.
TEST(CaptureFile, SurvivesAKilledWriter) {
  TempDir dir;
  for (int round = 0; round < 5; ++round) {
    const std::string path = dir.file("c.gpf");
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      auto writer = CaptureWriter::create(path);
      Capture capture;
      for (std::uint32_t batch = 0; writer; ++batch) {
        for (int i = 0; i < 500; ++i) capture.activities.start_ns[capture.activities.add()] = batch;
        if (!writer->append(capture)) break;
        if (write(pipe_ends[1], &batch, sizeof batch) != sizeof batch) break;
      }
      _exit(1);
    }
    close(pipe_ends[1]);
    std::uint32_t batch = 0, last = 0;
    bool killed = false;
    while (read(pipe_ends[0], &batch, sizeof batch) == sizeof batch) {
      last = batch;
      if (batch >= 3u + static_cast<std::uint32_t>(round) && !killed)
        killed = kill(child, SIGKILL) == 0;
    }
    close(pipe_ends[0]);
    waitpid(child, nullptr, 0);
    auto after = read_capture(path);
    ASSERT_TRUE(after.has_value()) << after.error().message();
    EXPECT_EQ(after->activities.size() % 500, 0u);
    EXPECT_GE(after->activities.size(), (last + 1) * 500u);
    EXPECT_EQ(after->activities.start_ns.back(),
              static_cast<std::int64_t>(after->activities.size() / 500) - 1);
  }
}

// Whatever bytes are broken, reading ends with a capture or with an error; the sanitizer build
// watches the rest.
TEST(CaptureFile, DamagedBytesNeverCrash) {
  TempDir dir;
  const std::string path = dir.file("d.gpf");
  ASSERT_TRUE(write_capture(random_capture(7, 60), path).has_value());
  std::ifstream in(path, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string bad = good;
    if (round % 4 == 0) bad.resize(random() % bad.size());
    for (int i = 0; i < 8 && !bad.empty(); ++i)
      bad[random() % bad.size()] = static_cast<char>(random());
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bad;
    auto capture = read_capture(path);
    EXPECT_TRUE(capture.has_value() || !capture.error().what.empty());
  }
}

}  // namespace
}  // namespace gf
