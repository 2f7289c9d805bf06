#include "cli/progress_display.h"

#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>

#include "cli/terminal.h"

namespace gf::cli {

struct ProgressDisplay::State {
  using Clock = std::chrono::steady_clock;
  std::mutex mutex;
  Clock::time_point next = Clock::now() + std::chrono::seconds(1);
  bool shown = false;
  bool terminal = stderr_is_terminal();
};

ProgressDisplay::ProgressDisplay() : state_(std::make_unique<State>()) {}
ProgressDisplay::~ProgressDisplay() { wipe(); }

Progress ProgressDisplay::callback() {
  return [state = state_.get()](std::string_view stage, double done) {
    if (!state->terminal) return true;
    const std::lock_guard lock(state->mutex);
    const auto now = State::Clock::now();
    if (now < state->next) return true;
    state->next = now + std::chrono::milliseconds(100);
    state->shown = true;
    if (done < 0)
      std::fprintf(stderr, "\r\033[K%.*s", static_cast<int>(stage.size()), stage.data());
    else
      std::fprintf(stderr, "\r\033[K%.*s %3.0f %%", static_cast<int>(stage.size()), stage.data(),
                   done * 100);
    return true;
  };
}

void ProgressDisplay::wipe() {
  const std::lock_guard lock(state_->mutex);
  if (state_->shown) std::fputs("\r\033[K", stderr);
  state_->shown = false;
}

}  // namespace gf::cli
