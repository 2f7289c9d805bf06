// What a terminal shows of long work.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "cli/terminal.h"

namespace gf::cli {
namespace {

/// Standard error is a terminal while this lives.
class Terminal {
 public:
  Terminal() {
    ::grantpt(screen_);
    ::unlockpt(screen_);
    const int terminal = ::open(::ptsname(screen_), O_RDWR | O_NOCTTY);
    ::dup2(terminal, STDERR_FILENO);
    ::close(terminal);
  }
  ~Terminal() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    ::close(screen_);
  }
  /// What it was sent since the last time.
  std::string shown() const {
    char text[256];
    const auto size = ::read(screen_, text, sizeof text);
    return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : "";
  }

 private:
  int screen_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  int before_ = ::dup(STDERR_FILENO);
};

TEST(ProgressDisplay, ShowsAStageThatFollowsAtOnce) {
  const Terminal terminal;
  ProgressDisplay::Clock::time_point now;
  ProgressDisplay display([&] { return now; });
  const auto progress = display.callback();
  progress("reading", 0.1);
  progress("analyzing", -1);
  EXPECT_EQ(terminal.shown(), "") << "short work is shown";
  now += std::chrono::milliseconds(1010);
  progress("reading", 0.5);
  EXPECT_EQ(terminal.shown(), "\r\033[Kreading  50 %");
  progress("reading", 0.6);
  EXPECT_EQ(terminal.shown(), "") << "ten times a second are enough";
  display.wipe();
  EXPECT_EQ(terminal.shown(), "\r\033[K");
  progress("analyzing", -1);
  EXPECT_EQ(terminal.shown(), "\r\033[Kanalyzing");
}

}  // namespace
}  // namespace gf::cli
