// By how much the kernel time of a capture may be off, as its quality says.
#pragma once

#include <cstdint>

#include "model/capture.h"

namespace gf {

struct KernelDoubt {
  // The most nanoseconds of kernels, where the ledger knows them.
  double missing = 0;   // without a record
  double repeated = 0;  // that are there twice
  double overlap = 0;   // over the next one of their stream
  // Only counted.
  std::int64_t launches = 0;  // without a kernel
  std::int64_t records = 0;   // that a recorder lost: of kernels, or others
};

KernelDoubt kernel_doubt(const Capture& capture);

}  // namespace gf
