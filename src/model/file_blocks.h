// Packed samples of a capture file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/progress.h"
#include "model/capture.h"
#include "model/file_seal.h"
#include "model/sqlite.h"
#include "model/tables.h"

namespace gf {

// The texts of a capture file by their numbers in it.

/// The file's string ids as texts of the capture. Ids from 0 up are nearly dense, those below 0
/// name enumerators.
class FileStrings {
 public:
  Status read(sqlite3* db, StringPool& pool, sqlite::ReadBudget& budget, const std::string& file);
  const Text* text(std::int64_t id) const {
    if (id < 0 || id >= static_cast<std::int64_t>(texts_.size())) return nullptr;
    const Text& text = texts_[static_cast<std::size_t>(id)];
    if (text == kMissing) return nullptr;
    return &text;
  }
  /// Texts of many ids, of which 0 is none; the number of those before the first that is missing.
  std::size_t texts(std::span<const std::int64_t> ids, std::span<Text> out) const {
    const std::uint64_t size = texts_.size();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto id = static_cast<std::uint64_t>(ids[i]);
      const Text text = id == 0 ? Text::none : id < size ? texts_[id] : kMissing;
      if (text == kMissing) return i;
      out[i] = text;
    }
    return ids.size();
  }
  template <class E>
  std::optional<E> listed(std::int64_t id) const {
    if (id >= 0 || id < -static_cast<std::int64_t>(names_.size())) return std::nullopt;
    return enum_from<E>(names_[static_cast<std::size_t>(-id - 1)]);
  }

 private:
  static constexpr Text kMissing{UINT32_MAX};
  std::vector<Text> texts_;
  std::vector<std::string> names_;
};

/// A block without unpacking it: `told` has all but the data, as somebody who saw it wrote it down.
/// Nothing when bytes of this length cannot be what is told; what is told in vain unpacks to
/// nothing.
std::optional<PackedBlock> told_block(PackedBlock told, std::string data);

/// Reads the blocks, whose devices must have been read. Looks at every byte of every one, so that
/// nobody finds damage later: a damaged block costs that block and is counted. Those of a file with
/// a whole seal are hashed, others unpacked.
Status read_blocks(sqlite3* db, Capture& capture, const FileStrings& strings, Seal seal,
                   std::uint64_t max_bytes, const std::string& file, const Progress& progress);

}  // namespace gf
