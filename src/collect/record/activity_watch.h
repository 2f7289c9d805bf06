// When to record kernels: the GPUs' levels, seen from beside while they come, say when the program
// has found its pace and when its work changes.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/time.h"
#include "model/record_summary.h"

namespace gf {

/// The reason why a window should open.
enum class WindowReason { begun, steady, changed, unsteady, periodic };

class ActivityWatch {
 public:
  struct Rules {
    Nanos cell = 250 * kNsPerMs;             // levels are means of so long
    int cells = 8;                           // that must be alike
    Nanos first = 5 * kNsPerSecond / 2;      // until the window at the program's start is read
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
  /// The windows until now have some: a program that loads for long has none in its first one.
  void kernels_came() { kernels_ = true; }
  /// True if a window should open now; each reason is given once.
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
  bool works_unseen(Nanos now) const;
  Rules rules_;
  std::mutex mutex_;
  std::deque<Cell> recent_;
  std::int64_t first_ = 0;  // number of the first cell of recent_
  Nanos began_ = 0, working_since_ = 0, opened_ = 0;
  int given_ = 0;
  bool kernels_ = false;
  std::optional<Level> recorded_;  // of the last window that a steady pace opened
};

// Running means of a device's samples, for the summary at the end of a recording: bounded memory
// however long it is.

class LevelSummary {
 public:
  /// `ids` and whether each is a count (summed) or a share (averaged over time).
  void define(std::vector<std::string> ids, std::vector<bool> counts);
  bool defined() const { return !ids_.empty(); }
  void add(Nanos start, Nanos end, const double* values);
  /// Fills shares, totals, span_ns, samples and the step of `out`. The span runs from the first to
  /// the last time with work, by the rule that `analyze` follows (analyze/sampled/spans.h).
  void fill(RecordedDevice& out) const;

 private:
  struct Sums {
    std::vector<double> values;
    Nanos time = 0;
  };
  struct Sample {
    Nanos start, end;
    std::vector<double> values;
  };
  double busy_of(const Sample& sample) const {
    return busy_ < ids_.size() ? sample.values[busy_] : 1;
  }
  void close_cell();
  void count(const Sample& sample, bool work);
  void remember(const Sample& sample);
  void keep(const std::vector<double>& values, Nanos length);
  void fill_step(RecordedDevice& out) const;

  std::vector<std::string> ids_;
  std::vector<bool> counts_;
  std::size_t busy_ = 0;         // column of gpu.busy
  std::vector<Sample> cell_;     // samples of a tenth of a second, which works as a whole or not
  Sums inside_, pending_;        // up to the last sample with work; idle samples since
  Nanos first_ = 0, until_ = 0;  // of what is in inside_
  bool any_ = false;
  std::int64_t samples_ = 0;
  std::vector<std::size_t> signals_;        // columns in which a step is looked for
  std::vector<std::vector<float>> recent_;  // of each a ring of the newest values, evenly spaced:
                                            // samples that never arrived are filled in
  std::size_t recent_at_ = 0;
  Nanos recent_time_ = 0, recent_end_ = 0;  // sum of the spans of all that were kept, for the mean
                                            // interval; where the last ended
  std::int64_t kept_ = 0;
  Sample last_{};
};

}  // namespace gf
