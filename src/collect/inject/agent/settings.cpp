#include "collect/inject/agent/settings.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace gf::inject {

constinit Settings settings{};
constinit std::atomic<std::uint32_t> session{0};

namespace {

constinit const Control* page = nullptr;
constinit bool may_be_asked = false;
constexpr std::int64_t kMostBytes = std::int64_t{4} << 30;

const Control* map_control(const char* directory) {
  char path[sizeof settings.directory + 16];
  std::snprintf(path, sizeof path, "%s/%s", directory, kControlFile);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return nullptr;
  struct stat status{};
  void* at = ::fstat(fd, &status) == 0 && status.st_size >= static_cast<off_t>(sizeof(Control))
                 ? ::mmap(nullptr, sizeof(Control), PROT_READ, MAP_SHARED, fd, 0)
                 : MAP_FAILED;
  ::close(fd);
  if (at == MAP_FAILED) return nullptr;
  const auto* mapped = static_cast<const Control*>(at);
  if (mapped->version == kVersion) return mapped;
  return nullptr;
}

std::int64_t number(const char* name, std::int64_t fallback) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoll(text, nullptr, 10) : fallback;
}

__attribute__((constructor(101))) void read_settings() {
  settings.most_bytes = static_cast<std::uint64_t>(number(kMost, kMostBytes));
  settings.own_profiler = number(kOwnProfiler, 0) != 0;
  const char* directory = std::getenv(kDirectory);
  if (!directory || !*directory) {
    may_be_asked = number(kDormant, 0) != 0;
    return;
  }
  if (std::strlen(directory) >= sizeof settings.directory) return;
  std::strcpy(settings.directory, directory);
  page = map_control(settings.directory);
  settings.clock_offset = number(kClockOffset, 0);
  settings.window_ms = number(kWindow, 0);
  settings.first_ms = number(kFirst, 0);
  settings.every_ms = number(kEvery, 0);
  settings.delay_ms = number(kDelay, 0);
  settings.steps = number(kSteps, 0);
  session = 1;
}

}  // namespace

const Control* control() { return page; }
bool dormant() { return may_be_asked; }

void take_settings(const Dormant& wanted, std::uint32_t number) {
  std::memcpy(settings.directory, wanted.directory, sizeof settings.directory);
  settings.directory[sizeof settings.directory - 1] = '\0';
  settings.clock_offset = wanted.clock_offset;
  settings.window_ms = wanted.window_ms;
  settings.first_ms = wanted.first_ms;
  settings.every_ms = wanted.every_ms;
  settings.delay_ms = wanted.delay_ms;
  settings.steps = wanted.steps;
  page = map_control(settings.directory);
  session = number;
}

void drop_settings() {
  session = 0;
  if (page) ::munmap(const_cast<Control*>(page), sizeof(Control));
  page = nullptr;
}

std::uint64_t now_ns() {
  timespec moment{};
  clock_gettime(CLOCK_MONOTONIC, &moment);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(moment.tv_sec) * 1'000'000'000 +
                                    moment.tv_nsec + settings.clock_offset);
}

}  // namespace gf::inject
