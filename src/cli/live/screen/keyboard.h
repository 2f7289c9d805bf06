// Keys as they are pressed, without a line's end and without being shown.
#pragma once

#include <termios.h>

#include <vector>

#include "core/time.h"

namespace gf::cli {

enum class Key { other, quit, up, down, left, right, enter, escape, sort, processes, help };

/// Takes the terminal over as long as it lives: keys come one by one, the answer has a screen of
/// its own, and what stood there before comes back.
class Keyboard {
 public:
  Keyboard();
  ~Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  /// Whether keys can be read: standard input is a terminal, and this program is in its foreground.
  bool works() const { return works_; }
  /// Waits for keys, for `wake_fd`, or until `limit` has passed. Empty: no key came.
  std::vector<Key> wait(Nanos limit, int wake_fd);

 private:
  termios before_{};
  bool works_ = false;
};

/// The keys that the bytes of a terminal stand for.
std::vector<Key> keys_of(const char* bytes, std::size_t count);
/// Lines of the terminal, 24 when it does not say.
int terminal_rows();

}  // namespace gf::cli
