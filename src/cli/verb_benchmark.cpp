#include <memory>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "report/benchmark.h"
#include "session/answer.h"

namespace gf::cli {

namespace {

struct BenchmarkArguments {
  InputOptions input;
  Question question;
  std::string name;
  OutputOptions output;
  std::size_t cases = 12;
};

int benchmark_of(const BenchmarkArguments& asked) {
  ProgressDisplay progress;
  const auto loaded = load_capture(asked.input, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  Question question = asked.question;
  question.progress = progress.callback();
  const auto answer = answer_question(*loaded, question);
  progress.wipe();
  if (!answer) return complain(answer.error(), asked.input.trace, *loaded->capture);
  if (!answer->context)
    return complain(asked.input.trace + ": has no operators: there is nothing to time", kBadInput);
  return give_answer(asked.output, asked.input.trace, answer->missing,
                     operator_benchmark(*answer->context, asked.name, asked.cases));
}

}  // namespace

Verb benchmark_verb() {
  Verb verb{"benchmark", "write a PyTorch script that times one operator with its captured inputs"};
  const auto options = std::make_shared<BenchmarkArguments>();
  add_input_options(verb, options->input);
  verb.argument("OPERATOR", options->name, "operator of PyTorch, such as aten::conv2d").must();
  add_window_option(verb, options->question.window);
  add_devices_option(verb, options->question.devices);
  verb.option("--cases", options->cases, "N",
              "sets of inputs, those with most kernel time first; 0 for all (default 12)");
  verb.option("-o,--output", options->output.path, "FILE",
              "file to write instead of standard output")
      .output();
  verb.wrong = [options] { return wrong_ending(options->output.path, {".py"}); };
  verb.run = [options] { return benchmark_of(*options); };
  return verb;
}

}  // namespace gf::cli
