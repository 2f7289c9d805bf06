#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/compare/checks.h"
#include "analyze/compare/compare.h"
#include "analyze/compare/run_facts.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/sweep_of.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/files.h"
#include "report/compare/compare.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/sweep/sweep.h"
#include "session/answer.h"

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

struct CompareArguments {
  std::vector<std::string> captures;
  std::vector<std::string> counters, graphs;
  std::vector<std::int64_t> batches;
  std::vector<std::string> fail_on;
  std::string window, devices, junit, comment;
  bool github = false, allow_incomplete = false;
  std::optional<std::size_t> rows;
  OutputOptions output;
  std::string axes, table;
};

/// What `compare` takes of the captures, one after the other: two in memory would be too much.
struct Runs {
  std::vector<Analysis> analyses;
  std::vector<RunFacts> facts;
  std::vector<std::vector<std::string>> missing;
  std::vector<RunDetails> details;
  std::size_t told_by_graphs = 0;  // kernels
};

/// Reads and analyses one capture; says what is wrong when it cannot, and gives the exit code.
std::optional<int> add_run(const CompareArguments& out, std::size_t index, Runs& runs) {
  ProgressDisplay progress;
  InputOptions input;
  input.trace = out.captures[index];
  if (!out.counters.empty()) input.counters = out.counters[index];
  input.graphs = out.graphs;
  input.among_others = true;
  const auto loaded = load_capture(input, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  runs.told_by_graphs += loaded->told_by_graphs;
  Question question;
  question.window = out.window;
  question.devices = out.devices;
  question.progress = progress.callback();
  auto answer = answer_question(*loaded, question);
  progress.wipe();
  if (!answer) return complain(answer.error(), out.captures[index], *loaded->capture);
  runs.facts.push_back(run_facts(*answer->capture, answer->analysis));
  runs.details.emplace_back();
  if (answer->context) runs.details.back() = run_details(*answer->context, answer->analysis);
  runs.analyses.push_back(std::move(answer->analysis));
  runs.missing.push_back(std::move(answer->missing));
  return std::nullopt;
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
    answer =
        comparison_text(comparison, text_style(options.output.to_file()), text_rows(options.rows));
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

/// What the rules came to, said on standard error. A broken rule stands, whatever else is open.
int say_checks(const Comparison& comparison) {
  int exit_code = kWhole;
  for (const auto& check : comparison.checks) {
    if (check.outcome == CheckOutcome::ok) continue;
    std::string text = fmt::format("--fail-on \"{}\": {}", check.rule, check.text);
    int ends_with = check.outcome == CheckOutcome::undecided ? kUndecided : kBadInput;
    if (check.outcome == CheckOutcome::refused) {
      ends_with = kRefused;
      text += " (--allow-incomplete judges anyway)";
    }
    complain(text, ends_with);
    if (exit_code == kWhole || ends_with < exit_code) exit_code = ends_with;
  }
  return exit_code;
}

int compare_files(const CompareArguments& options) {
  if (!options.axes.empty() || !options.table.empty()) {
    std::vector<std::string> tables;
    if (!options.table.empty()) tables.push_back(options.table);
    return compare_sweep({options.captures, options.counters, std::move(tables), options.axes,
                          options.window, options.devices, options.output});
  }
  if (options.captures.empty())
    return complain("no FILE is given (see gpufathom compare --help)", kWrongUsage);
  if (options.captures.size() == 1)
    return complain("at least 2 of FILE are needed, 1 is given (see gpufathom compare --help)",
                    kWrongUsage);
  if (!options.counters.empty() && options.counters.size() != options.captures.size())
    return complain("--counters requires one report per capture, in the same order, or none",
                    kWrongUsage);
  if (options.batches.size() > 1 && options.batches.size() != options.captures.size())
    return complain("--batch requires one number for all captures, or one for each: --batch 64,512",
                    kWrongUsage);
  const std::string format = chosen_format(options.output);
  if (options.github && format != "text" && !options.output.to_file())
    return complain("--github prints to standard output: give -o FILE for the " + format,
                    kWrongUsage);
  const auto rules = checks_of(options);
  if (!rules) return complain(rules.error().message(), kWrongUsage);
  Runs runs;
  for (std::size_t index = 0; index < options.captures.size(); ++index)
    if (const auto exit_code = add_run(options, index, runs))
      return options.fail_on.empty() ? *exit_code : kRefused;
  if (!options.graphs.empty() && runs.told_by_graphs == 0)
    return complain(nothing_for_graphs("the captures"));
  Comparison comparison = compare(runs.analyses, runs.facts, options.batches);
  compare_inside(comparison, runs.details);
  try_checks(comparison, *rules);
  std::vector<bool> whole;
  for (const auto& missing : runs.missing) whole.push_back(missing.empty());
  if (!options.allow_incomplete) refuse_checks(comparison, whole);
  if (const auto written = write_answers(options, comparison, format); !written)
    return complain(written.error());
  int exit_code = kWhole;
  for (std::size_t index = 0; index < runs.analyses.size(); ++index)
    exit_code = std::max(exit_code, say_missing(options.captures[index], runs.missing[index]));
  return rules->empty() ? exit_code : say_checks(comparison);
}

}  // namespace

Verb compare_verb() {
  Verb verb{"compare", "compare two or more runs and attribute the difference"};
  const auto options = std::make_shared<CompareArguments>();
  verb.argument("FILE", options->captures,
                "traces or capture files; the others are compared with the first")
      .input();
  verb.option("--counters", options->counters, "FILE ...",
              "counter reports, one for each capture in the same order")
      .input();
  add_graphs_option(verb, options->graphs);
  add_window_option(
      verb, options->window,
      "span of each capture: all, steps, stable, step:N or START:END (default: steps, or all "
      "where there are none)");
  add_devices_option(verb, options->devices);
  verb.option("--batch", options->batches, "N[,M ...]",
              "items per step, one number for all captures or one for each (default: from the "
              "input shapes of the layers); adds time and joules per item")
      .separated_by(',')
      .each_time()
      .positive();
  verb.option("--fail-on", options->fail_on, "RULE",
              "exit with 1 if a capture is worse than the first by more than this: \"step > 3%\", "
              "\"idle > 2ms\", \"gpu.busy < -5pp\"; with 4 if undecided, with 3 if a capture is "
              "incomplete; repeatable")
      .each_time();
  verb.flag("--allow-incomplete", options->allow_incomplete,
            "apply the --fail-on rules to incomplete captures too")
      .with("--fail-on");
  verb.option("--junit", options->junit, "FILE",
              "write the --fail-on rules as JUnit XML test cases")
      .with("--fail-on")
      .output();
  verb.option(
          "--comment", options->comment, "FILE",
          "write a comment for a pull request (Markdown): verdict, the operator, kernel and line "
          "that lost most, what is new and gone")
      .output();
  verb.flag("--github", options->github, "also print the verdicts as GitHub Actions annotations");
  verb.option("--axes", options->axes, "LIST",
              "compare many runs over batch, precision, mode, framework, gpu or model, read from "
              "the captures and their file names");
  verb.option("--table", options->table, "FILE",
              "the same from a JSON or CSV table with one row per run")
      .input();
  add_rows_option(verb, options->rows);
  add_output_options(verb, options->output);
  verb.run = [options] { return compare_files(*options); };
  return verb;
}

}  // namespace gf::cli
