// Cuts the stream of a trace into header and chunks of whole events.
#pragma once

#include <string>

#include "import/input.h"
#include "import/kineto/chunk.h"

namespace gf::kineto {

class Cutter {
 public:
  Cutter(Input input, std::size_t chunk_bytes)
      : input_(std::move(input)), chunk_bytes_(chunk_bytes) {}

  /// Reads up to the first event. Errors: neither an array nor an object with "traceEvents".
  Status read_header();
  /// What stands before the key "traceEvents": the members of the file's object, without its
  /// opening brace. Empty when the file is a bare array of events, as the profiler wrote it before
  /// Kineto.
  const std::string& header() const { return header_; }
  bool bare_array() const { return bare_array_; }

  /// Fills a chunk; false after the last one.
  Result<bool> next(Chunk& chunk);

  const Input& input() const { return input_; }

 private:
  Result<std::size_t> read(char* to, std::size_t count);

  Input input_;
  std::size_t chunk_bytes_;
  std::string header_;
  bool bare_array_ = false;
  std::string carry_;  // read from the input, not yet handed out
  std::size_t carry_at_ = 0;
  std::int64_t offset_ = 0;  // of the next byte to hand out
  bool finished_ = false;
};

}  // namespace gf::kineto
