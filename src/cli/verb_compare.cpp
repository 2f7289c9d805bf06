#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "analyze/compare/checks.h"
#include "analyze/compare/compare.h"
#include "analyze/compare/measured_run.h"
#include "analyze/compare/run_facts.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/sweep_of.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/files.h"
#include "core/statistics.h"
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
  std::vector<std::string> after;  // of the second version, where `captures` are all of the first
  std::vector<std::string> counters, graphs;
  std::vector<std::int64_t> batches;
  std::vector<std::string> fail_on;
  std::string window, devices, junit, comment;
  bool github = false, allow_incomplete = false, full = false;
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
  std::vector<MeasuredRun> measured;
  std::size_t told_by_graphs = 0;  // kernels
};

/// Reads and analyses one capture; says what is wrong when it cannot, and gives the exit code.
std::optional<int> add_run(const CompareArguments& out, const std::string& path, std::size_t index,
                           Runs& runs) {
  ProgressDisplay progress;
  InputOptions input;
  input.trace = path;
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
  if (!answer) return complain(answer.error(), path, *loaded->capture);
  runs.facts.push_back(run_facts(*answer->capture, answer->analysis));
  runs.details.emplace_back();
  if (answer->context) runs.details.back() = run_details(*answer->context, answer->analysis);
  runs.measured.push_back(answer->context ? measured_run(*answer->context, answer->analysis)
                                          : measured_steps(answer->analysis));
  runs.analyses.push_back(std::move(answer->analysis));
  runs.missing.push_back(std::move(answer->missing));
  return std::nullopt;
}

/// What is compared: the runs, each with the captures of its version.
struct Sides {
  std::vector<Analysis> analyses;
  std::vector<RunFacts> facts;
  std::vector<RunDetails> details;
  std::vector<MeasuredVersion> versions;
  std::vector<bool> whole;  // all of its captures

  void add(Runs& runs, std::size_t begin, std::size_t end) {
    // The capture with the middle step stands for its version in the tables.
    std::vector<std::size_t> order(end - begin);
    std::iota(order.begin(), order.end(), begin);
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>((order.size() - 1) / 2);
    std::nth_element(order.begin(), middle, order.end(), [&](auto left, auto right) {
      return median(runs.measured[left].step_ns) < median(runs.measured[right].step_ns);
    });
    analyses.push_back(std::move(runs.analyses[*middle]));
    facts.push_back(std::move(runs.facts[*middle]));
    details.push_back(std::move(runs.details[*middle]));
    const auto first = runs.measured.begin() + static_cast<std::ptrdiff_t>(begin);
    versions.emplace_back(first, first + std::ssize(order));
    whole.push_back(std::all_of(runs.missing.begin() + static_cast<std::ptrdiff_t>(begin),
                                runs.missing.begin() + static_cast<std::ptrdiff_t>(end),
                                [](const auto& missing) { return missing.empty(); }));
  }
};

/// Every capture is a run, or with --after all before it are one version and all behind another.
Sides sides_of(const CompareArguments& options, Runs& runs) {
  Sides sides;
  if (options.after.empty()) {
    for (std::size_t run = 0; run < runs.analyses.size(); ++run) sides.add(runs, run, run + 1);
  } else {
    sides.add(runs, 0, options.captures.size());
    sides.add(runs, options.captures.size(), runs.analyses.size());
  }
  return sides;
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

/// What the rules came to, said on standard error. A broken rule stands, whatever else is open.
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

/// What is wrong with the words together; empty: nothing.
std::string wrong_together(const CompareArguments& options) {
  if (options.captures.size() == 1 && options.after.empty())
    return "at least 2 of FILE are needed, 1 is given (see gpufathom compare --help)";
  if (!options.counters.empty() && !options.after.empty())
    return "--counters goes with captures that are compared one by one, not with --after";
  if (!options.counters.empty() && options.counters.size() != options.captures.size())
    return "--counters requires one report per capture, in the same order, or none";
  const std::size_t runs = options.after.empty() ? options.captures.size() : 2;
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

int compare_files(const CompareArguments& options) {
  if (!options.axes.empty() || !options.table.empty()) {
    std::vector<std::string> tables;
    if (!options.table.empty()) tables.push_back(options.table);
    return compare_sweep({options.captures, options.counters, std::move(tables), options.axes,
                          options.window, options.devices, options.output});
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
  Runs runs;
  std::vector<std::string> paths = options.captures;
  paths.insert(paths.end(), options.after.begin(), options.after.end());
  for (std::size_t index = 0; index < paths.size(); ++index)
    if (const auto exit_code = add_run(options, paths[index], index, runs))
      return options.fail_on.empty() ? *exit_code : kRefused;
  if (!options.graphs.empty() && runs.told_by_graphs == 0)
    return complain(nothing_for_graphs("the captures"));
  const Sides sides = sides_of(options, runs);
  Comparison comparison = compare(sides.analyses, sides.facts, options.batches, sides.versions);
  compare_inside(comparison, sides.details);
  try_checks(comparison, *rules, sides.versions);
  if (!options.allow_incomplete) refuse_incomplete(comparison, sides.whole);
  int exit_code = say_programs(comparison);
  if (exit_code != kWhole) refuse_programs(comparison);
  if (const auto written = write_answers(options, comparison, format); !written)
    return complain(written.error());
  for (std::size_t index = 0; index < paths.size(); ++index)
    exit_code = std::max(exit_code, say_missing(paths[index], runs.missing[index]));
  return rules->empty() ? exit_code : say_checks(comparison);
}

}  // namespace

Verb compare_verb() {
  Verb verb{"compare", "compare two or more runs and attribute the difference"};
  const auto options = std::make_shared<CompareArguments>();
  verb.argument("FILE", options->captures,
                "traces or capture files; the others are compared with the first")
      .input();
  verb.option("--after", options->after, "FILE ...",
              "captures of the second version; all before are captures of the first, best recorded "
              "in turns")
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
  verb.option(
          "--fail-on", options->fail_on, "RULE",
          "exit with 1 if a capture is worse than the first by more than this: \"step > 3%\", "
          "\"kernels > 1%\", \"idle > 2ms\", \"gpu.busy < -5pp\"; with 4 if undecided, with 3 if "
          "a capture is incomplete or cannot be compared; repeatable")
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
  verb.flag("--full", options->full, "print all tables, not one screen; --rows N does too");
  add_rows_option(verb, options->rows);
  add_output_options(verb, options->output);
  verb.run = [options] { return compare_files(*options); };
  return verb;
}

}  // namespace gf::cli
