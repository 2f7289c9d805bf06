#include "collect/record/process_tree.h"

#include <dirent.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "core/secrets.h"

namespace gf {

namespace {

struct Stat {
  pid_t pid = 0, parent = 0;
  double cpu_seconds = 0;  // its own, and of the children that it has waited for
  std::int64_t memory_bytes = 0;
};

bool read_stat(pid_t pid, Stat& out) {
  char text[1024];
  FILE* file = std::fopen(fmt::format("/proc/{}/stat", pid).c_str(), "re");
  if (!file) return false;
  const std::size_t got = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[got] = 0;
  // The name in parentheses may hold anything, so the fields are counted from the last one.
  const char* at = std::strrchr(text, ')');
  long long parent = 0, rss = 0;
  unsigned long long user = 0, system = 0, user_ended = 0, system_ended = 0;
  if (!at || std::sscanf(at + 1,
                         " %*c %lld %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu %*d "
                         "%*d %*d %*d %*u %*u %lld",
                         &parent, &user, &system, &user_ended, &system_ended, &rss) != 6)
    return false;
  static const double tick = static_cast<double>(sysconf(_SC_CLK_TCK));
  static const std::int64_t page = sysconf(_SC_PAGESIZE);
  out = {pid, static_cast<pid_t>(parent),
         static_cast<double>(user + system + user_ended + system_ended) / tick, rss * page};
  return true;
}

}  // namespace

double ended_children_cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_CHILDREN, &use);
  return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

TreeUse ProcessTree::read() {
  std::map<pid_t, Stat> all;
  if (DIR* proc = opendir("/proc")) {
    while (const dirent* entry = readdir(proc)) {
      const pid_t pid = static_cast<pid_t>(std::atoi(entry->d_name));
      if (Stat stat; pid > 0 && read_stat(pid, stat)) all[pid] = stat;
    }
    closedir(proc);
  }
  // A process belongs to the tree when the chain of parents leads to the root, or to us with no
  // other root: orphans come to the recorder, their subreaper.
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
    use.cpu_seconds += stat.cpu_seconds;
    use.memory_bytes += stat.memory_bytes;
  }
  use.processes = static_cast<int>(pids_.size());
  // Adds the processes that the recorder has waited for: the program, and orphans. A process that
  // ends while all are read may be missing this once.
  use.cpu_seconds = cpu_most_ = std::max(cpu_most_, use.cpu_seconds + ended_children_cpu_seconds());
  return use;
}

OwnUse own_use() {
  OwnUse use;
  rusage self{};
  getrusage(RUSAGE_SELF, &self);
  use.cpu_seconds = static_cast<double>(self.ru_utime.tv_sec + self.ru_stime.tv_sec) +
                    static_cast<double>(self.ru_utime.tv_usec + self.ru_stime.tv_usec) * 1e-6;
  if (FILE* file = std::fopen("/proc/self/status", "re")) {
    for (char line[256]; std::fgets(line, sizeof line, file);) {
      long long kilobytes = 0;
      if (std::sscanf(line, "VmRSS: %lld", &kilobytes) == 1) use.memory_bytes = kilobytes * 1024;
      if (std::sscanf(line, "RssAnon: %lld", &kilobytes) == 1) use.private_bytes = kilobytes * 1024;
    }
    std::fclose(file);
  }
  return use;
}

void drop_start_up_memory() {
  malloc_trim(0);
  FILE* file = std::fopen("/proc/self/smaps", "re");
  if (!file) return;
  unsigned long begin = 0, end = 0;
  bool library = false;
  for (char line[1024]; std::fgets(line, sizeof line, file);) {
    unsigned long from = 0, to = 0;
    char rights[8] = {};
    long long anonymous = -1;
    if (std::sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3) {
      begin = from;
      end = to;
      library = rights[0] == 'r' && rights[1] == '-' && std::strstr(line, ".so") != nullptr;
    } else if (std::sscanf(line, "Anonymous: %lld", &anonymous) == 1 && library && anonymous == 0) {
      // Nothing in it was ever written, so that the file still says the same.
      madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }
  }
  std::fclose(file);
}

std::string process_name(std::int64_t pid) {
  char buffer[64] = {};
  if (FILE* file = std::fopen(fmt::format("/proc/{}/comm", pid).c_str(), "re")) {
    const std::size_t got = std::fread(buffer, 1, sizeof buffer - 1, file);
    std::fclose(file);
    std::string name(buffer, got);
    while (!name.empty() && name.back() == '\n') name.pop_back();
    for (char& letter : name)  // a terminal would obey them
      if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) letter = '?';
    return without_secrets(name);  // a program may write what it likes here
  }
  return {};
}

}  // namespace gf
