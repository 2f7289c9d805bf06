#include "import/input.h"

#include <isa-l/igzip_lib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/machine.h"
#include "import/raw_file.h"

namespace gf {

// Decoders of compressed files. Each reads from a RawFile and stops at damage instead of failing.

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

/// gzip by ISA-L, whose inflate is the fastest that streams; any number of members, each with its
/// checksum verified.
std::unique_ptr<Decoder> make_gzip_decoder() { return std::make_unique<GzipDecoder>(); }

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

/// zstd; any number of frames.
std::unique_ptr<Decoder> make_zstd_decoder() { return std::make_unique<ZstdDecoder>(); }

}  // namespace

struct Input::State {
  explicit State(RawFile opened) : file(std::move(opened)) {}
  RawFile file;
  std::unique_ptr<Decoder> decoder;  // none: plain
  Compression compression = Compression::none;
  std::uint64_t max_bytes = 0;
  std::uint64_t delivered = 0, looked = 0;
  std::vector<InputDamage> damage;
};

namespace {

/// A small compressed file may hold what no machine has room for; rather than be ended by the
/// system, the reading ends with a word.
bool memory_runs_out(std::uint64_t delivered, std::uint64_t& looked) {
  constexpr std::uint64_t kEvery = 64 << 20;
  if (delivered - looked < kEvery) return false;
  looked = delivered;
  const auto memory = memory_left();
  return memory && memory->runs_out();
}

}  // namespace

Input::Input(std::unique_ptr<State> state) : state_(std::move(state)) {}
Input::Input(Input&&) noexcept = default;
Input& Input::operator=(Input&&) noexcept = default;
Input::~Input() = default;

Result<Input> Input::open(const std::string& path, std::uint64_t max_bytes) {
  auto file = RawFile::open(path);
  if (!file) return tl::unexpected(file.error());
  auto state = std::make_unique<State>(std::move(*file));
  state->max_bytes = max_bytes;
  if (auto ok = state->file.fill(6); !ok) return tl::unexpected(ok.error());
  const auto head = state->file.pending();
  if (head.starts_with("\x1f\x8b")) {
    state->compression = Compression::gzip;
    state->decoder = make_gzip_decoder();
  } else if (head.starts_with("\x28\xb5\x2f\xfd")) {
    state->compression = Compression::zstd;
    state->decoder = make_zstd_decoder();
  } else {
    for (auto [magic, tool] : {std::pair{std::string_view("\xfd"
                                                          "7zXZ"),
                                         "xz"},
                               {"BZh", "bzip2"},
                               {"\x04\x22\x4d\x18", "lz4"}})
      if (head.starts_with(magic))
        return fail(std::string("is compressed with ") + tool, path, -1,
                    std::string("decompress it first: ") + tool + " -d");
  }
  return Input(std::move(state));
}

Result<std::size_t> Input::read(char* buffer, std::size_t count) {
  State& state = *state_;
  std::size_t done = 0;
  while (done < count) {
    auto got = state.decoder ? state.decoder->read(state.file, buffer + done, count - done)
                             : state.file.read(buffer + done, count - done);
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) break;
    done += *got;
    state.delivered += *got;
    if (state.decoder && memory_runs_out(state.delivered, state.looked))
      return fail("needs more memory than this machine has left: " +
                      std::to_string(state.delivered) + " bytes were decompressed so far",
                  state.file.path(), -1, "give the process more memory, or record a shorter run");
    if (auto ok = deliver(state.delivered); !ok) return tl::unexpected(ok.error());
  }
  if (done < count && state.decoder && state.decoder->damage() && state.damage.empty())
    state.damage.push_back(*state.decoder->damage());
  return done;
}

const RawFile* Input::plain() const { return state_->decoder ? nullptr : &state_->file; }

Status Input::deliver(std::uint64_t end) {
  State& state = *state_;
  state.delivered = std::max(state.delivered, end);
  if (state.delivered <= state.max_bytes) return {};
  return fail(std::string(state.decoder ? "grows" : "is larger") +
                  (state.decoder ? " past the limit of " : " than the limit of ") +
                  std::to_string(state.max_bytes) +
                  (state.decoder ? " bytes when decompressed" : " bytes"),
              state.file.path(), -1, "if that is right, raise the limit with --max-bytes");
}

const std::string& Input::path() const { return state_->file.path(); }
Compression Input::compression() const { return state_->compression; }
std::uint64_t Input::delivered() const { return state_->delivered; }
double Input::done() const {
  const std::uint64_t at = state_->decoder ? state_->file.position()
                                           : std::max(state_->delivered, state_->file.position());
  return std::min(1.0, static_cast<double>(at) / static_cast<double>(state_->file.size()));
}
const std::vector<InputDamage>& Input::damage() const { return state_->damage; }

namespace {

/// Editors of Windows put a mark before a text.
void drop_mark(std::string& text) {
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
}

}  // namespace

Result<std::string> read_head(const std::string& path, std::size_t count) {
  auto input = Input::open(path, UINT64_MAX);
  if (!input) return tl::unexpected(input.error());
  std::string head(count, '\0');
  auto got = input->read(head.data(), count);
  if (!got) return tl::unexpected(got.error());
  head.resize(*got);
  if (head.empty() && !input->damage().empty())
    return fail(input->damage()[0].detail, path, -1,
                "nothing in it can be read; copy it again from its source");
  if (head.empty()) return fail("is empty when decompressed", path);
  drop_mark(head);
  return head;
}

Result<std::string> read_whole(const std::string& path, std::uint64_t max_bytes, Capture* capture) {
  auto input = Input::open(path, max_bytes);
  if (!input) return tl::unexpected(input.error());
  std::string all;
  for (std::size_t block = 1 << 20;; block = std::min<std::size_t>(block * 2, 64 << 20)) {
    const std::size_t before = all.size();
    all.resize(before + block);
    auto got = input->read(all.data() + before, block);
    if (!got) return tl::unexpected(got.error());
    all.resize(before + *got);
    if (*got < block) break;
  }
  if (capture) {
    note_damage(*capture, *input);
    capture->bytes = static_cast<std::int64_t>(all.size());
  } else if (!input->damage().empty()) {
    return fail(input->damage()[0].detail, path);
  }
  drop_mark(all);
  return all;
}

Result<std::string> plain_file(const std::string& path, std::uint64_t max_bytes,
                               TemporaryFile& unpacked) {
  auto input = Input::open(path, max_bytes);
  if (!input) return tl::unexpected(input.error());
  if (input->compression() == Compression::none) return path;
  if (auto made = unpacked.make("unpacked"); !made) return tl::unexpected(made.error());
  std::string block(std::size_t{1} << 20, '\0');
  for (;;) {
    const auto got = input->read(block.data(), block.size());
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) break;
    if (auto written = unpacked.write(std::string_view(block).substr(0, *got)); !written)
      return fail("cannot be unpacked: " + written.error().what, path, -1,
                  "TMPDIR must name a folder with room for the file");
  }
  if (input->damage().empty()) return unpacked.path();
  return fail(input->damage().front().detail, path, -1, "copy it again from its source");
}

void note_damage(Capture& capture, const Input& input) {
  for (const auto& damage : input.damage()) capture.note_quality(damage.code, damage.detail);
}

}  // namespace gf
