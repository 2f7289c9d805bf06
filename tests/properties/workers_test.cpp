// An answer does not depend on the number of threads that work it out, nor on the borders between
// their stretches: every field of the analysis is the same, of captures of any kind.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "analyze/analyze.h"
#include "core/packed.h"
#include "import/importer.h"
#include "report/text/reports.h"
#include "support/captures.h"
#include "support/files.h"

namespace gf {
namespace {

std::string answer_by(const Capture& capture, unsigned threads, std::size_t rows, bool brief) {
  AnalyzeOptions options;
  options.threads = threads;
  options.rows_a_thread = rows;
  options.brief = brief;
  const auto analysis = analyze(capture, options);
  if (!analysis) return analysis.error().message();
  Packer packer;
  packer.put(*analysis);
  return packer.take();
}

/// Thread by thread the same answer, where a stretch is a handful of rows.
void expect_one_answer(const Capture& capture, const std::string& name) {
  for (const bool brief : {true, false}) {
    const std::string alone = answer_by(capture, 1, 1000, brief);
    for (const unsigned threads : {2u, 3u, 7u})
      EXPECT_EQ(answer_by(capture, threads, 1 + threads % 3, brief), alone)
          << name << " by " << threads << " threads";
  }
}

}  // namespace

TEST(Workers, AnswersOfExamplesDoNotDependOnThreads) {
  std::size_t read = 0;
  for (const auto& entry : std::filesystem::directory_iterator("examples")) {
    const auto capture = import_file(entry.path().string(), {});
    if (!capture) continue;
    ++read;
    expect_one_answer(*capture, entry.path().filename().string());
  }
  EXPECT_GE(read, 8u);
}

TEST(Workers, AnswersOfOtherProgramsDoNotDependOnThreads) {
  std::size_t read = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/advice/captures")) {
    if (++read % 5 != 0) continue;
    if (const auto capture = import_file(entry.path().string(), {}))
      expect_one_answer(*capture, entry.path().filename().string());
  }
  EXPECT_GE(read, 20u);
}

}  // namespace gf
