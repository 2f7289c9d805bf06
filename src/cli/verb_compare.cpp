#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyze/compare/checks.h"
#include "analyze/compare/compare.h"
#include "cli/compare_runs.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/sweep_of.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/files.h"
#include "core/text.h"
#include "report/compare/compare.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/sweep/sweep.h"
#include "session/baseline.h"

namespace gf::cli {

namespace {

int compare_sweep(const SweepOptions& options) {
  const std::string format = chosen_format(options.output);
  const SweepAnswer made = sweep_of(options);
  if (!made.sweep) return made.exit_code;
  std::string answer;
  if (format == "json") {
    answer = json_line(*made.sweep);
  } else if (format == "html") {
    auto page = sweep_html(*made.sweep);
    if (!page) return complain(page.error());
    answer = std::move(*page);
  } else {
    answer = sweep_text(*made.sweep, text_style(options.output.to_file()));
  }
  if (const auto written = write_answer(options.output, answer); !written)
    return complain(written.error());
  return made.exit_code;
}

Result<std::vector<CheckRule>> checks_of(const CompareArguments& options) {
  std::vector<CheckRule> rules;
  for (const auto& text : options.fail_on) {
    auto rule = parse_check(text);
    if (!rule) return tl::unexpected(rule.error());
    rules.push_back(std::move(*rule));
  }
  return rules;
}

/// The answer, and beside it what build servers read.
Status write_answers(const CompareArguments& options, const Comparison& comparison,
                     const std::string& format) {
  std::string answer;
  if (format == "json") {
    answer = json_line(comparison);
  } else if (format == "html") {
    auto page = comparison_html(comparison, options.rows ? text_rows(options.rows) : 25);
    if (!page) return tl::unexpected(page.error());
    answer = std::move(*page);
  } else {
    // Rows are asked for where tables are wanted.
    answer = comparison_text(comparison, text_style(options.output.to_file()),
                             options.full || options.rows, text_rows(options.rows));
  }
  if (auto written = write_answer(options.output, answer); !written) return written;
  if (!options.junit.empty()) {
    OutputOptions file;
    file.path = options.junit;
    if (auto written = write_answer(file, junit_report(comparison)); !written) return written;
  }
  if (!options.comment.empty()) {
    OutputOptions file;
    file.path = options.comment;
    if (auto written = write_answer(file, pull_request_comment(comparison)); !written)
      return written;
  }
  // Commands to the build server, which answers must not hold: past the guard of answers.
  if (options.github)
    return gf::write_all(STDOUT_FILENO, github_annotations(comparison), "standard output");
  return {};
}

/// Reports the outcome of the rules on standard error. A broken rule stands, whatever else is open.
int say_checks(const Comparison& comparison) {
  int exit_code = kWhole;
  for (const auto& check : comparison.checks) {
    if (check.outcome == CheckOutcome::ok) continue;
    const int ends_with = check.outcome == CheckOutcome::undecided ? kUndecided
                          : check.outcome == CheckOutcome::refused ? kRefused
                                                                   : kBadInput;
    complain(fmt::format("--fail-on \"{}\": {}", check.rule, check.text), ends_with);
    if (exit_code == kWhole || ends_with < exit_code) exit_code = ends_with;
  }
  return exit_code;
}

/// The error in the combination of options; empty if there is none.
std::string wrong_together(const CompareArguments& options) {
  const bool one = options.one_version();
  if (one && !options.after.empty())
    return "--baseline is the first version: give the captures of the second without --after";
  if (options.save && (!options.fail_on.empty() || !options.comment.empty() || options.github))
    return "--save keeps captures and compares nothing: give rules and comments without it";
  if (options.captures.size() == 1 && options.after.empty() && !one)
    return "at least 2 of FILE are needed, 1 is given (see gpufathom compare --help)";
  if (!options.counters.empty() && (!options.after.empty() || one))
    return "--counters goes with captures that are compared one by one, not with --after or "
           "--baseline";
  if (!options.counters.empty() && options.counters.size() != options.captures.size())
    return "--counters requires one report per capture, in the same order, or none";
  const std::size_t runs = options.after.empty() && !one ? options.captures.size() : 2;
  if (options.batches.size() > 1 && options.batches.size() != runs)
    return "--batch requires one number for all captures, or one for each: --batch 64,512";
  return {};
}

/// Runs of other programs have no verdict.
int say_programs(const Comparison& comparison) {
  int exit_code = kWhole;
  for (const auto& likeness : comparison.likeness) {
    if (likeness.program != ComparedProgram::different || comparison.ranks_of_one_job) continue;
    const auto run = static_cast<std::size_t>(likeness.run);
    exit_code = complain(fmt::format("{}: another program than {}: {}", comparison.runs[run].label,
                                     comparison.runs[0].label, likeness.differs),
                         kBadInput);
  }
  return exit_code;
}

/// Keeps the captures as a baseline. Incomplete captures, and those that cannot be compared with
/// each other, are refused.
int save_baseline(const CompareArguments& options, ComparedRuns& runs) {
  int exit_code = kWhole;
  for (std::size_t index = 0; index < runs.paths.size(); ++index)
    exit_code = std::max(exit_code, say_missing(runs.paths[index], runs.missing[index]));
  if (exit_code != kWhole) {
    const Error refused{"not saved: a baseline is made of whole captures", options.baseline, -1,
                        "record them again"};
    return complain(refused);
  }
  const auto made = versions_of(options, runs);
  const auto& version = made.versions.front();
  if (const auto change = measure_change(version.measured, version.measured);
      !change.refused.empty())
    return complain(Error{"not saved: " + change.refused, options.baseline, -1, {}});
  if (const auto written = write_baseline(options.baseline, version); !written)
    return complain(written.error());
  std::size_t steps = 0;
  for (const auto& capture : version.measured) steps += capture.step_ns.size();
  const auto said =
      write_answer(options.output, fmt::format("{}: {} with {}, of {}\n", options.baseline,
                                               plural(version.measured.size(), "capture"),
                                               plural(static_cast<std::int64_t>(steps), "step"),
                                               version.analysis.source.path));
  return said ? kWhole : complain(said.error());
}

/// For `git bisect run`: whatever is no verdict skips the commit, and what no commit can mend ends
/// the bisection.
constexpr int kSkip = 125, kAbort = 128;

int compare_versions(const CompareArguments& options, const std::vector<CheckRule>& rules,
                     const std::string& format) {
  const int unreadable = rules.empty() ? kBadInput : kRefused;
  ComparedVersions made;
  if (options.one_version() && !options.save) {
    auto baseline = read_baseline(options.baseline);
    if (!baseline) {
      complain(baseline.error());
      return options.bisect ? kAbort : unreadable;
    }
    made.versions.push_back(std::move(*baseline));
    made.whole.push_back(true);
  }
  ComparedRuns runs;
  if (const auto exit_code = read_runs(options, runs)) return rules.empty() ? *exit_code : kRefused;
  if (options.save) return save_baseline(options, runs);
  auto read = versions_of(options, runs);
  std::ranges::move(read.versions, std::back_inserter(made.versions));
  made.whole.insert(made.whole.end(), read.whole.begin(), read.whole.end());
  std::vector<Analysis> analyses;
  std::vector<RunFacts> facts;
  std::vector<RunDetails> details;
  std::vector<MeasuredVersion> versions;
  for (auto& version : made.versions) {
    analyses.push_back(std::move(version.analysis));
    facts.push_back(std::move(version.facts));
    details.push_back(std::move(version.details));
    versions.push_back(std::move(version.measured));
  }
  Comparison comparison = compare(analyses, facts, options.batches, versions);
  compare_inside(comparison, details, versions);
  try_checks(comparison, rules, versions);
  if (!options.allow_incomplete) refuse_incomplete(comparison, made.whole);
  int exit_code = say_programs(comparison);
  if (const auto written = write_answers(options, comparison, format); !written) {
    complain(written.error());
    return options.bisect ? kAbort : kBadInput;
  }
  for (std::size_t index = 0; index < runs.paths.size(); ++index)
    exit_code = std::max(exit_code, say_missing(runs.paths[index], runs.missing[index]));
  return rules.empty() ? exit_code : say_checks(comparison);
}

int compare_files(const CompareArguments& options) {
  if (!options.axes.empty() || !options.table.empty()) {
    std::vector<std::string> tables;
    if (!options.table.empty()) tables.push_back(options.table);
    return compare_sweep({options.captures, options.counters, std::move(tables), options.axes,
                          options.window, options.devices, options.output, options.limits});
  }
  if (options.captures.empty())
    return complain("no FILE is given (see gpufathom compare --help)", kWrongUsage);
  if (const auto wrong = wrong_together(options); !wrong.empty())
    return complain(wrong, kWrongUsage);
  const std::string format = chosen_format(options.output);
  if (options.github && format != "text" && !options.output.to_file())
    return complain("--github prints to standard output: give -o FILE for the " + format,
                    kWrongUsage);
  const auto rules = checks_of(options);
  if (!rules) return complain(rules.error().message(), kWrongUsage);
  const int exit_code = compare_versions(options, *rules, format);
  const bool no_verdict = exit_code == kRefused || exit_code == kUndecided;
  return options.bisect && no_verdict ? kSkip : exit_code;
}

}  // namespace

Verb compare_verb() {
  const std::vector<std::string> of_many_runs{"--axes", "--table"};
  Verb verb{"compare", "compare two or more runs and attribute the difference"};
  const auto options = std::make_shared<CompareArguments>();
  verb.argument("FILE", options->captures,
                "traces or capture files; the others are compared with the first")
      .input();
  verb.option("--after", options->after, "FILE ...",
              "captures of the second version; the FILEs before it are of the first (record them "
              "alternately)")
      .input()
      .not_with(of_many_runs);
  verb.option("--baseline", options->baseline, "FILE",
              "read the first version from this file; all FILEs are of the second")
      .input()
      .not_with(of_many_runs);
  verb.flag("--save", options->save, "save all FILEs as that baseline instead").with("--baseline");
  verb.option("--counters", options->counters, "FILE ...",
              "counter reports, one for each capture in the same order")
      .input();
  add_graphs_option(verb, options->graphs).not_with(of_many_runs);
  add_window_option(verb, options->window,
                    "span of each capture: auto (default: the steps, or all if there are none; for "
                    "samples alone, their steady part), all, steps, stable, step:N or START:END");
  add_devices_option(verb, options->devices);
  verb.option("--batch", options->batches, "N[,M ...]",
              "items per step, one number for all captures or one for each (default: from the "
              "input shapes of the layers); adds time and joules per item")
      .separated_by(',')
      .each_time()
      .positive()
      .not_with(of_many_runs);
  verb.option(
          "--fail-on", options->fail_on, "RULE",
          "exit with 1 if a capture is worse than the first by more than this: \"step > 3%\", "
          "\"kernels > 1%\", \"idle > 2ms\", \"gpu.busy < -5pp\"; with 4 if undecided, with 3 if "
          "a capture is incomplete or cannot be compared; repeatable")
      .each_time()
      .not_with(of_many_runs);
  verb.flag("--allow-incomplete", options->allow_incomplete,
            "apply the --fail-on rules to incomplete captures too")
      .with("--fail-on");
  verb.flag("--bisect", options->bisect,
            "exit codes for `git bisect run`: 125, which skips a commit, instead of 3 and 4")
      .with("--fail-on");
  verb.option("--junit", options->junit, "FILE",
              "write the --fail-on rules as JUnit XML test cases")
      .with("--fail-on")
      .output();
  verb.option("--comment", options->comment, "FILE",
              "write a pull-request comment (Markdown): the verdict, the operator, kernel and "
              "source line that slowed down most, what is new or gone")
      .output()
      .not_with(of_many_runs);
  verb.flag("--github", options->github, "also print the verdicts as GitHub Actions annotations")
      .not_with(of_many_runs);
  verb.option("--axes", options->axes, "LIST",
              "compare many runs over batch, precision, mode, framework, gpu or model, read from "
              "the captures and their file names")
      .suggest(axis_names(), ',');
  verb.option("--table", options->table, "FILE",
              "the same from a JSON or CSV table with one row per run")
      .input();
  verb.flag("--full", options->full,
            "print all tables (default: one screen; --rows implies --full)");
  add_rows_option(verb, options->rows);
  add_limit_options(verb, options->limits.max_bytes, options->limits.threads);
  add_output_options(verb, options->output);
  verb.run = [options] { return compare_files(*options); };
  return verb;
}

}  // namespace gf::cli
