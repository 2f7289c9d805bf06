// Small databases that would make much: what is computed is refused, what unpacks is bounded.
#include <gtest/gtest.h>

#include "import/importer.h"
#include "model/file.h"
#include "support/captures.h"
#include "support/import_error.h"
#include "support/report_view.h"

namespace gf {
namespace {

using test::import_error;
using test::TempDir;

void change(const std::string& path, const std::string& sql) {
  auto db = sqlite::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  const auto done = sqlite::execute(db->get(), sql, path);
  ASSERT_TRUE(done.has_value()) << done.error().message();
}

// Nine rows: that they are computed is what is refused.
const std::string kComputed =
    "WITH RECURSIVE c(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM c WHERE x < 8) SELECT x AS ";

TEST(Bombs, TablesOfACaptureAreStoredNotComputed) {
  const std::string cases[] = {
      "DROP TABLE _activities; CREATE VIEW _activities AS " + kComputed + "row FROM c",
      "DROP TABLE strings; CREATE VIEW strings AS " + kComputed + "id, 'text' AS text FROM c",
      "DROP TABLE strings; CREATE TABLE strings(id INTEGER PRIMARY KEY, text TEXT GENERATED ALWAYS "
      "AS (printf('%.*c', 30, 'x'))); INSERT INTO strings(id) VALUES(1)"};
  for (const std::string& sql : cases) {
    TempDir dir;
    ASSERT_TRUE(write_capture(Capture{}, dir.file("run.gpf")).has_value());
    change(dir.file("run.gpf"), sql);
    EXPECT_NE(import_error(dir.file("run.gpf")).find("is computed, not stored"), std::string::npos)
        << sql << ": " << import_error(dir.file("run.gpf"));
  }
}

TEST(Bombs, TablesOfAnExportAreStoredNotComputed) {
  const std::string cases[] = {
      "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS " + kComputed + "start, x + 5 AS \"end\" FROM c",
      "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT GENERATED ALWAYS AS "
      "(printf('%.*c', 20, 'x'))); INSERT INTO StringIds(id) VALUES(1)"};
  for (const std::string& sql : cases) {
    TempDir dir;
    change(dir.file("a.sqlite"), "CREATE TABLE META_DATA_EXPORT(name, value);" + sql);
    EXPECT_NE(import_error(dir.file("a.sqlite")).find("is computed, not stored"), std::string::npos)
        << sql << ": " << import_error(dir.file("a.sqlite"));
  }
}

TEST(Bombs, TheLimitCountsWhatIsMade) {
  TempDir dir;
  Capture c;
  for (int i = 0; i < 1000; ++i) c.activities.add();
  ASSERT_TRUE(write_capture(c, dir.file("run.gpf")).has_value());
  EXPECT_TRUE(read_capture(dir.file("run.gpf"), {}, 10 << 20).has_value());
  const auto refused = read_capture(dir.file("run.gpf"), {}, 10'000);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message().find("--max-bytes"), std::string::npos);
  sqlite::ReadBudget budget(dir.file("run.gpf"), kMostBytes);
  EXPECT_TRUE(budget.spend(1 << 20).has_value());
  const auto spent = budget.spend(1ull << 32);
  ASSERT_FALSE(spent.has_value());
  EXPECT_NE(spent.error().what.find("far more than a file of its size"), std::string::npos);
}

TEST(Bombs, ABlockOfSamplesLargerThanAnyOfOursIsDamage) {
  TempDir dir;
  Capture c;
  c.device_row(0);
  constexpr std::size_t kSamples = 1 << 19, kMetrics = 40;
  SampleBlock block;
  block.device = 0;
  block.metrics.assign(kMetrics, c.strings.intern("sm.active"));
  block.start_ns.assign(kSamples, 0);
  block.end_ns.assign(kSamples, 0);
  block.values.assign(kSamples * kMetrics, 0.0f);
  c.sample_blocks.push_back(pack(block));
  EXPECT_LT(c.sample_blocks[0].data.size(), 100'000u);
  ASSERT_TRUE(write_capture(c, dir.file("run.gpf")).has_value());
  const auto read = import_file(dir.file("run.gpf"));
  ASSERT_TRUE(read.has_value()) << read.error().message();
  EXPECT_EQ(test::quality_of(*read)["bad_sample_block"], 1);
}

}  // namespace
}  // namespace gf
