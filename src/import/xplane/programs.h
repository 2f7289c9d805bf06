// The compiled programs that a profile of XLA holds beside its events: their operations become rows
// of the capture, and what ran is joined to them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/xplane/events.h"
#include "import/xplane/hlo_module.h"
#include "import/xplane/plane.h"
#include "model/capture.h"

namespace gf::xplane {

/// Operations of one program that run kernels, in the order of execution.
struct ProgramOrder {
  struct Step {
    std::uint32_t row = kNoRow;  // of program_ops
    std::string kernel;          // name of the kernel that XLA generates; empty: a library's
    std::uint64_t likeness = 0;  // equal for fusions that do the same, which share a kernel
  };
  std::vector<Step> steps;
};

class Programs {
 public:
  /// Adds the operations of every program of the metadata plane. Views point into the profile.
  Programs(Capture& capture, const Space& space);

  bool empty() const { return rows_.empty(); }
  bool knows(std::int64_t program) const { return rows_.contains(program); }
  /// Row of program_ops, kNoRow when there is none.
  std::uint32_t find(std::int64_t program, std::string_view operation) const;
  /// Joins kernels of graphs to operations, by their order: XLA puts stretches of a program into
  /// CUDA graphs, whose kernels are all called after the graph.
  void place(Capture& capture, const std::vector<Unplaced>& unplaced) const;

 private:
  void add(Capture& capture, std::int64_t id, const HloModule& module);

  std::unordered_map<std::int64_t, std::unordered_map<std::string_view, std::uint32_t>> rows_;
  std::unordered_map<std::int64_t, ProgramOrder> orders_;
};

}  // namespace gf::xplane
