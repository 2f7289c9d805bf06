#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <future>
#include <thread>
#include <vector>

#include "collect/record/process_tree.h"
#include "collect/watched_call.h"

namespace gf {
namespace {

constexpr Nanos kLong = 20 * kNsPerSecond, kShort = 20 * kNsPerMs;

bool soon(const std::function<bool()>& holds) {
  for (int tries = 0; tries < 1000 && !holds(); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return holds();
}

TEST(WatchedThread, GivesTheAnswer) {
  WatchedThread thread;
  EXPECT_EQ(thread.ask([] { return 42; }, kLong), 42);
  EXPECT_EQ(thread.ask([] { return std::string("again"); }, kLong), "again");
  EXPECT_EQ(thread.running_for(), 0);
  EXPECT_EQ(abandoned_calls(), 0);
}

TEST(WatchedThread, GoesOnWithoutACallThatHangs) {
  std::promise<void> let_go;
  std::shared_future<void> gate(let_go.get_future());
  WatchedThread thread;
  EXPECT_FALSE(thread.ask(
      [gate] {
        gate.wait();
        return 1;
      },
      kShort));
  EXPECT_EQ(abandoned_calls(), 1);
  EXPECT_GE(thread.running_for(), kShort);
  // The next call is not queued behind it, nor is it waited for again.
  std::atomic<bool> ran{false};
  EXPECT_EQ(thread.run([&ran] { ran = true; }, kLong), CallEnd::late);
  let_go.set_value();
  EXPECT_TRUE(soon([&] { return thread.running_for() == 0; }));
  EXPECT_EQ(abandoned_calls(), 0);
  EXPECT_FALSE(ran);
  EXPECT_EQ(thread.ask([] { return 2; }, kLong), 2);  // and is of use again
}

TEST(WatchedThread, IsWokenByADescriptor) {
  std::promise<void> let_go;
  std::shared_future<void> gate(let_go.get_future());
  const int signal_fd = ::eventfd(1, EFD_CLOEXEC);
  WatchedThread thread;
  EXPECT_EQ(thread.run([gate] { gate.wait(); }, kLong, signal_fd), CallEnd::interrupted);
  let_go.set_value();
  EXPECT_EQ(thread.wait(kLong), CallEnd::returned);
  ::close(signal_fd);
}

TEST(WatchedThread, LeavesAHungCallBehindWithWhatItOwns) {
  std::promise<void> let_go;
  std::shared_future<void> gate(let_go.get_future());
  auto owned = std::make_shared<int>(7);
  std::weak_ptr<int> watched = owned;
  {
    WatchedThread thread;
    EXPECT_EQ(thread.run([gate, owned] { gate.wait(); }, kShort), CallEnd::late);
    owned.reset();
  }
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(abandoned_calls(), 1);
  let_go.set_value();
  EXPECT_TRUE(soon([&] { return watched.expired() && abandoned_calls() == 0; }));
}

TEST(WatchedThread, RunsCallsSideBySideOnSeveralThreads) {
  std::vector<WatchedThread> threads(3);
  std::atomic<int> inside{0};
  for (auto& thread : threads)
    thread.start([&inside] {
      ++inside;
      soon([&] { return inside == 3; });
    });
  for (auto& thread : threads) EXPECT_EQ(thread.wait(kLong), CallEnd::returned);
  EXPECT_EQ(inside, 3);
}

// Pages of a file are the system's, whoever reads them: not what the recorder takes.
TEST(OwnUse, CountsMemoryThatNoFileBacks) {
  constexpr std::size_t kBytes = 48 << 20;
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const std::vector<char> content(kBytes, 7);
  ASSERT_EQ(std::fwrite(content.data(), 1, kBytes, file), kBytes);
  ASSERT_EQ(std::fflush(file), 0);
  const auto before = own_use();
  void* mapped = ::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, ::fileno(file), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  unsigned sum = 0;
  for (std::size_t at = 0; at < kBytes; at += 4096)
    sum += static_cast<volatile const unsigned char*>(mapped)[at];
  EXPECT_EQ(sum, 7 * kBytes / 4096);
  const auto with_file = own_use();
  EXPECT_GT(with_file.memory_bytes - before.memory_bytes, static_cast<std::int64_t>(kBytes / 2));
  EXPECT_LT(with_file.private_bytes - before.private_bytes, static_cast<std::int64_t>(kBytes / 8));
  const std::vector<char> own(kBytes, 1);
  EXPECT_GT(own_use().private_bytes - with_file.private_bytes,
            static_cast<std::int64_t>(kBytes / 2));
  EXPECT_EQ(own[kBytes / 2], 1);
  ::munmap(mapped, kBytes);
  std::fclose(file);
}

}  // namespace
}  // namespace gf
