#include "cli/pager.h"

#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cli/terminal.h"

namespace gf::cli {

namespace {

constexpr int kNotFound = 127;  // of the shell

/// Empty: none is wanted.
std::string command() {
  for (const char* name : {"GPUFATHOM_PAGER", "PAGER"})
    if (const char* value = std::getenv(name)) {
      const std::string wanted = value;
      return wanted == "cat" ? std::string() : wanted;
    }
  return "less";
}

bool fits(std::string_view text) {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return true;
  return std::count(text.begin(), text.end(), '\n') < size.ws_row;
}

bool is_dumb() {
  const char* terminal = std::getenv("TERM");
  return !terminal || std::string_view(terminal) == "dumb";
}

}  // namespace

bool show_paged(std::string_view text) {
  if (!stdout_is_terminal() || is_dumb() || fits(text)) return false;
  const std::string pager = command();
  if (pager.empty()) return false;
  ::setenv("LESS", "FRX", 0);  // colours, and no screen of its own
  std::fflush(stdout);
  // Whoever quits before the end closes the pipe.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  FILE* pipe = ::popen(pager.c_str(), "w");
  if (pipe) std::fwrite(text.data(), 1, text.size(), pipe);
  const int status = pipe ? ::pclose(pipe) : -1;
  std::signal(SIGPIPE, before);
  return status != -1 && !(WIFEXITED(status) && WEXITSTATUS(status) == kNotFound);
}

}  // namespace gf::cli
