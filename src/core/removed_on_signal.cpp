#include "core/removed_on_signal.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>

namespace gf {

namespace {

constexpr std::array kEnding = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGXFSZ};

enum State { free_slot, being_changed, in_use };
struct Slot {
  std::atomic<int> state{free_slot};
  char path[PATH_MAX];
};
std::array<Slot, 8> slots;

/// Runs in the signal: nothing but calls that are safe there.
void remove_and_end(int number) {
  for (auto& slot : slots)
    if (slot.state.load() == in_use) ::unlink(slot.path);
  ::signal(number, SIG_DFL);
  ::raise(number);
}

/// Who has ideas of its own about a signal, or ignores it, keeps them.
void listen() {
  for (const int number : kEnding) {
    struct sigaction before{};
    if (::sigaction(number, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    struct sigaction action{};
    action.sa_handler = remove_and_end;
    ::sigaction(number, &action, nullptr);
  }
}

}  // namespace

int remove_on_signal(const std::string& path) {
  if (path.size() >= PATH_MAX) return -1;
  listen();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    int expected = free_slot;
    if (!slots[i].state.compare_exchange_strong(expected, being_changed)) continue;
    std::memcpy(slots[i].path, path.c_str(), path.size() + 1);
    slots[i].state = in_use;
    return static_cast<int>(i);
  }
  return -1;
}

void keep_on_signal(int number) {
  if (number >= 0) slots[static_cast<std::size_t>(number)].state = free_slot;
}

}  // namespace gf
