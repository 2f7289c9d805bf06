// Facts of a capture that make two runs comparable or not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyze/result.h"
#include "core/intervals.h"
#include "model/capture.h"

namespace gf {

/// The profiler of a capture, by the records that are there.
struct ProfilerFacts {
  std::string format;
  bool shapes = false, stacks = false, memory = false;  // recorded beside the device
  std::string text() const;                             // "kineto with shapes and stacks"
  bool operator==(const ProfilerFacts&) const = default;

  template <class Visit>
  static void fields(Visit&& visit) {
    visit("format", &ProfilerFacts::format, "what wrote it");
    visit("shapes", &ProfilerFacts::shapes, "sizes of inputs are recorded");
    visit("stacks", &ProfilerFacts::stacks, "calls of Python are recorded");
    visit("memory", &ProfilerFacts::memory, "allocations are recorded");
  }
};
ProfilerFacts profiler_facts(const Capture& capture);

struct RunFacts {
  std::optional<std::int64_t> batch;   // items of a step, by recorded sizes
  std::string items;                   // what tells them: those of another operation are others
  std::optional<std::int64_t> tokens;  // of a step, where items are sequences
  std::string precision;               // "bf16", "tf32 and fp32"; empty: not known
  std::string profiler;                // "kineto with shapes and stacks"
  std::optional<std::int64_t> rank, world_size;
  Interval extent;  // on the capture's clock

  template <class Visit>
  static void fields(Visit&& visit) {
    visit("batch", &RunFacts::batch, "items of a step");
    visit("items", &RunFacts::items, "what tells them");
    visit("tokens", &RunFacts::tokens, "of a step");
    visit("precision", &RunFacts::precision, "types of matrix products");
    visit("profiler", &RunFacts::profiler, "what recorded it");
    visit("rank", &RunFacts::rank, "rank of a job");
    visit("world_size", &RunFacts::world_size, "its ranks");
    visit("extent", &RunFacts::extent, "on the capture's clock");
  }
};

/// The rank that a capture says it is of.
std::optional<std::int64_t> rank_of(const Capture& capture);

RunFacts run_facts(const Capture& capture, const Analysis& analysis);

/// The type in which a matrix product's kernel reads its operands, by its name: fp4, fp8, int8,
/// bf16, fp16, tf32, fp64 or fp32; empty when the name does not say.
std::string_view precision_of_kernel(std::string_view name);

}  // namespace gf
