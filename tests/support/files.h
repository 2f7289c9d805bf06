// Where tests find captures, and how they unpack what ships packed.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/temporary_folder.h"

namespace gf::test {

/// A file of the large corpus; empty when GPUFATHOM_CORPUS is unset (the test then skips).
inline std::string corpus(const std::string& name) {
  const char* root = std::getenv("GPUFATHOM_CORPUS");
  if (root && *root) return std::string(root) + "/" + name;
  return std::string();
}

/// A folder of its own for a test, removed at the end.
class TemporaryFolder : public gf::TemporaryFolder {
 public:
  TemporaryFolder() : gf::TemporaryFolder("test") {}

  /// Unpacks a .tgz here.
  bool unpack(const std::string& archive) const {
    return std::system(("tar -xzf '" + archive + "' -C '" + path() + "'").c_str()) == 0;
  }
  /// The first file whose name ends with `suffix`.
  std::string find(const std::string& suffix) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path()))
      if (entry.path().string().ends_with(suffix)) return entry.path().string();
    return {};
  }
};

}  // namespace gf::test
