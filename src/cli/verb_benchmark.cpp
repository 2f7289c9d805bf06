#include <memory>

#include "cli/one_capture.h"
#include "cli/options.h"
#include "cli/output.h"
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
              "file to write (default: standard output)")
      .output();
  verb.wrong = [options] { return wrong_ending(options->output.path, {".py"}); };
  verb.run = [options] {
    return with_answer(options->input, options->question,
                       "has no operators: there is nothing to time", [&](const Answer& answer) {
                         return give_answer(
                             options->output, options->input.trace, answer.missing,
                             operator_benchmark(*answer.context, options->name, options->cases));
                       });
  };
  return verb;
}

}  // namespace gf::cli
