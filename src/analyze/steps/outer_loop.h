// What shows that kernels repeat because a program's outer loop does, and not because its layers
// are alike. docs/steps.md lists the signs.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/host_threads.h"
#include "analyze/steps/kernel_sequence.h"
#include "core/intervals.h"

namespace gf {

class OuterLoop {
 public:
  using Cuts = std::span<const std::uint32_t>;  // positions in the sequence, ascending

  OuterLoop(const Capture& capture, const std::vector<std::uint32_t>& launch,
            const HostThreads& host, const KernelSequence& sequence);

  /// The sign that each segment [cut[i], cut[i + 1]) of the sequence is one iteration: an event
  /// that comes equally often in all of them, or work forward and backward in each. Empty: none.
  std::string_view sign(Cuts cut) const;

  /// What the segments are, when they are no iterations: the module that the host calls once in
  /// each ("nn.Module: Block"), or empty.
  std::string_view module_of(Cuts cut) const;

 private:
  using Times = std::vector<Nanos>;
  struct Sign {
    std::string_view what;
    Times times;
  };

  Times begins_of(Cuts cut) const;
  struct Outermost {  // spans of a thread and their names, by start; ends ascend too
    Intervals spans;
    std::vector<Text> names;
  };

  Nanos launched(std::uint32_t position) const;
  void see_outermost(const HostThreads& host);
  std::string_view made_by(std::uint32_t activity) const;
  void see_host(const HostThreads& host);
  void see_device();
  void see_compiled();
  void see_backward(const HostThreads& host);
  bool both_ways(Cuts cut) const;

  const Capture& capture_;
  const std::vector<std::uint32_t>& launch_;
  const KernelSequence& sequence_;
  std::vector<Outermost> outermost_;  // by thread
  Times optimizer_;
  std::vector<Sign> signs_;                    // strongest first
  std::map<std::string_view, Times> modules_;  // calls by class, whatever the instance
  std::vector<bool> backward_;                 // by position: launched for a backward pass
};

}  // namespace gf
