#include "core/machine.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string>

namespace gf {

namespace {

std::optional<std::uint64_t> number_in(std::string_view text) {
  const auto first = text.find_first_of("0123456789");
  if (first == text.npos) return {};
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + first, text.data() + text.size(), number);
  if (error != std::errc()) return {};
  return number;
}

std::optional<std::uint64_t> field(std::string_view meminfo, std::string_view name) {
  const auto at = meminfo.find(name);
  if (at == meminfo.npos) return {};
  const auto kibibytes = number_in(meminfo.substr(at + name.size()));
  if (!kibibytes) return {};
  return *kibibytes * 1024;
}

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::optional<MemoryLeft> memory_left(std::string_view meminfo, std::string_view group_max,
                                      std::string_view group_current) {
  std::optional<MemoryLeft> found;
  const auto available = field(meminfo, "MemAvailable:"), all = field(meminfo, "MemTotal:");
  if (available && all) found = MemoryLeft{*available, *all};
  const auto most = number_in(group_max), taken = number_in(group_current);
  if (most && taken && (!found || *most - std::min(*most, *taken) < found->left))
    found = MemoryLeft{*most - std::min(*most, *taken), *most};
  return found;
}

std::optional<MemoryLeft> memory_left() {
  return memory_left(text_of("/proc/meminfo"), text_of("/sys/fs/cgroup/memory.max"),
                     text_of("/sys/fs/cgroup/memory.current"));
}

}  // namespace gf
