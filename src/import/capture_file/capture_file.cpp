#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/files.h"
#include "import/formats.h"
#include "import/input.h"
#include "model/file.h"

namespace gf::capture_file {

int sniff(std::string_view, std::string_view head) { return is_capture_file(head) ? 100 : 0; }

namespace {

/// A file for the content of a compressed one: SQLite reads a file in place.
class UnpackedFile {
 public:
  UnpackedFile() {
    std::error_code ignored;
    path_ = std::filesystem::temp_directory_path(ignored) / "gpufathom-XXXXXX.gpf";
    fd_ = ::mkstemps(path_.data(), 4);
    if (fd_ >= 0) slot_ = remove_on_signal(path_);
  }
  UnpackedFile(const UnpackedFile&) = delete;
  UnpackedFile& operator=(const UnpackedFile&) = delete;
  ~UnpackedFile() {
    if (fd_ < 0) return;
    ::close(fd_);
    ::unlink(path_.c_str());
    keep_on_signal(slot_);
  }

  /// All of it: of a database a part is no answer.
  Status take(Input& input) {
    if (fd_ < 0)
      return fail(fmt::format("cannot be made: {}", std::strerror(errno)), path_, -1,
                  "TMPDIR names the folder for temporary files");
    std::array<char, 1 << 16> buffer;
    while (true) {
      const auto got = input.read(buffer.data(), buffer.size());
      if (!got) return tl::unexpected(got.error());
      if (*got == 0) break;
      if (auto written = write_all(fd_, {buffer.data(), *got}, path_); !written) return written;
    }
    if (input.damage().empty()) return {};
    return fail(input.damage().front().detail, input.path(), -1, "copy it again from its source");
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int fd_ = -1, slot_ = -1;
};

Result<Capture> load_compressed(const std::string& path, const ImportOptions& options) {
  auto input = Input::open(path, options.max_bytes);
  if (!input) return tl::unexpected(input.error());
  UnpackedFile file;
  if (auto taken = file.take(*input); !taken) return tl::unexpected(taken.error());
  auto capture = read_capture(file.path(), options.progress, options.max_bytes);
  if (capture && capture->path == file.path()) capture->path = path;
  if (!capture && capture.error().file == file.path()) capture.error().file = path;
  return capture;
}

}  // namespace

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  char head[16] = {};
  std::ifstream(path, std::ios::binary).read(head, sizeof head);
  auto capture = std::string_view(head, 15) == "SQLite format 3"
                     ? read_capture(path, options.progress, options.max_bytes)
                     : load_compressed(path, options);
  if (capture && capture->bytes == 0) {  // a recording has no source but itself
    std::error_code ignored;
    capture->bytes = static_cast<std::int64_t>(std::filesystem::file_size(path, ignored));
  }
  if (capture) capture->note_unfinished_recording();
  if (capture && !capture->path.empty()) capture->set_metadata("imported_from", capture->path);
  return capture;
}

}  // namespace gf::capture_file
