// Output and messages: the answer goes to standard output or a file, everything else to
// standard error.
// Answers never take the place of what they are about.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "core/error.h"
#include "model/capture.h"
#include "report/json.h"

namespace gf::cli {

/// docs/cli.md says what each stands for.
inline constexpr int kWhole = 0, kBadInput = 1, kWrongUsage = 2, kRefused = 3, kUndecided = 4;

/// `--format` and `-o`, the same for every verb that gives an answer.
struct OutputOptions {
  std::string format;  // text, json, html; empty: by the name of `path`, else text
  std::string path;    // empty or "-": standard output
  bool to_file() const { return !path.empty() && path != "-"; }
};

/// With the short forms of the formats.
void add_output_options(Verb& verb, OutputOptions& options,
                        const std::vector<std::string>& formats = {"text", "json", "html"});
/// --json, --csv, ...: short for --format of that name.
void add_format_flags(Verb& verb, std::string& format, const std::vector<std::string>& formats);
/// `--rows`, the same for every verb that prints tables; unset: 12 in text, all in the other
/// formats.
void add_rows_option(Verb& verb, std::optional<std::size_t>& rows);
/// Rows of a table in text, and in the other formats (0: all).
std::size_t text_rows(std::optional<std::size_t> rows);
std::size_t other_rows(const std::string& format, std::optional<std::size_t> rows);
/// The error of an output file's name that ends in none of these, such as ".gpf";
/// empty: nothing, as for a name without an ending.
std::string wrong_ending(const std::string& path, const std::vector<std::string>& endings);
/// The same of a capture file, which is a database: standard output holds none.
std::string wrong_capture_file(const std::string& path);
/// The format that is meant, once the options are parsed.
std::string chosen_format(const OutputOptions& options);

/// Writes a whole answer: to standard output, or to a file that appears complete or not at all (a
/// temporary file beside it is renamed). Devices and pipes are written in place. A reader that
/// closed its pipe is an error with an empty text.
Status write_answer(const OutputOptions& options, std::string_view answer);

/// Says on standard error why the answer for `input` is not whole, and gives the exit code that
/// docs/cli.md promises.
int say_missing(std::string_view input, const std::vector<std::string>& missing);
/// The same once `text`, a form of the answer, is written.
int give_answer(const OutputOptions& options, std::string_view input,
                const std::vector<std::string>& missing, const Result<std::string>& text);

/// Says on standard error what is wrong, as "gpufathom: FILE: …", and gives the exit code of a bad
/// input.
int complain(const Error& error);
/// The same for a capture that cannot be analyzed: what was lost in reading it may be why.
int complain(const Error& error, std::string_view input, const Capture& capture);
int complain(std::string_view text, int exit_code);

/// Answers and complaints say `name` for `path` from now on: a copy of standard input, say.
void show_as(const std::string& path, const std::string& name);

/// True if writing `output` would write over `input`: the same file, or a capture that lies in the
/// folder `input`. An output that does not exist yet takes no place.
bool would_overwrite(const std::string& output, const std::string& input);

/// The complaint about it.
std::string overwrites_text(const std::string& output);

/// An answer as JSON: the object, and the end of its line.
template <class T>
std::string json_line(const T& value) {
  std::string line;
  to_json(line, value);
  line += '\n';
  return line;
}

}  // namespace gf::cli
