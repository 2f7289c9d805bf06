#include "cli/one_capture.h"

#include <fmt/format.h>

#include "cli/output.h"
#include "cli/terminal.h"
#include "import/importer.h"
#include "model/formats.h"
#include "session/ranks.h"

namespace gf::cli {

namespace {

/// Takes a counter report and a power log out of the captures; the text says what is wrong, empty:
/// nothing.
std::string take_measured(std::string_view verb, std::vector<std::string>& captures,
                          InputOptions& input) {
  struct Kind {
    FormatSays says;
    const char *option, *what;
    std::string& file;
  };
  const std::string all = captures.front();
  for (const Kind& kind : {Kind{kReportOnly, "--counters", "counter report", input.counters},
                           Kind{kLog, "--power", "power log", input.power}}) {
    for (const auto& path : std::vector(captures)) {
      if (looks_like_capture(path) || !says(format_of_file(path), kind.says)) continue;
      if (!kind.file.empty())
        return fmt::format("{} is a second {}: gpufathom {} TRACE {} FILE takes one", path,
                           kind.what, verb, kind.option);
      std::erase(captures, path);
      kind.file = path;
      complain(fmt::format("{} is a {}: taken as {}", path, kind.what, kind.option), kWhole);
    }
  }
  if (captures.empty())
    return fmt::format(
        "{} and the others contain no trace: gpufathom {} TRACE --counters REPORT --power LOG", all,
        verb);
  return {};
}

}  // namespace

ChosenCaptures choose_captures(std::string_view verb, const std::vector<std::string>& more,
                               InputOptions& input) {
  ChosenCaptures chosen;
  auto& files = chosen.files;
  files = captures_of_folder(input.trace);
  if (files.empty()) files.push_back(input.trace);
  files.insert(files.end(), more.begin(), more.end());
  chosen.paths = more;
  chosen.paths.insert(chosen.paths.begin(), input.trace);
  if (files.size() > 1) chosen.wrong = take_measured(verb, files, input);
  std::erase_if(chosen.paths, [&](const std::string& path) {
    return path == input.counters || path == input.power;
  });
  const auto earlier = earlier_captures(files);
  chosen.earlier = earlier.size();
  std::erase_if(files, [&](const std::string& path) { return earlier.contains(path); });
  return chosen;
}

void say_earlier(const ChosenCaptures& chosen) {
  if (chosen.earlier > 0)
    complain(fmt::format("{} captures of one worker: this is the last, {} (`gpufathom compare` "
                         "shows how they differ)",
                         chosen.earlier + 1, chosen.files.front()),
             kWhole);
}

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
