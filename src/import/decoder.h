// Decoders of compressed files. Each reads from a RawFile and stops at damage instead of failing.
#pragma once

#include <memory>
#include <optional>

#include "import/input.h"
#include "import/raw_file.h"

namespace gf {

class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Writes up to n bytes; 0 at the end of the content or at damage, which then stands in damage().
  virtual Result<std::size_t> read(RawFile& file, char* to, std::size_t count) = 0;
  const std::optional<InputDamage>& damage() const { return damage_; }

 protected:
  void stop(QualityCode code, const RawFile& file, std::string what) {
    damage_ = InputDamage{code, std::move(what) + " at byte " + std::to_string(file.position()) +
                                    " of the compressed file"};
  }
  std::optional<InputDamage> damage_;
};

/// gzip by ISA-L, whose inflate is the fastest that streams; any number of members, each with its
/// checksum verified.
std::unique_ptr<Decoder> make_gzip_decoder();
/// zstd; any number of frames.
std::unique_ptr<Decoder> make_zstd_decoder();

}  // namespace gf
