#include <memory>
#include <optional>

#include "analyze/work/work.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "report/json.h"
#include "report/text/reports.h"
#include "session/answer.h"
#include "session/ranks.h"

namespace gf::cli {

namespace {

struct WorkArguments {
  InputOptions input;
  Question question;
  OutputOptions output;
  std::vector<std::string> peers;  // captures of other ranks
  std::string ceilings;
  std::optional<std::size_t> rows;
};

std::string rendered(const WorkArguments& asked, const std::string& format, const WorkUse& use) {
  if (format == "text")
    return work_text(use, text_style(asked.output.to_file()), text_rows(asked.rows));
  return json_line(use);
}

int work_of_file(const WorkArguments& asked) {
  const std::string format = chosen_format(asked.output);
  ProgressDisplay progress;
  const auto loaded = load_capture(asked.input, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  Question question = asked.question;
  question.report_alone = true;
  question.max_rows = other_rows(format, asked.rows);
  question.progress = progress.callback();
  const auto ceilings = find_ceilings(asked.ceilings, *loaded->capture);
  if (!ceilings) return complain(ceilings.error());
  const auto waiting = find_waiting(asked.peers, asked.input, *loaded->capture, question.progress,
                                    [](const Error& error) { complain(error); });
  progress.wipe();
  if (!waiting) return complain(waiting.error());
  if (*waiting) question.waiting = &**waiting;
  if (has_host_work_alone(*loaded->capture)) {
    const auto use = measure_host_work(*loaded->capture, question);
    if (!use) return complain(use.error());
    const auto written = write_answer(asked.output, rendered(asked, format, *use));
    return written ? kWhole : complain(written.error());
  }
  const auto answer = answer_question(*loaded, question);
  progress.wipe();
  if (!answer) return complain(answer.error(), asked.input.trace, *loaded->capture);
  const WorkUse use =
      measure_work(*answer->context, answer->analysis, *ceilings ? &**ceilings : nullptr);
  return give_answer(asked.output, asked.input.trace, answer->missing,
                     rendered(asked, format, use));
}

}  // namespace

Verb work_verb() {
  Verb verb{"work", "report operations, bytes, MFU and the roofline of a run"};
  const auto options = std::make_shared<WorkArguments>();
  add_input_options(verb, options->input);
  add_peers_option(verb, options->peers);
  add_window_option(verb, options->question.window);
  add_devices_option(verb, options->question.devices);
  verb.option("--batch", options->question.batch, "N",
              "items per step (default: from input shapes)")
      .positive();
  verb.option("--ceilings", options->ceilings, "FILE",
              "file of `ceilings -o` (default: the one shipped for the capture's GPU)")
      .input();
  add_rows_option(verb, options->rows);
  add_output_options(verb, options->output, {"text", "json"});
  verb.run = [options] { return work_of_file(*options); };
  return verb;
}

}  // namespace gf::cli
