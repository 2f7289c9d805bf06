#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>

#include "cli/answer_file.h"
#include "cli/help.h"
#include "report/wholeness.h"

namespace gf::cli {

void add_output_options(CLI::App& verb, OutputOptions& o, const std::vector<std::string>& formats) {
  const std::string names = CLI::detail::join(formats, "|");
  verb.add_option("--format", o.format,
                  "form of the answer; without it by the name of -o, else text")
      ->check(CLI::IsMember(formats))
      ->option_text(names);
  verb.add_option("-o,--output", o.path, "file to write instead of standard output")
      ->option_text("FILE");
}

void add_format_flags(CLI::App& verb, std::string& format,
                      const std::vector<std::string>& formats) {
  for (const auto& name : formats)
    verb.add_flag_callback(
        "--" + name, [&format, name] { format = name; }, "short for --format " + name);
}

void add_rows_option(CLI::App& verb, std::optional<std::size_t>& rows) {
  verb.add_option("--rows", rows,
                  "rows of a table, 0 for all (default: 12 in text, all in the other formats)")
      ->check(not_negative())
      ->option_text("N");
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
  if (!o.to_file()) return write_all(STDOUT_FILENO, answer, "standard output");
  auto file = AnswerFile::open(o.path);
  if (!file) return tl::unexpected<Error>(file.error());
  const auto written = file->write(answer);
  return written ? file->commit() : written;
}

int say_shortcomings(std::string_view input, const Analysis& analysis) {
  const auto missing = shortcomings(analysis);
  for (const auto& text : missing)
    complain(std::string(input) + ": the answer is not whole: " + text, kBadInput);
  return missing.empty() ? kWhole : kBadInput;
}

int give_analysis(const OutputOptions& o, std::string_view input, const Analysis& analysis,
                  const Result<std::string>& answer) {
  if (!answer) return complain(answer.error());
  if (const auto written = write_answer(o, *answer); !written) return complain(written.error());
  return say_shortcomings(input, analysis);
}

int complain(const Error& error) { return complain(error.message(), kBadInput); }

int complain(const Error& error, std::string_view input, const Capture& capture) {
  for (std::size_t i = 0; i < capture.quality.size(); ++i)
    if (const auto code = capture.text(capture.quality.code[i]); loses_data(code))
      complain(fmt::format("{}: is damaged: {} x {}: {}", input, capture.quality.count[i], code,
                           capture.text(capture.quality.detail[i])),
               kBadInput);
  return complain(error);
}

int complain(std::string_view text, int exit_code) {
  if (!text.empty())
    std::fprintf(stderr, "gpufathom: %.*s\n", static_cast<int>(text.size()), text.data());
  return exit_code;
}

}  // namespace gf::cli
