// The thread that drains the counter samplers of all GPUs: nothing else may hold it up, or samples
// are lost.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "collect/cupti/pm_sampler.h"
#include "collect/record/activity_watch.h"
#include "collect/record/level_summary.h"
#include "model/sample_block.h"

namespace gf {

class CounterThread {
 public:
  explicit CounterThread(Nanos every) : every_(every) {}
  ~CounterThread() { stop(); }
  /// A GPU's sampler, the capture's row of its device and the texts of its metrics. Before start().
  void add(std::unique_ptr<PmSampler> sampler, std::uint32_t device, std::vector<Text> metrics);
  /// Every sample also goes here. Before start().
  void watch(ActivityWatch& watch) { watch_ = &watch; }
  void start();
  /// Drains once more and ends the thread. One that hangs in the driver is left behind: then
  /// nothing of this object may be taken down.
  void stop();
  bool hangs() const { return hangs_; }

  /// The samples since the last call, a block a GPU. When nobody takes them, the newest are
  /// dropped.
  std::vector<SampleBlock> take();

  struct Source {
    std::unique_ptr<PmSampler> sampler;
    std::uint32_t device = kNoRow;
    SampleBlock block;
    LevelSummary summary;
    std::size_t busy = 0, sm_active = 0;  // columns; past the last: not sampled
    std::string error;                    // why it ended early
    std::int64_t dropped = 0;             // samples dropped because nobody took them
  };
  /// Only before the thread has started and when it has stopped; empty when it hangs.
  const std::vector<Source>& sources() const {
    if (hangs_) return none_;
    return sources_;
  }

 private:
  void loop();
  void drain();
  void tell_watch(const Source& source, const PmSample& sample);
  Nanos every_;
  ActivityWatch* watch_ = nullptr;
  std::vector<Source> sources_;
  std::vector<Source> none_;
  std::timed_mutex mutex_;
  std::atomic<bool> ending_{false};
  bool hangs_ = false;
  std::promise<void> ended_;
  std::thread thread_;
};

}  // namespace gf
