#include "collect/library.h"

#include <dlfcn.h>

namespace gf {

Result<Library> Library::open(const std::vector<std::string>& names) {
  std::string reasons;
  for (int flags : {RTLD_NOW | RTLD_NOLOAD, RTLD_NOW | RTLD_LOCAL})
    for (const auto& name : names) {
      dlerror();
      if (void* handle = dlopen(name.c_str(), flags)) {
        Library library;
        library.handle_ = handle;
        library.name_ = name;
        return library;
      }
      if (const char* why = dlerror(); why && !(flags & RTLD_NOLOAD)) reasons += (reasons.empty() ? "" : "; ") + std::string(why);
    }
  return fail("shared library not found: " + reasons);
}

void* Library::symbol(const char* name) const { return dlsym(handle_, name); }

}  // namespace gf
