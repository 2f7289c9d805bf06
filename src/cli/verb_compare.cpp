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
  options.window = holds_only_samples(capture) ? "stable" : "steps";
  if (auto analysis = analyze(capture, options)) return analysis;
  options.window = "all";
  return analyze(capture, options);
}

int compare_files(const Options& o) {
  if (!o.counters.empty() && o.counters.size() != o.captures.size())
    return complain("--counters wants one report for each capture, in the same order, or none",
                    kWrongUsage);
  const std::string format = chosen_format(o.output);
  ProgressDisplay progress;
  std::vector<Analysis> analyses;
  for (std::size_t i = 0; i < o.captures.size(); ++i) {
    InputOptions input;
    input.trace = o.captures[i];
    if (!o.counters.empty()) input.counters = o.counters[i];
    const auto loaded = load_capture(input, progress.callback());
    progress.wipe();
    if (!loaded) return complain(loaded.error());
    AnalyzeOptions options;
    options.window = o.window;
    options.progress = progress.callback();
    auto analysis = o.window.empty() ? analyze_steps(loaded->capture, options)
                                     : analyze(loaded->capture, options);
    progress.wipe();
    if (!analysis) return complain(analysis.error(), o.captures[i], loaded->capture);
    analysis->counters_source = loaded->counters;
    analyses.push_back(std::move(*analysis));
  }
  const Comparison comparison = compare(analyses);
  std::string answer;
  if (format == "json") {
    to_json(answer, comparison);
    answer += '\n';
  } else {
    answer = format == "html"
                 ? comparison_page(comparison, o.rows ? text_rows(o.rows) : 25)
                 : comparison_text(comparison, text_style(o.output.to_file()), text_rows(o.rows));
  }
  if (const auto written = write_answer(o.output, answer); !written)
    return complain(written.error());
  int exit_code = kWhole;
  for (std::size_t i = 0; i < analyses.size(); ++i)
    exit_code = std::max(exit_code, say_shortcomings(o.captures[i], analyses[i]));
  return exit_code;
}

}  // namespace

Verb compare_verb() {
  Verb verb{"compare", "what of the difference between runs comes from where"};
  const auto o = std::make_shared<Options>();
  verb.argument("FILE", o->captures,
                "traces or capture files; the others are compared with the first")
      .must()
      .count_at_least(2)
      .input();
  verb.option("--counters", o->counters, "FILE ...",
              "counter reports, one for each capture in the same order")
      .input();
  verb.option(
      "--window", o->window, "W",
      "span of each capture: all, steps, stable, step:N or START:END (default: steps, or all "
      "where there are none)");
  add_rows_option(verb, o->rows);
  add_output_options(verb, o->output);
  verb.run = [o] { return compare_files(*o); };
  return verb;
}

}  // namespace gf::cli
