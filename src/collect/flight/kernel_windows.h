// Windows of kernels for the flight recorder: `gpufathom record --kernels` for a moment, of the
// programs on a GPU that run under `gpufathom run`. In processes of their own: a program that does
// not answer holds no sampling up.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/time.h"

namespace gf {

/// This program anew, with nothing of ours open and no signal held back; 0: it cannot be started.
pid_t start_this_program(std::vector<std::string> words);

class KernelWindows {
 public:
  /// `length_ns` 0: none is ever recorded.
  KernelWindows(std::string folder, Nanos length_ns)
      : folder_(std::move(folder)), length_ns_(length_ns) {}
  ~KernelWindows() { (void)finished(host_now(), true); }
  KernelWindows(const KernelWindows&) = delete;
  KernelWindows& operator=(const KernelWindows&) = delete;

  struct Window {
    std::string path;
    Nanos start = 0, end = 0;
    pid_t recorder = 0;
    std::int64_t program = 0;
  };
  /// The processes that hold memory of a GPU now.
  void holders(std::int32_t gpu, const std::set<std::int64_t>& processes);
  /// Begins to record the programs of a GPU, -1: of all, where that is not under way already.
  /// `stamp` begins the names of the files. Why not, for people, where that is known; else empty.
  std::string record(Nanos now, const std::string& stamp, std::int32_t gpu);
  bool under_way() const { return !open_.empty(); }
  /// The files that were finished since the last call; `at_once`: all end now.
  std::vector<Window> finished(Nanos now, bool at_once = false);

 private:
  bool records(std::int64_t program) const;
  std::string begin(Nanos now, const std::string& stamp, std::int64_t program);

  std::string folder_;
  Nanos length_ns_;
  std::map<std::int32_t, std::set<std::int64_t>> holders_;
  std::vector<Window> open_;
};

}  // namespace gf
