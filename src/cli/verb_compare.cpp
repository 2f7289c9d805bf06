#include <algorithm>
#include <memory>
#include <optional>

#include "analyze/analyze.h"
#include "analyze/compare/compare.h"
#include "analyze/sampled/sampled.h"
#include "cli/load_capture.h"
#include "cli/output.h"
#include "cli/progress_display.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "report/compare/compare.h"
#include "report/json.h"

namespace gf::cli {

namespace {

struct Options {
  std::vector<std::string> captures;
  std::vector<std::string> counters;
  std::string window;
  std::optional<std::size_t> rows;
  OutputOptions output;
};

/// The steps of the capture, its steady part when samples are all there is, or all of it when it
/// has neither.
Result<Analysis> analyze_steps(const Capture& capture, AnalyzeOptions options) {
  if (holds_only_samples(capture)) {
    options.window = "stable";
  } else {
    options.window = "steps";
  }
  if (auto analysis = analyze(capture, options)) return analysis;
  options.window = "all";
  return analyze(capture, options);
}

int compare_files(const Options& out) {
  if (!out.counters.empty() && out.counters.size() != out.captures.size())
    return complain("--counters wants one report for each capture, in the same order, or none",
                    kWrongUsage);
  const std::string format = chosen_format(out.output);
  ProgressDisplay progress;
  std::vector<Analysis> analyses;
  for (std::size_t i = 0; i < out.captures.size(); ++i) {
    InputOptions input;
    input.trace = out.captures[i];
    if (!out.counters.empty()) input.counters = out.counters[i];
    const auto loaded = load_capture(input, progress.callback());
    progress.wipe();
    if (!loaded) return complain(loaded.error());
    AnalyzeOptions options;
    options.window = out.window;
    options.progress = progress.callback();
    auto analysis = out.window.empty() ? analyze_steps(loaded->capture, options)
                                       : analyze(loaded->capture, options);
    progress.wipe();
    if (!analysis) return complain(analysis.error(), out.captures[i], loaded->capture);
    analysis->counters_source = loaded->counters;
    analyses.push_back(std::move(*analysis));
  }
  const Comparison comparison = compare(analyses);
  std::string answer;
  if (format == "json") {
    to_json(answer, comparison);
    answer += '\n';
  } else {
    if (format == "html") {
      answer = comparison_page(comparison, out.rows ? text_rows(out.rows) : 25);
    } else {
      answer = comparison_text(comparison, text_style(out.output.to_file()), text_rows(out.rows));
    }
  }
  if (const auto written = write_answer(out.output, answer); !written)
    return complain(written.error());
  int exit_code = kWhole;
  for (std::size_t i = 0; i < analyses.size(); ++i)
    exit_code = std::max(exit_code, say_shortcomings(out.captures[i], analyses[i]));
  return exit_code;
}

}  // namespace

Verb compare_verb() {
  Verb verb{"compare", "what of the difference between runs comes from where"};
  const auto options = std::make_shared<Options>();
  verb.argument("FILE", options->captures,
                "traces or capture files; the others are compared with the first")
      .must()
      .count_at_least(2)
      .input();
  verb.option("--counters", options->counters, "FILE ...",
              "counter reports, one for each capture in the same order")
      .input();
  verb.option(
      "--window", options->window, "W",
      "span of each capture: all, steps, stable, step:N or START:END (default: steps, or all "
      "where there are none)");
  add_rows_option(verb, options->rows);
  add_output_options(verb, options->output);
  verb.run = [options] { return compare_files(*options); };
  return verb;
}

}  // namespace gf::cli
