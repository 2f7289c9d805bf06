// The monitor's view on a terminal: a table, one GPU with its history, the processes.
#pragma once

#include <termios.h>

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "core/time.h"
#include "model/live.h"
#include "report/text/format.h"

namespace gf::cli {

// Keys as they are pressed, without a line's end and without being shown.

enum class Key { other, quit, up, down, left, right, enter, escape, sort, processes, help };

/// Takes the terminal over as long as it lives: keys come one by one, the answer has a screen of
/// its own, and what stood there before comes back.
class Keyboard {
 public:
  Keyboard();
  ~Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  /// True if keys can be read: standard input is a terminal, and this program is in its foreground.
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

class MonitorScreen {
 public:
  void add(LiveTable table);
  /// Handles a key; false: leave.
  bool press(Key key);
  /// At most `rows` lines, the last of which tells the keys.
  std::string draw(const TextStyle& style, int rows) const;

 private:
  enum class View { table, gpu, processes, help };
  enum class Order { number, busy, power, memory };
  /// Readings of one GPU or MIG instance, oldest first; NaN: no data.
  using History = std::map<std::string, std::deque<double>>;

  bool in_order(const LiveGpu& left, const LiveGpu& right) const;
  LiveTable sorted() const;
  std::string gpu_page(const TextStyle& style) const;
  std::string process_page(const TextStyle& style) const;
  std::string key_line() const;

  LiveTable table_;
  std::map<std::string, History> histories_;  // by UUID
  View view_ = View::table;
  Order order_ = Order::number;
  std::size_t gpu_ = 0;     // of the table's order by number
  std::size_t scroll_ = 0;  // lines that are above the screen
};

}  // namespace gf::cli
