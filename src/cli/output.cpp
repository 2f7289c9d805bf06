#include "cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>

namespace gf::cli {

namespace {

Status write_all(int fd, std::string_view text, const std::string& name) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EPIPE) return tl::unexpected<Error>(Error{});
    if (n < 0) return fail(std::string("cannot be written: ") + std::strerror(errno), name);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

/// Opens the file that is to be filled; `temporary` gets the name to rename from, empty when writing in place.
Result<int> open_target(const std::string& path, std::string& temporary) {
  struct stat existing{};
  const bool exists = ::stat(path.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) return fail("is a directory", path, -1, "-o wants the name of a file");
  const bool in_place = exists && !S_ISREG(existing.st_mode);
  if (!in_place) temporary = path + ".part" + std::to_string(::getpid());
  const int fd = ::open(in_place ? path.c_str() : temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return fail(std::string("cannot be written: ") + std::strerror(errno), path);
  return fd;
}

}  // namespace

void add_output_options(CLI::App& verb, OutputOptions& o, const std::vector<std::string>& formats) {
  const std::string names = CLI::detail::join(formats, "|");
  verb.add_option("--format", o.format, "form of the answer; without it by the name of -o, else text")->check(CLI::IsMember(formats))->option_text(names);
  verb.add_option("-o,--output", o.path, "file to write instead of standard output")->option_text("FILE");
}

std::string chosen_format(const OutputOptions& o) {
  if (!o.format.empty()) return o.format;
  if (o.path.ends_with(".html") || o.path.ends_with(".htm")) return "html";
  return o.path.ends_with(".json") ? "json" : "text";
}

Status write_answer(const OutputOptions& o, std::string_view answer) {
  if (!o.to_file()) return write_all(STDOUT_FILENO, answer, "standard output");
  std::string temporary;
  const auto fd = open_target(o.path, temporary);
  if (!fd) return tl::unexpected<Error>(fd.error());
  Status status = write_all(*fd, answer, o.path);
  if (::close(*fd) != 0 && status) status = fail(std::string("cannot be written: ") + std::strerror(errno), o.path);
  if (temporary.empty()) return status;
  if (status && ::rename(temporary.c_str(), o.path.c_str()) != 0) status = fail(std::string("cannot be written: ") + std::strerror(errno), o.path);
  if (!status) ::unlink(temporary.c_str());
  return status;
}

int complain(const Error& error) { return complain(error.message(), kBadInput); }

int complain(std::string_view text, int exit_code) {
  if (!text.empty()) std::fprintf(stderr, "gpufathom: %.*s\n", static_cast<int>(text.size()), text.data());
  return exit_code;
}

}  // namespace gf::cli
