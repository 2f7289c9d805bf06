// Code on several threads, on inputs small enough for ThreadSanitizer: ./dev test --threads.
// Small chunks and more threads than this machine has cores make them meet often.
#include <gtest/gtest.h>

#include <thread>

#include "analyze/analyze.h"
#include "import/importer.h"
#include "support/captures.h"
#include "support/files.h"
#include "support/hostile_traces.h"

namespace gf {

namespace {

ImportOptions small_pieces() {
  ImportOptions options;
  options.chunk_bytes = 16 << 10;
  options.threads = 4;
  return options;
}

Capture read(const std::string& path) {
  auto capture = import_file(path, small_pieces());
  EXPECT_TRUE(capture) << capture.error().message();
  if (capture) return std::move(*capture);
  return Capture{};
}

/// Two analyses of one capture at the same time, as a program that holds the library may run them.
void analyze_twice(const Capture& capture, const std::string& window) {
  AnalyzeOptions options;
  options.window = window;
  options.threads = 4;
  options.rows_a_thread = 16;
  std::string texts[2];
  auto run = [&](std::string& text) {
    const auto answer = analyze(capture, options);
    if (answer) {
      text = "";
    } else {
      text = answer.error().message();
    }
  };
  std::thread other([&] { run(texts[1]); });
  run(texts[0]);
  other.join();
  EXPECT_EQ(texts[0], "");
  EXPECT_EQ(texts[1], "");
}

}  // namespace

TEST(Threads, KinetoReadsAndAnalysesTheExamples) {
  for (const char* file : {"examples/lenet_train_b64.json.gz", "examples/lenet_graphs_b1.json.gz"})
    analyze_twice(read(file), "all");
}

TEST(Threads, KinetoReadsManyThreadsAndNames) {
  const test::TempDir dir;
  const std::string path = dir.file("threads.json");
  test::write_trace_of_many_threads(path, 3000);
  const Capture capture = read(path);
  EXPECT_EQ(capture.threads.size(), 3000u);
  EXPECT_EQ(capture.activities.size(), 3000u);
  analyze_twice(capture, "all");
}

TEST(Threads, XplaneAndTraceJson) {
  const test::TemporaryFolder folder;
  ASSERT_TRUE(folder.unpack("examples/jax_mlp.tgz"));
  analyze_twice(read(folder.find(".xplane.pb")), "all");
}

TEST(Threads, ARecordingsSamples) { analyze_twice(read("examples/mnist_recorded.gpf"), "all"); }

TEST(Threads, ATraceAndItsCounters) {
  Capture capture = read("examples/lenet_train_b64.json.gz");
  capture.join(read("examples/lenet_train_b64.base.ncu.csv.gz"));
  analyze_twice(capture, "steps");
}

}  // namespace gf
