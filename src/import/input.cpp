#include "import/input.h"

#include <algorithm>
#include <utility>

#include "core/machine.h"
#include "import/decoder.h"

namespace gf {

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
    if (state.delivered > state.max_bytes)
      return fail(std::string(state.decoder ? "grows" : "is larger") +
                      (state.decoder ? " past the limit of " : " than the limit of ") +
                      std::to_string(state.max_bytes) +
                      (state.decoder ? " bytes when decompressed" : " bytes"),
                  state.file.path(), -1, "if that is right, raise the limit with --max-bytes");
  }
  if (done < count && state.decoder && state.decoder->damage() && state.damage.empty())
    state.damage.push_back(*state.decoder->damage());
  return done;
}

const std::string& Input::path() const { return state_->file.path(); }
Compression Input::compression() const { return state_->compression; }
std::uint64_t Input::delivered() const { return state_->delivered; }
double Input::done() const {
  return std::min(
      1.0, static_cast<double>(state_->file.position()) / static_cast<double>(state_->file.size()));
}
const std::vector<InputDamage>& Input::damage() const { return state_->damage; }

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
  return all;
}

void note_damage(Capture& capture, const Input& input) {
  for (const auto& damage : input.damage()) capture.note_quality(damage.code, damage.detail);
}

}  // namespace gf
