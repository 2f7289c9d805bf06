// A device's kernels by what makes them the same work: name, grid and block.
// The unknowns of the fit. A kernel (one name, grid and block) need not run at one rate: where it
// stands in the step decides what lies in the caches and what it works on. Its instances are told
// apart by their neighbors, which in a program of steps is the position in the step; what is too
// rare or too short for an unknown of its own shares one with the rest of its kernel.
// A GPU's activities in a few classes (kernels of one name, grid and block, the largest by time;
// the rest; copies), and how long each ran within a span. What classes ran explains what counters
// read well enough to see how the two clocks lie.
#pragma once

#include <cstdint>
#include <vector>

#include "core/time.h"
#include "model/capture.h"

namespace gf {

struct KernelGroup {
  std::uint32_t first = kNoRow;  // row of activities of the first instance
  std::int64_t instances = 0;
  Nanos ns = 0;  // of all instances
};

struct KernelGroups {
  std::vector<KernelGroup> groups;  // most time first
  std::vector<std::uint32_t>
      group_of;  // by row of activities; kNoRow for what is no kernel of the device
};

KernelGroups group_kernels(const Capture& capture, std::uint32_t device);

struct KernelColumns {
  std::vector<KernelGroup> groups;  // most time first
  std::vector<std::uint32_t>
      group_of;  // by row of activities; kNoRow for what is no kernel of the device
  std::vector<std::uint32_t> column_of;        // the same, of columns; copies and sets have some
  std::vector<std::uint32_t> group_of_column;  // groups past the largest share the last one, `kept`
  std::vector<double> ns;                      // time of each column
  std::vector<std::int64_t>
      places;              // by group: instances in one step; in a program without steps, all
  std::uint32_t kept = 0;  // groups that have columns of their own
};

KernelColumns kernel_columns(const Capture& capture, std::uint32_t device);

class ClassTimes {
 public:
  ClassTimes(const Capture& capture, std::uint32_t device, std::size_t most_classes);

  std::size_t classes() const { return classes_; }
  /// By row of activities; kNoRow for what is not the device's.
  const std::vector<std::uint32_t>& class_of() const { return class_of_; }

  struct Share {
    std::uint32_t column;
    double share;  // of the span; over 1 where a class ran several times at once
  };
  /// Replaces `out` with the classes that ran within the span, each once.
  void shares(Interval span, std::vector<Share>& out) const;

 private:
  struct Run {
    Nanos start, end;
    std::uint32_t column;
  };
  std::size_t classes_ = 0;
  std::vector<std::uint32_t> class_of_;
  std::vector<Run> runs_;          // by start
  std::vector<Nanos> latest_end_;  // of the runs up to each
};

}  // namespace gf
