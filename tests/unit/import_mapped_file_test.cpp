#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "import/raw_file.h"
#include "support/captures.h"

namespace gf {
namespace {

TEST(MappedFile, OneThatIsCutShortReadsAsZeros) {
  const test::TempDir dir;
  const std::string path = dir.file("a.xplane.pb");
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::ofstream(path, std::ios::binary) << std::string(4 * page, 'x');
  struct sigaction before{};
  ::sigaction(SIGBUS, nullptr, &before);
  {
    auto mapped = MappedFile::open(path);
    auto other = MappedFile::open(path);
    ASSERT_TRUE(mapped.has_value());
    EXPECT_EQ(std::ranges::count(mapped->bytes(), 'x'), static_cast<std::ptrdiff_t>(4 * page));
    EXPECT_FALSE(mapped->cut());
    std::filesystem::resize_file(path, page);
    const MappedFile moved = std::move(*mapped);
    EXPECT_EQ(std::ranges::count(moved.bytes(), 'x'), static_cast<std::ptrdiff_t>(page));
    EXPECT_EQ(std::ranges::count(moved.bytes(), '\0'), static_cast<std::ptrdiff_t>(3 * page));
    EXPECT_TRUE(moved.cut());
    EXPECT_FALSE(other->cut());
  }
  struct sigaction after{};
  ::sigaction(SIGBUS, nullptr, &after);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
}

/// Bytes of files that are mapped and count as this process's memory.
std::size_t mapped_bytes() {
  std::size_t all = 0, resident = 0, shared = 0;
  std::ifstream("/proc/self/statm") >> all >> resident >> shared;
  return shared * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Times that the system had to map something for this process.
long faults() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

class MappedParts : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Of, MappedParts, testing::Values(1'000, 300'000));

TEST_P(MappedParts, ThatAreDoneWithTakeNoMemory) {
  const test::TempDir dir;
  const std::string path = dir.file("a.xplane.pb");
  const std::size_t part_size = GetParam();
  constexpr std::size_t kSize = 64 << 20;
  std::ofstream(path, std::ios::binary) << std::string(kSize, 'x');
  const auto mapped = MappedFile::open(path);
  ASSERT_TRUE(mapped.has_value());
  const std::size_t before = mapped_bytes();
  const long faults_before = faults();
  std::size_t most = 0;
  for (std::size_t at = 0; at < kSize; at += part_size) {
    const auto part = mapped->bytes().substr(at, part_size);
    EXPECT_EQ(std::ranges::count(part, 'x'), static_cast<std::ptrdiff_t>(part.size()));
    if (at % (1 << 20) < part_size) most = std::max(most, mapped_bytes());
    MappedFile::release(part);
  }
  EXPECT_LT(most, before + (12U << 20));
  EXPECT_LT(mapped_bytes(), before + (5U << 20));
  EXPECT_LT(faults() - faults_before, 16'384) << "no page is read again and again";
  EXPECT_EQ(mapped->bytes()[kSize / 2], 'x') << "all stays readable";
}

TEST(MappedFile, OtherBusErrorsEndTheProgram) {
  const test::TempDir dir;
  std::ofstream(dir.file("a"), std::ios::binary) << "bytes";
  EXPECT_EXIT(
      {
        const auto mapped = MappedFile::open(dir.file("a"));
        ::raise(SIGBUS);
        ::raise(SIGBUS);
        std::_Exit(0);
      },
      testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace gf
