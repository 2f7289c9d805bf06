// The steps of a capture: which iterations there are and which span of time each one has.
// docs/steps.md gives the rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/host_threads.h"
#include "analyze/result.h"
#include "analyze/vocabulary.h"
#include "model/capture.h"

namespace gf {

/// The part of a step that a mark is around. A model that proposes tokens runs beside the one that
/// checks them (the target), and both make the step.
enum class ModelPass : std::uint8_t { whole_step, target, draft };

/// The work of a serving engine's step, as far as it is known.
struct EngineWork {
  StepKind kind = StepKind::unknown;
  std::optional<std::int64_t> run_tokens, tokens, requests, decodes, generated;  // of EngineStep
  bool graph = false;
  ModelPass pass = ModelPass::whole_step;
  Interval host{0, 0};  // the mark on its thread; without marks the step itself
};

struct Steps {
  std::string source = "none";    // marks:NAME, sampler, period:N kernels, none
  Share confidence;               // of a detected period, 0..1; empty with marks
  std::string sign;               // what shows that a period is one of steps (outer_loop.h)
  std::vector<StepInfo> steps;    // by time, disjoint
  BlockInfo blocks;               // without steps: what repeats all the same
  std::optional<Interval> loop;   // of these: the span that repeats, between what happens once
  std::vector<EngineWork> work;   // of each step of a serving engine; else empty
  Share kind_confidence;          // of kinds that no mark says
  std::int64_t engines = 1;       // that serve in the capture; the steps are of one of them
  std::uint32_t thread = kNoRow;  // of marks: their row of threads
};

/// Steps that the source numbered, else marks on host threads, else those of an engine that chooses
/// tokens, else the period of the kernel sequence; with the stable flag and the role set. `launch`
/// is join_launches(capture).
Steps find_steps(const Capture& capture, const std::vector<std::uint32_t>& launch,
                 const HostThreads& host, const Names& names);

/// One mark on a host thread.
struct StepMark {
  std::int64_t number = 0;
  Nanos start = 0, end = 0;
  std::optional<EngineWork> work = {};  // where the mark is an engine's
};
struct StepMarks {
  std::string family;             // "ProfilerStep", "train_step", ...
  std::int64_t pid = -1;          // process that made them; -1: the only one
  std::uint32_t thread = kNoRow;  // row of threads
  std::vector<StepMark> marks;    // by start
  std::int64_t engines = 1;       // whose marks are others, of other threads or processes
};

/// The parts of a step's name, such as ProfilerStep#12, train_step 3 or Iteration: 7: its
/// family and its number (empty for marks that repeat one text).
struct StepName {
  std::string_view family;
  std::optional<std::int64_t> number;
  std::optional<EngineWork> work = {};  // where the mark is an engine's (engine_marks.h)
};
std::optional<StepName> parse_step_name(std::string_view name);

/// The marks of the best family on the thread that has most of them; empty when there are none. An
/// engine's go before those of a profiler, unless the program trains. Numbered by their place where
/// a number comes twice.
StepMarks find_marks(const Capture& capture);

/// Spans on the device: a step starts with its mark, but not before the device has done what
/// earlier marks launched, nor after its own first kernel; a copy that fetches the next batch ahead
/// begins nothing. It lasts until the next step starts; the last one until its mark and its own
/// last activity have ended. Empty when no activity was launched inside a mark.
std::vector<StepInfo> steps_on_device(const Capture& capture,
                                      const std::vector<std::uint32_t>& launch,
                                      const StepMarks& marks);

/// Steps found in the sequence of kernels. No step begins inside a graph launch, or inside a
/// framework operation or module that the step before it shares: what repeats there are layers.
/// (`launch` and `host` tell, where the capture has them.)
Steps find_period(const Capture& capture, const std::vector<std::uint32_t>& launch,
                  const HostThreads& host, const Names& names);

/// Index of the first step from which on the steps are alike: it and the next two lie within 3
/// median absolute deviations (at least 5 %, at most 15 %) of the median of the last half, it is of
/// the first half, and the steps from it on spread little. Empty when there is none.
std::optional<std::size_t> first_stable(const std::vector<StepInfo>& steps);

/// Sets the role of steps that take far longer than the others: the first one (start-up; the second
/// too where it is), and a single one elsewhere (an outlier). Two steps at most.
void name_far_off(std::vector<StepInfo>& steps);

/// Those that count: the ordinary ones, or all where none is.
std::vector<StepInfo> ordinary_steps(const std::vector<StepInfo>& steps);

}  // namespace gf
