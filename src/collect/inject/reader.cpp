#include "collect/inject/reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/time.h"
#include "core/when.h"

namespace gf {

namespace {

template <class T>
bool head_as(std::string_view payload, T& out) {
  if (payload.size() < sizeof(T)) return false;
  std::memcpy(&out, payload.data(), sizeof(T));
  return true;
}

/// Another user may write into the folder: only plain files are read.
int open_agents_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat status{};
  if (fd < 0 || (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode))) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

std::string agent_path() {
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const auto beside = here / "libgpufathom_inject.so";
  if (std::filesystem::exists(beside, ignored)) return beside;
  return here.parent_path() / "lib/gpufathom/libgpufathom_inject.so";
}

std::string uuid_text(const unsigned char (&b)[16]) {
  std::string out = "GPU-";
  for (int i = 0; i < 16; ++i)
    out += fmt::format("{}{:02x}", when(i == 4 || i == 6 || i == 8 || i == 10, "-"), b[i]);
  return out;
}

InjectReader::InjectReader(std::string directory)
    : directory_(std::move(directory)), page_(directory_) {
  lock_ = ::open((directory_ + "/" + inject::kRecorderFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC,
                 0644);
  if (lock_ >= 0) (void)::fchmod(lock_, 0644);  // agents of another user look at it
  if (lock_ >= 0) ::flock(lock_, LOCK_EX | LOCK_NB);
}

InjectReader::~InjectReader() {
  for (auto& [path, files] : files_)
    if (files.fd >= 0) ::close(files.fd);
  if (DIR* dir = opendir(directory_.c_str())) {
    while (const dirent* entry = readdir(dir))
      if (entry->d_name[0] != '.') ::unlink((directory_ + "/" + entry->d_name).c_str());
    closedir(dir);
  }
  ::rmdir(directory_.c_str());
  if (lock_ >= 0) ::close(lock_);
}

std::vector<std::string> InjectReader::take_messages() { return std::exchange(messages_, {}); }

bool InjectReader::poll(Capture& capture, std::size_t most) {
  if (DIR* dir = opendir(directory_.c_str())) {
    while (const dirent* entry = readdir(dir))
      if (std::string_view(entry->d_name).ends_with(".rec"))
        files_.try_emplace(directory_ + "/" + entry->d_name);
    closedir(dir);
  }
  bool more = false;
  std::string buffer;
  for (auto& [path, files] : files_) {
    if (files.bad) continue;
    if (files.fd < 0) files.fd = open_agents_file(path);
    if (files.fd < 0) continue;
    struct stat written{};
    if (::fstat(files.fd, &written) != 0) continue;
    // Room for what is there and no more: every page of it would have to be made and cleared.
    const auto size = static_cast<std::uint64_t>(written.st_size);
    if (size <= files.at) continue;
    buffer.resize(static_cast<std::size_t>(std::min<std::uint64_t>(size - files.at, most)));
    const auto got = ::pread(files.fd, buffer.data(), buffer.size(), static_cast<off_t>(files.at));
    if (got <= 0) continue;
    std::string_view rest(buffer.data(), static_cast<std::size_t>(got));
    more |= rest.size() == most;
    inject::Head head{};
    while (head_as(rest, head) && rest.size() >= sizeof head + head.bytes) {
      take(files, head.type, rest.substr(sizeof head, head.bytes), capture);
      rest.remove_prefix(sizeof head + head.bytes);
      if (files.bad) break;
    }
    const std::uint64_t done = static_cast<std::uint64_t>(got) - rest.size();
    if (done == 0 && rest.size() == most) {
      files.bad = true;
      capture.note_quality(
          QualityCode::bad_agent_file,
          "an agent's file holds a record of impossible length: what follows is left out");
    }
    // What is read needs no room any more; file systems that cannot punch holes keep it until the
    // end.
    if (done > 0)
      (void)::fallocate(files.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                        static_cast<off_t>(files.at + done));
    files.at += done;
  }
  return more;
}

void InjectReader::finish(Capture& capture) {
  for (auto& [path, files] : files_)
    if (files.window > 0) add_window(files, std::exchange(files.window, 0), files.last, capture);
}

void InjectReader::add_window(File& file, Nanos start, Nanos end, Capture& capture) {
  end = compare_partners(file, end, capture);
  if (end <= start || file.silent) return;  // nothing is known of a silent one
  auto& windows = capture.recording_windows;
  const auto row = windows.add();
  windows.start_ns[row] = start;
  windows.duration_ns[row] = end - start;
  windows.pid[row] = file.pid;
  ++windows_;
  windows_ns_ = checked_add(windows_ns_, end - start).value_or(windows_ns_);
}

std::uint32_t InjectReader::device_row(File& file, std::uint32_t ordinal, Capture& capture) {
  const auto it = file.devices.find(ordinal);
  if (it != file.devices.end()) return it->second;
  // No UUID came: the program's own number is the best guess.
  return file.devices[ordinal] = capture.device_row(static_cast<std::int32_t>(ordinal));
}

std::uint32_t InjectReader::thread_row(File& file, std::uint32_t tid, Capture& capture) {
  const auto [it, added] = file.threads.try_emplace(tid, 0);
  if (!added) return it->second;
  it->second = capture.threads.add();
  capture.threads.pid[it->second] = file.pid;
  capture.threads.tid[it->second] = tid;
  return it->second;
}

}  // namespace gf
