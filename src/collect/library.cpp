#include "collect/library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <sstream>

namespace gf {

namespace {

/// The names inside each directory of GPUFATHOM_LIBRARY_PATH, in its order.
std::vector<std::string> names_in_own_directories(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  const char* list = std::getenv("GPUFATHOM_LIBRARY_PATH");
  std::istringstream directories(list ? list : "");
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (directory.empty()) continue;
    for (const auto& name : names)
      if (name.find('/') == std::string::npos) paths.push_back(directory + "/" + name);
  }
  return paths;
}

}  // namespace

Result<Library> Library::open(const std::vector<std::string>& names) {
  std::string reasons;
  auto load = [&](const std::string& name, int flags) -> void* {
    dlerror();
    void* handle = dlopen(name.c_str(), flags);
    if (const char* why = dlerror(); !handle && why && !(flags & RTLD_NOLOAD))
      reasons += (!reasons.empty() ? "; " : "") + std::string(why);
    return handle;
  };
  auto loaded = [](void* handle, const std::string& name) {
    Library library;
    library.handle_ = handle;
    library.name_ = name;
    return library;
  };
  for (const auto& name : names_in_own_directories(names))
    if (void* handle = load(name, RTLD_NOW | RTLD_LOCAL)) return loaded(handle, name);
  for (int flags : {RTLD_NOW | RTLD_NOLOAD, RTLD_NOW | RTLD_LOCAL})
    for (const auto& name : names)
      if (void* handle = load(name, flags)) return loaded(handle, name);
  return fail("shared library not found: " + reasons);
}

void* Library::symbol(const char* name) const { return dlsym(handle_, name); }

std::string Library::path() const {
  link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && *map->l_name)
    return map->l_name;
  return name_;
}

}  // namespace gf
