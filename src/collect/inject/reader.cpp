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

namespace gf {

namespace {

template <class T>
bool as(std::string_view payload, T& out) {
  if (payload.size() < sizeof(T)) return false;
  std::memcpy(&out, payload.data(), sizeof(T));
  return true;
}

/// Another user may write into the folder: only plain files are read.
int open_agents_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat s{};
  if (fd < 0 || (::fstat(fd, &s) == 0 && S_ISREG(s.st_mode))) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

std::string agent_path() {
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const auto beside = here / "libgpufathom_inject.so";
  return std::filesystem::exists(beside, ignored)
             ? beside
             : here.parent_path() / "lib/gpufathom/libgpufathom_inject.so";
}

std::string uuid_text(const unsigned char (&b)[16]) {
  std::string out = "GPU-";
  for (int i = 0; i < 16; ++i)
    out += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
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
  for (auto& [path, f] : files_)
    if (f.fd >= 0) ::close(f.fd);
  if (DIR* dir = opendir(directory_.c_str())) {
    while (const dirent* e = readdir(dir))
      if (e->d_name[0] != '.') ::unlink((directory_ + "/" + e->d_name).c_str());
    closedir(dir);
  }
  ::rmdir(directory_.c_str());
  if (lock_ >= 0) ::close(lock_);
}

std::vector<std::string> InjectReader::take_messages() { return std::exchange(messages_, {}); }

bool InjectReader::poll(Capture& c, std::size_t most) {
  if (DIR* dir = opendir(directory_.c_str())) {
    while (const dirent* e = readdir(dir))
      if (std::string_view(e->d_name).ends_with(".rec"))
        files_.try_emplace(directory_ + "/" + e->d_name);
    closedir(dir);
  }
  bool more = false;
  std::string buffer;
  for (auto& [path, f] : files_) {
    if (f.bad) continue;
    if (f.fd < 0) f.fd = open_agents_file(path);
    if (f.fd < 0) continue;
    buffer.resize(most);
    const auto n = ::pread(f.fd, buffer.data(), buffer.size(), static_cast<off_t>(f.at));
    if (n <= 0) continue;
    std::string_view rest(buffer.data(), static_cast<std::size_t>(n));
    more |= rest.size() == most;
    inject::Head head{};
    while (as(rest, head) && rest.size() >= sizeof head + head.bytes) {
      take(f, head.type, rest.substr(sizeof head, head.bytes), c);
      rest.remove_prefix(sizeof head + head.bytes);
      if (f.bad) break;
    }
    const std::uint64_t done = static_cast<std::uint64_t>(n) - rest.size();
    if (done == 0 && rest.size() == most) {
      f.bad = true;
      c.note_quality(
          QualityCode::bad_agent_file,
          "an agent's file holds a record of impossible length: what follows is left out");
    }
    // What is read needs no room any more; file systems that cannot punch holes keep it until the
    // end.
    if (done > 0)
      (void)::fallocate(f.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                        static_cast<off_t>(f.at + done));
    f.at += done;
  }
  return more;
}

void InjectReader::finish(Capture& c) {
  for (auto& [path, f] : files_)
    if (f.window > 0) add_window(f, std::exchange(f.window, 0), f.last, c);
}

void InjectReader::add_window(File& f, Nanos start, Nanos end, Capture& c) {
  compare_correlations(f, c);
  if (end <= start) return;
  auto& w = c.recording_windows;
  const auto row = w.add();
  w.start_ns[row] = start;
  w.duration_ns[row] = end - start;
  w.pid[row] = f.pid;
  ++windows_;
  windows_ns_ += end - start;
}

std::uint32_t InjectReader::device_row(File& f, std::uint32_t ordinal, Capture& c) {
  const auto it = f.devices.find(ordinal);
  if (it != f.devices.end()) return it->second;
  // No UUID came: the program's own number is the best guess.
  return f.devices[ordinal] = c.device_row(static_cast<std::int32_t>(ordinal));
}

std::uint32_t InjectReader::thread_row(File& f, std::uint32_t tid, Capture& c) {
  const auto [it, added] = f.threads.try_emplace(tid, 0);
  if (!added) return it->second;
  it->second = c.threads.add();
  c.threads.pid[it->second] = f.pid;
  c.threads.tid[it->second] = tid;
  return it->second;
}

}  // namespace gf
