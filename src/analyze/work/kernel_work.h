// The work of every kernel instance of the window: what its operation asks for by recorded shapes,
// beside what counters saw.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/context.h"
#include "analyze/work/kernel_traits.h"
#include "analyze/work/rules.h"
#include "model/chips.h"

namespace gf::work {

// Work as counters of a report saw it: tensor operations and bytes of device memory.

class CountedWork {
 public:
  CountedWork() = default;
  explicit CountedWork(const Context& context);

  /// Tensor operations of a kernel instance; NaN without counters.
  double tensor_operations(std::uint32_t activity) const { return at(operations_, activity); }
  double memory_bytes(std::uint32_t activity) const { return at(bytes_, activity); }
  /// Operations of FP32 and FP64 instructions, which tensor cores do not run.
  double other_operations(std::uint32_t activity) const { return at(others_, activity); }
  /// The type of most of these operations, `none` without any.
  Element tensor_type(std::uint32_t activity) const;

 private:
  double at(const std::vector<double>& values, std::uint32_t activity) const {
    if (values.empty() || activity >= report_row_.size()) return NAN;
    const auto row = report_row_[activity];
    return row < values.size() ? values[row] : NAN;
  }
  Column<std::uint32_t> report_row_;                 // by activity
  std::vector<double> operations_, bytes_, others_;  // by row of report_kernels
  std::vector<Element> types_;                       // likewise
};

inline constexpr std::uint32_t kNoCall = UINT32_MAX;

/// The work that all calls of an operator with the same inputs share.
struct CallWork {
  const Rule* rule = nullptr;
  Call call;
  Work work;
};

/// One call of an operator whose work is known.
struct KnownCall {
  std::uint32_t host_op = kNoRow;
  std::uint32_t program_op = kNoRow;  // of a compiled program, where it is one's operation
  const CallWork* of = nullptr;       // of KernelWorks::shared
  double in_window = 0;           // share of it that lies in the window, by the time of its kernels
  Element type = Element::none;   // that its products run in
  bool fewer_operations = false;  // a convolution by FFT or Winograd
};

struct KernelWork {
  bool known = false;            // the sizes of its call are
  bool multiplies = false;       // by name or layer
  Element type = Element::none;  // that its products run in
  double flops = 0;              // of products
  double recomputed = 0;         // of these, worked out a second time
  double covered = 0;            // operations that its tiles cover; flops where that is not known
  double other_flops = 0, bytes = 0;

  bool operator==(const KernelWork&) const = default;
};

/// Works of many kernels. A program does the same step by step: equal ones are kept once.
class WorkList {
 public:
  WorkList() = default;
  explicit WorkList(std::size_t kernels) : of_(kernels, 0) {}

  std::size_t size() const { return of_.size(); }
  bool empty() const { return of_.empty(); }
  const KernelWork& operator[](std::size_t kernel) const { return distinct_[of_[kernel]]; }

 private:
  friend class WorkWriter;
  std::vector<std::uint32_t> of_;         // by kernel: place in distinct_
  std::vector<KernelWork> distinct_{{}};  // the first: nothing is known
};

struct KernelWorks {
  WorkList kernels;                 // of each of the context's kernels
  std::vector<std::uint32_t> call;  // likewise: of `calls`, kNoCall where it is not known
  CountedWork counted;              // what counters saw of them
  std::vector<KnownCall> calls;  // those with kernels in the window; of the CPU all in the window
  std::deque<CallWork> shared;   // what calls point to
  Program program;
};

/// Needs timelines, attribution and matching.
KernelWorks kernel_works(const Context& context);
/// The same, empty where neither sizes nor counters are known.
KernelWorks known_works(const Context& context);
/// The works that an analysis left in its context; null where there is none.
const KernelWorks* works_of(const Context& context);

/// The parameters that got gradients, of a mean step.
Program program_of(const Context& context);

// Work of the operations of compiled programs (XLA), whose costs the importer took from the program
// that a profile holds.

class ProgramWork {
 public:
  ProgramWork(const Capture& capture, KernelWorks& works) : capture_(capture), works_(works) {}

  /// The work of a row of program_ops; nullptr for none, and when it is not known.
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
