// Damage and doubt about a capture, as declared in quality.def, and the one rule for what makes an
// answer partial.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "model/enums.h"

namespace gf {

enum class QualityCode : std::uint8_t {
#define GF_QUALITY(code, effect, meaning) code,
#include "model/quality.def"
#undef GF_QUALITY
  count
};
inline constexpr std::size_t kQualityCodes = static_cast<std::size_t>(QualityCode::count);

template <>
struct EnumNames<QualityCode> {
  static constexpr std::array<std::string_view, kQualityCodes> names{
#define GF_QUALITY(code, effect, meaning) #code,
#include "model/quality.def"
#undef GF_QUALITY
  };
};

enum class QualityEffect : std::uint8_t { partial, doubt };

struct QualityKind {
  std::string_view code;
  QualityEffect effect;
  std::string_view meaning;
};
inline constexpr std::array<QualityKind, kQualityCodes> kQualityKinds{{
#define GF_QUALITY(code, effect, meaning) {#code, QualityEffect::effect, meaning},
#include "model/quality.def"
#undef GF_QUALITY
}};

/// True if a note with this code says that data is missing or wrong. A code that this program does
/// not know comes from a newer one: nobody can promise that the answer is whole.
constexpr bool makes_partial(std::string_view code) {
  const auto known = enum_from<QualityCode>(code);
  return !known || kQualityKinds[static_cast<std::size_t>(*known)].effect == QualityEffect::partial;
}

}  // namespace gf
