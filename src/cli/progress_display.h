// Shows on standard error how far long work is: one line, only on a terminal, only after the first
// second, gone at the end.
#pragma once

#include <memory>

#include "core/progress.h"

namespace gf::cli {

class ProgressDisplay {
 public:
  ProgressDisplay();
  ~ProgressDisplay();  // wipes the line
  /// The function to hand to an importer or analysis; it may be called from any thread while this
  /// object lives.
  Progress callback();
  /// Wipes the line, so that something else can be printed.
  void wipe();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gf::cli
