// Abilities and limits of a capture's format (model/formats.def).
#pragma once

#include <string_view>

namespace gf {

enum FormatSays : unsigned {
  kNothingMore = 0,
  kSlowsHost = 1,             // a profiler in the process slowed the host while it recorded
  kOurRecorder = 2,           // gpufathom record made it: its host operations are marks alone
  kSamplesBesideKernels = 4,  // of counters, from which the levels of kernels can be solved
  kAllocationStacks = 8,      // host operations are the stacks of allocations
  kReportOnly = 16,           // kernels and their counters, no time between them
  kMaySlowHost = 32,          // as kSlowsHost, by how much is not known
  kLog = 64,                  // readings of the board alone, for beside a trace
  kQueuesOverlap = 128        // its streams may be queues of the hardware, which run side by side
};

struct FormatFacts {
  std::string_view id;
  unsigned says = kNothingMore;
  std::string_view samples_from = "gpm";
  std::string_view name = {};           // for people: "PyTorch profiler trace (JSON)"
  std::string_view made_by = {};        // how such a file is made
  std::string_view how_to_record = {};  // empty: with torch.profiler
};

inline constexpr FormatFacts kFormats[] = {
#define GF_FORMAT(id, says, samples_from, name, made_by, how_to_record) \
  {#id, says, samples_from, name, made_by, how_to_record},
#include "model/formats.def"
#undef GF_FORMAT
};

/// The facts of a format; of one that is not in the list, none.
constexpr FormatFacts format_facts(std::string_view id) {
  for (const auto& format : kFormats)
    if (format.id == id) return format;
  return {};
}

constexpr bool says(std::string_view format, FormatSays what) {
  return (format_facts(format).says & what) != 0;
}

/// The thread of what a snapshot of memory does not show being taken.
inline constexpr std::string_view kBeforeHistory = "before the history";

}  // namespace gf
