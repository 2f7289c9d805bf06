// One recording, from the start of its program to the end of its file.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "collect/cupti/pm_sampler.h"
#include "collect/record/activity_watch.h"
#include "collect/record/child.h"
#include "collect/record/kernels.h"
#include "collect/record/process_tree.h"
#include "collect/record/recorder.h"
#include "model/file.h"
#include "model/sample_block.h"

namespace gf {

// The thread that drains the counter samplers of all GPUs: nothing else may hold it up, or samples
// are lost.

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
  const std::vector<Source>& sources() const { return hangs_ ? none_ : sources_; }

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

class Recording {
 public:
  explicit Recording(const RecordOptions& options)
      : o_(options),
        counters_(pm_decode_period(options.interval_ns(), pm_set(options.metrics).sample_bytes)),
        kernels_(options, [this](std::string text) { note(notes_, std::move(text)); }) {}
  Result<RecordSummary> run(int& exit_code);
  /// A thread of it is still in the driver, and needs it.
  bool must_stay() const { return counters_.hangs(); }

 private:
  bool with_child() const { return !o_.command.empty(); }
  Status start(int& exit_code);
  bool over(Nanos now, bool asked);
  void stop_sampling();
  void record_until_over();
  Status open(std::vector<std::string>& notes);
  Status open_output();
  void describe_gpus();
  std::string shown_command() const;
  void describe_run();
  std::vector<bool> choose_gpm();
  void note_sources(std::vector<std::string>& notes);
  void choose_gpus(const std::vector<unsigned>& chosen);
  bool with_instances(const GpuInfo& gpu) const;
  void add_instances();
  void start_counters(std::vector<std::string>& notes);
  void take_kernels(bool all);
  void host_tick(Nanos now);
  OwnUse see_own_use();
  void write(bool last);
  void go_on_in(const std::string& path, Nanos now);
  void note_once(std::string text);
  RecordSummary summary(Nanos started, Nanos ended);
  void tell_hang(const char* what, Nanos since);
  void note_lost(const RecordedDevice& device);
  void note(std::vector<std::string>& notes, std::string text) {
    if (o_.say) o_.say(text);
    notes.push_back(std::move(text));
  }

  const RecordOptions& o_;
  Signals signals_;
  std::optional<Child> child_;
  std::optional<ProcessTree> tree_;
  std::shared_ptr<Nvml> nvml_;
  std::vector<GpuInfo> gpus_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::string> sources_;
  std::optional<WatchedSensors> sensors_;
  CounterThread counters_;
  std::optional<CaptureWriter> writer_;
  Capture capture_;
  std::vector<std::string> notes_;
  KernelRecording kernels_;
  bool write_failed_ = false;
  std::int64_t dropped_ = 0;
  std::optional<WatchedProcess> process_;
  std::optional<int> code_;
  TreeUse last_use_, base_use_;  // base: what a process had used before it was recorded
  Nanos last_host_ = 0, started_ = 0, ended_ = 0;
  std::int64_t host_memory_peak_ = 0, memory_most_ = 0, private_most_ = 0;
};

}  // namespace gf
