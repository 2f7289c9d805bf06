// Opening an input file and reading it as a stream of its decompressed content, with bounded
// memory.
//
// Compression is recognized by content, never by name: plain, gzip (one or many members) and zstd
// (one or many frames). Damage inside compressed data ends the stream early instead of failing:
// what came before it is delivered, and damage() says what happened, so that an importer can count
// it in capture.quality.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/files.h"
#include "model/capture.h"

namespace gf {

enum class Compression { none, gzip, zstd };

/// One kind of damage in compressed data.
struct InputDamage {
  QualityCode code;
  std::string detail;
};

class RawFile;

class Input {
 public:
  /// Opens a regular file. Errors: missing, not readable, a directory, not a regular file, empty, a
  /// compression that is known but not understood (bzip2, xz, lz4).
  static Result<Input> open(const std::string& path, std::uint64_t max_bytes);

  Input(Input&&) noexcept;
  Input& operator=(Input&&) noexcept;
  ~Input();

  /// Fills buffer[0, n); returns fewer than n bytes only at the end of the content, 0 after it.
  /// Errors: a failing read, content that grows past max_bytes.
  Result<std::size_t> read(char* buffer, std::size_t count);

  /// The file as it lies on the disk, whose bytes are the content; null where it is compressed.
  const RawFile* plain() const;
  /// Bytes of the content up to here were read from plain(). Errors: more than max_bytes.
  Status deliver(std::uint64_t end);

  const std::string& path() const;
  Compression compression() const;
  std::uint64_t delivered() const;  // bytes of content read so far
  double done() const;              // share of the file read so far, 0..1
  const std::vector<InputDamage>& damage() const;

 private:
  struct State;
  explicit Input(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The first bytes of the content, at most n.
Result<std::string> read_head(const std::string& path, std::size_t count = 256 << 10);

/// The whole content in one piece, for importers of small formats. Damage is noted in
/// capture.quality when a capture is given, and an error otherwise.
Result<std::string> read_whole(const std::string& path, std::uint64_t max_bytes,
                               Capture* capture = nullptr);

/// A file for readers that want a name, such as SQLite: `path` itself, or what it unpacks to, which
/// goes away with `unpacked`. Errors: damage, since a part of a database is no answer.
Result<std::string> plain_file(const std::string& path, std::uint64_t max_bytes,
                               TemporaryFile& unpacked);

/// Counts an input's damage in capture.quality.
void note_damage(Capture& capture, const Input& input);

}  // namespace gf
