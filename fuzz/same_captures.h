// Compares two captures, to the last bit of every column.
#pragma once

#include <cstring>

#include "model/capture.h"

namespace gf::fuzz {

inline bool same(Capture& left, const Capture& right) {
  bool equal = left.strings.size() == right.strings.size() && left.events == right.events;
  left.each_table_pair(right, [&](auto& mine, const auto& theirs) {
    mine.visit_pairs(theirs, [&](const auto& one, const auto& other) {
      equal =
          equal && one.size() == other.size() &&
          (one.empty() || std::memcmp(one.data(), other.data(), one.size() * sizeof one[0]) == 0);
    });
  });
  return equal;
}

}  // namespace gf::fuzz
