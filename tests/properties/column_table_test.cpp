// Statements over columns answer as they do over tables of rows.
#include "report/query/column_table.h"

#include <gtest/gtest.h>

#include "model/file.h"
#include "model/sqlite.h"
#include "report/query/query.h"
#include "support/captures.h"

namespace gf {
namespace {

using test::random_capture;
using test::TempDir;

sqlite::Database showing(const std::shared_ptr<QuerySource>& source) {
  auto db = sqlite::open("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  EXPECT_TRUE(db && show_capture(db->get(), source));
  return std::move(*db);
}

std::string answer(sqlite3* db, const std::string& question) {
  const auto found = ask(db, question);
  return found ? answer_csv(*found) : found.error().message();
}

/// Every column of every table, each in several roles.
std::vector<std::string> questions() {
  std::vector<std::string> all{
      "SELECT * FROM strings",
      "SELECT s.id, s.text FROM strings s JOIN _api_calls c ON c.name = s.id",
      "SELECT count(*) FROM strings WHERE text = 'kernel'",
      "SELECT * FROM source",
      "SELECT * FROM kernels",
      "SELECT name, count(*) FROM kernels GROUP BY name",
      "SELECT * FROM launches ORDER BY 1, 2",
      "SELECT * FROM counters",
      "SELECT name FROM kernels WHERE name = 'kernel' AND stream IS NULL",
      "SELECT row FROM activities WHERE stream = '-9223372036854775808' OR stream = 0.0",
      "SELECT row FROM activities WHERE name = 5 OR name = x'6f70' OR name = NULL",
      "SELECT row FROM activities WHERE kind = 'KERNEL' COLLATE NOCASE",
      "SELECT a.row, b.row FROM activities a JOIN activities b ON a.device = b.device AND "
      "b.name = a.name ORDER BY 1, 2",
      "SELECT a.row, d.name FROM activities a LEFT JOIN devices d ON d.row = a.device",
      "SELECT a.row, b.row FROM activities a JOIN _activities b ON a.name = b.name ORDER BY 1, 2",
      "SELECT DISTINCT kind, copy FROM activities",
      "SELECT row FROM host_ops WHERE kind IN ('python', 'op', 'other')",
      "SELECT row FROM host_ops WHERE row IN (3, 1, 1.0, 'x', 7)",
  };
  Tables{}.each_table([&](const auto& table) {
    const std::string name = table.kName;
    all.push_back("SELECT * FROM " + name);
    all.push_back("SELECT * FROM _" + name);
    all.push_back("SELECT count(*) FROM " + name);
    table.each_column([&](const ColumnInfo& info, const auto&) {
      const std::string column = '"' + std::string(info.name) + '"';
      all.push_back("SELECT row, " + column + ", typeof(" + column + ") FROM " + name +
                    " ORDER BY " + column);
      all.push_back("SELECT row FROM " + name + " ORDER BY " + column + " DESC");
      all.push_back("SELECT " + column + ", count(*), min(row) FROM " + name + " GROUP BY 1");
      for (const char* order : {"max(row) DESC", "1 DESC"})
        all.push_back("SELECT " + column + ", count(*) FROM " + name + " GROUP BY 1 ORDER BY " +
                      order);
      all.push_back("SELECT DISTINCT " + column + " FROM " + name);
      all.push_back("SELECT a.row, b.row FROM " + name + " a CROSS JOIN " + name + " b ON a." +
                    column + " = b." + column + " ORDER BY 1, 2");
      all.push_back("SELECT row FROM _" + name + " WHERE " + column + " = (SELECT max(" + column +
                    ") FROM _" + name + ")");
    });
  });
  return all;
}

TEST(ColumnTable, AnswersAsATableOfRowsWould) {
  TempDir dir;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Capture capture = random_capture(seed, 20);
    capture.sample_blocks.clear();  // rows of counter_samples for one, blocks for the other
    auto plain = sqlite::open("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    ASSERT_TRUE(plain && store_capture(plain->get(), capture));
    ASSERT_TRUE(write_capture(capture, dir.file("a.gpf")));
    const auto stored = QuerySource::open(dir.file("a.gpf"), kMostBytes);
    ASSERT_TRUE(stored) << stored.error().message();
    const auto from_file = showing(*stored),
               from_memory = showing(std::make_shared<QuerySource>(
                   std::make_shared<const Capture>(std::move(capture))));
    for (const std::string& question : questions()) {
      const std::string expected = answer(plain->get(), question);
      EXPECT_EQ(answer(from_file.get(), question), expected) << question << ", seed " << seed;
      EXPECT_EQ(answer(from_memory.get(), question), expected) << question << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace gf
