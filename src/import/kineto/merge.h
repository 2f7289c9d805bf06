// Puts the rows of chunks, in the order of the file, into the capture.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "import/kineto/chunk.h"

namespace gf::kineto {

class Merge {
 public:
  explicit Merge(Capture& capture) : capture_(capture) {}
  void add(Chunk& chunk);
  /// After the last chunk: names of threads and processes, counts of damage, and the time base
  /// under all times.
  void finish(Nanos base);
  bool closed() const { return closed_; }
  const std::string& trailer() const { return trailer_; }

 private:
  struct Name {
    std::int64_t pid, tid;
    std::string process_text, thread_text;
    bool process;
    Text name;
  };
  Text text_in_capture(Worker& worker, Text text);
  std::uint32_t device_row(std::uint32_t id);

  Capture& capture_;
  std::unordered_map<std::string, std::uint32_t> thread_rows_;  // by pid and tid, numbers or texts
  std::unordered_map<std::uint32_t, std::uint32_t> device_rows_;
  std::vector<Name> names_;
  std::vector<Damage> damage_;
  bool closed_ = false;
  std::string trailer_;
};

}  // namespace gf::kineto
