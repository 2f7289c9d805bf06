// A file that appears complete or not at all.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace gf::cli {

/// Written to a temporary file beside it, and renamed by commit(). Devices and pipes are written in
/// place. A file that is not committed leaves no trace.
class AnswerFile {
 public:
  static Result<AnswerFile> open(const std::string& path);
  AnswerFile(AnswerFile&& o) noexcept;
  AnswerFile& operator=(AnswerFile&&) = delete;
  ~AnswerFile();

  Status write(std::string_view bytes);
  Status commit();

 private:
  AnswerFile(int fd, std::string path, std::string temporary)
      : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)) {}
  int fd_ = -1;
  std::string path_, temporary_;  // temporary_ is empty when written in place
};

/// Writes everything to a descriptor. A reader that closed its pipe is an error with an empty text:
/// nobody is left to tell.
Status write_all(int fd, std::string_view bytes, const std::string& name);

}  // namespace gf::cli
