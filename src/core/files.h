// Whole files. One that is written appears complete or not at all: the one way in which the program
// writes its answers. Temporary files go away when a signal ends the program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace gf {

/// The last part of a path.
constexpr std::string_view file_name(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

bool is_folder(const std::string& path);

/// Written under a name that nobody can guess beside its own, and renamed by commit(), with the
/// mode of the file that it replaces. A file that is not committed leaves no trace, nor does one
/// whose writer a signal ends. Devices and pipes are written in place.
///
/// A symbolic link is followed: the file that it names is replaced, and the link stays. Refused are
/// links to nothing, and other users' links in folders that everybody may write to.
class OutFile {
 public:
  static Result<OutFile> open(const std::string& path);
  OutFile(OutFile&& other) noexcept;
  OutFile& operator=(OutFile&&) = delete;
  ~OutFile();

  Status write(std::string_view bytes);
  Status commit();
  /// The growing file, for writers that want a name; empty when written in place.
  const std::string& temporary() const { return temporary_; }

 private:
  OutFile(int fd, std::string path, std::string temporary);
  int fd_ = -1;
  int slot_ = -1;       // of the names that a signal removes
  std::string path_;    // as it was asked for
  std::string target_;  // with links followed
  std::string temporary_;
};

/// Writes everything to a descriptor. A reader that closed its pipe is an error with an empty text:
/// nobody is left to tell.
Status write_all(int fd, std::string_view bytes, const std::string& name);

/// True if both names lead to one ordinary file, by links or other spellings too. False when either
/// does not exist.
bool same_file(const std::string& one, const std::string& other);

/// Has `path` removed when a signal ends the program by default; nothing can on SIGKILL. Gives a
/// number for keep_on_signal(); -1 when too many are open or the name is too long.
int remove_on_signal(const std::string& path);
/// Forgets a file; -1 is ignored.
void keep_on_signal(int number);

/// A file in a folder that only this user can look into, for what must have a name to be read.
/// Removed with the object, or when a signal ends the program.
class TemporaryFile {
 public:
  TemporaryFile() = default;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  /// Errors: no folder for temporary files.
  Status make(const std::string& name);
  Status write(std::string_view bytes);
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int fd_ = -1, slot_ = -1;
};

// Small files that a person names (an energy model, a token), read whole.

/// The bytes of an ordinary file. A pipe, a device and a directory are refused without waiting for
/// them, and so is a file of more than `most` bytes; one that is empty is "".
Result<std::string> read_small_file(const std::string& path, std::uint64_t most = 256 << 20);

/// The same, also of /proc, where a file that cannot be read says as little as an empty one.
std::string text_of_file(const std::string& path, std::uint64_t most = 256 << 20);

}  // namespace gf
