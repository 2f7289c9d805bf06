// Work of the operations of compiled programs (XLA), whose costs the importer took from the program
// that a profile holds.
#pragma once

#include <unordered_map>
#include <vector>

#include "analyze/work/kernel_work.h"

namespace gf::work {

class ProgramWork {
 public:
  ProgramWork(const Capture& capture, KernelWorks& works) : capture_(capture), works_(works) {}

  /// Of a row of program_ops; nullptr for none, and when it is not known.
  const CallWork* of(std::uint32_t row);

 private:
  const CallWork* make(std::uint32_t row);

  const Capture& capture_;
  KernelWorks& works_;
  std::unordered_map<std::uint32_t, const CallWork*> known_;
};

/// The call of each activity, of works.calls, which this adds to; kNoCall where no program is
/// known. Kernels that follow each other on a stream and belong to one operation are one call of
/// it, until a name comes again.
std::vector<std::uint32_t> find_program_calls(const Capture& capture, KernelWorks& works);

}  // namespace gf::work
