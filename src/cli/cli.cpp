#include "cli/cli.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "cli/describe.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/overwrites.h"
#include "cli/parse.h"
#include "cli/piped_input.h"
#include "cli/verbs.h"
#include "core/version.h"
#include "core/when.h"

namespace gf::cli {

namespace {

using Words = std::vector<std::string>;

/// A standard stream that the caller closed would lend its number to the next file that is opened,
/// and messages would go there.
void open_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) [[maybe_unused]]
      const int null = open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
}

int say(const std::string& text) {
  const auto written = write_answer({}, text);
  if (written) return kWhole;
  return complain(written.error());
}

/// A file that is read is never written over: an answer would take the place of what it is about.
std::string overwritten(const Parsed& parsed) {
  for (const auto& output : parsed.outputs)
    for (const auto& input : parsed.inputs)
      if (would_overwrite(output, input)) return overwrites_text(output);
  return {};
}

/// What, where, and what to do, when an answer does not fit.
Error no_memory(const Parsed& parsed, std::string_view why = {}) {
  std::string file;
  if (!parsed.inputs.empty()) file = parsed.inputs.front();
  return {fmt::format("the answer needs more memory or threads than there are{}{}",
                      when(!why.empty(), ": "), why),
          file, -1, "ask for less (--window, --rows), or give the process more memory"};
}

/// The verb with inputs that can be read only once put into files first.
Verb reading_pipes(Verb verb) {
  for (auto& option : verb.options)
    if (option.file == Option::File::input)
      option.set = [set = option.set](const std::string& path) {
        const auto file = readable_file(path);
        return file ? set(*file) : file.error().message();
      };
  return verb;
}

int run_verb(const Verb& declared, const Words& words) {
  const Verb verb = reading_pipes(declared);
  const Parsed parsed = parse(verb, words);
  if (parsed.wants_help) return say(verb_help(verb));
  const std::string more = fmt::format(" (gpufathom {} --help tells more)", verb.name);
  if (!parsed.complaint.empty()) return complain(parsed.complaint + more, kWrongUsage);
  if (const auto wrong = overwritten(parsed); !wrong.empty()) return complain(wrong, kWrongUsage);
  try {
    return verb.run();
  } catch (const std::bad_alloc&) {
    return complain(no_memory(parsed));
  } catch (const std::length_error&) {
    return complain(no_memory(parsed));
  } catch (const std::system_error& error) {  // a thread that cannot be started
    return complain(no_memory(parsed, error.what()));
  } catch (const std::exception& error) {
    return complain(error.what(), kBadInput);
  }
}

int unknown_verb(const std::string& word, std::span<const Verb> verbs) {
  Words names{"help"};
  for (const auto& verb : verbs) names.push_back(verb.name);
  const auto meant = nearest(word, names);
  const bool reads_only = live_verbs().empty();
  return complain(fmt::format("unknown {} '{}'{} (gpufathom --help lists the verbs{})",
                              word.starts_with('-') ? "option" : "verb", word,
                              meant.empty() ? "" : fmt::format(": did you mean {}?", meant),
                              when(reads_only, "; this build has none that ask a driver")),
                  kWrongUsage);
}

/// A word in a verb's place that means a file: it is there, or no verb could be written like it.
bool is_file(const std::string& word) {
  if (word == "-") return true;
  if (word.starts_with('-')) return false;
  return ::access(word.c_str(), F_OK) == 0 || word.find_first_of("./") != std::string::npos;
}

int completion(const Words& words, std::span<const Verb> verbs) {
  const std::string shell = words.size() > 2 ? words[2] : "";
  const auto script = completion_script(shell, verbs);
  if (script.empty()) return complain("help completion wants bash, zsh or fish", kWrongUsage);
  return say(script);
}

int help(const Words& words, std::span<const Verb> verbs) {
  const bool of_itself = words.size() < 2 || words[1] == "help" || words[1].starts_with('-');
  if (of_itself) return say(program_help(verbs));
  for (const auto& verb : verbs)
    if (verb.name == words[1]) return say(verb_help(verb));
  if (words[1] == "man") return say(man_page(verbs));
  if (words[1] == "completion") return completion(words, verbs);
  return unknown_verb(words[1], verbs);
}

}  // namespace

int run(int argc, const char* const* argv) {
  open_standard_streams();
  std::vector verbs = {analyze_verb(), ranks_verb(),   compare_verb(), export_verb(), import_verb(),
                       query_verb(),   metrics_verb(), energy_verb(),  work_verb()};
  for (auto& verb : live_verbs()) verbs.push_back(std::move(verb));
  const Words words(argv + std::min(argc, 1), argv + argc);
  if (words.empty()) return complain("no verb is given (gpufathom --help lists them)", kWrongUsage);
  const auto& first = words.front();
  if (first == "--version") return say(fmt::format("gpufathom {}\n", kVersion));
  if (first == "help" || first == "-h" || first == "--help") return help(words, verbs);
  const Words rest(words.begin() + 1, words.end());
  for (const auto& verb : verbs)
    if (verb.name == first) return run_verb(verb, rest);
  if (is_file(first)) return run_verb(verbs.front(), words);  // analyze FILE
  return unknown_verb(first, verbs);
}

}  // namespace gf::cli
