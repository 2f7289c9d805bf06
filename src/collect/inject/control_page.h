// The recorder's side of the page through which it speaks to the agents (stream.h, Control).
#pragma once

#include <cstdint>
#include <string>

#include "collect/inject/stream.h"

namespace gf {

class ControlPage {
 public:
  /// Makes the page's file in the directory; without room or right to do so agents keep to their
  /// own schedule.
  explicit ControlPage(const std::string& directory);
  ~ControlPage();
  ControlPage(const ControlPage&) = delete;
  ControlPage& operator=(const ControlPage&) = delete;

  /// The recorder lives. Call it a few times a second.
  void beat();
  /// All agents begin a window; its number.
  std::uint32_t ask_for_window();

 private:
  inject::Control* page_ = nullptr;
  std::uint32_t asked_ = 0;
};

}  // namespace gf
