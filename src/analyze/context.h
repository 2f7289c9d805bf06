// Facts that several analyses share, computed once: which steps there are, which window is
// asked for, what each device did in it, and who launched what.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/chosen_devices.h"
#include "analyze/host_threads.h"
#include "analyze/result.h"
#include "analyze/vocabulary.h"
#include "core/error.h"
#include "core/intervals.h"
#include "core/progress.h"
#include "model/capture.h"
#include "model/launches.h"

namespace gf {

namespace work {
struct KernelWorks;
}
struct EnergyModelFile;
struct Context;
struct FindingClaim;
struct KernelRates;
struct JobWaiting;
struct OwnFinding;
struct BuiltGraph;
struct LaunchGroups;
struct LayerGroups;
struct Queue;

/// Asks rules of a team's own. Errors: a statement that cannot be answered.
using OwnRules = std::function<Result<std::vector<OwnFinding>>(const Context& context,
                                                               const Analysis& analysis)>;

struct AnalyzeOptions {
  std::string window = "all";    // auto | all | steps | stable | step:N | START:END (ns after the
                                 // capture's first device event, or with a unit: 1.5ms)
  std::optional<Interval> span;  // the window itself, on the capture's clock, instead of a text
  std::string devices;           // empty: those that work | all | 0,2 (numbers of the source)
  std::size_t max_rows = 0;      // kernels and layers kept in the result, 0 = all
  bool brief = false;    // without what no finding and no short answer asks for: Context::omitted
  bool findings = true;  // false: none is looked for
  unsigned threads = 0;  // at most, 0: as many as there are cores
  std::size_t rows_a_thread = 1000;  // a stretch of a table that is worth a thread's start
  std::int64_t batch = 0;            // items of a step, 0 = not known
  const EnergyModelFile* energy_model =
      nullptr;  // splits measured energy into levels; must outlive the analysis
  const std::vector<KernelRates>* kernel_rates =
      nullptr;  // by device, where they were solved already; must outlive the analysis
  const JobWaiting* waiting = nullptr;  // of the capture's kernels for other ranks, where these are
                                        // known; must outlive the analysis
  OwnRules own_rules;                   // empty: none
  Progress progress;
};

/// Other work of the host that lasts shorter is the way from one operation to the next.
inline constexpr Nanos kHostPause = 100 * kNsPerUs;

/// A stretch of idle time with one reason. A capture has more of them than kernels.
struct IdlePiece {
  static constexpr std::uint64_t kLongest = (1UL << 56) - 1;  // two years; longer ones are several

  Nanos start = 0;
  std::uint64_t length : 56 = 0;
  IdleReason reason : 8 = IdleReason::host_other;
  std::uint32_t op = kNoRow;  // row of host_ops: what the host was in for the longest part of it,
                              // kNoRow when nothing is known
  std::uint32_t next =
      kNoRow;  // row of activities: what the device waited for, kNoRow after the last one

  Interval span() const { return {start, start + static_cast<Nanos>(length)}; }
};
static_assert(sizeof(IdlePiece) == 24);

/// Time in which a device did nothing but wait for other ranks (docs/ranks.md).
struct DeviceWaiting {
  Intervals spans;        // kernels run, and all that run wait inside collectives
  std::vector<Nanos> ns;  // the share of each of the device's rows; sums to the spans exactly
  std::vector<NamedTime> ranks;  // the same time by the rank that was waited for, most first
};

/// Activities of one device inside its window. Vectors run in parallel, ordered by start (ties:
/// longer first, then row).
struct DeviceTimeline {
  std::uint32_t device = kNoRow;       // row of capture.devices
  Interval window;                     // this device's window
  std::vector<std::uint32_t> rows;     // rows of capture.activities that touch the window
  std::vector<Interval> spans;         // clipped to the window
  std::vector<Nanos> exclusive_ns;     // w_k of docs/definitions.md: kernels only (0 for copies and
                                       // sets); sums to kernel_busy_ns() exactly
  Intervals busy;                      // their union
  Intervals copying;                   // of it, without any kernel: copies and sets alone
  std::vector<IdlePiece> idle_pieces;  // the window less `busy`, by reason, in order
  std::optional<DeviceWaiting> waiting;  // empty: the other ranks are not known

  Nanos idle_ns() const { return window.length() - total(busy); }
  Nanos kernel_busy_ns() const { return total(busy) - total(copying); }
  /// The time of a span, or of a normalized set, in which a kernel runs, or the device idles.
  Nanos kernel_busy_in(Interval span) const { return covered(busy, span) - covered(copying, span); }
  Nanos idle_in(Interval span) const;
  Nanos idle_in(const Intervals& set) const;
  /// f(gap) for every stretch of the window in which the device idles, in order.
  template <class F>
  void each_gap(F&& apply) const {
    Nanos from = window.start;
    for (const auto& span : busy) {
      if (span.start > from) apply(Interval{from, span.start});
      from = span.end;
    }
    if (window.end > from) apply(Interval{from, window.end});
  }
  Nanos waiting_ns() const { return waiting ? total(waiting->spans) : 0; }
  /// The part of w_k in which the kernel of a row does not only wait for other ranks.
  Nanos working_ns(std::size_t row) const {
    return !waiting ? exclusive_ns[row] : std::max<Nanos>(0, exclusive_ns[row] - waiting->ns[row]);
  }
};

/// One execution of a kernel inside the window.
struct KernelInstance {
  std::uint32_t activity;  // row of capture.activities
  Nanos exclusive_ns;      // w_k
  Nanos duration_ns;       // inside the window
};

/// The graph of a part of the program, as it ran again.
struct ReplayedPart {
  std::uint32_t device = kNoRow;  // row of capture.devices
  Interval span;                  // of its launches
  std::shared_ptr<const BuiltGraph> graph;
};

/// The host side of each device activity, by row of capture.activities.
struct Attribution {
  std::vector<std::uint32_t>
      op;  // innermost framework operation open at the launch: row of host_ops, or kNoRow
  std::vector<std::uint32_t>
      forward_op;  // for a backward kernel: the forward operation it belongs to, else kNoRow
  std::vector<std::uint32_t> module;  // id into `modules`; 0 = not known
  std::vector<LayerType> layer;       // empty where nobody asks for layers
  std::vector<std::uint8_t> phase;    // TrainingPhase
  std::vector<std::string> modules{""};
  std::vector<std::uint32_t> op_parent;  // by row of host_ops: the operation or annotation around
                                         // it on its thread, kNoRow at the top
};

/// Counters of each device activity (row of capture.activities): where its report kernel is.
struct Matching {
  MatchInfo info;
  enum class State : std::uint8_t { trace_only, matched, ambiguous };
  Column<std::uint32_t> report_row;  // row of report_kernels, kNoRow when trace_only
  Column<float> score;               // 0..1
  Column<State> state;
};

/// Parts that a brief analysis left out though the capture has them: the answer's part is empty.
struct OmittedParts {
  bool runtime = false;  // Analysis::runtime
  bool kernels = false;  // Analysis::layers, kernels and tensor_curve
  bool tenants = false;  // Analysis::tenants
};

struct Context {
  const Capture& capture;
  AnalyzeOptions options;
  OmittedParts omitted;
  WindowInfo window;
  HostThreads host;  // host operations and calls in order of time, thread by thread
  Names names;       // what the names of operations, calls and kernels say
  Launches launches;
  ChosenDevices chosen;  // those of `devices`
  std::vector<DeviceTimeline>
      devices;  // devices that work (chosen_devices.h), idle in the window or not
  std::vector<DeviceTimeline> others;   // the other devices with activities in the capture
  std::vector<KernelInstance> kernels;  // of all devices, in order of device and start
  std::vector<Nanos> waits;             // of their w_k, for other ranks; empty: of none is known
  Attribution attribution;
  Matching matching;
  // Inputs of the answer that reports use again; null where no kernel was looked at.
  std::shared_ptr<const work::KernelWorks> works;           // of `kernels`; empty without sizes
  std::shared_ptr<const std::vector<FindingClaim>> claims;  // of the findings
  std::shared_ptr<const std::vector<Queue>> queues;         // of the runtime; null in brief
  std::shared_ptr<const LayerGroups> layer_groups;          // of `kernels`; null in brief
  std::shared_ptr<const LaunchGroups> launch_groups;        // of `kernels`; null without findings
  ReplayedPart replayed;  // for the findings; without a graph where none ran

  /// The part of w_k in which the kernel at a position does not only wait for other ranks.
  Nanos working_ns(std::size_t kernel) const {
    return kernels[kernel].exclusive_ns - (waits.empty() ? 0 : waits[kernel]);
  }
};

// Source and completeness of a capture: the first sections of every answer.

inline SourceInfo source_of(const Capture& capture) {
  return {capture.path, capture.format, capture.framework, capture.events, capture.bytes};
}

inline std::vector<QualityNote> quality_of(const Capture& capture) {
  std::vector<QualityNote> notes;
  const auto& quality = capture.quality;
  for (std::size_t i = 0; i < quality.size(); ++i)
    notes.push_back({std::string(capture.text(quality.code[i])), quality.count[i],
                     std::string(capture.text(quality.detail[i]))});
  return notes;
}

}  // namespace gf
