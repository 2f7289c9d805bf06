// Detects unusual moments of one GPU by its own last hour: a stall, slower steps, a clock that
// drops, an error. Knows nothing of drivers or files; docs/monitor.md has the rules.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/time.h"

namespace gf {

struct FlightMoment {
  Nanos time_ns = 0;
  std::string kind;  // stall, idle, slower_steps, clock_drop, xid, asked
  std::string text;  // one sentence with the value and what is usual
};

/// Values of the last hour at most, oldest first.
class RecentValues {
 public:
  explicit RecentValues(Nanos span) : span_(span) {}
  void add(Nanos at, double value);
  void clear() { values_.clear(); }
  std::size_t size() const { return values_.size(); }
  double mean() const;
  /// The value that `rank` others are not below; rank < size().
  double from_top(std::size_t rank) const;
  double from_bottom(std::size_t rank) const;

 private:
  struct Value {
    Nanos at;
    double value;
  };
  double at_rank(std::size_t rank) const;
  Nanos span_;
  std::deque<Value> values_;
};

class FlightWatch {
 public:
  /// Takes the GPU's activity over a span, and its working SMs, as shares; in order of time.
  void busy(Nanos start, Nanos end, double share);
  void sm_active(Nanos start, Nanos end, double share);
  void clock(Nanos at, double hertz);
  /// The processes that hold its memory. When none of those before is left, another job runs, and
  /// what was usual is forgotten. Where they are known, stalls wait for the next ones.
  void holders(std::set<std::int64_t> processes);
  void xid(Nanos at, std::int64_t code);

  /// The moments since the last call, oldest first.
  std::vector<FlightMoment> take();

 private:
  void forget();
  void end_gap(Nanos end);
  void end_second(Nanos at);
  bool knows_job(Nanos at) const;
  double usual_gap() const;
  void look_for_steps(Nanos at);
  void judge_step(Nanos at, double step, double usual);
  void tell(Nanos at, const char* kind, std::string text);

  std::vector<FlightMoment> moments_;
  std::vector<FlightMoment> stalls_;  // until the next holders tell whether it is the same job
  std::optional<std::set<std::int64_t>> holders_;
  Nanos since_ = 0;  // what is known of the job begins there; 0: nothing is known

  // Busy, second by second, and the gaps between.
  RecentValues seconds_{3600 * kNsPerSecond}, gaps_{3600 * kNsPerSecond};
  double second_busy_ = 0;  // of the second that runs: sum of share x time
  Nanos second_time_ = 0, second_start_ = 0;
  double last_second_ = 0;
  Nanos gap_start_ = 0;    // of the gap that is open; 0: none is
  bool gap_told_ = false;  // as idle

  // Steps: SM active in cells of equal length.
  std::deque<float> cells_;
  double cell_sum_ = 0;
  Nanos cell_time_ = 0, cell_length_ = 0;
  std::size_t fresh_ = 0;  // cells since the last look
  RecentValues steps_{3600 * kNsPerSecond};
  double last_step_ = 0;  // that a look found
  int slow_looks_ = 0;    // that found such a step, in a row

  RecentValues clocks_{600 * kNsPerSecond};
  int low_clocks_ = 0;  // readings in a row
};

}  // namespace gf
