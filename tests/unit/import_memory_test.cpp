// Inputs that need more memory than there is end with what, where and what to do.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "import/importer.h"
#include "support/captures.h"
#include "support/hostile_traces.h"

namespace gf {

namespace {

/// Leaves this process no more than so many bytes beyond what it has.
void leave_memory(std::uint64_t bytes) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t limit = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit both{limit, limit};
  ::setrlimit(RLIMIT_AS, &both);
}

[[noreturn]] void read_with_little_memory(const std::string& path) {
  leave_memory(24 << 20);
  ImportOptions options;
  options.threads = 1;
  const auto capture = import_file(path, options);
  const bool told =
      !capture && capture.error().message().find("needs more memory") != std::string::npos;
  std::_Exit(told ? 0 : 1);
}

}  // namespace

TEST(ImportMemory, AnInputThatNeedsMoreThanThereIsSaysSo) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve memory of their own";
#endif
  const test::TempDir dir;
  const std::string path = dir.file("threads.json");
  test::write_trace_of_many_threads(path, 100'000);
  EXPECT_EXIT(read_with_little_memory(path), testing::ExitedWithCode(0), "");
}

}  // namespace gf
