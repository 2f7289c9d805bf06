#include <gtest/gtest.h>

#include <fstream>

#include "model/file.h"
#include "support/captures.h"

namespace gf {
namespace {

using test::TempDir;

std::string error_of(const std::string& path) {
  auto capture = read_capture(path);
  if (capture) return "";
  return capture.error().message();
}

TEST(CaptureFile, SaysWhatAFileIsInstead) {
  TempDir dir;
  EXPECT_NE(error_of(dir.file("none.gpf")).find("cannot be opened"), std::string::npos)
      << error_of(dir.file("none.gpf"));

  std::ofstream(dir.file("text.gpf")) << std::string(4096, 'x');
  EXPECT_NE(error_of(dir.file("text.gpf")).find("not a SQLite database"), std::string::npos)
      << error_of(dir.file("text.gpf"));

  auto other = sqlite::open(dir.file("other.gpf"), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  ASSERT_TRUE(sqlite::execute(other->get(), "CREATE TABLE t(x)", "").has_value());
  EXPECT_NE(error_of(dir.file("other.gpf")).find("not a gpufathom capture"), std::string::npos)
      << error_of(dir.file("other.gpf"));

  ASSERT_TRUE(write_capture(Capture{}, dir.file("new.gpf")).has_value());
  auto newer = sqlite::open(dir.file("new.gpf"), SQLITE_OPEN_READWRITE);
  ASSERT_TRUE(sqlite::execute(newer->get(), "PRAGMA user_version = 99", "").has_value());
  EXPECT_NE(error_of(dir.file("new.gpf")).find("newer gpufathom: capture format 99"),
            std::string::npos)
      << error_of(dir.file("new.gpf"));
}

TEST(CaptureFile, IsKnownByItsFirstBytes) {
  TempDir dir;
  ASSERT_TRUE(write_capture(Capture{}, dir.file("a.gpf")).has_value());
  std::ifstream in(dir.file("a.gpf"), std::ios::binary);
  std::string head(100, '\0');
  in.read(head.data(), 100);
  EXPECT_TRUE(is_capture_file(head));
  EXPECT_FALSE(is_capture_file(head.substr(0, 71)));
  head[68] = 'x';
  EXPECT_FALSE(is_capture_file(head));
}

TEST(CaptureFile, ChangedByHandIsAnErrorThatSaysWhere) {
  struct Case {
    const char* sql;
    const char* error;
  };
  for (const Case& wanted :
       {Case{"DELETE FROM _activities WHERE row = 1", "table activities lacks row 1"},
        {"UPDATE _activities SET name = 12345 WHERE row = 2",
         "table activities, row 2: the value of name is not possible"},
        {"UPDATE _activities SET start_ns = 'now' WHERE row = 0",
         "table activities, row 0: the value of start_ns is not possible"},
        {"UPDATE _activities SET grid_x = 1099511627776 WHERE row = 0",
         "table activities, row 0: the value of grid_x is not possible"},
        {"UPDATE _activities SET kind = -1 WHERE row = 0",
         "table activities, row 0: the value of kind is not possible"},
        {"UPDATE _activities SET device = 5 WHERE row = 0",
         "table activities, row 0: device 5 does not exist"},
        {"DROP TABLE strings", "table strings is missing"}}) {
    TempDir dir;
    Capture capture;
    for (int i = 0; i < 3; ++i)
      capture.activities.name[capture.activities.add()] = capture.strings.intern("gemm");
    ASSERT_TRUE(write_capture(capture, dir.file("a.gpf")).has_value());
    {
      auto db = sqlite::open(dir.file("a.gpf"), SQLITE_OPEN_READWRITE);
      auto done = sqlite::execute(db->get(), wanted.sql, "");
      ASSERT_TRUE(done.has_value()) << done.error().message();
    }
    EXPECT_NE(error_of(dir.file("a.gpf")).find(wanted.error), std::string::npos)
        << wanted.sql << "\n"
        << error_of(dir.file("a.gpf"));
  }
}

TEST(CaptureFile, OlderFilesWithoutAColumnOrTableGiveDefaults) {
  TempDir dir;
  Capture capture;
  capture.activities.grid_x[capture.activities.add()] = 7;
  ASSERT_TRUE(write_capture(capture, dir.file("a.gpf")).has_value());
  {
    auto db = sqlite::open(dir.file("a.gpf"), SQLITE_OPEN_READWRITE);
    auto done = sqlite::execute(
        db->get(),
        "DROP VIEW kernels; DROP VIEW launches; DROP VIEW activities; DROP VIEW syncs; ALTER "
        "TABLE _activities DROP COLUMN grid_x; DROP TABLE _syncs; "
        "ALTER TABLE _activities ADD COLUMN from_the_future INTEGER",
        "");
    ASSERT_TRUE(done.has_value()) << done.error().message();
  }
  auto imported = read_capture(dir.file("a.gpf"));
  ASSERT_TRUE(imported.has_value()) << imported.error().message();
  ASSERT_EQ(imported->activities.size(), 1u);
  EXPECT_EQ(imported->activities.grid_x[0], -1);
}

TEST(CaptureFile, AFailedWriteLeavesTheOldFileAndNothingElse) {
  TempDir dir;
  EXPECT_FALSE(write_capture(Capture{}, dir.file("no/such/dir.gpf")).has_value());
  Capture capture;
  capture.activities.add();
  ASSERT_TRUE(write_capture(capture, dir.file("a.gpf")).has_value());
  EXPECT_FALSE(write_capture(Capture{}, dir.file("a.gpf"), [](std::string_view, double) {
                 return false;
               }).has_value());
  EXPECT_EQ(read_capture(dir.file("a.gpf"))->activities.size(), 1u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path), {}), 1);
}

}  // namespace
}  // namespace gf
