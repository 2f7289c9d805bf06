// The changes of a replay one by one, each with its name and what it means.
#pragma once

#include <string>
#include <vector>

#include "analyze/replay/what_if.h"

namespace gf {

/// A change as a row of an answer shows it.
struct Named {
  std::string change, meaning;
  WhatIfChanges changes;
  double items = 1;  // of a step, for each that it had
};
/// Each change of `changes` by itself.
std::vector<Named> each_of(const WhatIfChanges& changes);
/// The changes that are tried by default.
std::vector<Named> usual_changes();
/// A batch so many times as large, with the time of an item.
Named larger(double batch);

}  // namespace gf
