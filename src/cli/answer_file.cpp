#include "cli/answer_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace gf::cli {

namespace {

tl::unexpected<Error> cannot_write(const std::string& name) {
  return fail(std::string("cannot be written: ") + std::strerror(errno), name);
}

}  // namespace

Status write_all(int fd, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EPIPE) return tl::unexpected<Error>(Error{});
    if (n < 0) return cannot_write(name);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<AnswerFile> AnswerFile::open(const std::string& path) {
  struct stat existing{};
  const bool exists = ::stat(path.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode))
    return fail("is a directory", path, -1, "-o wants the name of a file");
  const bool in_place = exists && !S_ISREG(existing.st_mode);
  const std::string temporary = in_place ? "" : path + ".part" + std::to_string(::getpid());
  const int fd = ::open(in_place ? path.c_str() : temporary.c_str(),
                        O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return cannot_write(path);
  return AnswerFile(fd, path, temporary);
}

AnswerFile::AnswerFile(AnswerFile&& o) noexcept
    : fd_(std::exchange(o.fd_, -1)),
      path_(std::move(o.path_)),
      temporary_(std::exchange(o.temporary_, {})) {}

AnswerFile::~AnswerFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status AnswerFile::write(std::string_view bytes) { return write_all(fd_, bytes, path_); }

Status AnswerFile::commit() {
  if (::close(std::exchange(fd_, -1)) != 0) return cannot_write(path_);
  if (temporary_.empty()) return {};
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return cannot_write(path_);
  temporary_.clear();
  return {};
}

}  // namespace gf::cli
