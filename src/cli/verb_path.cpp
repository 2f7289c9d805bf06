#include <memory>
#include <optional>

#include "analyze/replay/critical_path.h"
#include "cli/one_capture.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "report/json.h"
#include "report/text/critical_path.h"
#include "session/answer.h"

namespace gf::cli {

namespace {

struct PathArguments {
  InputOptions input;
  Question question;
  OutputOptions output;
  std::optional<std::size_t> rows;
};

int give_path(const PathArguments& asked, const Answer& answer) {
  const std::string format = chosen_format(asked.output);
  auto path = critical_path(*answer.context, answer.analysis);
  if (!path) return complain(path.error());
  if (const auto rows = other_rows(format, asked.rows); rows > 0) {
    if (path->names.size() > rows) path->names.resize(rows);
    if (path->pieces.size() > rows) path->pieces.resize(rows);
  }
  const Result<std::string> text =
      format == "json"
          ? json_line(*path)
          : critical_path_text(*path, text_style(asked.output.to_file()), text_rows(asked.rows));
  return give_answer(asked.output, asked.input.trace, answer.missing, text);
}

}  // namespace

Verb path_verb() {
  Verb verb{"path",
            "report the critical path of a step: the work and waits that determine its length"};
  const auto options = std::make_shared<PathArguments>();
  options->question.brief = true;
  options->question.findings = false;
  add_input_options(verb, options->input);
  add_window_option(verb, options->question.window);
  add_devices_option(verb, options->question.devices);
  add_rows_option(verb, options->rows);
  add_output_options(verb, options->output, {"text", "json"});
  verb.run = [options] {
    return with_answer(options->input, options->question,
                       "has no device activities: there is no path",
                       [&](const Answer& answer) { return give_path(*options, answer); });
  };
  return verb;
}

}  // namespace gf::cli
