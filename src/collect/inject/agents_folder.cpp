#include "collect/inject/agents_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <sstream>

#include "collect/inject/stream.h"
#include "core/files.h"

namespace gf {

namespace {

constexpr int kMostDepth = 8;               // of what a program left in the folder
constexpr std::size_t kMostLeft = 200'000;  // entries that are cleared away

/// 128 bits that nobody else can know; empty: the kernel gives none.
std::string secret_name() {
  std::uint64_t bits[2];
  if (::getrandom(bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) return {};
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

void clear(int folder, int depth, std::size_t& left) {
  DIR* dir = ::fdopendir(folder);
  if (!dir) {
    ::close(folder);
    return;
  }
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (left == 0) break;
    --left;
    if (::unlinkat(folder, entry->d_name, 0) == 0 || depth == 0) continue;
    const int inner =
        ::openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner >= 0) clear(inner, depth - 1, left);
    ::unlinkat(folder, entry->d_name, AT_REMOVEDIR);
  }
  ::closedir(dir);
}

/// Real, effective, saved and file system user.
std::vector<uid_t> users_of(pid_t process) {
  std::vector<uid_t> users;
  std::istringstream in(text_of_file(fmt::format("/proc/{}/status", process)));
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("Uid:")) continue;
    std::istringstream numbers(line.substr(4));
    for (uid_t user; numbers >> user;) users.push_back(user);
  }
  return users;
}

}  // namespace

/// Programs that root starts may go on as another user: their agents write here too. Who does not
/// know the inner name cannot list, guess or enter it; who does makes files, and sees no other's.
std::string AgentsFolder::make(const std::string& output) {
  const auto slash = output.rfind('/');
  std::string outer = (slash == std::string::npos ? std::string(".") : output.substr(0, slash)) +
                      "/" + inject::kFolderName + "XXXXXX";
  if (!::mkdtemp(outer.data())) return {};
  const std::string name = secret_name();
  const std::string inner = outer + "/" + name;
  if (name.empty() || ::mkdir(inner.c_str(), 0700) != 0) {
    ::rmdir(outer.c_str());
    return {};
  }
  if (::geteuid() == 0) {
    (void)::chmod(inner.c_str(), 01733);
    (void)::chmod(outer.c_str(), 0711);
  }
  char* whole = ::realpath(inner.c_str(), nullptr);
  if (!whole) return inner;
  const std::string path = whole;
  std::free(whole);
  return path;
}

AgentsFolder::AgentsFolder(std::string path)
    : path_(std::move(path)),
      fd_(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) {}

AgentsFolder::~AgentsFolder() {
  std::size_t left = kMostLeft;
  if (fd_ >= 0) clear(fd_, kMostDepth, left);
  ::rmdir(path_.c_str());
  const std::string outer = path_.substr(0, path_.rfind('/'));
  if (outer.find(inject::kFolderName) != outer.npos) ::rmdir(outer.c_str());
}

std::vector<std::string> AgentsFolder::names(std::string_view suffix, std::size_t most) const {
  std::vector<std::string> found;
  DIR* dir = ::opendir(path_.c_str());
  if (!dir) return found;
  while (const dirent* entry = ::readdir(dir)) {
    if (found.size() >= most) break;
    if (std::string_view(entry->d_name).ends_with(suffix)) found.emplace_back(entry->d_name);
  }
  ::closedir(dir);
  return found;
}

/// Nobody else than root, or who records, writes into a folder that is theirs alone. Where root
/// records, a process that is known writes as the user that it is.
bool AgentsFolder::owner_is_right(pid_t process, uid_t owner) const {
  if (owner == 0 || owner == ::geteuid()) return true;
  if (::geteuid() != 0) return false;
  if (std::find(processes_.begin(), processes_.end(), process) == processes_.end()) return true;
  const auto users = users_of(process);
  return users.empty() || std::find(users.begin(), users.end(), owner) != users.end();
}

int AgentsFolder::open(const std::string& name, struct stat& status, std::string& refused) const {
  if (::fstatat(fd_, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return -1;
  // Looked at before it is opened: to open a device may do something.
  if (!S_ISREG(status.st_mode))
    refused = "no plain files";
  else if (status.st_nlink != 1)
    refused = "links to other files";
  else if (!owner_is_right(static_cast<pid_t>(std::atoi(name.c_str())), status.st_uid))
    refused = "of another user than the process that they name";
  if (!refused.empty()) return -1;
  const int fd =
      ::openat(fd_, name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return -1;
  struct stat opened{};
  if (::fstat(fd, &opened) == 0 && opened.st_dev == status.st_dev &&
      opened.st_ino == status.st_ino && opened.st_nlink == 1)
    return fd;
  ::close(fd);
  refused = "exchanged while they were opened";
  return -1;
}

ControlPage::ControlPage(const std::string& directory) {
  const std::string path = directory + "/" + inject::kControlFile;
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return;
  (void)::fchmod(fd, 0644);  // agents of another user read it
  void* at =
      ::posix_fallocate(fd, 0, sizeof(inject::Control)) == 0
          ? ::mmap(nullptr, sizeof(inject::Control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
          : MAP_FAILED;
  ::close(fd);
  if (at == MAP_FAILED) return;
  page_ = new (at) inject::Control{inject::kVersion, {0}, {1}};
}

ControlPage::~ControlPage() {
  if (page_) ::munmap(page_, sizeof *page_);
}

void ControlPage::beat() {
  if (page_) ++page_->heartbeat;
}

std::uint32_t ControlPage::ask_for_window() {
  ++asked_;
  if (page_) page_->windows = asked_;
  return asked_;
}

}  // namespace gf
