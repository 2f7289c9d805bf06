// The closed lists of a comparison, with the names that JSON uses.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "model/enums.h"

namespace gf {

/// What a row of a comparison is.
enum class ComparedRowKind : std::uint8_t { idle, copy, layer_type, layer, kernel, bar, phase };
template <>
struct EnumNames<ComparedRowKind> {
  static constexpr const char* type = "ComparedRowKind";
  static constexpr std::array<std::string_view, 7> names{"idle",   "copy", "layer_type", "layer",
                                                         "kernel", "bar",  "phase"};
};

/// What a comparison may say of a run beside the first.
enum class ComparedVerdict : std::uint8_t { faster, slower, no_difference, same_job, not_known };
template <>
struct EnumNames<ComparedVerdict> {
  static constexpr const char* type = "ComparedVerdict";
  static constexpr std::array<std::string_view, 5> names{"faster", "slower", "no_difference",
                                                         "same_job", "not_known"};
};

/// What became of a --fail-on rule.
enum class CheckOutcome : std::uint8_t { ok, failed, undecided, refused };
template <>
struct EnumNames<CheckOutcome> {
  static constexpr const char* type = "CheckOutcome";
  static constexpr std::array<std::string_view, 4> names{"ok", "failed", "undecided", "refused"};
};

/// What must be alike for two times to be comparable.
enum class ComparedSetting : std::uint8_t {
  device,
  device_count,
  batch,
  precision,
  profiler,
  steps,
  rank
};
template <>
struct EnumNames<ComparedSetting> {
  static constexpr const char* type = "ComparedSetting";
  static constexpr std::array<std::string_view, 7> names{
      "device", "device_count", "batch", "precision", "profiler", "steps", "rank"};
};

}  // namespace gf
