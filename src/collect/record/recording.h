// One recording, from the start of its program to the end of its file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collect/record/child.h"
#include "collect/record/counter_thread.h"
#include "collect/record/kernels.h"
#include "collect/record/process_tree.h"
#include "collect/record/recorder.h"
#include "model/file.h"

namespace gf {

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
  std::int64_t host_memory_peak_ = 0, memory_most_ = 0;
};

}  // namespace gf
