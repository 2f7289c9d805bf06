// The container of .ncu-rep files, read as a stream (docs/formats/nsight-compute.md): a magic
// number, a file header, then blocks of a header and a payload. A payload is a sequence of
// messages, each behind its size: sources first, then results.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "import/input.h"

namespace gf::ncu {

inline constexpr std::string_view kRepMagic{"NVR\0", 4};

/// What a block's header says.
struct RepBlock {
  std::uint64_t sources = 0, results = 0, payload_bytes = 0;
  std::vector<std::string>
      strings;  // the part of the file's string table that comes with this block
  std::int64_t pid = -1;
  std::string host, executable;
};

/// Damage that ended or shortened the reading.
struct RepDamage {
  QualityCode code;
  std::string detail;
};

class RepContainer {
 public:
  explicit RepContainer(Input input) : input_(std::move(input)) {}

  /// Reads magic and file header. Errors: not a report.
  Status open();
  std::uint64_t version() const { return version_; }

  /// The next block's header; empty at the end of the file or at damage from which there is no way
  /// on.
  Result<std::optional<RepBlock>> next_block();
  /// The next result of the current block's payload; sources are skipped. Empty behind the last
  /// one. The text is valid until the next call.
  Result<std::optional<std::string_view>> next_result();

  const std::vector<RepDamage>& damage() const { return damage_; }
  const Input& input() const { return input_; }

 private:
  Result<bool> read_exactly(std::uint64_t count);  // into buffer_; false when the file ends before
  Result<bool> skip(std::uint64_t count);
  Result<std::optional<std::uint32_t>> read_size();  // empty when the file ends
  void ended(const char* where);

  Input input_;
  std::string buffer_;
  std::uint64_t version_ = 0, payload_left_ = 0, sources_left_ = 0;
  bool over_ = false;
  std::vector<RepDamage> damage_;
};

}  // namespace gf::ncu
