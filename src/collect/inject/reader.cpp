#include "collect/inject/reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/files.h"
#include "core/time.h"
#include "core/version.h"

namespace gf {

namespace {

template <class T>
bool head_as(std::string_view payload, T& out) {
  if (payload.size() < sizeof(T)) return false;
  std::memcpy(&out, payload.data(), sizeof(T));
  return true;
}

/// Processes of one recording, and what one of them may write: an agent itself ends at 4 GB. What
/// is beyond is no recording but an attack on the recorder.
constexpr std::size_t kMostFiles = 4096, kMostNames = 65536, kLeastShare = 256 << 10,
                      kMostRecord = 128 << 10;
constexpr std::uint64_t kMostFileBytes = std::uint64_t{8} << 30;

/// True if a process lives. Of one in a namespace of its own the number is another's.
bool runs(pid_t process) {
  const std::string stat = text_of_file(fmt::format("/proc/{}/stat", process));
  const auto name_end = stat.rfind(')');
  return name_end != stat.npos && name_end + 2 < stat.size() && stat[name_end + 2] != 'Z' &&
         stat[name_end + 2] != 'X';
}

/// Up to 1 % leaves what the others say whole.
void note_missing(Capture& capture, std::int64_t missing, std::int64_t all,
                  std::string_view detail) {
  if (missing <= 0) return;
  auto code = QualityCode::few_lost_records;
  if (missing > all / 100) code = QualityCode::lost_records;
  capture.note_quality(code, detail, missing);
}

}  // namespace

std::string agent_path() {
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const auto installed = here / kProgramToLibrary / "gpufathom/libgpufathom_inject.so";
  for (const auto& file : {here / "libgpufathom_inject.so", installed})
    if (std::filesystem::exists(file, ignored)) return file.lexically_normal();
  return here.parent_path() / "lib/gpufathom/libgpufathom_inject.so";  // of the wheel
}

std::string uuid_text(const unsigned char (&b)[16]) {
  std::string out = "GPU-";
  for (int i = 0; i < 16; ++i)
    out += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
  return out;
}

InjectReader::InjectReader(std::string directory)
    : folder_(std::move(directory)), page_(folder_.path()) {
  lock_ = ::open((folder_.path() + "/" + inject::kRecorderFile).c_str(),
                 O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (lock_ >= 0) (void)::fchmod(lock_, 0644);  // agents of another user look at it
  if (lock_ >= 0) ::flock(lock_, LOCK_EX | LOCK_NB);
}

InjectReader::~InjectReader() {
  if (lock_ >= 0) ::close(lock_);
}

std::vector<std::string> InjectReader::take_messages() { return std::exchange(messages_, {}); }

void InjectReader::refuse(File& file, std::string_view why, Capture& capture) {
  file.bad = true;
  capture.note_quality(QualityCode::bad_agent_file,
                       fmt::format("files in the agents' folder are left out: {}", why));
}

bool InjectReader::poll(Capture& capture, std::size_t most) {
  for (auto& name : folder_.names(inject::kRecordsSuffix, kMostNames)) {
    if (files_.size() < kMostFiles || files_.contains(name)) {
      files_.try_emplace(std::move(name));
    } else if (!std::exchange(too_many_, true)) {
      capture.note_quality(QualityCode::bad_agent_file,
                           fmt::format("there are more than {} files in the agents' folder: the "
                                       "others are left out",
                                       kMostFiles));
    }
  }
  const std::size_t share = std::max(kLeastShare, most / std::max<std::size_t>(files_.size(), 1));
  bool more = false;
  for (auto& [name, file] : files_)
    if (!file.bad) more |= read(name, file, share, capture);
  return more;
}

/// Takes what is new in a file, at most about `most` bytes of it; true when there is more. No
/// descriptor stays open: a program may make more files than we may have of them.
bool InjectReader::read(const std::string& name, File& file, std::size_t most, Capture& capture) {
  struct stat status{};
  std::string refused;
  const int fd = folder_.open(name, status, refused);
  const bool exchanged = file.inode != 0 && status.st_ino != 0 &&
                         (file.inode != status.st_ino || file.device != status.st_dev);
  if (exchanged) refused = "exchanged for others";
  if (refused.empty() && static_cast<std::uint64_t>(status.st_size) > kMostFileBytes)
    refused = "larger than an agent writes them";
  if (fd < 0 || !refused.empty()) {
    if (fd >= 0) ::close(fd);
    if (!refused.empty()) refuse(file, refused, capture);
    return false;
  }
  file.inode = status.st_ino;
  file.device = status.st_dev;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  // Room for what is there and no more: every page of it would have to be made and cleared.
  std::string buffer(
      static_cast<std::size_t>(std::min<std::uint64_t>(size - std::min(size, file.at), most)),
      '\0');
  const auto got = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(file.at));
  std::string_view rest(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const bool more = !rest.empty() && rest.size() == most;
  const std::size_t there = rest.size();
  if (file.at == 0 && there > 0) ++processes_;
  take_all(file, rest, capture);
  // Data that was read needs no room any more; file systems that cannot punch holes keep it until
  // the end.
  file.at += there - rest.size();
  if (there > rest.size())
    (void)::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                      static_cast<off_t>(file.at));
  ::close(fd);
  return more;
}

/// Takes the whole records from `rest`.
void InjectReader::take_all(File& file, std::string_view& rest, Capture& capture) {
  inject::Head head{};
  while (!file.bad && head_as(rest, head)) {
    if (head.bytes > kMostRecord)
      return refuse(file, "they hold a record of impossible length", capture);
    if (rest.size() < sizeof head + head.bytes) return;
    if (inject::in_ledger(head.type)) ++file.records;
    take(file, head.type, rest.substr(sizeof head, head.bytes), capture);
    rest.remove_prefix(sizeof head + head.bytes);
  }
}

std::optional<inject::Ledger> InjectReader::ledger_of(const std::string& name) const {
  std::string counts = name.substr(0, name.rfind('.')) + inject::kLedgerSuffix;
  struct stat status{};
  std::string refused;
  const int fd = folder_.open(counts, status, refused);
  if (fd < 0) return std::nullopt;
  inject::Ledger ledger{};
  const bool whole = ::pread(fd, &ledger, sizeof ledger, 0) == sizeof ledger;
  ::close(fd);
  if (!whole || ledger.version != inject::kVersion || ledger.records > kMostFileBytes)
    return std::nullopt;
  return ledger;
}

/// Holds what was read against what the agent was given to write.
void InjectReader::settle(const std::string& name, File& file, Capture& capture) {
  const auto pid = static_cast<pid_t>(std::atoi(name.c_str()));
  const bool alive = runs(pid);
  if (file.window > 0)
    add_window(file, std::exchange(file.window, 0), file.last,
               alive ? Ending::in_program : Ending::with_program, capture);
  const auto ledger = ledger_of(name);
  std::int64_t all = file.records + file.lost_to_disk + file.lost_to_memory, unwritten = 0;
  // A program that goes on has not written all of it yet.
  if (ledger && (!alive || ledger->closed == 1))
    unwritten = std::max<std::int64_t>(0, static_cast<std::int64_t>(ledger->records) - all);
  all += unwritten;
  note_missing(capture, file.lost_to_disk, all,
               "records of kernels, copies, calls and ranges for which the disk, or a limit on the "
               "size of files, had no room");
  note_missing(capture, file.lost_to_memory, all, "records that found no memory in the program");
  note_missing(capture, unwritten, all,
               "records of kernels, copies, calls and ranges that a program had no room for, or "
               "had not written when it ended");
  if (file.at == 0)
    note_missing(capture, 1, 1,
                 "programs that could not write anything: the disk was full, or their files may "
                 "not grow");
}

void InjectReader::finish(Capture& capture) {
  for (auto& [name, file] : files_)
    if (!file.bad) settle(name, file, capture);
}

void InjectReader::add_window(File& file, Nanos start, Nanos end, Ending ending, Capture& capture) {
  end = compare_partners(file, end, ending, capture);
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
