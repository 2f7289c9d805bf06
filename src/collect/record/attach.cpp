#include "collect/record/attach.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <sstream>
#include <utility>

#include "core/read_file.h"
#include "core/time.h"

namespace gf {

namespace {

constexpr Nanos kPatience = 3 * kNsPerSecond;

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, '\0');) words.push_back(word);
  return words;
}

/// The process's number in its own namespace.
pid_t inner_pid(pid_t process) {
  std::istringstream in(text_of_file(fmt::format("/proc/{}/status", process)));
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("NSpid:")) continue;
    std::istringstream numbers(line.substr(6));
    pid_t last = process;
    for (pid_t number; numbers >> number;) last = number;
    return last;
  }
  return process;
}

constexpr int kMostDescriptors = 65536;  // of a process that are looked at

/// What a descriptor of another process leads to, held without opening it: to open a device may do
/// something, and the process may exchange the descriptor at any time.
int hold(const std::string& path) { return ::open(path.c_str(), O_PATH | O_CLOEXEC); }

bool is_page(int held) {
  char target[64] = {};
  const std::string path = fmt::format("/proc/self/fd/{}", held);
  return ::readlink(path.c_str(), target, sizeof target - 1) > 0 &&
         std::strncmp(target, "/memfd:gpufathom ", 17) == 0;
}

/// The descriptor under which a process shows its page, held here; -1: it shows none.
int hold_page(pid_t process) {
  const std::string folder = fmt::format("/proc/{}/fd", process);
  DIR* dir = opendir(folder.c_str());
  if (!dir) return -1;
  int found = -1;
  for (int looked = 0; looked < kMostDescriptors && found < 0; ++looked) {
    const dirent* entry = readdir(dir);
    if (!entry) break;
    char target[64] = {};
    const std::string path = folder + "/" + entry->d_name;
    if (::readlink(path.c_str(), target, sizeof target - 1) <= 0) continue;
    if (std::strncmp(target, "/memfd:gpufathom ", 17) != 0) continue;
    found = hold(path);
    if (found < 0 || is_page(found)) continue;
    ::close(found);
    found = -1;
  }
  closedir(dir);
  return found;
}

/// Opens what is held, if it is what the library makes: memory of one page's size that cannot
/// shrink beneath us. -1: it is not.
int open_page(int held) {
  struct stat status{};
  if (::fstat(held, &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size != static_cast<off_t>(sizeof(inject::Dormant)))
    return -1;
  const int fd =
      ::open(fmt::format("/proc/self/fd/{}", held).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return -1;
  const int seals = ::fcntl(fd, F_GET_SEALS);
  const bool sealed = seals >= 0 && (seals & inject::kDormantSeals) == inject::kDormantSeals;
  if (sealed && ::fstat(fd, &status) == 0 &&
      status.st_size == static_cast<off_t>(sizeof(inject::Dormant)))
    return fd;
  ::close(fd);
  return -1;
}

}  // namespace

DormantAgent::Found DormantAgent::find(pid_t process) {
  const int held = hold_page(process);
  if (held < 0) return {State::none, std::nullopt};
  const int fd = open_page(held);
  ::close(held);
  if (fd < 0) return {State::strange, std::nullopt};
  void* at = MAP_FAILED;
  const bool taken = ::flock(fd, LOCK_EX | LOCK_NB) != 0;
  if (!taken)
    at = ::mmap(nullptr, sizeof(inject::Dormant), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    ::close(fd);
    return {taken ? State::taken : State::none, std::nullopt};
  }
  DormantAgent agent(fd, static_cast<inject::Dormant*>(at));
  // A forked child shows the page of its parent.
  if (agent.page_->pid != inner_pid(process)) return {State::none, std::nullopt};
  if (agent.page_->version != inject::kVersion) return {State::strange, std::nullopt};
  return {State::sleeps, std::move(agent)};
}

DormantAgent::DormantAgent(DormantAgent&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      page_(std::exchange(other.page_, nullptr)),
      awake_(std::exchange(other.awake_, false)) {}

DormantAgent::~DormantAgent() {
  if (!page_) return;
  let_go();
  ::munmap(page_, sizeof *page_);
  ::close(fd_);
}

void DormantAgent::ask() {
  ++page_->asked;
  ::syscall(SYS_futex, &page_->asked, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool DormantAgent::wait_until_served(Nanos patience) {
  const Nanos until = host_now() + patience;
  for (;;) {
    const std::uint32_t served = page_->served;
    if (served == page_->asked) return true;
    if (host_now() >= until) return false;
    const timespec moment{0, 20'000'000};
    ::syscall(SYS_futex, &page_->served, FUTEX_WAIT, served, &moment, nullptr, 0);
  }
}

bool DormantAgent::wake(const inject::Dormant& wanted) {
  if (page_->asked % 2 == 1) ask();  // a recorder before us was killed
  if (!wait_until_served(kPatience)) return false;
  page_->clock_offset = wanted.clock_offset;
  page_->window_ms = wanted.window_ms;
  page_->first_ms = wanted.first_ms;
  page_->every_ms = wanted.every_ms;
  page_->delay_ms = wanted.delay_ms;
  page_->steps = wanted.steps;
  std::memcpy(page_->directory, wanted.directory, sizeof page_->directory);
  ask();
  awake_ = true;
  return true;
}

void DormantAgent::let_go() {
  if (!std::exchange(awake_, false)) return;
  ask();
  wait_until_served(kPatience);
}

std::string why_no_agent(pid_t process) {
  bool sleeps = false;
  for (const auto& word : words_of(text_of_file(fmt::format("/proc/{}/environ", process))))
    sleeps |= word.starts_with(inject::kDormant);
  if (sleeps) return {};
  return fmt::format(
      "CUDA takes a library into a program only when the program starts: process {} must be "
      "started with `gpufathom run -- COMMAND`, which costs nothing until it is recorded",
      process);
}

std::vector<std::string> command_of(pid_t process) {
  return words_of(text_of_file(fmt::format("/proc/{}/cmdline", process)));
}

}  // namespace gf
