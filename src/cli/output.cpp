#include "cli/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/terminal.h"
#include "core/files.h"
#include "core/text.h"
#include "report/summary.h"
#include "session/ranks.h"

namespace gf::cli {

namespace {

constexpr int kNotFound = 127;  // of the shell

/// Empty: none is wanted.
std::string command() {
  for (const char* name : {"GPUFATHOM_PAGER", "PAGER"})
    if (const char* value = std::getenv(name)) {
      const std::string wanted = value;
      return wanted == "cat" ? std::string() : wanted;
    }
  return "less";
}

bool fits(std::string_view text) {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return true;
  return std::count(text.begin(), text.end(), '\n') < size.ws_row;
}

bool is_dumb() {
  const char* terminal = std::getenv("TERM");
  return !terminal || std::string_view(terminal) == "dumb";
}

/// Shows a text that is longer than the terminal in GPUFATHOM_PAGER, PAGER or less. False when it
/// is still to be printed: standard output is no terminal, the text fits, or there is no pager.
bool show_paged(std::string_view text) {
  if (!stdout_is_terminal() || is_dumb() || fits(text)) return false;
  const std::string pager = command();
  if (pager.empty()) return false;
  ::setenv("LESS", "FRX", 0);  // colors, and no screen of its own
  std::fflush(stdout);
  // Whoever quits before the end closes the pipe.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  FILE* pipe = ::popen(pager.c_str(), "w");
  if (pipe) std::fwrite(text.data(), 1, text.size(), pipe);
  const int status = pipe ? ::pclose(pipe) : -1;
  std::signal(SIGPIPE, before);
  return status != -1 && !(WIFEXITED(status) && WEXITSTATUS(status) == kNotFound);
}

struct Ending {
  std::string_view ending, format;
};
constexpr Ending kEndings[] = {{".txt", "text"},  {".md", "text"},    {".log", "text"},
                               {".json", "json"}, {".jsonl", "json"}, {".csv", "csv"},
                               {".html", "html"}, {".htm", "html"}};

std::string ending_of(const std::string& path) {
  return lower_case(std::filesystem::path(path).extension().string());
}

/// The name of -o must not promise a format that the verb does not write.
std::string wrong_output(const OutputOptions& options, const std::vector<std::string>& formats) {
  if (!options.format.empty()) return {};
  std::vector<std::string> known;
  for (const auto& [ending, format] : kEndings)
    if (std::find(formats.begin(), formats.end(), format) != formats.end())
      known.emplace_back(ending);
  const auto wrong = wrong_ending(options.path, known);
  return wrong.empty() ? wrong : wrong + ", or choose with --format";
}

/// Paths that no reader knows, and the names to show for them.
std::vector<std::pair<std::string, std::string>>& shown_names() {
  static std::vector<std::pair<std::string, std::string>> names;
  return names;
}

std::string with_shown_names(std::string_view text) {
  std::string out(text);
  for (const auto& [path, name] : shown_names())
    for (auto at = out.find(path); at != out.npos; at = out.find(path, at + name.size()))
      out.replace(at, path.size(), name);
  return out;
}

Status write_whole(const OutputOptions& options, std::string_view answer) {
  if (!options.to_file()) return write_all(STDOUT_FILENO, answer, "standard output");
  auto file = OutFile::open(options.path);
  if (!file) return tl::unexpected<Error>(file.error());
  const auto written = file->write(answer);
  return written ? file->commit() : written;
}

}  // namespace

void add_output_options(Verb& verb, OutputOptions& options,
                        const std::vector<std::string>& formats) {
  verb.option("--format", options.format, fmt::format("{}", fmt::join(formats, "|")),
              "output format (default: from the extension of -o, else text)")
      .of(formats);
  verb.option("-o,--output", options.path, "FILE", "file to write (default: standard output)")
      .output();
  std::vector<std::string> short_forms;
  std::copy_if(formats.begin(), formats.end(), std::back_inserter(short_forms),
               [](const std::string& name) { return name != "text"; });
  add_format_flags(verb, options.format, short_forms);
  verb.wrong = [&options, formats] { return wrong_output(options, formats); };
}

std::string wrong_ending(const std::string& path, const std::vector<std::string>& endings) {
  const auto ending = ending_of(path);
  if (ending.empty() || std::find(endings.begin(), endings.end(), ending) != endings.end())
    return {};
  return fmt::format("-o {}: unknown ending {}: use {}", path, ending, fmt::join(endings, ", "));
}

std::string wrong_capture_file(const std::string& path) {
  if (path == "-") return "-o -: a capture file is no stream: give it a name";
  return wrong_ending(path, {".gpf"});
}

void add_format_flags(Verb& verb, std::string& format, const std::vector<std::string>& formats) {
  for (const auto& name : formats)
    verb.flag("--" + name, "same as --format " + name, [&format, name] { format = name; });
}

void add_rows_option(Verb& verb, std::optional<std::size_t>& rows) {
  verb.option("--rows", rows, "N",
              "rows of a table, 0 for all (default: 12 in text, all in the other formats)")
      .not_negative();
}

std::size_t text_rows(std::optional<std::size_t> rows) {
  return rows.value_or(12) == 0 ? SIZE_MAX : rows.value_or(12);
}

std::size_t other_rows(const std::string& format, std::optional<std::size_t> rows) {
  return format == "text" ? 0 : rows.value_or(0);
}

std::string chosen_format(const OutputOptions& options) {
  if (!options.format.empty()) return options.format;
  const auto ending = ending_of(options.path);
  for (const auto& known : kEndings)
    if (known.ending == ending) return std::string(known.format);
  return "text";
}

void show_as(const std::string& path, const std::string& name) {
  shown_names().emplace_back(path, name);
}

Status write_answer(const OutputOptions& options, std::string_view given) {
  const std::string named = shown_names().empty() ? std::string() : with_shown_names(given);
  const std::string_view answer = shown_names().empty() ? given : std::string_view(named);
  // Quotes from files in a text report may hold anything, and a terminal or a CI log obeys it.
  if (const auto format = chosen_format(options); format == "text") {
    const std::string safe = printable_lines(answer, text_style(options.to_file()).colour);
    if (!options.to_file() && show_paged(safe)) return {};
    return write_whole(options, safe);
  }
  return write_whole(options, answer);
}

int say_missing(std::string_view input, const std::vector<std::string>& missing) {
  for (const auto& text : missing)
    complain(std::string(input) + ": incomplete result: " + text, kBadInput);
  return missing.empty() ? kWhole : kBadInput;
}

int give_answer(const OutputOptions& options, std::string_view input,
                const std::vector<std::string>& missing, const Result<std::string>& text) {
  if (!text) return complain(text.error());
  if (const auto written = write_answer(options, *text); !written) return complain(written.error());
  return say_missing(input, missing);
}

int complain(const Error& error) { return complain(error.message(), kBadInput); }

int complain(const Error& error, std::string_view input, const Capture& capture) {
  for (const auto& text : shortcomings(capture))
    complain(fmt::format("{}: is damaged: {}", input, text), kBadInput);
  return complain(error);
}

int complain(std::string_view text, int exit_code) {
  if (!text.empty()) {
    const std::string line =
        printable_lines("gpufathom: " + printable(with_shown_names(text)) + "\n", false);
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
  return exit_code;
}

namespace files = std::filesystem;

bool would_overwrite(const std::string& output, const std::string& input) {
  if (output.empty() || input.empty()) return false;
  std::error_code error;
  if (!files::is_directory(input, error)) return same_file(output, input);
  const auto folder = files::canonical(input, error);
  if (error) return false;
  const auto file = files::canonical(output, error);
  if (error) return false;  // it does not exist yet
  const auto [in_folder, in_file] =
      std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return in_folder == folder.end() && looks_like_capture(file.string());
}

std::string overwrites_text(const std::string& output) {
  return fmt::format("{} is an input and would be overwritten: choose another output file", output);
}

}  // namespace gf::cli
