#include "collect/process_name.h"

#include <fmt/format.h>

#include <cstdio>

#include "core/secrets.h"

namespace gf {

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
