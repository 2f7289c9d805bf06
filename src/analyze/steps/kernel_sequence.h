// The kernels of the busiest stream as a sequence of small numbers, and where each of them (or each
// short run) occurs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/time.h"
#include "model/capture.h"

namespace gf {

struct KernelSequence {
  std::uint32_t device = kNoRow;
  std::vector<std::uint32_t> rows;  // rows of activities, by start
  std::vector<std::uint32_t> ids;   // 0..distinct-1: kernels of one name and grid share a number
  std::uint32_t distinct = 0;
};

/// Kernels of the stream that has most of them; other streams run beside it and would shuffle the
/// order.
KernelSequence kernel_sequence(const Capture& capture);

/// Where each run of `length` consecutive kernels occurs. Lists of one token are ascending.
class TokenPositions {
 public:
  TokenPositions(const KernelSequence& sequence, std::size_t length);
  std::size_t tokens() const { return begin_.size() - 1; }
  std::span<const std::uint32_t> at(std::size_t token) const {
    return {positions_.data() + begin_[token], begin_[token + 1] - begin_[token]};
  }

 private:
  std::vector<std::uint32_t> positions_;
  std::vector<std::size_t> begin_;
};

}  // namespace gf
