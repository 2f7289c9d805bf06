#include "cli/help.h"

#include "cli/terminal.h"
#include "report/text/format.h"

namespace gf::cli {

namespace {

constexpr std::size_t kOptionColumn = 28, kVerbColumn = 13;

std::size_t width() { return static_cast<std::size_t>(text_style(false).width); }

/// "  --name VALUE   what it does", the description wrapped beside the first column, or below it
/// where the name is too long.
std::string entry(const std::string& name, const std::string& description, std::size_t column) {
  const std::string head = "  " + name;
  const std::string body = wrap(description, width(), column);
  if (body.empty()) return head + "\n";
  if (head.size() + 2 > column) return head + "\n" + body;
  return head + body.substr(head.size());
}

std::string name_of(const Option& option) {
  if (option.argument) return option.value;
  std::string name = option.names;
  if (const auto comma = name.find(','); comma != std::string::npos) name.replace(comma, 1, ", ");
  if (option.flag()) return name;
  return name + " " + option.value;
}

std::string entries(const Verb& verb, bool arguments) {
  std::string out;
  for (const auto& option : verb.options)
    if (option.argument == arguments) out += entry(name_of(option), option.help, kOptionColumn);
  return out;
}

}  // namespace

std::string program_help(std::span<const Verb> verbs) {
  std::string out = wrap(
      "How deep is the GPU really used? One answer from the framework runtime down to tensor-core "
      "issue slots and joules.",
      width());
  out += "\nUsage: gpufathom VERB ...      gpufathom FILE (short for analyze FILE)\n\nOptions:\n";
  out += entry("-h, --help", "print this help", kOptionColumn);
  out += entry("--version", "print the version", kOptionColumn);
  out += "\nVerbs:\n";
  for (const auto& verb : verbs) out += entry(verb.name, verb.about, kVerbColumn);
  out += entry("help", "help of a verb: gpufathom help VERB", kVerbColumn);
  out += "\nExit codes:\n";
  out += entry("0", "the answer is whole", kVerbColumn);
  out += entry("1", "bad or damaged input; a rule of compare --fail-on is broken", kVerbColumn);
  out += entry("2", "wrong usage", kVerbColumn);
  out += entry("3", "a verdict is refused: a capture is incomplete (--allow-incomplete goes on)",
               kVerbColumn);
  out += entry("4", "a rule is undecided: no data, or too few steps", kVerbColumn);
  return out;
}

std::string verb_help(const Verb& verb) {
  std::string out = wrap(verb.about, width());
  out += "\nUsage: gpufathom " + verb.name + " [OPTIONS]";
  for (const auto& option : verb.options)
    if (option.argument) {
      if (option.required) {
        out += " " + option.value;
      } else {
        out += " [" + option.value + "]";
      }
    }
  out += "\n";
  if (const auto arguments = entries(verb, true); !arguments.empty())
    out += "\nArguments:\n" + arguments;
  return out + "\nOptions:\n" + entry("-h, --help", "print this help", kOptionColumn) +
         entries(verb, false);
}

}  // namespace gf::cli
