// Reports of Nsight Systems in their own format, which nsys alone reads: where it is installed it
// exports them into a temporary file.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "core/files.h"
#include "import/formats.h"
#include "import/importer.h"

extern char** environ;

namespace gf::nsys {

namespace {

constexpr std::string_view kMagic = "NVIDIA Tegra Profiler Report";

/// The program of this name in PATH; empty: none.
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

/// Runs a program to its end, without input, and with what it prints into `output`.
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
  return text;
}

}  // namespace

int sniff_report(std::string_view path, std::string_view head) {
  if (!head.starts_with(kMagic) && !path.ends_with(".nsys-rep") && !path.ends_with(".qdrep"))
    return 0;
  return program_in_path("nsys").empty() ? 0 : 95;
}

Result<Capture> load_report(const std::string& path, const ImportOptions& options) {
  const std::string nsys = program_in_path("nsys");
  if (nsys.empty())
    return fail("is a report of Nsight Systems, which only nsys reads", path, -1,
                "export it: nsys export --type sqlite FILE");
  TemporaryFile exported, said;
  if (const auto made = exported.make("report.sqlite"); !made) return tl::unexpected(made.error());
  if (const auto made = said.make("nsys.txt"); !made) return tl::unexpected(made.error());
  std::error_code error;
  const std::string report = std::filesystem::absolute(path, error).string();
  const auto code = run_to_end(nsys,
                               {"export", "--type", "sqlite", "--force-overwrite", "true",
                                "--output", exported.path(), report},
                               said.path());
  if (!code) return tl::unexpected(code.error());
  if (*code != 0 || std::filesystem::file_size(exported.path(), error) == 0 || error)
    return fail(fmt::format("{} cannot export it: {}", nsys, first_lines(said.path())), path, -1,
                "export it with the release of Nsight Systems that recorded it: nsys export --type "
                "sqlite FILE");
  auto capture = load(exported.path(), options);
  if (!capture) {
    capture.error().file = path;
    return capture;
  }
  capture->format = "nsight_systems_report";
  capture->note_quality(
      QualityCode::exported_here,
      fmt::format("{} exported the report as SQLite into a temporary file", nsys));
  return capture;
}

}  // namespace gf::nsys
