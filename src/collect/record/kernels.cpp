#include "collect/record/kernels.h"

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
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <utility>

#include "core/files.h"
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

/// Holds the target of another process's descriptor without opening it: opening a device may do
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

namespace {

struct Reason {
  const char* word;      // in the capture
  const char* sentence;  // for people; null: not worth a line
};
Reason reason_of(WindowReason why) {
  switch (why) {
    case WindowReason::begun:
      return {"begun", "the GPU has begun to work"};
    case WindowReason::steady:
      return {"steady", "the GPU's activity has become steady"};
    case WindowReason::changed:
      return {"changed", "the GPU's activity has changed"};
    case WindowReason::unsteady:
      return {"unsteady", "the GPU's activity does not become steady"};
    case WindowReason::periodic:
      break;
  }
  return {"periodic", nullptr};
}

constexpr Nanos kLook = kNsPerSecond / 2;  // for more processes to come to
constexpr int kMostSilent = 3;             // processes that do not answer: each is waited for
constexpr std::string_view kNotRecorded = "kernels are not recorded: ";  // in agents' messages

std::string milliseconds(Nanos ns) { return std::to_string(ns / kNsPerMs); }

}  // namespace

bool KernelRecording::make_reader() {
  directory_ = AgentsFolder::make(options_.output);
  if (directory_.empty()) {
    not_recorded("cannot create a temporary folder next to the capture");
    return false;
  }
  reader_.emplace(directory_);
  reader_->know_gpus(gpus_);
  began_ = host_now();
  return true;
}

/// The offset from the monotonic clock to the capture's.
Nanos KernelRecording::clock_offset() const {
  timespec mono{};
  clock_gettime(CLOCK_MONOTONIC, &mono);
  return host_now() - (static_cast<Nanos>(mono.tv_sec) * kNsPerSecond + mono.tv_nsec);
}

void KernelRecording::prepare_to_attach() { attaches_ = make_reader(); }

/// Processes that start CUDA while they are recorded are found as well.
void KernelRecording::attach_to(Nanos now, const std::vector<pid_t>& processes) {
  if (now < next_look_) return;
  next_look_ = now + kLook;
  inject::Dormant wanted{};
  wanted.clock_offset = clock_offset();
  wanted.window_ms = options_.window_ns / kNsPerMs;
  wanted.first_ms = options_.first_window_ns / kNsPerMs;
  wanted.every_ms = options_.every_ns / kNsPerMs;
  wanted.delay_ms = options_.delay_ns / kNsPerMs;
  wanted.steps = options_.steps;
  if (directory_.size() >= sizeof wanted.directory) return;
  std::memcpy(wanted.directory, directory_.c_str(), directory_.size());
  for (const pid_t process : processes)
    if (!attached_.contains(process) && !strange_.contains(process) && silent_ < kMostSilent)
      come_to(process, wanted);
  if (!attached_.empty() || told_why_ || processes.empty()) return;
  if (const std::string why = why_no_agent(processes.front()); !why.empty()) not_recorded(why);
}

void KernelRecording::come_to(pid_t process, const inject::Dormant& wanted) {
  auto found = DormantAgent::find(process);
  switch (found.state) {
    case DormantAgent::State::none:
      return;
    case DormantAgent::State::taken:
      if (!told_why_) not_recorded(fmt::format("process {} is already being recorded", process));
      return;
    case DormantAgent::State::strange:
      strange_.insert(process);
      return not_recorded(
          fmt::format("process {} shows a page that this version's library did not create: it was "
                      "started under another version's `gpufathom run`, or it is malicious",
                      process));
    case DormantAgent::State::sleeps:
      break;
  }
  if (!found.agent->wake(wanted)) {
    ++silent_;
    not_recorded(fmt::format("process {} does not answer", process));
  } else if (attached_.empty()) {
    note_(
        "CUPTI keeps tracing the program until it ends, at the cost of a window: switching it off "
        "has crashed programs (docs/record.md)");
  }
  attached_.emplace(process, std::move(*found.agent));
}

void KernelRecording::not_recorded(std::string why) {
  note_("kernels are not recorded: " + why);
  told_why_ = true;
  why_not_ = std::move(why);
}

void KernelRecording::detach() { attached_.clear(); }

KernelRecording::Environment KernelRecording::prepare() {
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"})
    if (const char* other = std::getenv(name); other && *other) {
      not_recorded(fmt::format("{} already names {}, so another profiler is active", name, other));
      return {};
    }
  if (::access(options_.injection_library.c_str(), R_OK) != 0) {
    not_recorded(fmt::format("{} is missing", options_.injection_library));
    return {};
  }
  if (!make_reader()) return {};
  return {{"CUDA_INJECTION64_PATH", options_.injection_library},
          {"NVTX_INJECTION64_PATH", options_.injection_library},
          {inject::kDirectory, directory_},
          {inject::kClockOffset, std::to_string(clock_offset())},
          {inject::kWindow, milliseconds(options_.window_ns)},
          {inject::kFirst, milliseconds(options_.first_window_ns)},
          {inject::kEvery, milliseconds(options_.every_ns)},
          {inject::kDelay, milliseconds(options_.delay_ns)},
          {inject::kSteps, std::to_string(options_.steps)},
          {inject::kOwnProfiler, options_.own_profiler ? "1" : "0"}};
}

void KernelRecording::tick(Nanos now, const std::vector<pid_t>& processes) {
  if (!reader_) return;
  reader_->beat();
  reader_->know(processes);
  if (attaches_) attach_to(now, processes);
  if (reader_->processes() == 0 && apart_.empty())
    for (const pid_t process : processes) look_at(process);
  if (options_.first_window_ns == 0) return;
  if (reader_->first_window() > 0) watch_.program_began(reader_->first_window());
  if (reader_->kernels() > 0) watch_.kernels_came();
  const auto due = watch_.due(now);
  if (!due) return;
  const Reason why = reason_of(*due);
  reader_->ask_for_window();
  windows_ += fmt::format("{}{} at {:.1f} s", !windows_.empty() ? ", " : "", why.word,
                          static_cast<double>(now - began_) * 1e-9);
  if (why.sentence && options_.say)
    options_.say(fmt::format("{:.1f} s: {}: kernels are recorded for {:g} s",
                             static_cast<double>(now - began_) * 1e-9, why.sentence,
                             static_cast<double>(options_.window_ns) * 1e-9));
}

/// The agent cannot be loaded in another root, nor write as a user who may not reach its folder.
void KernelRecording::look_at(pid_t process) {
  const std::string path = fmt::format("/proc/{}", process);
  struct stat theirs{}, ours{};
  if (::stat((path + "/root/.").c_str(), &theirs) == 0 && ::stat("/.", &ours) == 0 &&
      (theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino))
    apart_ = "the program runs in another root (chroot), where the library cannot be found";
  else if (::stat(path.c_str(), &theirs) == 0 && theirs.st_uid != ::geteuid())
    apart_ = fmt::format(
        "the program runs as another user (uid {}), who cannot read the library or cannot write to "
        "{}: write the capture to a folder that this user can reach",
        theirs.st_uid, std::filesystem::absolute(options_.output).parent_path().string());
}

bool KernelRecording::take(Capture& capture) {
  if (!reader_) return false;
  const bool more = reader_->poll(capture);
  for (auto& message : reader_->take_messages()) {
    told_why_ = true;
    if (message.starts_with(kNotRecorded)) why_not_ = message.substr(kNotRecorded.size());
    note_(message);
  }
  return more;
}

void KernelRecording::finish(Capture& capture) {
  if (!reader_) return;
  reader_->finish(capture);
  if (!windows_.empty()) capture.set_metadata("record.windows", windows_);
  if (reader_->taken() > 0 && reader_->kernels() == 0)
    not_recorded(
        "another profiler in the program, such as torch.profiler, receives CUPTI's records");
}

void KernelRecording::fill(RecordSummary& summary, Capture& capture) {
  if (reader_) fill_counts(summary);
  none_came_ = !why_not_.empty() && summary.kernels == 0 && summary.copies == 0;
  if (none_came_) capture.note_quality(QualityCode::kernels_not_recorded, why_not_);
}

void KernelRecording::fill_counts(RecordSummary& summary) {
  summary.kernels = reader_->kernels();
  summary.copies = reader_->copies();
  summary.steps = reader_->steps();
  if (options_.window_ns > 0 && summary.duration_ns > options_.window_ns &&
      reader_->windows() > 0 && reader_->windows_ns() < summary.duration_ns * 9 / 10)
    note_(fmt::format(
        "kernels were recorded in {} window{}, {:.1f} s in total; --window 0 records the whole run",
        reader_->windows(), reader_->windows() != 1 ? "s" : "",
        static_cast<double>(reader_->windows_ns()) * 1e-9));
  const auto all = summary.kernels + summary.copies + reader_->refused();
  if (reader_->refused() * 100 > all)
    note_(
        fmt::format("{} of {} records of kernels, copies and calls are dropped: their times are "
                    "missing or impossible",
                    reader_->refused(), all));
  if (summary.kernels == 0 && summary.copies == 0) say_why_nothing();
}

void KernelRecording::say_why_nothing() {
  if (told_why_) return;
  if (!apart_.empty() && reader_->processes() == 0)
    not_recorded(apart_);
  else if (options_.delay_ns > 0 && reader_->first_window() == 0)
    note_(
        fmt::format("no kernel was recorded: the program ended before the first window, {:g} s "
                    "after CUDA starts (--delay)",
                    static_cast<double>(options_.delay_ns) * 1e-9));
  else
    note_(attaches_ ? "no kernel was recorded: the program ran none in that time"
                    : "no kernel was recorded: did the program use CUDA?");
}

}  // namespace gf
