// A folder for what a verb works with and leaves nothing of.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace gf {

/// A folder that nobody else may enter, removed with what it holds.
class TemporaryFolder {
 public:
  /// `purpose`: a word of its name.
  explicit TemporaryFolder(const std::string& purpose) {
    std::error_code ignored;
    path_ = std::filesystem::temp_directory_path(ignored) / ("gpufathom-" + purpose + "-XXXXXX");
    if (!::mkdtemp(path_.data())) path_.clear();
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  /// Empty where it could not be made.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace gf
