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
#include "analyze/sweep/sweep.h"
#include "analyze/sweep/table.h"
#include "cli/input_options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/out_file.h"
#include "report/compare/ci.h"
#include "report/compare/compare.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/sweep/sweep.h"
#include "session/answer.h"

namespace gf::cli {

namespace {

struct SweepOptions {
  std::vector<std::string> captures, counters;
  std::string axes, table, window;
  OutputOptions output;
};

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    words.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

/// Rows of the table, and one for every capture that is named by itself.
Result<std::vector<SweepRow>> rows_of(const SweepOptions& options) {
  std::vector<SweepRow> rows;
  if (!options.table.empty()) {
    auto read = read_sweep_table(options.table);
    if (!read) return read;
    rows = std::move(*read);
  }
  for (std::size_t i = 0; i < options.captures.size(); ++i) {
    SweepRow row;
    row.capture = options.captures[i];
    if (!options.counters.empty()) row.counters = options.counters[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

/// What the table gives goes before what the capture says.
void join(SweepInput analysed, SweepInput& given) {
  SweepRun& run = given.run;
  for (const auto& axis : sweep_axes())
    if ((run.*(axis.member)).empty()) run.*(axis.member) = analysed.run.*(axis.member);
  run.source = analysed.run.source;
  if (run.levels.empty()) run.levels = std::move(analysed.run.levels);
  if (given.step_seconds.empty()) given.step_seconds = std::move(analysed.step_seconds);
  if (given.kernels.empty()) given.kernels = std::move(analysed.kernels);
}

/// Analyses the capture of a row; the exit code, kWhole when nothing was lost.
int fill(const SweepOptions& options, SweepRow& row, ProgressDisplay& progress) {
  InputOptions input;
  input.trace = row.capture;
  input.counters = row.counters;
  const auto loaded = load_capture(input, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  Question question;
  question.window = row.window.empty() ? options.window : row.window;
  question.progress = progress.callback();
  const auto answer = answer_question(*loaded, question);
  progress.wipe();
  if (!answer) return complain(answer.error(), row.capture, *loaded->capture);
  join(sweep_input(answer->analysis), row.input);
  read_axes_from_name(row.capture, row.input.run);
  const RunFacts facts = run_facts(*answer->capture, answer->analysis);
  if (!row.input.run.batch) row.input.run.batch = facts.batch;
  if (row.input.run.precision.empty()) row.input.run.precision = facts.precision;
  return say_missing(row.capture, answer->missing);
}

/// Whether the answer would take the place of a file that the table names.
bool overwrites(const std::string& output, const std::vector<SweepRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [&](const SweepRow& row) {
    return would_overwrite(output, row.capture) || would_overwrite(output, row.counters);
  });
}

/// The first asked-for axis that a run lacks, as a complaint.
std::string lacking(const std::vector<std::string>& axes, const SweepRow& row) {
  const SweepRun& run = row.input.run;
  for (const auto& name : axes) {
    bool lacks = name == "batch" && !run.batch;
    for (const auto& axis : sweep_axes())
      if (axis.name == name && (run.*(axis.member)).empty()) lacks = true;
    if (lacks)
      return fmt::format(
          "{}: its {} is not known: put it into the file's name (resnet50_amp_eager_b64.gpf) or "
          "into a table (--table)",
          row.capture.empty() ? run.source : row.capture, name);
  }
  return {};
}

int compare_sweep(const SweepOptions& options) {
  const auto axes = split(options.axes);
  for (const auto& name : axes)
    if (!is_sweep_axis(name))
      return complain(fmt::format("--axes: there is no axis \"{}\" (batch, precision, mode, "
                                  "framework, gpu, model)",
                                  name),
                      kWrongUsage);
  if (!options.counters.empty() && options.counters.size() != options.captures.size())
    return complain("--counters requires one report per capture, in the same order, or none",
                    kWrongUsage);
  auto rows = rows_of(options);
  if (!rows) return complain(rows.error());
  if (rows->size() < 2) return complain("a sweep requires at least 2 runs", kWrongUsage);
  if (overwrites(options.output.path, *rows))
    return complain(overwrites_text(options.output.path), kWrongUsage);
  const std::string format = chosen_format(options.output);
  ProgressDisplay progress;
  int exit_code = kWhole;
  std::vector<SweepInput> inputs;
  for (auto& row : *rows) {
    if (!row.capture.empty()) {
      exit_code = std::max(exit_code, fill(options, row, progress));
      if (row.input.run.source.empty()) return exit_code;
    }
    if (const std::string complaint = lacking(axes, row); !complaint.empty())
      return complain(complaint, kBadInput);
    inputs.push_back(std::move(row.input));
  }
  const Sweep sweep = make_sweep(std::move(inputs), axes);
  std::string answer;
  if (format == "json") {
    answer = json_line(sweep);
  } else if (format == "html") {
    auto page = sweep_html(sweep);
    if (!page) return complain(page.error());
    answer = std::move(*page);
  } else {
    answer = sweep_text(sweep, text_style(options.output.to_file()));
  }
  if (const auto written = write_answer(options.output, answer); !written)
    return complain(written.error());
  return exit_code;
}

struct CompareArguments {
  std::vector<std::string> captures;
  std::vector<std::string> counters;
  std::vector<std::int64_t> batches;
  std::vector<std::string> fail_on;
  std::string window, junit;
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
};

/// Reads and analyses one capture; says what is wrong when it cannot, and gives the exit code.
std::optional<int> add_run(const CompareArguments& out, std::size_t index, Runs& runs) {
  ProgressDisplay progress;
  InputOptions input;
  input.trace = out.captures[index];
  if (!out.counters.empty()) input.counters = out.counters[index];
  const auto loaded = load_capture(input, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  Question question;
  question.window = out.window;
  question.progress = progress.callback();
  auto answer = answer_question(*loaded, question);
  progress.wipe();
  if (!answer) return complain(answer.error(), out.captures[index], *loaded->capture);
  runs.facts.push_back(run_facts(*answer->capture, answer->analysis));
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
  if (!options.axes.empty() || !options.table.empty())
    return compare_sweep({options.captures, options.counters, options.axes, options.table,
                          options.window, options.output});
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
  Comparison comparison = compare(runs.analyses, runs.facts, options.batches);
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
  add_window_option(
      verb, options->window,
      "span of each capture: all, steps, stable, step:N or START:END (default: steps, or all "
      "where there are none)");
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
