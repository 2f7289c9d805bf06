// Puts the rows of chunks, in the order of the file, into the capture.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "import/kineto/chunk.h"

namespace gf::kineto {

class Merge {
 public:
  Merge(Capture& capture, unsigned workers) : capture_(capture), known_(workers) {}
  void add(Chunk& chunk);
  /// After the last chunk: names of threads and processes, counts of damage, and the time base
  /// under all times.
  void finish(Nanos base);
  bool closed() const { return closed_; }
  const std::string& trailer() const { return trailer_; }

 private:
  /// The capture's numbers for a worker's.
  struct Translation {
    std::vector<Text> texts{Text::none};
    std::vector<std::uint32_t> threads;  // kNoRow: not told yet
  };
  /// What a metadata event said, with its text where the capture keeps it.
  struct Name {
    ThreadKey thread;
    bool process;
    Text name;
  };
  void learn(const Chunk& chunk, Translation& known);
  void take_rows(Chunk& chunk, const Translation& known);
  std::uint32_t thread_row(const ThreadKey& key);
  std::uint32_t device_row(std::uint32_t id);
  void name_threads();
  void join_lone_device();

  Capture& capture_;
  std::vector<Translation> known_;                              // by worker
  std::unordered_map<std::string, std::uint32_t> thread_rows_;  // by pid and tid, numbers or texts
  std::unordered_map<std::uint32_t, std::uint32_t> device_rows_;
  std::vector<Name> names_;
  std::vector<Damage> damage_;
  bool closed_ = false;
  std::string trailer_;
};

}  // namespace gf::kineto
