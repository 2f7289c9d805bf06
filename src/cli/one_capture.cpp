#include "cli/one_capture.h"

#include <fmt/format.h>

#include "cli/output.h"
#include "cli/terminal.h"

namespace gf::cli {

int with_answer(const InputOptions& input, Question question, std::string_view nothing,
                const std::function<int(const Answer&)>& use) {
  ProgressDisplay progress;
  const auto loaded = load_capture(input, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  question.progress = progress.callback();
  const auto answer = answer_question(*loaded, question);
  progress.wipe();
  if (!answer) return complain(answer.error(), input.trace, *loaded->capture);
  if (!answer->context) return complain(fmt::format("{}: {}", input.trace, nothing), kBadInput);
  return use(*answer);
}

}  // namespace gf::cli
