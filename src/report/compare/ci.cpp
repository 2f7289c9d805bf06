#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "report/compare/compare.h"

namespace gf {

namespace {

/// A workflow command ends with its line; properties end with a comma or colon as well.
std::string for_github(std::string_view text, bool property) {
  std::string out;
  for (const char letter : printable(text)) {
    if (letter == '%') {
      out += "%25";
    } else if (letter == '\r') {
      out += "%0D";
    } else if (letter == '\n') {
      out += "%0A";
    } else if (property && letter == ':') {
      out += "%3A";
    } else if (property && letter == ',') {
      out += "%2C";
    } else {
      out += letter;
    }
  }
  return out;
}

std::string for_xml(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '&') {
      out += "&amp;";
    } else if (letter == '<') {
      out += "&lt;";
    } else if (letter == '>') {
      out += "&gt;";
    } else if (letter == '"') {
      out += "&quot;";
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      out += ' ';  // XML has no control characters
    } else {
      out += letter;
    }
  }
  return out;
}

std::string command(std::string_view kind, std::string_view title, std::string_view text) {
  return fmt::format("::{} title={}::{}\n", kind, for_github(title, true), for_github(text, false));
}

}  // namespace

std::string github_annotations(const Comparison& comparison) {
  std::string out;
  for (std::size_t run = 1; run < comparison.runs.size(); ++run)
    out += command("notice", "gpufathom compare", comparison_headline(comparison, run));
  for (const auto& check : comparison.checks) {
    out += check.outcome != CheckOutcome::ok
               ? command("error", "gpufathom: " + check.rule, check.text)
               : command("notice", "gpufathom: " + check.rule, check.text);
  }
  return out;
}

std::string junit_report(const Comparison& comparison) {
  const auto failures = std::ranges::count(comparison.checks, true, &ComparedCheck::failed);
  const auto good =
      std::ranges::count(comparison.checks, CheckOutcome::ok, &ComparedCheck::outcome);
  const auto all = static_cast<std::ptrdiff_t>(comparison.checks.size());
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"gpufathom "
      "compare\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\">\n",
      all, failures, all - good - failures);
  for (const auto& check : comparison.checks) {
    const auto run = static_cast<std::size_t>(check.run);
    out += fmt::format("<testcase classname=\"{}\" name=\"{}\">\n",
                       for_xml(comparison.runs[run].label), for_xml(check.rule));
    const std::string story = check.text + "\n" + comparison_headline(comparison, run);
    if (check.outcome == CheckOutcome::ok) {
      out += fmt::format("<system-out>{}</system-out>\n", for_xml(story));
    } else {
      // Undecided and refused rules gave no verdict: JUnit calls that an error.
      const std::string_view element = check.failed ? "failure" : "error";
      out += fmt::format("<{0} message=\"{1}\">{2}</{0}>\n", element, for_xml(check.text),
                         for_xml(story));
    }
    out += "</testcase>\n";
  }
  return out + "</testsuite>\n</testsuites>\n";
}

}  // namespace gf
