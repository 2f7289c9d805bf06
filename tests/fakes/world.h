// The small world that the fake driver libraries show: GPUs whose every reading is a known function
// of time, so that a test can say what a capture of it must hold. GPUFATHOM_FAKE sets it up, as
// comma-separated key=value pairs.
#pragma once

#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace fake {

/// Read once: a program may change its environment while a library reads it.
inline const char* options() {
  static const std::string& all = *new std::string([] {
    const char* text = std::getenv("GPUFATHOM_FAKE");
    return text ? text : "";
  }());
  return all.c_str();
}
inline std::string option(const char* key, const char* fallback) {
  std::string text = ",", before = ",";
  text += options();
  before.append(key).append("=");
  const auto at = text.find(before);
  if (at == std::string::npos) return fallback;
  const auto from = at + std::strlen(key) + 2;
  return text.substr(from, text.find(',', from) - from);
}
inline double number(const char* key, double fallback) {
  return std::atof(option(key, std::to_string(fallback).c_str()).c_str());
}

inline std::int64_t clock_ns(clockid_t id) {
  timespec moment{};
  clock_gettime(id, &moment);
  return static_cast<std::int64_t>(moment.tv_sec) * 1'000'000'000 + moment.tv_nsec;
}
/// Nanoseconds since 1970 on the monotonic clock's rate.
inline std::int64_t now_ns() {
  static const std::int64_t offset = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
  return offset + clock_ns(CLOCK_MONOTONIC);
}
/// Seconds since this library was first asked.
inline double age_s() {
  static const std::int64_t born = now_ns();
  return static_cast<double>(now_ns() - born) * 1e-9;
}

/// The GPU falls off the bus this many seconds after the first call (option lost_after).
inline bool lost() { return age_s() >= number("lost_after", 1e9); }

/// From this many seconds after the first call on (option hang_after), calls that reach the GPU
/// hang; with hang_gpu those of one GPU alone, with hang_for until that many seconds after the
/// first call.
inline void hang_here(unsigned gpu) {
  if (age_s() < number("hang_after", 1e9)) return;
  const double only = number("hang_gpu", -1);
  if (only >= 0 && static_cast<unsigned>(only) != gpu) return;
  while (age_s() < number("hang_for", 1e9)) usleep(20'000);
}

/// Power in watts: 300 + 100 sin(2 pi t / 2 s). Its integral from 1970 is energy_joules.
inline double seconds(std::int64_t thread) {
  return static_cast<double>(thread % 1'000'000'000'000) * 1e-9;
}
inline double power_watts(std::int64_t thread) {
  return 300 + 100 * std::sin(M_PI * seconds(thread));
}
inline double energy_joules(std::int64_t thread) {
  return 300e-9 * static_cast<double>(thread) - 100 / M_PI * std::cos(M_PI * seconds(thread));
}

/// Work comes in steps of 20 ms: the GPU is busy for the first 15 ms of each, tensor pipes for the
/// first 5.
constexpr std::int64_t kStep = 20'000'000, kBusy = 15'000'000, kTensor = 5'000'000;
/// The part of [from, to) in the first `width` of a step.
inline double covered(std::int64_t from, std::int64_t to, std::int64_t width) {
  auto upto = [&](std::int64_t thread) {
    const std::int64_t steps = thread / kStep, rest = thread % kStep;
    return static_cast<double>(steps * width + (rest < width ? rest : width));
  };
  if (to > from) return (upto(to) - upto(from)) / static_cast<double>(to - from);
  return 0;
}

}  // namespace fake
