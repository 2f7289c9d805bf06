#include "collect/library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "core/machine.h"

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

namespace fs = std::filesystem;

namespace {

/// Folders PREFIX/lib*/python3*/{site,dist}-packages of a Python environment.
void add_packages(const fs::path& prefix, std::vector<fs::path>& out) {
  std::error_code ignored;
  for (const char* lib : {"lib", "lib64"})
    for (const auto& entry : fs::directory_iterator(prefix / lib, ignored))
      if (entry.path().filename().string().rfind("python3", 0) == 0)
        for (const char* packages : {"site-packages", "dist-packages"})
          out.push_back(entry.path() / packages);
}

}  // namespace

std::vector<std::string> cupti_directories() {
  std::vector<fs::path> packages, candidates;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const auto prefix = environment(name); !prefix.empty()) add_packages(prefix, packages);
  std::istringstream path(environment("PATH"));
  std::error_code ignored;
  for (std::string directory; std::getline(path, directory, ':');) {
    const fs::path python = fs::path(directory) / "python3";
    if (!fs::exists(python, ignored)) continue;
    add_packages(fs::path(directory).parent_path(), packages);  // a virtual environment's own
    if (const auto real = fs::canonical(python, ignored); !ignored)
      add_packages(real.parent_path().parent_path(), packages);
  }
  for (const auto& package : packages)
    for (const char* folder : {"nvidia/cu13/lib", "nvidia/cuda_cupti/lib"})
      candidates.push_back(package / folder);
  std::vector<fs::path> toolkits;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const auto root = environment(name); !root.empty()) toolkits.push_back(root);
  toolkits.push_back("/usr/local/cuda");
  std::vector<fs::path> numbered;
  for (const auto& entry : fs::directory_iterator("/usr/local", ignored))
    if (entry.path().filename().string().rfind("cuda-", 0) == 0) numbered.push_back(entry.path());
  std::sort(numbered.rbegin(), numbered.rend());
  toolkits.insert(toolkits.end(), numbered.begin(), numbered.end());
  for (const auto& toolkit : toolkits)
    for (const char* folder : {"extras/CUPTI/lib64", "targets/x86_64-linux/lib",
                               "targets/sbsa-linux/lib", "lib64", "lib"})
      candidates.push_back(toolkit / folder);
  std::vector<std::string> out;
  for (const auto& candidate : candidates)
    if (fs::exists(candidate / "libcupti.so.13", ignored) ||
        fs::exists(candidate / "libcupti.so.12", ignored))
      if (std::find(out.begin(), out.end(), candidate.string()) == out.end())
        out.push_back(candidate.string());
  return out;
}

Result<Library> open_cupti() {
  const std::vector<std::string> plain{"libcupti.so.13", "libcupti.so.12"};
  auto near = Library::open(plain);
  if (near) return near;
  for (const auto& directory : cupti_directories()) {
    // libcupti opens these two by their plain names: loading them by path first makes it find this
    // folder's copies.
    for (const char* helper : {"libnvperf_host.so", "libnvperf_target.so"})
      dlopen((directory + "/" + helper).c_str(), RTLD_NOW | RTLD_LOCAL);
    for (const auto& name : plain)
      if (auto library = Library::open({directory + "/" + name})) return library;
  }
  return fail("libcupti.so.13 (or .12) is nowhere on this machine", {}, -1,
              "install it, such as with pip install nvidia-cuda-cupti, or name its folder in "
              "GPUFATHOM_LIBRARY_PATH");
}

}  // namespace gf
