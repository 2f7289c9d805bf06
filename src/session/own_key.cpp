#include "session/own_key.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/files.h"

namespace gf {

namespace {

/// Empty where the environment names no folder.
std::string folder_of_state() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state && *state == '/') return std::string(state) + "/gpufathom";
  const char* home = std::getenv("HOME");
  return home && *home == '/' ? std::string(home) + "/.local/state/gpufathom" : "";
}

std::optional<SecretKey> read_key(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  struct stat status{};
  SecretKey key{};
  const bool own = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                   status.st_uid == ::geteuid() && (status.st_mode & 077) == 0;
  const bool whole = own && ::read(fd, key.data(), key.size()) == ssize_t{key.size()};
  ::close(fd);
  return whole ? std::optional(key) : std::nullopt;
}

/// False in the home of another user, such as that of who calls sudo: folders that root makes there
/// are in that user's way.
bool may_make(std::filesystem::path folder) {
  struct stat status{};
  while (::stat(folder.c_str(), &status) != 0 && folder.has_relative_path())
    folder = folder.parent_path();
  return status.st_uid == ::geteuid() || status.st_uid == 0;
}

void make_key(const std::string& folder, const std::string& path) {
  if (!may_make(folder)) return;
  SecretKey key{};
  if (::getrandom(key.data(), key.size(), 0) != ssize_t{key.size()}) return;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  const int fd =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return;  // there is one by now, or cannot be
  const std::string_view bytes(reinterpret_cast<const char*>(key.data()), key.size());
  // Half a key would stay in the way of a whole one.
  if (!write_all(fd, bytes, path) || ::fsync(fd) != 0) ::unlink(path.c_str());
  ::close(fd);
}

}  // namespace

std::optional<SecretKey> own_key(OwnKey how) {
  const std::string folder = folder_of_state();
  if (folder.empty()) return std::nullopt;
  const std::string path = folder + "/key";
  if (auto key = read_key(path); key || how == OwnKey::read) return key;
  make_key(folder, path);
  return read_key(path);
}

}  // namespace gf
