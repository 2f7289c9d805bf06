// The closed lists of the results about work, with the names that JSON uses.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "model/enums.h"

namespace gf {

/// The parts of peak x time; docs/work.md gives the rules.
enum class WorkPart : std::uint8_t {
#define GF_WORK_PART(id, label, meaning) id,
#include "analyze/names/work.def"
#undef GF_WORK_PART
};
template <>
struct EnumNames<WorkPart> {
  static constexpr const char* type = "WorkPart";
  static constexpr auto names = std::to_array<std::string_view>({
#define GF_WORK_PART(id, label, meaning) #id,
#include "analyze/names/work.def"
#undef GF_WORK_PART
  });
};
inline constexpr std::size_t kWorkParts = EnumNames<WorkPart>::names.size();
constexpr std::string_view label_of_part(WorkPart part) {
  constexpr std::string_view kLabels[] = {
#define GF_WORK_PART(id, label, meaning) label,
#include "analyze/names/work.def"
#undef GF_WORK_PART
  };
  return kLabels[static_cast<std::size_t>(part)];
}

/// The source of a number about work. `none` has no name.
enum class WorkSource : std::uint8_t { none, model, measured };
template <>
struct EnumNames<WorkSource> {
  static constexpr const char* type = "WorkSource";
  static constexpr std::array<std::string_view, 3> names{"", "model", "measured"};
};

/// The kind of an operator, as far as its work goes.
enum class WorkFamily : std::uint8_t {
  none,
  product,
  convolution,
  attention,
  normalisation,
  softmax,
  embedding,
  optimiser,
  elementwise,
  reduction,
  data_movement,
  fused
};
template <>
struct EnumNames<WorkFamily> {
  static constexpr const char* type = "WorkFamily";
  static constexpr auto names = std::to_array<std::string_view>(
      {"none", "product", "convolution", "attention", "normalisation", "softmax", "embedding",
       "optimiser", "elementwise", "reduction", "data_movement", "fused"});
};

/// A named way to lose time, that parts of the account are marked with. `none` has no name.
enum class LossCause : std::uint8_t {
  none,
  unfused_attention,
  odd_sizes,
  padded_tiles,
  lower_clock
};
template <>
struct EnumNames<LossCause> {
  static constexpr const char* type = "LossCause";
  static constexpr std::array<std::string_view, 5> names{"", "unfused_attention", "odd_sizes",
                                                         "padded_tiles", "lower_clock"};
};

/// The scope of a point of the roofline.
enum class RoofScope : std::uint8_t { kernel, operation, layer };
template <>
struct EnumNames<RoofScope> {
  static constexpr const char* type = "RoofScope";
  static constexpr std::array<std::string_view, 3> names{"kernel", "operator", "layer"};
};

/// The ceiling over a point.
enum class RoofLimit : std::uint8_t { none, compute, memory };
template <>
struct EnumNames<RoofLimit> {
  static constexpr const char* type = "RoofLimit";
  static constexpr std::array<std::string_view, 3> names{"", "compute", "memory"};
};

/// The reason why a point has no share of its ceiling. `none` has no name.
enum class NoShare : std::uint8_t { none, cache, fewer_operations, above };
template <>
struct EnumNames<NoShare> {
  static constexpr const char* type = "NoShare";
  static constexpr std::array<std::string_view, 4> names{"", "cache", "fewer_operations", "above"};
};

/// The source of memory data. `none` has no name.
enum class MemorySource : std::uint8_t { none, allocator_events, snapshot, board };
template <>
struct EnumNames<MemorySource> {
  static constexpr const char* type = "MemorySource";
  static constexpr std::array<std::string_view, 4> names{"", "allocator_events", "snapshot",
                                                         "board"};
};

/// The holder of memory.
enum class MemoryHolderKind : std::uint8_t {
  parameters,
  gradients,
  optimiser,
  activations,
  temporary,
  before,
  unknown
};
template <>
struct EnumNames<MemoryHolderKind> {
  static constexpr const char* type = "MemoryHolderKind";
  static constexpr std::array<std::string_view, 7> names{
      "parameters", "gradients", "optimiser", "activations", "temporary", "before", "unknown"};
};

/// The source of the number of items of a step. `none` has no name.
enum class ItemsSource : std::uint8_t { none, option, shapes };
template <>
struct EnumNames<ItemsSource> {
  static constexpr const char* type = "ItemsSource";
  static constexpr std::array<std::string_view, 3> names{"", "option", "shapes"};
};

}  // namespace gf
