#include "cli/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "cli/terminal.h"
#include "core/out_file.h"
#include "core/printable.h"
#include "report/wholeness.h"

namespace gf::cli {

namespace {

Status write_whole(const OutputOptions& o, std::string_view answer) {
  if (!o.to_file()) return write_all(STDOUT_FILENO, answer, "standard output");
  auto file = OutFile::open(o.path);
  if (!file) return tl::unexpected<Error>(file.error());
  const auto written = file->write(answer);
  return written ? file->commit() : written;
}

}  // namespace

void add_output_options(Verb& verb, OutputOptions& o, const std::vector<std::string>& formats) {
  verb.option("--format", o.format, fmt::format("{}", fmt::join(formats, "|")),
              "form of the answer; without it by the name of -o, else text")
      .of(formats);
  verb.option("-o,--output", o.path, "FILE", "file to write instead of standard output").output();
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
  return rows.value_or(12) == 0 ? SIZE_MAX : rows.value_or(12);
}

std::size_t other_rows(const std::string& format, std::optional<std::size_t> rows) {
  return format == "text" ? 0 : rows.value_or(0);
}

std::string chosen_format(const OutputOptions& o) {
  if (!o.format.empty()) return o.format;
  if (o.path.ends_with(".html") || o.path.ends_with(".htm")) return "html";
  return o.path.ends_with(".json") ? "json" : "text";
}

Status write_answer(const OutputOptions& o, std::string_view answer) {
  // What a text report quotes from files may hold anything, and a terminal or a CI log obeys it.
  if (const auto format = chosen_format(o); format == "text") {
    const std::string safe = printable_lines(answer, text_style(o.to_file()).colour);
    return write_whole(o, safe);
  }
  return write_whole(o, answer);
}

namespace {

int say_each(std::string_view input, const std::vector<std::string>& missing) {
  for (const auto& text : missing)
    complain(std::string(input) + ": the answer is not whole: " + text, kBadInput);
  return missing.empty() ? kWhole : kBadInput;
}

}  // namespace

int say_shortcomings(std::string_view input, const Analysis& analysis) {
  return say_each(input, shortcomings(analysis));
}

int say_shortcomings(std::string_view input, const Capture& capture) {
  return say_each(input, shortcomings(capture));
}

int give_analysis(const OutputOptions& o, std::string_view input, const Analysis& analysis,
                  const Result<std::string>& answer) {
  if (!answer) return complain(answer.error());
  if (const auto written = write_answer(o, *answer); !written) return complain(written.error());
  return say_shortcomings(input, analysis);
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
