#include "import/decoder.h"

#include <isa-l/igzip_lib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>

namespace gf {

namespace {

class GzipDecoder final : public Decoder {
 public:
  GzipDecoder() : state_(std::make_unique<inflate_state>()) {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP;
  }

  Result<std::size_t> read(RawFile& file, char* to, std::size_t count) override {
    state_->next_out = reinterpret_cast<std::uint8_t*>(to);
    state_->avail_out = static_cast<std::uint32_t>(std::min<std::size_t>(count, 1u << 30));
    const std::uint32_t asked = state_->avail_out;
    while (!finished_ && state_->avail_out > 0) {
      if (state_->block_state == ISAL_BLOCK_FINISH) {
        if (auto ok = next_member(file); !ok) return tl::unexpected(ok.error());
        continue;
      }
      if (auto ok = file.fill(); !ok) return tl::unexpected(ok.error());
      const auto in = file.pending();
      state_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(in.data()));
      state_->avail_in = static_cast<std::uint32_t>(in.size());
      const std::uint32_t out_before = state_->avail_out;
      const int rc = isal_inflate(state_.get());
      file.consume(in.size() - state_->avail_in);
      if (rc != ISAL_DECOMP_OK && rc != ISAL_END_INPUT) {
        if (rc == ISAL_INCORRECT_CHECKSUM)
          stop(QualityCode::bad_checksum, file, "gzip checksum differs from the data");
        else
          stop(QualityCode::corrupt_input, file, "gzip data is damaged");
        finished_ = true;
      } else if (in.empty() && state_->block_state != ISAL_BLOCK_FINISH &&
                 state_->avail_out == out_before) {
        stop(QualityCode::truncated_input, file, "gzip data ends early");
        finished_ = true;
      }
    }
    return asked - state_->avail_out;
  }

 private:
  /// After a member: another one, the end of the file, or bytes that do not belong there. Zero
  /// padding is allowed, as in gzip(1).
  Status next_member(RawFile& file) {
    for (;;) {
      if (auto ok = file.fill(2); !ok) return ok;
      const auto in = file.pending();
      if (in.empty()) {
        finished_ = true;
        return {};
      }
      if (in[0] != '\0') break;
      file.consume(std::min(in.find_first_not_of('\0'), in.size()));
    }
    const auto in = file.pending();
    if (in.size() < 2 || in[0] != '\x1f' || in[1] != '\x8b') {
      stop(QualityCode::trailing_garbage, file,
           "bytes after the end of the gzip data were ignored");
      finished_ = true;
      return {};
    }
    isal_inflate_reset(state_.get());
    state_->crc_flag = ISAL_GZIP;
    return {};
  }

  std::unique_ptr<inflate_state> state_;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_gzip_decoder() { return std::make_unique<GzipDecoder>(); }

namespace {

class ZstdDecoder final : public Decoder {
 public:
  Result<std::size_t> read(RawFile& file, char* to, std::size_t count) override {
    ZSTD_outBuffer out{to, count, 0};
    while (!finished_ && out.pos < out.size) {
      if (auto ok = file.fill(); !ok) return tl::unexpected(ok.error());
      const auto pending = file.pending();
      if (pending.empty() && frame_done_) {
        finished_ = true;
        break;
      }
      ZSTD_inBuffer in{pending.data(), pending.size(), 0};
      const std::size_t before = out.pos;
      const std::size_t rc = ZSTD_decompressStream(stream_.get(), &out, &in);
      file.consume(in.pos);
      if (ZSTD_isError(rc)) {
        fail_with(rc, file);
        finished_ = true;
      } else if (pending.empty() && out.pos == before) {
        stop(QualityCode::truncated_input, file, "zstd data ends early");
        finished_ = true;
      } else {
        frame_done_ = rc == 0;
      }
    }
    return out.pos;
  }

 private:
  void fail_with(std::size_t rc, const RawFile& file) {
    switch (ZSTD_getErrorCode(rc)) {
      case ZSTD_error_checksum_wrong:
        return stop(QualityCode::bad_checksum, file, "zstd checksum differs from the data");
      case ZSTD_error_prefix_unknown:
        if (frame_done_)
          return stop(QualityCode::trailing_garbage, file,
                      "bytes after the end of the zstd data were ignored");
        break;
      case ZSTD_error_frameParameter_windowTooLarge:
        return stop(QualityCode::corrupt_input, file,
                    "zstd window is larger than 128 MiB (compress without --long)");
      default:
        break;
    }
    stop(QualityCode::corrupt_input, file,
         std::string("zstd data is damaged (") + ZSTD_getErrorName(rc) + ")");
  }

  struct Free {
    void operator()(ZSTD_DStream* dstream) const { ZSTD_freeDStream(dstream); }
  };
  std::unique_ptr<ZSTD_DStream, Free> stream_{ZSTD_createDStream()};
  bool frame_done_ = false;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_zstd_decoder() { return std::make_unique<ZstdDecoder>(); }

}  // namespace gf
