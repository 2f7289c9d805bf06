// Why a rank was late, for people.
#pragma once

#include <string_view>

#include "analyze/ranks/names.h"

namespace gf {

/// What it had more of than the ranks that waited: "launch too late", "more kernel time".
constexpr std::string_view late_label(RankTime cause) {
  constexpr std::string_view kLabels[] = {"more kernel time", "more copies", "other collectives",
#define GF_CAUSE(id, label, short_label, colour, meaning) label,
#include "analyze/names/causes.def"
#undef GF_CAUSE
                                          "not recorded"};
  return kLabels[static_cast<std::size_t>(cause)];
}

}  // namespace gf
