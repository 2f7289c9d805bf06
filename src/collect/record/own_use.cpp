#include "collect/record/own_use.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstring>

namespace gf {

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
      // Not ru_maxrss: that keeps what the program had that began this one.
      if (std::sscanf(line, "VmHWM: %lld", &kilobytes) == 1)
        use.peak_memory_bytes = kilobytes * 1024;
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

}  // namespace gf
