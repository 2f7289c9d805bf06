#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/shell_files.h"

namespace gf::cli {

namespace {

/// Escapes the characters that the man macros interpret.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\\' || letter == '-') out += '\\';
    out += letter;
  }
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

std::string man_option(const Option& option) {
  std::string head = option.value;
  if (!option.argument) {
    head = fmt::format("{}", fmt::join(option.all_names(), ", "));
    if (!option.flag()) head += " " + option.value;
  }
  return fmt::format(".TP\n.B {}\n{}\n", escaped(head), escaped(option.help));
}

}  // namespace

std::string man_page(std::span<const Verb> verbs) {
  std::string out =
      ".TH GPUFATHOM 1\n.SH NAME\ngpufathom \\- GPU utilization by level, idle time by cause, "
      "energy\n.SH SYNOPSIS\n.B gpufathom\n.I VERB\n.RI [ OPTIONS ]\n.br\n.B gpufathom\n.I "
      "FILE\n.SH DESCRIPTION\nReads the output of profilers, or records a program, and reports how "
      "much of its GPU it used, from the framework runtime down to issue slots, tensor cores and "
      "joules. A file alone is analyzed; \\- is standard input.\n.SH VERBS\n";
  for (const auto& verb : verbs) {
    out += fmt::format(".SS {}\n{}.\n", escaped(verb.name), escaped(verb.about));
    for (const auto& option : verb.options) out += man_option(option);
  }
  return out +
         ".SH EXIT STATUS\n0 when the result is complete, 1 for an input that cannot be read or is "
         "incomplete, or a broken rule of compare \\-\\-fail\\-on, 2 for wrong usage, 3 when a "
         "verdict is refused because a capture is incomplete, 4 when a rule is undecided.\n.SH "
         "ENVIRONMENT\n.TP\n.B GPUFATHOM_PAGER, PAGER\npager for answers longer than the terminal; "
         "cat for none\n.TP\n.B NO_COLOR\nno colors\n";
}

}  // namespace gf::cli
