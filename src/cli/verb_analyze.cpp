#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/call_tree.h"
#include "analyze/report_alone.h"
#include "cli/one_capture.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/query/own_rules.h"
#include "report/summary.h"
#include "report/text/reports.h"
#include "report/text/sections.h"
#include "session/answer.h"
#include "session/kept.h"
#include "session/ranks.h"

namespace gf::cli {

namespace {

struct AnalyzeArguments {
  InputOptions input;
  Question question;
  std::vector<std::string> more;   // captures of other ranks
  std::vector<std::string> peers;  // the same, to tell waiting apart in the answer for this one
  OutputOptions output;
  std::string rules;  // of a team's own
  std::optional<std::size_t> rows;
  bool full = false;
};

/// True if the one-screen result is asked for.
bool is_brief(const AnalyzeArguments& options, const std::string& format) {
  return format == "text" && !options.full && !options.rows;
}

Result<std::string> rendered(const AnalyzeArguments& options, const std::string& format,
                             const Answer& answer) {
  const Analysis& analysis = answer.analysis;
  if (format == "text") {
    const TextStyle style = text_style(options.output.to_file());
    if (is_brief(options, format))
      return short_text(analysis, style, answer.context ? answer.context->omitted : OmittedParts{});
    std::string text = full_text(analysis, style, text_rows(options.rows));
    if (answer.context)
      text += call_tree_section(call_tree(*answer.context, analysis), analysis, style);
    return text;
  }
  return format == "html" ? page_of(answer) : json_line(analysis);
}

int analyze_files(const AnalyzeArguments& out) {
  const std::string format = chosen_format(out.output);
  if (format == "html" && !out.output.to_file() && stdout_is_terminal())
    return complain("--format html requires -o FILE", kWrongUsage);
  ProgressDisplay progress;
  Question question = out.question;
  question.report_alone = true;
  question.max_rows = other_rows(format, out.rows);
  question.brief = is_brief(out, format);
  question.progress = progress.callback();
  if (out.peers.empty() && out.rules.empty() && is_usual(out.input, question))
    if (const auto kept = kept_answer(out.input.trace))
      return give_answer(
          out.output, out.input.trace, shortcomings(kept->analysis),
          short_text(kept->analysis, text_style(out.output.to_file()), kept->omitted));
  const auto loaded = load_capture(out.input, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  if (!out.peers.empty() && holds_only_report(*loaded->capture))
    return complain("--ranks requires a trace, not a counter report alone", kWrongUsage);
  if (!out.rules.empty()) {
    auto rules = read_own_rules(out.rules);
    if (!rules) return complain(rules.error());
    question.own_rules = std::move(*rules);
  }
  const auto waiting = find_waiting(out.peers, out.input, *loaded->capture, question.progress,
                                    [](const Error& error) { complain(error); });
  progress.wipe();
  if (!waiting) return complain(waiting.error());
  if (*waiting) question.waiting = &**waiting;
  const auto answer = answer_question(*loaded, question);
  progress.wipe();
  if (!answer) return complain(answer.error(), out.input.trace, *loaded->capture);
  return give_answer(out.output, out.input.trace, answer->missing, rendered(out, format, *answer));
}

/// Several captures, or a folder of them, are the ranks of a job: the question is another one.
int analyze_ranks_of(const AnalyzeArguments& options) {
  if (!options.peers.empty())
    return complain("--ranks requires one capture to analyze", kWrongUsage);
  if (chosen_format(options.output) == "html")
    return complain("several captures are analyzed as the ranks of a job, as text or json",
                    kWrongUsage);
  if (!options.input.counters.empty() || !options.input.power.empty())
    return complain("--counters and --power require a single capture", kWrongUsage);
  if (!options.rules.empty() || !options.question.model.empty() || options.question.batch)
    return complain("--rules, --model and --batch require a single capture", kWrongUsage);
  RankInputs input{{options.input.trace}, options.input.max_bytes, options.input.threads};
  input.paths.insert(input.paths.end(), options.more.begin(), options.more.end());
  input.graphs = options.input.graphs;
  input.devices = options.question.devices;
  if (options.question.window != "auto") input.window = options.question.window;
  return answer_ranks(input, options.output, options.rows, Incomplete::answer);
}

}  // namespace

Verb analyze_verb() {
  Verb verb{"analyze", "analyze a capture: utilization by level, idle time, recommendations"};
  const auto options = std::make_shared<AnalyzeArguments>();
  add_input_options(verb, options->input);
  verb.argument("MORE", options->more,
                "captures of the job's other ranks; same output as `gpufathom ranks`")
      .input();
  add_peers_option(verb, options->peers);
  add_window_option(verb, options->question.window);
  add_devices_option(verb, options->question.devices);
  verb.option("--batch", options->question.batch, "N",
              "items per step: adds time and energy per item")
      .positive();
  verb.option(
          "--model", options->question.model, "FILE",
          "energy model that `calibrate` wrote (default: the one shipped for the capture's GPU)")
      .input();
  verb.option("--rules", options->rules, "FILE",
              "your own rules, in addition to the built-in ones (docs/own-rules.md)")
      .input();
  verb.flag("--full", options->full,
            "print everything: evidence, idle causes, runtime, layers, kernels, data quality "
            "(default: one screen; --rows implies --full)");
  add_rows_option(verb, options->rows);
  add_output_options(verb, options->output);
  verb.run = [options] {
    auto chosen = choose_captures("analyze", options->more, options->input);
    if (!chosen.wrong.empty()) return complain(chosen.wrong, kWrongUsage);
    if (chosen.files.size() > 1) return analyze_ranks_of(*options);
    options->input.trace = chosen.files.front();
    say_earlier(chosen);
    return analyze_files(*options);
  };
  return verb;
}

}  // namespace gf::cli
