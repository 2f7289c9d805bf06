// Nesting of the host's spans: the call path of each.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyze/host_threads.h"
#include "model/capture.h"

namespace gf {

class Names;

class HostNesting {
 public:
  HostNesting(const Capture& capture, const HostThreads& host, const Names& names);

  /// From the outermost span to the one of a row of host_ops, without marks of steps. Of very deep
  /// paths the outer part.
  std::vector<std::uint32_t> path_to(std::uint32_t row) const;
  /// The span around one, kNoRow at the top.
  std::uint32_t around(std::uint32_t row) const { return around_[row]; }
  /// The row whose path is shown: the row itself, or for very deep ones one further out.
  std::uint32_t told(std::uint32_t row) const {
    return row == kNoRow || told_.empty() ? row : told_[row];
  }
  /// Marks of steps tell every step apart: no path has them.
  bool is_step(std::uint32_t row) const;

 private:
  void tell_further_out(std::uint32_t row);

  const Capture& capture_;
  const Names& names_;
  // By row of host_ops.
  std::vector<std::uint32_t> around_;  // kNoRow at the top
  std::vector<std::uint32_t> told_;    // where the path to it ends; empty where none is deep
};

/// A Python frame of a file that no package holds.
bool is_line_of_program(std::string_view frame);

}  // namespace gf
