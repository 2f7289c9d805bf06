// The side of a recording that is inside the program: what makes the CUDA driver load the agent,
// when its windows open, and what it has to say.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collect/inject/reader.h"
#include "collect/inject/stream.h"
#include "collect/record/activity_watch.h"
#include "collect/record/recorder.h"
#include "core/time.h"

namespace gf {

// Comes to programs that run already: those that were started under `gpufathom run` hold the agent,
// asleep (collect/inject/stream.h, Dormant).

/// The page of a sleeping agent, and the lock that keeps other recorders from it.
class DormantAgent {
 public:
  /// none: the process holds no agent, or another process's; strange: it shows a page that is not
  /// the library's, or not this version's; taken: another recorder has it.
  enum class State { none, strange, taken, sleeps };
  struct Found;
  static Found find(pid_t process);
  DormantAgent(DormantAgent&& other) noexcept;
  DormantAgent& operator=(DormantAgent&&) = delete;
  ~DormantAgent();

  /// Asks it to record. False: it does not answer.
  bool wake(const inject::Dormant& wanted);
  /// Tells it to let go, and waits until it has.
  void let_go();

 private:
  DormantAgent(int fd, inject::Dormant* page) : fd_(fd), page_(page) {}
  bool wait_until_served(Nanos patience);
  void ask();
  int fd_ = -1;
  inject::Dormant* page_ = nullptr;
  bool awake_ = false;
};

struct DormantAgent::Found {
  State state;
  std::optional<DormantAgent> agent;  // of one that sleeps
};

/// The reason why no agent was found in a process, in words; empty: CUDA has not
/// been started in it yet.
std::string why_no_agent(pid_t process);

/// The command line of a running process; empty when it cannot be read.
std::vector<std::string> command_of(pid_t process);

class KernelRecording {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;
  using Note = std::function<void(std::string)>;
  KernelRecording(const RecordOptions& options, Note note)
      : options_(options), note_(std::move(note)) {}

  /// Variables for the program's environment; empty, with a note, if kernels cannot be recorded.
  Environment prepare();
  bool on() const { return reader_.has_value(); }

  /// The same for a program that runs already (options.pid); tick() comes to its processes.
  void prepare_to_attach();
  /// The agents of a running program let go of everything.
  void detach();

  /// Before the above: all GPUs of the machine.
  void know_gpus(std::vector<MachineGpu> gpus) { gpus_ = std::move(gpus); }

  /// Samples of the GPUs go in here, whoever takes them.
  ActivityWatch& watch() { return watch_; }
  /// Every 50 ms or so: the agents see that the recorder lives, and windows open where they should.
  /// `processes` are the program's.
  void tick(Nanos now, const std::vector<pid_t>& processes);
  /// Takes what came; true when there is more.
  bool take(Capture& capture);
  void finish(Capture& capture);
  /// Counts, and what is to be said about them.
  void fill(RecordSummary& summary, Capture& capture);
  /// After fill(): kernels were asked for, and what stood in their way is known.
  bool none_came() const { return none_came_; }

 private:
  bool make_reader();
  Nanos clock_offset() const;
  void fill_counts(RecordSummary& summary);
  void not_recorded(std::string why);
  void come_to(pid_t process, const inject::Dormant& wanted);
  void attach_to(Nanos now, const std::vector<pid_t>& processes);
  void look_at(pid_t process);
  void say_why_nothing();
  const RecordOptions& options_;
  Note note_;
  std::vector<MachineGpu> gpus_;
  std::optional<InjectReader> reader_;
  ActivityWatch watch_;
  std::string directory_;
  std::string apart_;    // why a process of the program may be out of the agent's reach
  std::string windows_;  // that were asked for: why and when
  bool told_why_ = false;
  Nanos began_ = 0;
  bool attaches_ = false;
  Nanos next_look_ = 0;
  std::map<pid_t, DormantAgent> attached_;
  std::set<pid_t> strange_;  // whose page is not the library's
  int silent_ = 0;           // processes that did not answer
  std::string why_not_;      // why no kernel comes
  bool none_came_ = false;
};

}  // namespace gf
