// Reads what the agents inside the recorded program's processes write, while they write it, into a
// capture. Every record is checked before it is believed: CUPTI writes 0 where it has no time.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "collect/inject/agents_folder.h"
#include "collect/inject/stream.h"
#include "model/capture.h"

namespace gf {

/// A GPU of the machine, recorded or not.
struct MachineGpu {
  std::int32_t number = 0;  // as NVML counts
  std::string uuid, name;
};

class InjectReader {
 public:
  /// `directory` is where the agents write; it is emptied and removed at the end.
  explicit InjectReader(std::string directory);
  ~InjectReader();
  /// Takes what has come since the last call, at most about `most_bytes` of it, and gives the disk
  /// space back. Rows go into activities, api_calls, host_ops (NVTX ranges) and steps. True when
  /// there is more.
  bool poll(Capture& capture, std::size_t most_bytes = 32u << 20);

  /// Adds the windows that programs left open: they end with their last record. Says what is
  /// missing of what the agents were given to write.
  void finish(Capture& capture);

  /// The processes that are recorded.
  void know(const std::vector<pid_t>& processes) { folder_.know(processes); }

  /// A program may use other GPUs than the capture has, under the same numbers.
  void know_gpus(std::vector<MachineGpu> gpus) { gpus_ = std::move(gpus); }

  /// The recorder lives: a few times a second.
  void beat() { page_.beat(); }
  /// All agents begin a window.
  void ask_for_window() { page_.ask_for_window(); }

  std::int64_t windows() const { return windows_; }
  Nanos windows_ns() const { return windows_ns_; }
  /// When the first window began, 0: none has.
  Nanos first_window() const { return first_window_; }
  std::int64_t kernels() const { return kernels_; }
  std::int64_t copies() const { return copies_; }
  std::int64_t steps() const { return steps_; }
  /// Records that no answer may hold: without a time, outside their window.
  std::int64_t refused() const { return refused_; }
  /// Launches whose kernels CUPTI gave to another profiler.
  std::int64_t taken() const { return taken_; }
  /// Processes that wrote anything.
  std::size_t processes() const { return processes_; }
  /// The agents' messages, each once.
  std::vector<std::string> take_messages();

 private:
  struct Launch {
    Nanos start;
    std::uint32_t correlation;
  };
  /// A window's kernels, by correlation, and launches, to be held against each other at its end.
  struct Partners {
    std::vector<std::uint32_t> kernels;
    std::vector<Launch> launches;
    Nanos last_kernel = 0;  // its end
    bool too_many = false;
  };
  struct File {
    std::uint64_t device = 0, inode = 0;  // of the file; 0: not seen yet
    std::uint64_t at = 0;
    std::int64_t pid = -1;
    std::vector<Text> texts;
    std::map<std::uint32_t, std::uint32_t> devices, threads;  // CUDA ordinal, thread id -> row
    bool bad = false;
    Nanos window = 0, last = 0;  // start of the open window; the end of the last activity
    Nanos since = 0;             // start of the last window, open or not
    Partners partners;
    std::unordered_map<std::uint64_t, std::int64_t> node_calls;  // of nodes of graphs
    std::map<std::uint32_t, std::uint32_t> last_call;            // number of a thread's last one
    std::set<std::uint32_t> repeated;  // numbers that stand for several calls
    std::int64_t unfinished = 0;       // of the open window: launched in it, run after it
    bool silent = false;               // the open window: CUPTI recorded none of its kernels
    std::int64_t records = 0;          // read, of those that the agent's ledger counts
    std::int64_t lost_to_disk = 0, lost_to_memory = 0;  // records, as the agent says
  };
  /// The end of a window.
  enum class Ending { in_program, with_program };
  bool read(const std::string& name, File& file, std::size_t most, Capture& capture);
  void take_all(File& file, std::string_view& rest, Capture& capture);
  void refuse(File& file, std::string_view why, Capture& capture);
  std::optional<inject::Ledger> ledger_of(const std::string& name) const;
  void settle(const std::string& name, File& file, Capture& capture);
  void take(File& file, inject::Type type, std::string_view payload, Capture& capture);
  void take_hello(File& file, std::string_view payload, Capture& capture);
  void take_text(File& file, std::string_view payload, Capture& capture);
  void take_device(File& file, std::string_view payload, Capture& capture);
  void take_kernel(File& file, std::string_view payload, Capture& capture);
  void take_memory(File& file, inject::Type type, std::string_view payload, Capture& capture);
  void take_call(File& file, std::string_view payload, Capture& capture);
  void take_range(File& file, std::string_view payload, Capture& capture);
  void take_loss(File& file, std::string_view payload, Capture& capture);
  void take_window(File& file, std::string_view payload, Capture& capture);
  void take_node(File& file, std::string_view payload, Capture& capture);
  static I64 node_number(const File& file, std::uint64_t node);
  bool believable(const File& file, Nanos start, Nanos end, const char* what, Capture& capture);
  /// The number that joins a call and its work; -1 where it joins nothing.
  I64 number_of(const File& file, std::uint32_t correlation) const;
  Nanos compare_partners(File& file, Nanos end, Ending ending, Capture& capture);
  std::uint32_t device_row(File& file, std::uint32_t ordinal, Capture& capture);
  std::uint32_t thread_row(File& file, std::uint32_t tid, Capture& capture);
  Text text(const File& file, std::uint32_t id) const {
    return id < file.texts.size() ? file.texts[id] : Text::none;
  }
  void add_window(File& file, Nanos start, Nanos end, Ending ending, Capture& capture);

  AgentsFolder folder_;
  std::vector<MachineGpu> gpus_;
  int lock_ = -1;          // tells the agents that somebody reads
  bool too_many_ = false;  // files
  std::size_t processes_ = 0;
  ControlPage page_;
  std::map<std::string, File> files_;
  std::vector<std::string> messages_;
  std::int64_t kernels_ = 0, copies_ = 0, steps_ = 0, windows_ = 0, refused_ = 0, taken_ = 0;
  Nanos windows_ns_ = 0, first_window_ = 0;
};

/// The agent lies beside the program in a build folder, in ../lib/gpufathom where it is installed.
std::string agent_path();

/// A GPU UUID as NVML writes it: "GPU-8-4-4-4-12" hexadecimal digits.
std::string uuid_text(const unsigned char (&bytes)[16]);

}  // namespace gf
