#include "cli/shipped.h"

#include <filesystem>

namespace gf::cli {

std::string product_of(const Capture& capture) {
  for (std::size_t device = 0; device < capture.devices.size(); ++device)
    if (const auto name = capture.text(capture.devices.name[device]); !name.empty())
      return std::string(name);
  return {};
}

std::string shipped_file(const std::string& folder, const std::string& name) {
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const char* share : {"share/gpufathom", "share"})
    if (const auto file = here.parent_path() / share / folder / name;
        std::filesystem::exists(file, ignored))
      return file.string();
  return {};
}

}  // namespace gf::cli
