// Locates a stretch of time in the program, for general findings, which know no cause.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/findings/facts.h"
#include "model/chips.h"

namespace gf {

/// The place of an instant of a thread: " in load_batch, at train.py(31): rows". The innermost mark
/// that is no step, and the innermost line of the program itself; of Python frames without a path
/// the outermost and the innermost. Empty where neither is known.
std::string where_is(const TraceFacts& facts, std::uint32_t thread, Nanos instant);

/// The same of idle time: of the thread that launches what comes next.
std::string where_is(const TraceFacts& facts, const IdlePiece& piece);

/// "; most under aten::item 1.2 ms": the operators of an idle cause. Empty where none is known.
std::string behind(const IdleCause& cause);

/// ", most of it in decode": the mark, or else the module, around half and more of the idle time
/// with a reason. Empty where none is.
std::string most_in(const TraceFacts& facts, IdleReason reason);

/// Finds the resource that bounds the kernels of a place, and the measurement that would tell more.
class Bound {
 public:
  Bound(const TraceFacts& facts, const work::KernelWorks* works);
  /// A kernel by its place in facts.kernels.
  void add(std::size_t kernel);
  std::string said() const;

 private:
  std::string by_counters() const;
  std::string by_sizes() const;
  std::string by_threads() const;

  const TraceFacts& facts_;
  const work::KernelWorks* works_;
  const bool counters_;
  const Product* product_ = nullptr;
  std::vector<double> peaks_;  // of the product, by type of element; 0: none is stated
  double fp32_peak_ = 0;
  // Time of all kernels, of those with sizes, of those with counters.
  double time_ = 0, sized_ = 0, counted_ = 0;
  double bytes_ = 0, needed_ = 0, fp64_ = 0;    // by sizes; needed: time of operations at the peak
  double memory_ = 0, tensor_ = 0, issue_ = 0;  // by counters: time that these are busy
  double empty_ = 0;                            // by launches: time on SMs without a block
  double threads_ = 0, plain_ = 0;              // of kernels that multiply no matrices; their time
};

}  // namespace gf
