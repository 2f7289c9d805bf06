#include "collect/record/process_tree.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gf {

namespace {

struct Stat {
  pid_t pid = 0, parent = 0;
  double cpu_seconds = 0;
  std::int64_t memory_bytes = 0;
};

bool read_stat(pid_t pid, Stat& out) {
  char text[1024];
  FILE* file = std::fopen(fmt::format("/proc/{}/stat", pid).c_str(), "re");
  if (!file) return false;
  const std::size_t n = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[n] = 0;
  // The name in parentheses may hold anything, so the fields are counted from the last one.
  const char* at = std::strrchr(text, ')');
  long long parent = 0, rss = 0;
  unsigned long long user = 0, system = 0;
  if (!at || std::sscanf(at + 1, " %*c %lld %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %*u %*u %lld", &parent, &user, &system, &rss) != 4) return false;
  static const double tick = static_cast<double>(sysconf(_SC_CLK_TCK));
  static const std::int64_t page = sysconf(_SC_PAGESIZE);
  out = {pid, static_cast<pid_t>(parent), static_cast<double>(user + system) / tick, rss * page};
  return true;
}

}  // namespace

TreeUse ProcessTree::read() {
  std::map<pid_t, Stat> all;
  if (DIR* proc = opendir("/proc")) {
    while (const dirent* entry = readdir(proc)) {
      const pid_t pid = static_cast<pid_t>(std::atoi(entry->d_name));
      if (Stat s; pid > 0 && read_stat(pid, s)) all[pid] = s;
    }
    closedir(proc);
  }
  // A process belongs to the tree when the chain of parents leads to the root, or to us with no other root: orphans come to
  // the recorder, their subreaper.
  const pid_t self = getpid();
  TreeUse use;
  pids_.clear();
  for (const auto& [pid, stat] : all) {
    pid_t at = pid;
    for (int depth = 0; depth < 64 && at != root_ && at != self; ++depth) {
      const auto found = all.find(at);
      if (found == all.end()) break;
      at = found->second.parent;
    }
    if (pid == self || (at != root_ && at != self)) continue;
    pids_.push_back(pid);
    cpu_[pid] = stat.cpu_seconds;
    use.memory_bytes += stat.memory_bytes;
  }
  use.processes = static_cast<int>(pids_.size());
  for (const auto& [pid, seconds] : cpu_) use.cpu_seconds += seconds;
  return use;
}

}  // namespace gf
