#include "cli/piped_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>

#include "core/out_file.h"
#include "core/removed_on_signal.h"

namespace gf::cli {

namespace {

/// A file in a folder that only this user can look into.
class TemporaryCopy {
 public:
  TemporaryCopy() = default;
  TemporaryCopy(const TemporaryCopy&) = delete;
  TemporaryCopy& operator=(const TemporaryCopy&) = delete;
  ~TemporaryCopy() {
    if (fd_ >= 0) ::close(fd_);
    if (path_.empty()) return;
    ::unlink(path_.c_str());
    ::rmdir(std::filesystem::path(path_).parent_path().c_str());
    keep_on_signal(slot_);
  }

  Status make(const std::string& name) {
    std::error_code ignored;
    std::string folder = std::filesystem::temp_directory_path(ignored) / "gpufathom-XXXXXX";
    if (!::mkdtemp(folder.data()))
      return fail(fmt::format("cannot be made: {}", std::strerror(errno)), folder, -1,
                  "TMPDIR names the folder for temporary files");
    path_ = folder + "/" + name;
    slot_ = remove_on_signal(path_);
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd_ >= 0) return {};
    return fail(fmt::format("cannot be made: {}", std::strerror(errno)), path_);
  }
  Status take_all(int from, const std::string& name) {
    std::array<char, 1 << 16> buffer;
    while (true) {
      const auto got = ::read(from, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail(fmt::format("cannot be read: {}", std::strerror(errno)), name);
      if (got == 0) return {};
      const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
      if (auto written = write_all(fd_, bytes, path_); !written) return written;
    }
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int fd_ = -1, slot_ = -1;
};

Result<std::string> copied(int from, const std::string& name) {
  static std::deque<TemporaryCopy> copies;  // until the program ends
  TemporaryCopy& copy = copies.emplace_back();
  if (auto made = copy.make(name); !made) return tl::unexpected(made.error());
  if (auto taken = copy.take_all(from, name); !taken) return tl::unexpected(taken.error());
  return copy.path();
}

}  // namespace

Result<std::string> readable_file(const std::string& path) {
  if (path == "-") {
    if (::isatty(STDIN_FILENO))
      return fail("standard input is a terminal", "-", -1, "send a file through a pipe to it");
    return copied(STDIN_FILENO, "standard-input");
  }
  const bool by_number = path == "/dev/stdin" || path.starts_with("/dev/fd/");
  struct stat status{};
  if (!by_number || ::stat(path.c_str(), &status) != 0 || !S_ISFIFO(status.st_mode)) return path;
  const int pipe = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (pipe < 0) return path;  // the importer says what is wrong with it
  auto file = copied(pipe, "pipe");
  ::close(pipe);
  return file;
}

}  // namespace gf::cli
