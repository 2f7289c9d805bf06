#include "cli/live/overhead/run_files.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "core/host_clock.h"

namespace gf::cli {

namespace {

std::string largest(const std::string& folder, const std::string& ending) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::string found;
  std::uintmax_t most = 0;
  for (const auto& file : fs::recursive_directory_iterator(folder, ignored)) {
    const auto size = file.is_regular_file(ignored) ? file.file_size(ignored) : 0;
    if (size > most && file.path().string().ends_with(ending)) {
      most = size;
      found = file.path();
    }
  }
  return found;
}

/// Exit codes of 1 count: an answer that is not whole took its time as well.
std::optional<double> time_of(std::vector<std::string> words, const std::string& file) {
  std::vector<char*> argv;
  for (auto& word : words) {
    if (word == "{FILE}") word = file;
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  const Nanos start = host_now();
  const pid_t pid = fork();
  if (pid == 0) {
    if (const int null = open("/dev/null", O_RDWR); null >= 0)
      for (int stream = 0; stream < 3; ++stream) dup2(null, stream);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return {};
  const double seconds = static_cast<double>(host_now() - start) * 1e-9;
  if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) return {};
  return seconds;
}

}  // namespace

AfterRunTimes time_after_run(const AfterRun& after, const std::string& folder) {
  AfterRunTimes times;
  std::string file = largest(folder, after.ending);
  if (file.empty()) return times;
  if (!after.convert.empty()) {
    times.convert_seconds = time_of(after.convert, file);
    file = largest(folder, after.converted);
  }
  if (after.analyse.empty() || file.empty()) return times;
  auto words = after.analyse;
  const std::string answer = folder + "/answer.json";
  words.insert(words.end(), {"-o", answer});
  const auto seconds = time_of(words, file);
  std::error_code ignored;
  if (std::filesystem::exists(answer, ignored)) times.analyse_seconds = seconds;
  return times;
}

}  // namespace gf::cli
