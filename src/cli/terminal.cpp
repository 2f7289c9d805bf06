#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include "core/machine.h"
#include "core/text.h"

namespace gf::cli {

namespace {

/// The first of LC_ALL, LC_CTYPE and LANG that is set decides, as in setlocale(3).
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = lower_case(environment(name));
    if (value.empty()) continue;
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

int columns(bool to_file) {
  const auto wanted = environment("COLUMNS");
  int count = 0;
  if (std::from_chars(wanted.data(), wanted.data() + wanted.size(), count).ec == std::errc{} &&
      count > 0)
    return count;
  winsize size{};
  if (!to_file && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 80;
}

}  // namespace

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) != 0; }
bool stderr_is_terminal() { return isatty(STDERR_FILENO) != 0; }

TextStyle text_style(bool to_file) {
  TextStyle style;
  style.width = std::clamp(columns(to_file), 80, 200);
  style.utf8 = locale_is_utf8();
  style.colour = !to_file && stdout_is_terminal() && environment("NO_COLOR").empty() &&
                 environment("TERM") != "dumb";
  return style;
}

struct ProgressDisplay::State {
  std::mutex mutex;
  std::function<Clock::time_point()> now;
  Clock::time_point next = now() + std::chrono::seconds(1);
  std::string stage;  // what was shown last
  bool shown = false;
  bool terminal = stderr_is_terminal();
};

ProgressDisplay::ProgressDisplay(std::function<Clock::time_point()> now)
    : state_(new State{.now = std::move(now)}) {}
ProgressDisplay::~ProgressDisplay() { wipe(); }

Progress ProgressDisplay::callback() {
  return [state = state_.get()](std::string_view stage, double done) {
    if (!state->terminal) return true;
    const std::lock_guard lock(state->mutex);
    const auto now = state->now();
    // Another stage is shown at once: it may last long and say nothing more.
    const bool another = !state->stage.empty() && stage != state->stage;
    if (now < state->next && !another) return true;
    state->stage = stage;
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
