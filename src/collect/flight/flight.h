// The flight recorder: the last hour of every GPU on disk, and a capture of its own around each
// unusual moment. DIR/ring/ holds the hour as captures of a minute; DIR/*.gpf are the moments.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collect/flight/kernel_windows.h"
#include "collect/flight/watch.h"
#include "collect/record/recorder.h"
#include "core/error.h"

namespace gf {

struct FlightOptions {
  std::string folder;
  Nanos keep_ns = 3600 * kNsPerSecond;    // of the ring
  std::uint64_t most_bytes = 1ull << 30;  // of the folder; half of it for moments
  Nanos before_ns = 60 * kNsPerSecond;    // of a moment that its capture holds
  Nanos after_ns() const { return before_ns / 2; }
  Nanos kernels_ns = 0;  // length of the windows of kernels; 0: there are none
  int orders =
      -1;  // descriptor: a line is a moment that somebody asks for, its end ends the flight
};

/// One unusual moment, as the log of the flight has it (DIR/moments.jsonl).
struct FlightEntry {
  std::string schema = "gpufathom.flight/1";
  Nanos time_ns = 0;
  std::int64_t gpu = -1;
  std::string kind, text, capture;
  std::int64_t kernel_windows = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("schema", &FlightEntry::schema, "name and version of this layout");
    visit("time_ns", &FlightEntry::time_ns, "when it began, nanoseconds since 1970");
    visit("gpu", &FlightEntry::gpu, "GPU number, as nvidia-smi counts; -1: all of them");
    visit("kind", &FlightEntry::kind,
          "stall, idle, slower_steps, clock_drop, xid, or asked (a signal, a request)");
    visit("text", &FlightEntry::text, "what happened, and what is usual");
    visit("capture", &FlightEntry::capture, "file name of the capture around it");
    visit("kernel_windows", &FlightEntry::kernel_windows, "windows of kernels in it");
  }
};

class FlightRecorder : public RecordFollower {
 public:
  using Tell = std::function<void(const FlightEntry&)>;
  /// Takes the folder. Errors: it cannot be made, or another flight recorder uses it.
  static Result<std::unique_ptr<FlightRecorder>> open(const FlightOptions& options, Tell tell);
  ~FlightRecorder() override;

  std::string first_file(Nanos now);
  /// After the recording: moments that wait for what comes after them get what there is.
  void finish(Nanos now);
  void saw(const Capture& capture, const std::vector<SampleBlock>& samples) override;
  std::string next_file(Nanos now) override;
  void closed(Nanos now) override;
  bool over() override;

 private:
  struct Segment {
    std::string path;
    Nanos start = 0, end = 0;  // end 0: it grows
    std::uint64_t bytes = 0;
    bool kernels = false;  // of one program; else levels of the GPUs
  };
  FlightRecorder(const FlightOptions& options, Tell tell);
  void find_earlier();
  void look_at_rows(const Capture& capture);
  void look_at_samples(const Capture& capture, const SampleBlock& block);
  void collect(Nanos now);
  void add(FlightEntry entry);
  void take_orders();
  void take_kernels(Nanos now);
  void write_moments();
  Status write_capture_around(Interval span, const std::string& path,
                              std::vector<FlightEntry>& entries);
  void bound_files(Nanos now);

  const FlightOptions options_;
  Tell tell_;
  int lock_ = -1;
  bool over_ = false;
  std::string orders_;  // the part of a line that has come
  std::map<std::int32_t, FlightWatch> watches_;
  std::map<std::int32_t, Nanos> holders_at_;  // when a process was last seen to hold memory
  std::vector<FlightEntry> waiting_;          // for what comes after them to be recorded
  Nanos write_at_ = 0, roll_at_ = 0, kernels_at_ = 0;
  KernelWindows kernels_;
  std::deque<Segment> ring_, moments_;
};

}  // namespace gf
