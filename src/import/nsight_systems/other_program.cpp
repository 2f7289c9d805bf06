#include "import/nsight_systems/other_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/files.h"

extern char** environ;

namespace gf::nsys {

std::string program_in_path(std::string_view name) {
  const char* const list = std::getenv("PATH");
  std::string_view folders = list ? list : "";
  while (!folders.empty()) {
    const auto end = std::min(folders.find(':'), folders.size());
    if (const auto folder = folders.substr(0, end); folder.starts_with('/')) {
      const std::string path = fmt::format("{}/{}", folder, name);
      if (access(path.c_str(), X_OK) == 0) return path;
    }
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return {};
}

Result<int> run_to_end(const std::string& program, std::vector<std::string> arguments,
                       const std::string& output) {
  std::vector<char*> list{const_cast<char*>(program.c_str())};  // argv is not written to
  for (auto& argument : arguments) list.push_back(argument.data());
  list.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_TRUNC, 0);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.c_str(), &files, nullptr, list.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0)
    return fail(fmt::format("cannot be started: {}", std::strerror(failed)), program);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return fail(fmt::format("cannot be waited for: {}", std::strerror(errno)), program);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string first_lines(const std::string& path) {
  constexpr std::size_t kMost = 300;
  std::string text = text_of_file(path, 1 << 20).substr(0, kMost);
  for (char& letter : text)
    if (letter == '\n') letter = ' ';
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace gf::nsys
