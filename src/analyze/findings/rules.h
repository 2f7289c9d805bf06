// The rules of findings: one function each, declared by names/findings.def. A rule that is declared
// and not written does not link.
#pragma once

#include <optional>
#include <string_view>

#include "analyze/result.h"
#include "core/intervals.h"
#include "model/capture.h"

namespace gf {

// Input of the rules of findings where only samples are known.

struct SampleFacts {
  const Capture& capture;
  const Analysis& analysis;
  Interval settled;  // when the activity was steady, empty when it never was
  Nanos window = 0, busy = 0, idle = 0, sm_inactive = 0, stalled = 0;  // summed over devices

  SampleFacts(const Capture& capture, const Analysis& analysis, Interval settled);

  double of_window(Nanos ns) const {
    return window > 0 ? static_cast<double>(ns) / static_cast<double>(window) : 0;
  }
  double of_busy(Nanos ns) const {
    return busy > 0 ? static_cast<double>(ns) / static_cast<double>(busy) : 0;
  }
  /// A level of all devices; empty without data.
  Share level(std::string_view id) const;
  /// A level while the GPU is busy.
  Share while_busy(std::string_view id) const;
  /// A reading of the program's processes; nullptr without data.
  const SampledReading* host(std::string_view id) const;
};

struct TraceFacts;

/// The words and the gain of a rule that fires; its row in the list adds the rest of a finding.
struct Said {
  std::string text, evidence = {};
  std::optional<Nanos> gain_ns = {};
  std::string command = {};
};

namespace trace_rules {
using Facts = TraceFacts;
}  // namespace trace_rules
namespace sample_rules {
using Facts = SampleFacts;
}
namespace own_rules {  // of rows that a user writes
struct Facts;
}

#define GF_RULES_trace trace_rules
#define GF_RULES_kernel trace_rules
#define GF_RULES_sample sample_rules
#define GF_RULES_own own_rules
// Each is empty when the numbers do not reach its threshold.
#define GF_FINDING(scope, rank, id, group, label, fires_when, gain, shown_by, ...) \
  namespace GF_RULES_##scope {                                                     \
    std::optional<Said> id(const Facts&);                                          \
  }
#define GF_FINDING_TOO(scope, rank, id, fires_when, gain) \
  namespace GF_RULES_##scope {                            \
    std::optional<Said> id(const Facts&);                 \
  }
#include "analyze/names/findings_ids.def"
#undef GF_FINDING
#undef GF_FINDING_TOO
#undef GF_RULES_trace
#undef GF_RULES_kernel
#undef GF_RULES_sample
#undef GF_RULES_own

}  // namespace gf
