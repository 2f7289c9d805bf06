// When to record kernels: the GPUs' levels, seen from beside while they come, say when the program
// has found its pace and when its work changes.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "core/time.h"

namespace gf {

/// Why a window should open.
enum class WindowReason { steady, changed, unsteady, periodic };

class ActivityWatch {
 public:
  struct Rules {
    Nanos cell = 250 * kNsPerMs;             // levels are means of so long
    int cells = 8;                           // that must be alike
    Nanos patience = 20 * kNsPerSecond;      // of work that never becomes steady
    Nanos every = 60 * kNsPerSecond;         // from one window to the next
    Nanos change_after = 15 * kNsPerSecond;  // and where the work changes
    // Each end of a window asks CUPTI to stop while the program launches; too many have ended one.
    int most = 4;
  };
  ActivityWatch() = default;
  explicit ActivityWatch(const Rules& rules) : rules_(rules) {}

  /// A sample of a GPU: how busy it was, and its SMs, as shares. From any thread.
  void add(Nanos start, Nanos end, double busy, double sm_active);
  /// The program uses CUDA since then; what came before is another's.
  void program_began(Nanos at);
  /// Whether a window should open now; each reason is given once.
  std::optional<WindowReason> due(Nanos now);

 private:
  struct Cell {
    double busy = 0, sm_active = 0;  // sums over time
    Nanos time = 0;
  };
  struct Level {
    double busy = 0, sm_active = 0;
  };
  struct Pace {
    Level mean;
    bool works = false, steady = false;
  };
  Cell* cell_at(std::int64_t number);
  std::optional<Pace> pace() const;
  Rules rules_;
  std::mutex mutex_;
  std::deque<Cell> recent_;
  std::int64_t first_ = 0;  // number of the first cell of recent_
  Nanos began_ = 0, working_since_ = 0, opened_ = 0;
  int given_ = 0;
  std::optional<Level> recorded_;  // of the last window that a steady pace opened
};

}  // namespace gf
