#include "import/xplane/profile_folder.h"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace gf {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

namespace xplane {

namespace {

std::vector<fs::path> members(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    found.push_back(it->path());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Result<ProfileFile> find_profile(const std::string& folder) {
  fs::path at = folder;
  for (const char* below : {"plugins", "profile"})
    if (is_folder((at / below).string())) at /= below;
  std::vector<fs::path> runs{at};
  for (const auto& member : members(at))
    if (is_folder(member.string())) runs.push_back(member);
  for (std::string_view kind : {".xplane.pb", ".trace.json.gz", ".trace.json"})
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      ProfileFile found{{}, 0};
      for (const auto& member : members(*run)) {
        if (!member.string().ends_with(kind)) continue;
        if (found.hosts++ == 0) found.file = member.string();
      }
      if (found.hosts > 0) return found;
    }
  return fail("is a directory that contains no profile", folder, -1,
              "name a file, or the folder of a TensorFlow or JAX profile (it contains "
              "plugins/profile/RUN/HOST.xplane.pb)");
}

}  // namespace xplane
}  // namespace gf
