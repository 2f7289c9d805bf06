// Signs that kernels repeat because a program's outer loop does, and not because its layers
// are alike. docs/steps.md lists the signs.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/host_threads.h"
#include "analyze/vocabulary.h"
#include "core/intervals.h"
#include "core/time.h"
#include "model/capture.h"

namespace gf {

// The kernels of the busiest stream as a sequence of small numbers, and where each of them (or each
// short run) occurs.

struct KernelOrder {
  std::uint32_t device = kNoRow;
  std::vector<std::uint32_t> rows;  // rows of activities, by start
  std::vector<std::uint32_t> ids;   // 0..distinct-1: kernels of one name and grid share a number
  std::uint32_t distinct = 0;
};

/// Kernels of the stream that has most of them; other streams run beside it and would shuffle the
/// order.
KernelOrder kernel_sequence(const Capture& capture);

/// At the positions where a launch of a CUDA graph begins the number of that graph; else kNoRow.
/// Graphs of which the source does not tell apart share one.
std::vector<std::uint32_t> graph_begins(const Capture& capture,
                                        const std::vector<std::uint32_t>& launch,
                                        const KernelOrder& sequence);

/// True if the operations of a framework were recorded, rather than ranges that libraries name.
bool has_operations(const Capture& capture);

/// The positions of each run of `length` consecutive kernels. Lists of one token are ascending.
class TokenPositions {
 public:
  TokenPositions(const KernelOrder& sequence, std::size_t length);
  /// Takes a token for each position, numbered from 0; kNoRow: none.
  explicit TokenPositions(const std::vector<std::uint32_t>& tokens);
  std::size_t tokens() const { return begin_.size() - 1; }
  std::span<const std::uint32_t> at(std::size_t token) const {
    return {positions_.data() + begin_[token], begin_[token + 1] - begin_[token]};
  }

 private:
  std::vector<std::uint32_t> positions_;
  std::vector<std::size_t> begin_;
};

class OuterLoop {
 public:
  using Cuts = std::span<const std::uint32_t>;  // positions in the sequence, ascending

  OuterLoop(const Capture& capture, const std::vector<std::uint32_t>& launch,
            const HostThreads& host, const Names& names, const KernelOrder& sequence);

  /// The sign that each segment [cut[i], cut[i + 1]) of the sequence is one iteration: an event
  /// that comes equally often in all of them, or work forward and backward in each. Empty: none.
  using Times = std::vector<Nanos>;
  struct Sign {
    std::string_view what;         // empty: none
    const Times* times = nullptr;  // of the events; none: the segments' own work shows it
  };
  Sign sign(Cuts cut) const;
  /// True if an event of the sign lies in one segment; true for signs without events.
  bool shows(const Sign& sign, Cuts segment) const;

  /// The nature of segments that are no iterations: the module that the host calls once in
  /// each ("nn.Module: Block"), or empty.
  std::string_view module_of(Cuts cut) const;

 private:
  struct Events {
    std::string_view what;
    Times times;
    bool may_be_of_a_pass = false;  // a pass may have a loop of these: of its diffusion
  };

  Times begins_of(Cuts cut) const;
  struct Outermost {  // spans of a thread and their names, by start; ends ascend too
    Intervals spans;
    std::vector<Text> names;
  };

  Nanos launched(std::uint32_t position) const;
  void see_outermost(const HostThreads& host);
  Text made_by(std::uint32_t activity) const;
  bool brings_input(Text operation) const;
  void see_host(const HostThreads& host);
  void see_device();
  void see_compiled();
  void see_backward(const HostThreads& host);
  bool both_ways(Cuts cut) const;
  bool inside_a_pass(const Times& begins) const;

  const Capture& capture_;
  const std::vector<std::uint32_t>& launch_;
  const Names& names_;
  const KernelOrder& sequence_;
  std::vector<Outermost> outermost_;  // by thread
  Times optimizer_;
  std::vector<Events> signs_;                  // strongest first
  std::map<std::string_view, Times> modules_;  // calls by class, whatever the instance
  std::vector<Times> called_;                  // of each module that the program itself calls
  bool micro_batches_ = false;                 // backward passes are parts of a step
  std::vector<bool> backward_;                 // by position: launched for a backward pass
};

}  // namespace gf
