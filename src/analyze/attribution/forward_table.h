// Forward operations by autograd sequence number. Sequence numbers count up within one host thread;
// of the operations that carry one number the one that starts last made the backward node (the rule
// of the PyTorch profiler's own links).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/capture.h"

namespace gf {

class ForwardTable {
 public:
  struct Entry {
    std::uint32_t op = kNoRow;
    std::uint32_t module = 0;
  };

  explicit ForwardTable(const Capture& capture);

  /// A forward operation, given in order of start.
  void put(std::uint32_t thread, std::int64_t sequence, Entry entry);
  /// The forward operation of a backward one on `thread` with the profiler's forward thread number
  /// `number`; an empty entry when none is recorded.
  Entry find(std::uint32_t thread, std::int32_t number, std::int64_t sequence) const;

 private:
  struct PerThread {
    std::int64_t base = 0;
    std::vector<Entry> dense;  // by sequence - base; at most a few times as long as entries
    std::size_t entries = 0;
    std::unordered_map<std::int64_t, Entry> scattered;  // numbers far from the others
  };
  static const Entry* at(const PerThread& table, std::int64_t sequence);
  void learn_numbers(const Capture& capture);

  const Capture& capture_;
  std::vector<PerThread> threads_;              // by row of threads
  std::vector<std::uint32_t> forward_threads_;  // rows of threads with forward operations
  std::unordered_map<std::uint64_t, std::uint32_t>
      by_number_;  // process and profiler's number -> row of threads
};

}  // namespace gf
