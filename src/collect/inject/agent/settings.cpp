#include "collect/inject/agent/settings.h"

#include <cstdlib>
#include <cstring>
#include <ctime>

#include "collect/inject/stream.h"

namespace gf::inject {

constinit Settings settings{};

namespace {

std::int64_t number(const char* name, std::int64_t fallback) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoll(text, nullptr, 10) : fallback;
}

__attribute__((constructor(101))) void read_settings() {
  const char* directory = std::getenv(kDirectory);
  if (directory && std::strlen(directory) < sizeof settings.directory)
    std::strcpy(settings.directory, directory);
  settings.clock_offset = number(kClockOffset, 0);
  settings.window_ms = number(kWindow, 0);
  settings.every_ms = number(kEvery, 0);
  settings.delay_ms = number(kDelay, 0);
  settings.steps = number(kSteps, 0);
  settings.most_bytes = static_cast<std::uint64_t>(number(kMost, std::int64_t{4} << 30));
}

}  // namespace

std::uint64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 +
                                    t.tv_nsec + settings.clock_offset);
}

}  // namespace gf::inject
