// The monitor's view on a terminal: a table, one GPU with its history, the processes.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "cli/live/screen/keyboard.h"
#include "model/live.h"
#include "report/text/style.h"

namespace gf::cli {

class MonitorScreen {
 public:
  void add(LiveTable table);
  /// What a key does; false: leave.
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
