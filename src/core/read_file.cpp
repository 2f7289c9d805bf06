#include "core/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gf {

namespace {

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

tl::unexpected<Error> too_large(const std::string& path, std::uint64_t most) {
  return fail("is larger than the " + std::to_string(most) + " bytes that such a file may have",
              path, -1, "is it the right file?");
}

}  // namespace

Result<std::string> read_small_file(const std::string& path, std::uint64_t most) {
  if (path.empty()) return fail("the name of a file is empty");
  // O_NONBLOCK: opening a pipe that nobody writes to must not wait.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0) return fail(std::string("cannot be read: ") + std::strerror(errno), path);
  struct stat status{};
  if (::fstat(file.number, &status) != 0)
    return fail(std::string("cannot be read: ") + std::strerror(errno), path);
  if (S_ISDIR(status.st_mode)) return fail("is a directory", path, -1, "name one file in it");
  if (!S_ISREG(status.st_mode))
    return fail("is a pipe or device, not a regular file", path, -1, "write it to a file first");
  if (static_cast<std::uint64_t>(status.st_size) > most) return too_large(path, most);
  std::string bytes;
  for (;;) {
    constexpr std::size_t kReadAtOnce = 64 << 10;
    const std::size_t before = bytes.size();
    bytes.resize(before + kReadAtOnce);
    ssize_t got = -1;
    do got = ::read(file.number, bytes.data() + before, kReadAtOnce);
    while (got < 0 && errno == EINTR);
    if (got < 0) return fail(std::string("cannot be read: ") + std::strerror(errno), path);
    bytes.resize(before + static_cast<std::size_t>(got));
    if (got == 0) return bytes;
    if (bytes.size() > most) return too_large(path, most);  // it grows while it is read
  }
}

std::string text_of_file(const std::string& path, std::uint64_t most) {
  return read_small_file(path, most).value_or(std::string());
}

}  // namespace gf
