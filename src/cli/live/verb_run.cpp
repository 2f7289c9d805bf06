// Starts a program so that it can be recorded later. Nothing of us stays but the library, asleep
// inside the program.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cli/live/verbs.h"
#include "cli/output.h"
#include "collect/inject/reader.h"
#include "collect/inject/stream.h"

namespace gf::cli {

namespace {

constexpr int kNotFound = 127, kNotExecutable = 126;

/// Null when the library can be put into the program; else why not.
const char* hindrance(const std::string& library) {
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"})
    if (const char* other = std::getenv(name); other && *other && library != other)
      return "another profiler is named in CUDA_INJECTION64_PATH or NVTX_INJECTION64_PATH";
  if (::access(library.c_str(), R_OK) != 0) return "libgpufathom_inject.so is missing";
  return nullptr;
}

int run_program(std::vector<std::string>& command, bool own_profiler) {
  const std::string library = agent_path();
  if (const char* why = hindrance(library)) {
    complain(fmt::format("{}: the program runs, but its kernels cannot be recorded", why), kWhole);
  } else if (!std::getenv(inject::kDirectory)) {  // `record --kernels` started us: it is awake
    ::setenv("CUDA_INJECTION64_PATH", library.c_str(), 1);
    ::setenv("NVTX_INJECTION64_PATH", library.c_str(), 1);
    ::setenv(inject::kDormant, "1", 1);
    if (own_profiler) ::setenv(inject::kOwnProfiler, "1", 1);
  }
  std::vector<char*> words;
  for (auto& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  const int error = errno;
  complain(fmt::format("{}: cannot be run: {}", command.front(), std::strerror(error)), kBadInput);
  return error == ENOENT ? kNotFound : kNotExecutable;
}

}  // namespace

Verb start_verb() {
  Verb verb{"run", "start a program whose kernels can be recorded later (experimental)"};
  struct Options {
    std::vector<std::string> command;
    bool own_profiler = false;
  };
  const auto options = std::make_shared<Options>();
  verb.flag("--own-profiler", options->own_profiler,
            "leave CUPTI to the program's own profiler until a recorder attaches; only for "
            "programs whose CUDA graphs have no conditional nodes");
  verb.argument("-- COMMAND [ARGUMENT ...]", options->command,
                "the program and its arguments, after --")
      .must();
  verb.run = [options] { return run_program(options->command, options->own_profiler); };
  return verb;
}

}  // namespace gf::cli
