#include "cli/parse.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

namespace gf::cli {

namespace {

using Values = std::vector<std::string>;

std::string shown(const Option& option) {
  if (option.argument) return option.value;
  return option.long_name();
}

/// Takes every value; throws what is wrong with one, as CLI11 wants it.
void take(const Option& option, const Values& values) {
  for (const auto& text : values)
    if (const auto wrong = take_value(option, text); !wrong.empty())
      throw CLI::ValidationError(shown(option), wrong);
}

void add(CLI::App& app, const Option& option, std::map<std::string, CLI::Option*>& added) {
  CLI::Option* made = nullptr;
  std::string name;
  if (option.argument) {
    name = "argument" + std::to_string(added.size());
  } else {
    name = option.names;
  }
  if (option.flag())
    made = app.add_flag_function(name, [&option](std::int64_t) { take(option, {""}); });
  else if (option.many)
    made =
        app.add_option_function<Values>(name, [&option](const Values& all) { take(option, all); });
  else
    made = app.add_option_function<std::string>(
        name, [&option](const std::string& text) { take(option, {text}); });
  if (option.one_a_time) made->allow_extra_args(false);
  if (option.separator) made->delimiter(option.separator);
  if (!option.needs.empty()) made->needs(added.at(option.needs));
  added.emplace(shown(option), made);
}

const Option* find(const Verb& verb, const std::string& name) {
  for (const auto& option : verb.options)
    if (option.long_name() == name) return &option;
  return nullptr;
}

std::string unknown(const Verb& verb, const std::string& word) {
  if (!word.starts_with('-')) return fmt::format("unexpected argument '{}'", word);
  Values names{"--help"};
  for (const auto& option : verb.options)
    if (!option.argument) names.push_back(option.long_name());
  const std::string asked = word.substr(0, word.find('='));
  const auto meant = nearest(asked, names);
  return fmt::format("unknown option '{}'{}", asked,
                     meant.empty() ? "" : fmt::format(": did you mean {}?", meant));
}

/// CLI11's words for a missing value name a type.
std::string missing_value(const Verb& verb, const CLI::ParseError& error) {
  const std::string text = error.what();
  const std::string name = text.substr(0, text.find(':'));
  const Option* option = find(verb, name);
  if (!option) return text;
  if (option->flag()) return fmt::format("{} takes no value", name);
  return fmt::format("{} needs a value: {}", name, option->value);
}

Parsed complaint(std::string text) {
  Parsed parsed;
  parsed.complaint = std::move(text);
  return parsed;
}

}  // namespace

Parsed parse(const Verb& verb, const Values& words) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  Parsed out;
  std::map<std::string, CLI::Option*> added;
  for (const auto& option : verb.options) add(app, option, added);
  for (const auto& word : words) {  // before anything that is wrong
    if (word == "--") break;
    if (word == "-h" || word == "--help") {
      out.wants_help = true;
      return out;
    }
  }
  try {
    app.parse(Values(words.rbegin(), words.rend()));
  } catch (const CLI::ArgumentMismatch& error) {
    return complaint(missing_value(verb, error));
  } catch (const CLI::ParseError& error) {
    return complaint(error.what());
  }
  for (const auto& word : app.remaining())
    if (word != "--") return complaint(unknown(verb, word));
  for (const auto& option : verb.options) {
    const auto given = added.at(shown(option))->count();
    if (option.required && given == 0) return complaint(shown(option) + " is missing");
    if (given > 0 && given < option.at_least)
      return complaint(fmt::format("at least {} of {} are needed, {} is given", option.at_least,
                                   shown(option), given));
    const auto& values = added.at(shown(option))->results();
    if (option.file == Option::File::input)
      out.inputs.insert(out.inputs.end(), values.begin(), values.end());
    if (option.file == Option::File::output)
      out.outputs.insert(out.outputs.end(), values.begin(), values.end());
  }
  return out;
}

}  // namespace gf::cli
