#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "report/compare/compare.h"
#include "report/labels.h"

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

/// Inside a table and a code span: nothing ends the cell, the span or the line.
std::string code_span(std::string_view text) {
  std::string out = "`";
  for (const char letter : printable(text)) {
    if (letter == '`') {
      out += '\'';
    } else if (letter == '|') {
      out += "\\|";
    } else {
      out += letter == '\n' || letter == '\r' ? ' ' : letter;
    }
  }
  return out + "`";
}

/// Outside of a code span: what a capture says marks up nothing and calls nobody.
std::string plain_markdown(std::string_view text) {
  std::string out;
  for (const char letter : printable(text)) {
    if (letter == '<') {
      out += "&lt;";
    } else if (letter == '@') {
      out += "&#64;";
    } else {
      if (std::string_view("\\`*_[]#|").find(letter) != std::string_view::npos) out += '\\';
      out += letter;
    }
  }
  return out;
}

std::string_view verdict_words(ComparedVerdict verdict) {
  switch (verdict) {
    case ComparedVerdict::faster:
      return "faster";
    case ComparedVerdict::slower:
      return "slower";
    case ComparedVerdict::no_difference:
      return "no difference";
    case ComparedVerdict::undecided:
      return "undecided";
    case ComparedVerdict::same_job:
      return "ranks of one job";
    case ComparedVerdict::different_programs:
      return "different programs";
    default:
      return "undecided: too few steps to tell noise";
  }
}

std::string culprit_lines(const ComparedCulprit& culprit) {
  const bool idle = culprit.role == "idle";
  std::string text = fmt::format(
      "\n**{} in {}**\n\n", signed_time(culprit.adds_ns),
      code_span(idle ? fmt::format("idle: {}", label_of(cause_labels(), culprit.cause).text)
                     : role_text(culprit.role, culprit.phase)));
  const auto line = [&](std::string_view what, const std::string& value) {
    if (!value.empty()) text += fmt::format("- {}: {}\n", what, code_span(value));
  };
  line(idle || culprit.kind == CulpritKind::few_steps ? "host" : "operator", culprit.name);
  line("kernel", culprit.kernel);
  line("in place of", culprit.kernel_before);
  line("shapes", culprit.shapes);
  line("module", culprit.module);
  line("line", culprit.python);
  if (culprit.kind == CulpritKind::few_steps)
    return text + fmt::format("- in {:.0f} of {:.0f} steps alone\n", culprit.calls_after,
                              culprit.calls_before);
  text += fmt::format("- time: {}, before {}", format_time(culprit.after_ns),
                      format_time(culprit.before_ns));
  if (culprit.low_ns && culprit.high_ns)
    text += fmt::format("; 95 %: {} to {}", signed_time(*culprit.low_ns),
                        signed_time(*culprit.high_ns));
  if (culprit.host_ns > 0)
    text += fmt::format("; {} of the host for added calls", format_time(culprit.host_ns));
  if (culprit.kind == CulpritKind::fresh) text += "; none of it before";
  if (culprit.kind == CulpritKind::more_calls)
    text += fmt::format("; {:.4g} calls a step, before {:.4g}", culprit.calls_after,
                        culprit.calls_before);
  return text + "\n";
}

std::string only_here(std::string_view title, const std::vector<const ComparedRole*>& rows,
                      std::size_t run) {
  if (rows.empty()) return {};
  constexpr std::size_t kShown = 5;
  std::string text = fmt::format("\n{}:", title);
  for (std::size_t i = 0; i < std::min(kShown, rows.size()); ++i)
    text += fmt::format("{} {} {}", i > 0 ? "," : "",
                        code_span(role_text(rows[i]->role, rows[i]->phase)),
                        format_time(rows[i]->ns[run]));
  if (rows.size() > kShown) text += fmt::format(" and {} more", rows.size() - kShown);
  return text + "\n";
}

std::string changes_table(const Comparison& comparison, std::size_t run) {
  constexpr std::size_t kShown = 6;
  std::string text = fmt::format("\n| part of a {} | A | {} | change |\n|---|---:|---:|---:|\n",
                                 comparison.per, run_letter(run));
  std::size_t shown = 0;
  for (const auto& row : comparison.time) {
    if (row.change_ns[run] == 0) continue;
    if (shown++ == kShown) break;
    text += fmt::format("| {} | {} | {} | {} |\n", code_span(row_name(row)), format_time(row.ns[0]),
                        format_time(row.ns[run]), signed_time(row.change_ns[run]));
  }
  return text;
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

std::string pull_request_comment(const Comparison& comparison) {
  std::string text;
  for (std::size_t run = 1; run < comparison.runs.size(); ++run) {
    const auto& change = comparison.changes[run - 1];
    text += fmt::format("### gpufathom: {} against {}: {}\n\n{}\n",
                        code_span(comparison.runs[run].label), code_span(comparison.runs[0].label),
                        verdict_words(change.verdict),
                        plain_markdown(comparison_headline(comparison, run)));
    for (const auto& likeness : comparison.likeness)
      if (likeness.run == static_cast<std::int64_t>(run))
        if (const auto alike = alike_sentence(likeness); !alike.empty())
          text += "\n" + plain_markdown(alike) + "\n";
    for (const auto& culprit : comparison.culprits)
      if (culprit.run == static_cast<std::int64_t>(run)) text += culprit_lines(culprit);
    if (change.verdict != ComparedVerdict::different_programs) {
      text += only_here("New", new_roles(comparison, run), run);
      text += only_here("Gone", gone_roles(comparison, run), 0);
    }
    text += changes_table(comparison, run) + "\n";
  }
  if (const auto differs = difference_sentence(comparison); !differs.empty())
    text += plain_markdown(differs) + "\n";
  for (const auto& check : comparison.checks)
    text += fmt::format("- {} {}: {}\n", code_span(check.rule), name_of(check.outcome),
                        plain_markdown(check.text));
  return text;
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
