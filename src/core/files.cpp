#include "core/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace gf {

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

namespace {

constexpr mode_t kPermissions = 0777;
constexpr std::size_t kMostOfName = 200;  // of a file's name within that of the temporary one

tl::unexpected<Error> cannot_write(const std::string& name) {
  return fail(std::string("cannot be written: ") + std::strerror(errno), name, -1,
              errno == ENOENT ? "does the folder exist?" : "");
}

struct Target {
  std::string path;  // with links followed
  bool in_place = false;
  std::optional<struct stat> before;  // what it replaces
};

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// As the kernel's protected_symlinks has it: in a folder that everybody may write to, a link may
/// be a trap that another user laid.
bool may_be_a_trap(const std::string& path, const struct stat& link) {
  struct stat folder{};
  if (::stat(folder_of(path).c_str(), &folder) != 0) return true;
  const bool everybodys = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
  return everybodys && link.st_uid != ::geteuid() && link.st_uid != folder.st_uid;
}

Result<std::string> followed(const std::string& path, const struct stat& link) {
  if (may_be_a_trap(path, link))
    return fail("is another user's link in a world-writable folder", path, -1,
                "name the file itself");
  char* whole = ::realpath(path.c_str(), nullptr);
  if (!whole)
    return fail("is a link to a file that does not exist", path, -1,
                "remove the link, or name the file itself");
  std::string out(whole);
  std::free(whole);
  return out;
}

Result<Target> find_target(const std::string& path) {
  Target target{path, false, {}};
  struct stat named{};
  if (::lstat(path.c_str(), &named) != 0) {
    if (errno == ENOENT && !path.empty() && path.back() != '/') return target;
    return cannot_write(path);
  }
  struct stat found{};
  const bool exists = ::stat(path.c_str(), &found) == 0;
  if (exists && S_ISDIR(found.st_mode))
    return fail("is a directory", path, -1, "-o requires a file name");
  if (exists && !S_ISREG(found.st_mode)) {
    target.in_place = true;
    return target;
  }
  if (S_ISLNK(named.st_mode)) {
    auto whole = followed(path, named);
    if (!whole) return tl::unexpected<Error>(whole.error());
    target.path = std::move(*whole);
  }
  if (::access(target.path.c_str(), W_OK) != 0) return cannot_write(path);
  target.before = found;
  return target;
}

std::string unguessable_name(const std::string& path) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) return {};
  const auto slash = path.rfind('/');
  const auto name_at = slash == std::string::npos ? 0 : slash + 1;
  return fmt::format("{}.{}.{:016x}.part", path.substr(0, name_at),
                     path.substr(name_at, kMostOfName), number);
}

/// The file that replaces `before` is as it was: its permissions, and its owner where that is
/// allowed.
void take_over(int fd, const struct stat& before) {
  const bool other_owner = before.st_uid != ::geteuid() || before.st_gid != ::getegid();
  [[maybe_unused]] int ignored = 0;
  if (other_owner) ignored = ::fchown(fd, before.st_uid, before.st_gid);
  ignored = ::fchmod(fd, before.st_mode & kPermissions);
}

}  // namespace

Status write_all(int fd, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return tl::unexpected<Error>(Error{});
    if (written < 0) return cannot_write(name);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

bool same_file(const std::string& one, const std::string& other) {
  struct stat first{}, second{};
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 &&
         S_ISREG(first.st_mode) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

OutFile::OutFile(int fd, std::string path, std::string temporary)
    : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)) {}

OutFile::OutFile(OutFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      slot_(std::exchange(other.slot_, -1)),
      path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})) {}

OutFile::~OutFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  keep_on_signal(slot_);
}

Result<OutFile> OutFile::open(const std::string& path) {
  auto target = find_target(path);
  if (!target) return tl::unexpected<Error>(target.error());
  if (target->in_place) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return cannot_write(path);
    return OutFile(fd, path, {});
  }
  std::string temporary = unguessable_name(target->path);
  if (temporary.empty()) return cannot_write(path);
  const int slot = remove_on_signal(temporary);
  const int fd =
      ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) {
    keep_on_signal(slot);
    return cannot_write(path);
  }
  if (target->before) take_over(fd, *target->before);
  OutFile file(fd, path, std::move(temporary));
  file.slot_ = slot;
  file.target_ = std::move(target->path);
  return file;
}

Status OutFile::write(std::string_view bytes) { return write_all(fd_, bytes, path_); }

Status OutFile::commit() {
  if (::close(std::exchange(fd_, -1)) != 0) return cannot_write(path_);
  if (temporary_.empty()) return {};
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) return cannot_write(path_);
  temporary_.clear();
  return {};
}

namespace {

/// Every signal but SIGKILL that ends a program by default: asked for, limits and timers, crashes.
/// Real-time signals, whose numbers are known at run time only, come on top.
constexpr std::array kEnding = {SIGINT,  SIGTERM,   SIGHUP,    SIGQUIT, SIGUSR1, SIGUSR2,
                                SIGPIPE, SIGALRM,   SIGPROF,   SIGPOLL, SIGPWR,  SIGXCPU,
                                SIGXFSZ, SIGVTALRM, SIGSTKFLT, SIGABRT, SIGSEGV, SIGBUS,
                                SIGFPE,  SIGILL,    SIGSYS,    SIGTRAP};

enum State { free_slot, being_changed, in_use };
struct Slot {
  std::atomic<int> state{free_slot};
  pid_t owner = 0;  // a child that was forked and dies of a signal leaves its parent's files alone
  char path[PATH_MAX];
};
std::array<Slot, 8> slots;

/// Runs in the signal: nothing but calls that are safe there.
void remove_and_end(int number) {
  for (auto& slot : slots)
    if (slot.state.load() == in_use && slot.owner == ::getpid()) ::unlink(slot.path);
  ::signal(number, SIG_DFL);
  ::raise(number);
}

/// A signal that is ignored, or has a handler already, stays as it is.
void listen_to(int number) {
  struct sigaction before{};
  if (::sigaction(number, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) return;
  struct sigaction action{};
  action.sa_handler = remove_and_end;
  ::sigaction(number, &action, nullptr);
}

void listen() {
  for (const int number : kEnding) listen_to(number);
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) listen_to(number);
}

}  // namespace

int remove_on_signal(const std::string& path) {
  if (path.size() >= PATH_MAX) return -1;
  listen();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    int expected = free_slot;
    if (!slots[i].state.compare_exchange_strong(expected, being_changed)) continue;
    std::memcpy(slots[i].path, path.c_str(), path.size() + 1);
    slots[i].owner = ::getpid();
    slots[i].state = in_use;
    return static_cast<int>(i);
  }
  return -1;
}

void keep_on_signal(int number) {
  if (number >= 0) slots[static_cast<std::size_t>(number)].state = free_slot;
}

TemporaryFile::~TemporaryFile() {
  if (fd_ >= 0) ::close(fd_);
  if (path_.empty()) return;
  ::unlink(path_.c_str());
  ::rmdir(folder_of(path_).c_str());
  keep_on_signal(slot_);
}

Status TemporaryFile::make(const std::string& name) {
  std::error_code ignored;
  std::string folder = std::filesystem::temp_directory_path(ignored) / "gpufathom-XXXXXX";
  if (!::mkdtemp(folder.data()))
    return fail(std::string("cannot be made: ") + std::strerror(errno), folder, -1,
                "TMPDIR names the folder for temporary files");
  path_ = folder + "/" + name;
  slot_ = remove_on_signal(path_);
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd_ >= 0) return {};
  return fail(std::string("cannot be made: ") + std::strerror(errno), path_);
}

Status TemporaryFile::write(std::string_view bytes) { return write_all(fd_, bytes, path_); }

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
