#include <zstd.h>
#include <zstd_errors.h>

#include "import/decoder.h"

namespace gf {

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
