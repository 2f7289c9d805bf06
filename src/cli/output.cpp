#include "cli/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>

#include "cli/pager.h"
#include "cli/terminal.h"
#include "core/out_file.h"
#include "core/printable.h"
#include "report/wholeness.h"

namespace gf::cli {

namespace {

Status write_whole(const OutputOptions& options, std::string_view answer) {
  if (!options.to_file()) return write_all(STDOUT_FILENO, answer, "standard output");
  auto file = OutFile::open(options.path);
  if (!file) return tl::unexpected<Error>(file.error());
  const auto written = file->write(answer);
  if (written) return file->commit();
  return written;
}

}  // namespace

void add_output_options(Verb& verb, OutputOptions& options,
                        const std::vector<std::string>& formats) {
  verb.option("--format", options.format, fmt::format("{}", fmt::join(formats, "|")),
              "form of the answer; without it by the name of -o, else text")
      .of(formats);
  verb.option("-o,--output", options.path, "FILE", "file to write instead of standard output")
      .output();
  std::vector<std::string> short_forms;
  std::copy_if(formats.begin(), formats.end(), std::back_inserter(short_forms),
               [](const std::string& name) { return name != "text"; });
  add_format_flags(verb, options.format, short_forms);
}

void add_format_flags(Verb& verb, std::string& format, const std::vector<std::string>& formats) {
  for (const auto& name : formats)
    verb.flag("--" + name, "short for --format " + name, [&format, name] { format = name; });
}

void add_rows_option(Verb& verb, std::optional<std::size_t>& rows) {
  verb.option("--rows", rows, "N",
              "rows of a table, 0 for all (default: 12 in text, all in the other formats)")
      .not_negative();
}

std::size_t text_rows(std::optional<std::size_t> rows) {
  if (rows.value_or(12) == 0) return SIZE_MAX;
  return rows.value_or(12);
}

std::size_t other_rows(const std::string& format, std::optional<std::size_t> rows) {
  if (format == "text") return 0;
  return rows.value_or(0);
}

std::string chosen_format(const OutputOptions& options) {
  if (!options.format.empty()) return options.format;
  if (options.path.ends_with(".html") || options.path.ends_with(".htm")) return "html";
  if (options.path.ends_with(".json")) return "json";
  return "text";
}

Status write_answer(const OutputOptions& options, std::string_view answer) {
  // What a text report quotes from files may hold anything, and a terminal or a CI log obeys it.
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
  if (missing.empty()) return kWhole;
  return kBadInput;
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
    const std::string line = printable_lines("gpufathom: " + printable(text) + "\n", false);
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
  return exit_code;
}

}  // namespace gf::cli
