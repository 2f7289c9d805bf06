// Forward operations by autograd sequence number. Sequence numbers count up within one host thread;
// of the operations that carry one number the one that starts last made the backward node (the rule
// of the PyTorch profiler's own links).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/number_map.h"
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
  /// A process with forward operations.
  struct Process {
    std::vector<std::uint32_t> threads;  // rows of threads with forward operations
    // For a process with too many threads to ask one by one: the owner of a sequence number,
    // kSeveral where it is more than one.
    std::unordered_map<std::int64_t, std::uint32_t> owner;
  };
  struct PerThread {
    std::int64_t base = 0;
    std::vector<Entry> dense;  // by sequence - base; at most a few times as long as entries
    std::size_t entries = 0;
    Process* process = nullptr;  // of a thread with forward operations
    NumberMap scattered;         // numbers far from the others: places in far
    std::vector<Entry> far;
  };
  static const Entry* at(const PerThread& table, std::int64_t sequence);
  void learn_numbers(const Capture& capture);

  const Capture& capture_;
  static constexpr std::size_t kFewThreads = 8;
  static constexpr std::uint32_t kSeveral = kNoRow;

  std::vector<PerThread> threads_;  // by row of threads
  std::unordered_map<std::int64_t, Process> processes_;
  std::unordered_map<std::uint64_t, std::uint32_t>
      by_number_;  // process and profiler's number -> row of threads
};

}  // namespace gf
