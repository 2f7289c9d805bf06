#include "collect/inject/reader.h"

#include <cupti_activity.h>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "model/kernel_name.h"
#include "model/nvtx_operation.h"

namespace gf {

namespace {

using inject::Type;

CopyKind copy_kind(std::uint32_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return CopyKind::host_to_device;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return CopyKind::device_to_host;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
      return CopyKind::device_to_device;
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return CopyKind::host_to_host;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return CopyKind::peer;
    default:
      return CopyKind::unknown;
  }
}

ApiKind api_kind(std::string_view name) {
  auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  if (has("GraphLaunch")) return ApiKind::graph_launch;
  if (has("Launch")) return ApiKind::launch;
  if (has("Memcpy")) return ApiKind::memcpy;
  if (has("Memset")) return ApiKind::memset;
  if (has("Synchronize")) return ApiKind::sync;
  if (has("Malloc") || has("Free")) return ApiKind::alloc;
  return ApiKind::other;
}

template <class T>
bool as(std::string_view payload, T& out) {
  if (payload.size() < sizeof(T)) return false;
  std::memcpy(&out, payload.data(), sizeof(T));
  return true;
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

InjectReader::InjectReader(std::string directory) : directory_(std::move(directory)) {
  lock_ = ::open((directory_ + "/" + inject::kRecorderFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC,
                 0600);
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
    if (f.fd < 0) f.fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
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
          "bad_agent_file",
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

void InjectReader::add_window(const File& f, Nanos start, Nanos end, Capture& c) {
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

void InjectReader::take(File& f, Type type, std::string_view payload, Capture& c) {
  auto text = [&](std::uint32_t id) { return id < f.texts.size() ? f.texts[id] : Text::none; };
  switch (type) {
    case Type::hello: {
      inject::Hello h{};
      f.bad = !as(payload, h) || h.version != inject::kVersion;
      f.pid = h.pid;
      if (f.window > 0)
        add_window(f, std::exchange(f.window, 0), f.last, c);  // the process began anew, by exec
      if (f.bad)
        c.note_quality("bad_agent_file",
                       "an agent of another version wrote its file: it is left out");
      break;
    }
    case Type::text: {
      inject::TextHead h{};
      if (!as(payload, h) || h.id > 1u << 20) break;
      if (f.texts.size() <= h.id) f.texts.resize(h.id + 1, Text::none);
      f.texts[h.id] = c.strings.intern(demangled(std::string(payload.substr(sizeof h))));
      break;
    }
    case Type::device: {
      inject::Device d{};
      if (!as(payload, d)) break;
      const std::string uuid = uuid_text(d.uuid);
      for (std::uint32_t row = 0; row < c.devices.size(); ++row)
        if (c.text(c.devices.uuid[row]) == uuid) f.devices[d.ordinal] = row;
      break;
    }
    case Type::kernel: {
      inject::Kernel k{};
      if (!as(payload, k) || k.end < k.start) {
        c.note_quality("bad_event", "a kernel record is damaged");
        break;
      }
      auto& a = c.activities;
      const auto row = a.add();
      a.start_ns[row] = k.start;
      a.duration_ns[row] = k.end - k.start;
      a.device[row] = device_row(f, k.device, c);
      a.stream[row] = k.stream;
      a.context[row] = k.context;
      a.name[row] = text(k.name);
      a.correlation[row] = k.correlation;
      a.pid[row] = f.pid;
      a.grid_x[row] = k.grid[0], a.grid_y[row] = k.grid[1], a.grid_z[row] = k.grid[2];
      a.block_x[row] = k.block[0], a.block_y[row] = k.block[1], a.block_z[row] = k.block[2];
      a.registers[row] = static_cast<I32>(k.registers);
      a.shared_bytes[row] = k.shared_bytes;
      if (k.graph) a.graph_id[row] = k.graph, a.graph_node[row] = static_cast<I64>(k.graph_node);
      ++kernels_;
      f.last = std::max(f.last, k.end);
      break;
    }
    case Type::memcpy:
    case Type::memset: {
      inject::Memory m{};
      if (!as(payload, m) || m.end < m.start) {
        c.note_quality("bad_event", "a copy record is damaged");
        break;
      }
      auto& a = c.activities;
      const auto row = a.add();
      const auto kind = type == Type::memcpy ? copy_kind(m.copy_kind) : CopyKind::none;
      a.start_ns[row] = m.start;
      a.duration_ns[row] = m.end - m.start;
      a.device[row] = device_row(f, m.device, c);
      a.stream[row] = m.stream;
      a.context[row] = m.context;
      a.kind[row] = type == Type::memcpy ? ActivityKind::memcpy : ActivityKind::memset;
      a.copy[row] = kind;
      a.name[row] = c.strings.intern(type == Type::memcpy ? "memcpy " + std::string(name_of(kind))
                                                          : std::string("memset"));
      a.correlation[row] = m.correlation;
      a.pid[row] = f.pid;
      a.bytes[row] = static_cast<I64>(m.bytes);
      if (m.graph) a.graph_id[row] = m.graph, a.graph_node[row] = static_cast<I64>(m.graph_node);
      ++copies_;
      break;
    }
    case Type::api: {
      inject::Api r{};
      if (!as(payload, r)) break;
      auto& a = c.api_calls;
      const auto row = a.add();
      a.start_ns[row] = r.start;
      a.duration_ns[row] = std::max<std::int64_t>(r.end - r.start, 0);
      a.thread[row] = thread_row(f, r.thread, c);
      a.name[row] = text(r.name);
      a.kind[row] = api_kind(c.text(a.name[row]));
      a.correlation[row] = r.correlation;
      break;
    }
    case Type::range: {
      inject::Range r{};
      if (!as(payload, r)) break;
      const Text name = text(r.name);
      auto& h = c.host_ops;
      const auto row = h.add();
      h.start_ns[row] = r.start;
      h.duration_ns[row] = r.end - r.start;
      h.thread[row] = thread_row(f, r.thread, c);
      name_nvtx_range(c, row, name);
      if (c.text(name) == inject::kStepName && r.end > r.start) {
        const auto step = c.steps.add();
        c.steps.index[step] = steps_++;
        c.steps.start_ns[step] = r.start;
        c.steps.duration_ns[step] = r.end - r.start;
        c.steps.name[step] = name;
      }
      break;
    }
    case Type::message:
      messages_.emplace_back(payload);
      break;
    case Type::dropped: {
      inject::Dropped d{};
      if (as(payload, d))
        c.note_quality("dropped_kernels",
                       "CUPTI dropped activity records: the program launched faster than they "
                       "could be written",
                       static_cast<std::int64_t>(d.records));
      break;
    }
    case Type::loss: {
      inject::Loss loss{};
      if (as(payload, loss))
        c.note_quality("lost_names",
                       "ranges without a name: a program may have 65536 different names of 64 kB",
                       static_cast<std::int64_t>(loss.count));
      break;
    }
    case Type::window: {
      inject::Window w{};
      if (!as(payload, w)) break;
      f.window = w.end == 0 ? w.start : 0;
      if (w.end > 0) add_window(f, w.start, w.end, c);
      break;
    }
    default:
      c.note_quality("bad_event", "an unknown record in an agent's file");
      break;
  }
}

}  // namespace gf
