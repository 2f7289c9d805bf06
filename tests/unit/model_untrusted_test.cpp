// Files from a stranger, with logs beside them: reading writes, makes and removes nothing.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "model/file.h"
#include "support/captures.h"
#include "support/import_error.h"

namespace gf {
namespace {

namespace fs = std::filesystem;
using test::import_error;
using test::TempDir;

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Every file below a folder with its bytes.
std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    files[entry.path().string()] = entry.is_regular_file() ? bytes_of(entry.path()) : "";
  return files;
}

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string big_endian(std::uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
  return out;
}

/// A rollback journal without pages that names a further file; SQLite removes that file after
/// rolling back.
std::string journal_naming(const std::string& victim, const std::string& database) {
  const std::string magic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  constexpr std::uint32_t kPage = 4096, kSector = 512, kPendingByte = 0x40000000;
  std::string head = magic + big_endian(0) + big_endian(1234) +
                     big_endian(static_cast<std::uint32_t>(database.size() / kPage)) +
                     big_endian(kSector) + big_endian(kPage);
  head.resize(kSector, '\0');
  std::uint32_t sum = 0;
  for (const char letter : victim) sum += static_cast<unsigned char>(letter);
  return head + big_endian(kPendingByte / kPage + 1) + victim +
         big_endian(static_cast<std::uint32_t>(victim.size())) + big_endian(sum) + magic;
}

Capture untrusted_kernels() {
  Capture capture;
  capture.device_row(0);
  for (int i = 0; i < 2; ++i) {
    const auto row = capture.activities.add();
    capture.activities.device[row] = 0;
    capture.activities.start_ns[row] = 100 * i;
    capture.activities.duration_ns[row] = 50;
    capture.activities.name[row] = capture.strings.intern("gemm");
  }
  return capture;
}

TEST(UntrustedFile, AJournalThatNamesAFileRemovesNothing) {
  TempDir dir;
  put(dir.file("victim"), "the reader's own file");
  ASSERT_TRUE(write_capture(untrusted_kernels(), dir.file("run.gpf")).has_value());
  auto nsys = sqlite::open(dir.file("run.sqlite"), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  ASSERT_TRUE(sqlite::execute(nsys->get(), "CREATE TABLE META_DATA_EXPORT(name, value)", ""));
  nsys->reset();
  for (const char* name : {"run.gpf", "run.sqlite"})
    put(dir.file(name) + "-journal", journal_naming(dir.file("victim"), bytes_of(dir.file(name))));
  fs::create_symlink(dir.file("run.gpf"), dir.file("link.gpf"));
  const auto before = contents(dir.path);
  for (const char* name : {"run.gpf", "link.gpf", "run.sqlite"})
    EXPECT_NE(import_error(dir.file(name)).find("journal"), std::string::npos)
        << import_error(dir.file(name));
  EXPECT_FALSE(open_capture_file(dir.file("run.gpf")).has_value());
  EXPECT_EQ(contents(dir.path), before);
}

TEST(UntrustedFile, AKilledRecordingIsRolledBackInACopy) {
  TempDir dir;
  ASSERT_TRUE(write_capture(untrusted_kernels(), dir.file("live.gpf")).has_value());
  auto writer = sqlite::open(dir.file("live.gpf"), SQLITE_OPEN_READWRITE);
  ASSERT_TRUE(
      sqlite::execute(writer->get(),
                      "PRAGMA cache_size = 1; BEGIN; UPDATE _activities SET duration_ns = "
                      "7; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                      "LIMIT 20000) INSERT INTO strings SELECT i + 100, 'text ' || i FROM n",
                      ""));
  for (const char* suffix : {"", "-journal"})  // as a kill would leave them
    fs::copy_file(dir.file("live.gpf") + suffix, dir.file("killed.gpf") + suffix);
  ASSERT_NE(bytes_of(dir.file("killed.gpf")), "");
  fs::permissions(dir.file("killed.gpf"), fs::perms::owner_read);
  const auto before = contents(dir.path);
  const auto read = read_capture(dir.file("killed.gpf"));
  ASSERT_TRUE(read.has_value()) << read.error().message();
  ASSERT_EQ(read->activities.size(), 2u);
  EXPECT_EQ(read->activities.duration_ns[0], 50);
  EXPECT_EQ(contents(dir.path), before);
}

TEST(UntrustedFile, AWriteAheadLogIsRefusedAndNoneIsMade) {
  TempDir dir;
  ASSERT_TRUE(write_capture(untrusted_kernels(), dir.file("100% wal?.gpf")).has_value());
  const std::string path = dir.file("100% wal?.gpf");
  auto writer = sqlite::open(path, SQLITE_OPEN_READWRITE);
  ASSERT_TRUE(sqlite::execute(writer->get(), "PRAGMA journal_mode = WAL", ""));
  ASSERT_TRUE(sqlite::execute(writer->get(), "DELETE FROM _quality", ""));
  writer->reset();  // takes the log in; the file still says that one is used
  const auto before = contents(dir.path);
  const auto read = read_capture(path);
  ASSERT_TRUE(read.has_value()) << read.error().message();
  EXPECT_EQ(read->activities.size(), 2u);
  EXPECT_EQ(contents(dir.path), before);
  put(path + "-wal", "a log");
  EXPECT_NE(import_error(path).find("write-ahead log"), std::string::npos) << import_error(path);
  EXPECT_EQ(contents(dir.path).size(), 2u);
}

TEST(UntrustedFile, PipesAreRefusedWithoutWaitingForAWriter) {
  TempDir dir;
  ASSERT_TRUE(write_capture(untrusted_kernels(), dir.file("run.gpf")).has_value());
  ASSERT_EQ(::mkfifo(dir.file("run.gpf-journal").c_str(), 0600), 0);
  EXPECT_NE(import_error(dir.file("run.gpf")).find("not a regular file"), std::string::npos);
  ASSERT_EQ(::mkfifo(dir.file("pipe.gpf").c_str(), 0600), 0);
  EXPECT_FALSE(open_capture_file(dir.file("pipe.gpf")).has_value());
}

}  // namespace
}  // namespace gf
