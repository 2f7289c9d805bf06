// The capabilities of the terminal or file that receives the output.
// Shows on standard error how far long work is: one line, only on a terminal, only after the first
// second, gone at the end.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "core/progress.h"
#include "report/text/format.h"

namespace gf::cli {

/// Style of a text report on standard output, or into a file when `to_file`: at most COLUMNS (or
/// the terminal's width) columns, color only on a terminal and not with NO_COLOR, block characters
/// only in a UTF-8 locale.
TextStyle text_style(bool to_file);

bool stdout_is_terminal();
bool stderr_is_terminal();

class ProgressDisplay {
 public:
  using Clock = std::chrono::steady_clock;
  explicit ProgressDisplay(std::function<Clock::time_point()> now = Clock::now);
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
