// Comes to programs that run already: those that were started under `gpufathom run` hold the agent,
// asleep (collect/inject/stream.h, Dormant).
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collect/inject/stream.h"
#include "core/time.h"

namespace gf {

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

/// What stands in the way of a process in which no agent was found, in words; empty: CUDA has not
/// been started in it yet.
std::string why_no_agent(pid_t process);

/// The command line of a running process; empty when it cannot be read.
std::vector<std::string> command_of(pid_t process);

}  // namespace gf
