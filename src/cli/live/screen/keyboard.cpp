#include "cli/live/screen/keyboard.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

namespace gf::cli {

namespace {

constexpr std::string_view kOwnScreen = "\x1b[?1049h\x1b[?25l", kBack = "\x1b[?25h\x1b[?1049l";

void tell_terminal(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

using Sequence = std::pair<std::string_view, Key>;
/// The longer ones first: an escape alone is a key too.
constexpr std::array kSequences{
    Sequence{"\x1b[A", Key::up},    Sequence{"\x1b[B", Key::down}, Sequence{"\x1b[C", Key::right},
    Sequence{"\x1b[D", Key::left},  Sequence{"\x1bOA", Key::up},   Sequence{"\x1bOB", Key::down},
    Sequence{"\x1bOC", Key::right}, Sequence{"\x1bOD", Key::left}, Sequence{"\x1b", Key::escape},
    Sequence{"\r", Key::enter},     Sequence{"\n", Key::enter},    Sequence{"g", Key::enter},
    Sequence{"q", Key::quit},       Sequence{"s", Key::sort},      Sequence{"p", Key::processes},
    Sequence{"?", Key::help},       Sequence{"h", Key::help},      Sequence{"k", Key::up},
    Sequence{"j", Key::down}};

}  // namespace

std::vector<Key> keys_of(const char* bytes, std::size_t count) {
  std::vector<Key> keys;
  std::string_view left(bytes, count);
  while (!left.empty()) {
    const auto found = std::find_if(kSequences.begin(), kSequences.end(),
                                    [&](const auto& each) { return left.starts_with(each.first); });
    if (found == kSequences.end()) {
      keys.push_back(Key::other);
      left.remove_prefix(1);
    } else {
      keys.push_back(found->second);
      left.remove_prefix(found->first.size());
    }
  }
  return keys;
}

int terminal_rows() {
  constexpr int usual = 24;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0) return size.ws_row;
  return usual;
}

Keyboard::Keyboard() {
  // A program in the background that sets the terminal up would be stopped.
  if (isatty(STDIN_FILENO) == 0 || tcgetpgrp(STDIN_FILENO) != getpgrp()) return;
  if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
  termios keys = before_;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  keys.c_cc[VMIN] = 0;
  keys.c_cc[VTIME] = 0;
  keys.c_cc[VSUSP] = _POSIX_VDISABLE;  // stopped, it would leave the terminal like this
  works_ = tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
  if (works_) tell_terminal(kOwnScreen);
}

Keyboard::~Keyboard() {
  if (!works_) return;
  tell_terminal(kBack);
  tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

std::vector<Key> Keyboard::wait(Nanos limit, int wake_fd) {
  std::array<pollfd, 2> waiting{{{wake_fd, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
  const Nanos ms = std::clamp<Nanos>((limit + kNsPerMs - 1) / kNsPerMs, 0, 60'000);
  if (::poll(waiting.data(), waiting.size(), static_cast<int>(ms)) <= 0) return {};
  if (waiting[1].revents == 0) return {};
  std::array<char, 64> bytes{};
  const auto got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (got <= 0) return {Key::quit};  // the terminal is gone
  return keys_of(bytes.data(), static_cast<std::size_t>(got));
}

}  // namespace gf::cli
