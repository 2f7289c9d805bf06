// A program of many threads that is attached to again and again, by itself: crowd CYCLES. Its
// threads launch, copy, push ranges, mark steps, begin and end; its main thread is the recorder of
// DormantAgent, without the files' reader: what the library does to the program is all that counts.
// Under `gpufathom run` (GPUFATHOM_DORMANT).
#include <cuda.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "collect/inject/stream.h"

namespace {

std::atomic<bool> stop{false};
std::atomic<long> launched{0};

void work(int number) {
  static char names[4][8] = {"one", "two", "three", "four"};
  for (int i = 0; !stop && i < 200; ++i) {
    nvtxRangePushA(i % 7 == 0 ? "gpufathom.step" : names[number % 4]);
    cuLaunchKernel(reinterpret_cast<CUfunction>(names[(number + i) % 4]), 132, 1, 1, 128, 1, 1, 0,
                   nullptr, nullptr, nullptr);
    if (i % 5 == 0) cuMemcpyHtoD(0, nullptr, 4096);
    nvtxRangePop();
    ++launched;
  }
}

/// Threads that end while a window is open, and others after them.
void generations(int number) {
  while (!stop) std::thread(work, number).join();
}

gf::inject::Dormant* find_page() {
  DIR* dir = opendir("/proc/self/fd");
  gf::inject::Dormant* page = nullptr;
  while (const dirent* entry = dir ? readdir(dir) : nullptr) {
    char target[64] = {};
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    if (readlink(path.c_str(), target, sizeof target - 1) <= 0) continue;
    if (std::strncmp(target, "/memfd:gpufathom ", 17) != 0) continue;
    void* at = mmap(nullptr, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED,
                    std::atoi(entry->d_name), 0);
    if (at != MAP_FAILED) page = static_cast<gf::inject::Dormant*>(at);
    break;
  }
  if (dir) closedir(dir);
  return page;
}

void ask(gf::inject::Dormant& page) {
  ++page.asked;
  syscall(SYS_futex, &page.asked, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::string file_of(const std::string& folder, const char* suffix) {
  return folder + "/" + std::to_string(getpid()) + suffix;
}

bool has_bytes(const std::string& folder) {
  struct stat status{};
  return stat(file_of(folder, gf::inject::kRecordsSuffix).c_str(), &status) == 0 &&
         status.st_size > 0;
}

bool attach_once(gf::inject::Dormant& page, const std::string& folder) {
  std::strcpy(page.directory, folder.c_str());
  ask(page);
  for (int i = 0; i < 5000 && !has_bytes(folder); ++i) usleep(1000);
  usleep(15'000);
  ask(page);
  for (int i = 0; i < 5000 && page.served != page.asked; ++i) usleep(1000);
  return page.served == page.asked;
}

/// The bytes that one attachment wrote; the next begins a file of its own.
long bytes_written(const std::string& folder) {
  const std::string path = file_of(folder, gf::inject::kRecordsSuffix);
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return 0;
  unlink(path.c_str());
  unlink(file_of(folder, gf::inject::kLedgerSuffix).c_str());
  return status.st_size;
}

}  // namespace

int main(int argc, char** argv) {
  const int cycles = argc > 1 ? std::atoi(argv[1]) : 20;
  cuInit(0);
  nvtxMarkA("main");  // NVTX starts here, and not on several threads at once
  gf::inject::Dormant* page = find_page();
  char folder[] = "/tmp/crowd-XXXXXX";
  if (!page || !mkdtemp(folder)) return 2;
  const std::string lock = std::string(folder) + "/" + gf::inject::kRecorderFile;
  const int fd = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0) return 2;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) threads.emplace_back(generations, i);
  int with_records = 0, served = 0;
  for (int i = 0; i < cycles; ++i) {
    served += attach_once(*page, folder);
    with_records += bytes_written(folder) > 0;
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  unlink(lock.c_str());
  rmdir(folder);
  std::printf("%d cycles, %d served, %d with records, %s\n", cycles, served, with_records,
              launched > 100 ? "many launches" : "few launches");
  return served == cycles ? 0 : 1;
}
