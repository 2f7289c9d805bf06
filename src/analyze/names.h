// The closed lists of results, with the names that JSON uses. What people read of a cause, a bar, a
// runtime phase or a finding (label, color, meaning) is in names/*.def; cmake/ids.cmake makes
// names/*_ids.def of them, without the words.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "model/enums.h"

// One list gives the enum and its names; `type` is the name of the list in web/src/model.ts.
#define GF_NAMED_VALUE(id) id,
#define GF_NAMED_TEXT(id) #id,
#define GF_NAMED_ENUM(Enum, LIST)                                                         \
  enum class Enum : std::uint8_t { LIST(GF_NAMED_VALUE) };                                \
  template <>                                                                             \
  struct EnumNames<Enum> {                                                                \
    static constexpr const char* type = #Enum;                                            \
    static constexpr auto names = std::to_array<std::string_view>({LIST(GF_NAMED_TEXT)}); \
  };

namespace gf {

/// The span that was analyzed.
#define GF_WINDOW_KINDS(X) X(all) X(recording_window) X(steps) X(stable) X(step) X(range) X(common)
GF_NAMED_ENUM(WindowKind, GF_WINDOW_KINDS)

/// The role of a step among the others.
#define GF_STEP_ROLES(X) X(ordinary) X(start_up) X(outlier)
GF_NAMED_ENUM(StepRole, GF_STEP_ROLES)

/// The work of a serving engine's step: prompts, a token for each running request, both, or
/// tokens that a draft proposed.
#define GF_STEP_KINDS(X) X(unknown) X(prefill) X(decode) X(mixed) X(chunked) X(speculative)
GF_NAMED_ENUM(StepKind, GF_STEP_KINDS)

/// The match between a counter report and a trace.
#define GF_MATCH_VERDICTS(X) X(no_report) X(good) X(partial) X(different_program)
GF_NAMED_ENUM(MatchVerdict, GF_MATCH_VERDICTS)

#define GF_QUEUE_KINDS(X) X(device) X(framework)
GF_NAMED_ENUM(QueueKind, GF_QUEUE_KINDS)

/// The source of access and operation counts for energy.
#define GF_COUNTS_SOURCES(X) X(none) X(samples) X(counter_report)
GF_NAMED_ENUM(CountsSource, GF_COUNTS_SOURCES)

/// The sampler of a device, the coarsest first.
#define GF_SAMPLE_SOURCES(X) X(nvml) X(gpm) X(dcgm) X(pm_sampling)
GF_NAMED_ENUM(SampleSource, GF_SAMPLE_SOURCES)

/// The reason why a device of the capture is left out of the answer.
#define GF_OTHER_REASONS(X) X(copies_only) X(few_kernels) X(idle) X(not_chosen)
GF_NAMED_ENUM(OtherReason, GF_OTHER_REASONS)

/// The driver's sharing of a device between processes.
#define GF_SHARINGS(X) X(not_known) X(time_sliced) X(mps)
GF_NAMED_ENUM(Sharing, GF_SHARINGS)

#undef GF_NAMED_ENUM
#undef GF_WINDOW_KINDS
#undef GF_STEP_KINDS
#undef GF_MATCH_VERDICTS
#undef GF_QUEUE_KINDS
#undef GF_COUNTS_SOURCES
#undef GF_SAMPLE_SOURCES
#undef GF_OTHER_REASONS
#undef GF_SHARINGS

/// The source of measured energy; `none` has no name.
enum class EnergySource : std::uint8_t { none, energy_counter, power_instant, power_average };
template <>
struct EnumNames<EnergySource> {
  static constexpr const char* type = "EnergySource";
  static constexpr std::array<std::string_view, 4> names{"", "energy_counter", "power_instant",
                                                         "power_average"};
};

/// The part of a training step; `recompute` is the forward pass that activation checkpoints run
/// again inside the backward pass. `all`: rows that join them; `none`, of rows that are no layer,
/// has no name.
enum class TrainingPhase : std::uint8_t {
  other,
  forward,
  backward,
  optimizer,
  recompute,
  all,
  none
};
template <>
struct EnumNames<TrainingPhase> {
  static constexpr const char* type = "TrainingPhase";
  static constexpr std::array<std::string_view, 7> names{
      "other", "forward", "backward", "optimizer", "recompute", "all", ""};
};

/// The type of a layer, by its operations, its module or its kernels.
enum class LayerType : std::uint8_t {
  other,
  convolution,
  matmul,
  attention,
  normalisation,
  embedding,
  pooling,
  activation,
  elementwise,
  reduction,
  softmax,
  loss,
  recurrent,
  optimiser,
  communication,
  copy,
  data_movement,
  random,
  count
};
template <>
struct EnumNames<LayerType> {
  static constexpr const char* type = "LayerType";
  static constexpr std::array<std::string_view, static_cast<std::size_t>(LayerType::count)> names{
      "Other",     "Convolution", "MatMul",        "Attention", "Normalization", "Embedding",
      "Pooling",   "Activation",  "Elementwise",   "Reduction", "Softmax",       "Loss",
      "Recurrent", "Optimizer",   "Communication", "Copy",      "Data movement", "Random"};
};

/// Causes of idle time; docs/idle.md gives the rules.
enum class IdleReason : std::uint8_t {
#define GF_CAUSE(id, label, short_label, colour, meaning) id,
#include "analyze/names/causes_ids.def"
#undef GF_CAUSE
};
template <>
struct EnumNames<IdleReason> {
  static constexpr const char* type = "IdleReason";
  static constexpr auto names = std::to_array<std::string_view>({
#define GF_CAUSE(id, label, short_label, colour, meaning) #id,
#include "analyze/names/causes_ids.def"
#undef GF_CAUSE
  });
};

/// A bar of the waterfall; docs/ladder.md gives the rules.
enum class Bar : std::uint8_t {
#define GF_BAR(id, label, short_label, long_label, colour, meaning) id,
#include "analyze/names/bars.def"
#undef GF_BAR
};
template <>
struct EnumNames<Bar> {
  static constexpr const char* type = "Bar";
  static constexpr auto names = std::to_array<std::string_view>({
#define GF_BAR(id, label, short_label, long_label, colour, meaning) #id,
#include "analyze/names/bars.def"
#undef GF_BAR
  });
};
/// The text of WaterfallBar::label.
constexpr std::string_view long_label(Bar bar) {
  constexpr std::string_view kLabels[] = {
#define GF_BAR(id, label, short_label, long_label, colour, meaning) long_label,
#include "analyze/names/bars.def"
#undef GF_BAR
  };
  return kLabels[static_cast<std::size_t>(bar)];
}

/// The phases of one framework operation, from the Python call to the end of its kernel;
/// docs/runtime.md. In the order of precedence: where several hold at once, a time share takes the
/// first. The first five are the order of DSD 2022; the rest divides what that leaves over.
enum class RuntimePhase : std::uint8_t {
#define GF_PHASE(id, short_label, colour, meaning) id,
#include "analyze/names/phases_ids.def"
#undef GF_PHASE
};
template <>
struct EnumNames<RuntimePhase> {
  static constexpr const char* type = "RuntimePhase";
  static constexpr auto names = std::to_array<std::string_view>({
#define GF_PHASE(id, short_label, colour, meaning) #id,
#include "analyze/names/phases_ids.def"
#undef GF_PHASE
  });
};

/// The findings; docs/findings.md gives the rules. The values are in analyze/finding_ids.h: few
/// files name one, and a new finding compiles those alone.
enum class FindingId : std::uint8_t;
template <>
struct EnumNames<FindingId> {
  static constexpr const char* type = "FindingId";
  static const std::span<const std::string_view> names;
};

/// A named cause, a loss of a general kind, a caveat about the capture, or a note.
enum class FindingKind : std::uint8_t { caveat, cause, loss, note };
template <>
struct EnumNames<FindingKind> {
  static constexpr const char* type = "FindingKind";
  static constexpr std::array<std::string_view, 4> names{"caveat", "cause", "loss", "note"};
};

/// The time that a finding is about: gains of one group overlap. `host` is all idle in which the
/// host is late; `batch` is of an item, not of a step. `none`, of findings without a gain, has no
/// name.
enum class FindingGroup : std::uint8_t {
  none,
  host,
  communication,
  kernels,
  batch,
  idle,
  sm_inactive,
  stalled
};
template <>
struct EnumNames<FindingGroup> {
  static constexpr const char* type = "FindingGroup";
  static constexpr std::array<std::string_view, 8> names{
      "", "host", "communication", "kernels", "batch", "idle", "sm_inactive", "stalled"};
};

}  // namespace gf
