// Attributes each device activity to its framework operation, forward operation, module and
// phase.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyze/context.h"
#include "core/error.h"
#include "model/capture.h"

namespace gf {

// Values of operations that follow from the values of the operations around them.

/// Works each value out once, when it is asked for, so that questions about operations nested n
/// deep take time in proportion to n together.
class Inherited {
 public:
  explicit Inherited(const Attribution& attribution) : parent_(attribution.op_parent) {}

  /// The value of `op`; `step(outer, op)` gives it from that of the operation around, kNoRow where
  /// there is none.
  template <class Step>
  std::uint32_t of(std::uint32_t op, Step&& step) {
    if (value_.empty()) value_.assign(parent_.size(), kNoRow);
    for (; op != kNoRow && value_[op] == kNoRow; op = parent_[op]) path_.push_back(op);
    std::uint32_t value = op != kNoRow ? value_[op] : kNoRow;
    for (; !path_.empty(); path_.pop_back())
      value = value_[path_.back()] = step(value, path_.back());
    return value;
  }

 private:
  const std::vector<std::uint32_t>& parent_;
  std::vector<std::uint32_t> value_;  // kNoRow: not asked yet; empty before the first question
  std::vector<std::uint32_t> path_;
};

/// Marks what lies inside a marked operation, too: by row of host_ops.
std::vector<bool> with_inner(std::vector<bool> marked, const HostThreads& host,
                             const Attribution& attribution);

/// The host side of every activity (docs/attribution.md) except layers, from the calls that
/// launched them (join_launches). Near-linear in host operations, launch calls and activities;
/// about 4 bytes a host operation and call and 13 bytes an activity.
Attribution attribute(const Capture& capture, const HostThreads& host, const Names& names,
                      const std::vector<std::uint32_t>& launches);

/// The phase of an operation of a compiled program, by JAX's names of the passes; none without one.
TrainingPhase phase_in_program(const Capture& capture, std::uint32_t program_op);

/// True when `op` sums the gradients of a tensor that several operations read. Autograd's engine
/// does so inside the evaluation of the next backward function, and not on that one's behalf.
bool sums_gradients(const Capture& capture, const Names& names, const Attribution& attribution,
                    std::uint32_t op);

/// The operation that names a layer: the outermost operation of a framework library (a name with
/// "::") around an operation, so that aten::cudnn_convolution inside aten::conv2d is called
/// aten::conv2d. Wrappers (autograd engine, compiled functions, annotations) end the climb. kNoRow
/// stays kNoRow.
class NamingOperations {
 public:
  NamingOperations(const Capture& capture, const Names& names, const Attribution& attribution)
      : capture_(capture), names_(names), parent_(attribution.op_parent), named_by_(attribution) {}
  std::uint32_t of(std::uint32_t op);

 private:
  const Capture& capture_;
  const Names& names_;
  const std::vector<std::uint32_t>& parent_;
  Inherited named_by_;
};

// CUDA graphs: a kernel of a graph runs under the call that launches the graph, and what it belongs
// to is known from when its node was captured (docs/attribution.md).

/// Links what graphs ran to the operations that were open when `capture` recorded their capture
/// (activities.captured_op). Nothing where it did not, or where several captures fit.
void link_captured_nodes(Capture& capture);

/// The same from other traces of the program: of its captures, or of a run without graphs. Takes
/// the operations over, before everything that `replay` recorded. The number of kernels that have
/// one now; 0 where none lacked one. Error: none fits.
Result<std::size_t> link_captured_nodes(Capture& replay, std::span<const Capture> others);

}  // namespace gf
