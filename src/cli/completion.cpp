#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "cli/shell_files.h"

namespace gf::cli {

namespace {

constexpr std::string_view kShells = "bash zsh fish";

/// The values that completion offers; empty where it knows none.
const std::vector<std::string>& values_of(const Option& option) {
  return option.choices.empty() ? option.suggestions : option.choices;
}

/// The values as words of a shell; `space` stands for a space inside one.
std::string values_text(const Option& option, std::string_view space) {
  std::string out;
  for (const auto& value : values_of(option)) {
    if (!out.empty()) out += ' ';
    for (const char letter : value) {
      if (letter == ' ')
        out += space;
      else
        out += letter;
    }
  }
  return out;
}

char list_separator(const Option& option) {
  return option.separator ? option.separator : option.list_of_suggestions;
}

bool is_of_files(const Option& option) { return option.file != Option::File::none; }

/// The first argument that has known values; nullptr when there is none.
const Option* known_argument(const Verb& verb) {
  for (const auto& option : verb.options)
    if (option.argument) return values_of(option).empty() ? nullptr : &option;
  return nullptr;
}

bool takes_command(const Verb& verb) {
  for (const auto& option : verb.options)
    if (option.argument && option.value.starts_with("-- ")) return true;
  return false;
}

bool takes_files(const Verb& verb) {
  for (const auto& option : verb.options)
    if (option.argument && is_of_files(option)) return true;
  return false;
}

std::string words_of(const Verb& verb) {
  std::string out = "--help";
  for (const auto& option : verb.options)
    if (!option.argument) out += fmt::format(" {}", fmt::join(option.all_names(), " "));
  return out;
}

std::string names_of(std::span<const Verb> verbs) {
  std::string out;
  for (const auto& verb : verbs) out += (out.empty() ? "" : " ") + verb.name;
  return out;
}

/// The word in single quotes, as all three shells read them.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\'')
      out += "'\\''";
    else
      out += letter;
  }
  return "'" + out + "'";
}

// bash

std::string bash_values(const Option& option) {
  // compgen takes one backslash off; the other is for the line that is completed.
  const std::string values = values_text(option, R"(\\\ )");
  if (values.empty()) return is_of_files(option) ? "_gpufathom_files" : ":";
  if (const char separator = list_separator(option))
    return fmt::format("_gpufathom_list {} {}", separator, quoted(values));
  return fmt::format("_gpufathom_words {}", quoted(values));
}

std::string bash_options(const Verb& verb) {
  std::string out;
  for (const auto& option : verb.options) {
    if (option.argument || option.flag()) continue;
    out += fmt::format("    {}:{}) {}; return ;;\n", verb.name,
                       fmt::join(option.all_names(), fmt::format("|{}:", verb.name)),
                       bash_values(option));
  }
  return out;
}

/// Completes a word that is no option and no option's value.
std::string bash_arguments(const Verb& verb) {
  std::string out;
  if (const auto* known = known_argument(verb)) {
    const std::string when = known->many ? "" : "[[ $COMP_CWORD -eq 2 ]] && ";
    out += when + bash_values(*known) + "; ";
  }
  return fmt::format("      {}) {}{} ;;\n", verb.name, out,
                     takes_files(verb) ? "_gpufathom_files" : ":");
}

constexpr const char* kBash =
    R"(# bash completion of gpufathom, made by `gpufathom help completion bash`
_gpufathom_words() {{ COMPREPLY+=($(compgen -W "$1" -- "$word")); }}
_gpufathom_list() {{
  local head=
  [[ $word == *$1* ]] && head=${{word%$1*}}$1
  compopt -o nospace 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -P "$head" -W "$2" -- "${{word##*$1}}")
}}
_gpufathom_files() {{
  local file
  compopt -o filenames 2>/dev/null
  while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$word")
}}
_gpufathom_command() {{
  if declare -F _command_offset >/dev/null; then _command_offset "$1"; return; fi
  [[ $COMP_CWORD -eq $1 ]] && COMPREPLY=($(compgen -c -- "$word"))
  _gpufathom_files
}}
_gpufathom() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local verb=${{COMP_WORDS[1]}} at
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    _gpufathom_words 'help {0} --help --version'
    _gpufathom_files
    return
  fi
  for ((at = 2; at < COMP_CWORD; at++)); do
    if [[ ${{COMP_WORDS[at]}} == -- ]]; then _gpufathom_command $((at + 1)); return; fi
  done
  case " {0} help " in
    *" $verb "*) ;;
    *) verb=analyze ;;  # of a file alone
  esac
  # --option=value is three words here
  if [[ $word == = ]]; then word=
  elif [[ $before == = ]]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi
  case $verb:$before in
    help:help) _gpufathom_words '{0} {1}'; return ;;
    help:completion) _gpufathom_words '{2}'; return ;;
    help:*) return ;;
{3}  esac
  case $word in
    -*) case $verb in
{4}      esac ;;
    *) case $verb in
{5}      esac ;;
  esac
}}
complete -F _gpufathom gpufathom
)";

std::string bash(std::span<const Verb> verbs, const std::string& pages) {
  std::string values, options, arguments;
  for (const auto& verb : verbs) {
    values += bash_options(verb);
    options += fmt::format("      {}) _gpufathom_words '{}' ;;\n", verb.name, words_of(verb));
    arguments += bash_arguments(verb);
  }
  return fmt::format(kBash, names_of(verbs), pages, kShells, values, options, arguments);
}

// fish

std::string fish_values(const Option& option) {
  const std::string values = values_text(option, R"(\\ )");
  if (values.empty()) return is_of_files(option) ? " -rF" : " -x";
  if (const char separator = list_separator(option))
    return fmt::format(" -xa '(__fish_append {} {})'", separator, values);
  return fmt::format(" -xa '{}'", values);
}

std::string fish(std::span<const Verb> verbs, const std::string& pages) {
  std::string out = fmt::format(
      "# fish completion of gpufathom, made by `gpufathom help completion fish`\n"
      "complete -c gpufathom -n __fish_use_subcommand -a help -d 'help of a verb'\n"
      "complete -c gpufathom -n '__fish_seen_subcommand_from help' -xa '{} {} {}'\n",
      names_of(verbs), pages, kShells);
  for (const auto& verb : verbs) {
    const std::string of_verb =
        fmt::format("complete -c gpufathom -n '__fish_seen_subcommand_from {}'", verb.name);
    out += fmt::format("complete -c gpufathom -n __fish_use_subcommand -a {} -d {}\n", verb.name,
                       quoted(verb.about));
    if (const auto* known = known_argument(verb))
      out += fmt::format("{} -a '{}'\n", of_verb, values_text(*known, R"(\\ )"));
    for (const auto& option : verb.options) {
      if (option.argument) continue;
      out += of_verb;
      for (const auto& name : option.all_names())
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.flag()) out += fish_values(option);
      out += fmt::format(" -d {}\n", quoted(option.help));
    }
  }
  return out;
}

// zsh

/// Escapes the characters that structure a specification of _arguments.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') out += '\\';
    out += letter;
  }
  return out;
}

std::string zsh_values(const Option& option) {
  const std::string values = values_text(option, R"(\ )");
  if (values.empty()) return is_of_files(option) ? "_files" : " ";
  if (const char separator = list_separator(option))
    return fmt::format("_values -s {} {} {}", separator, zsh_text(option.value), values);
  return fmt::format("({})", values);
}

std::string zsh_option(const Option& option, const std::string& name) {
  std::string value;
  if (!option.flag()) value = fmt::format(":{}:{}", zsh_text(option.value), zsh_values(option));
  return quoted(
      fmt::format("{}{}[{}]{}", option.many ? "*" : "", name, zsh_text(option.help), value));
}

std::string zsh_arguments(const Verb& verb) {
  if (takes_command(verb)) return "'*:: :_normal'";
  std::string out;
  if (const auto* known = known_argument(verb)) {
    out = quoted(fmt::format("{}:{}:{}", known->many ? "*" : "1", zsh_text(known->value),
                             zsh_values(*known)));
    if (known->many) return out;
    out += " ";
  }
  return out + (takes_files(verb) ? "'*:file:_files'" : "'*: : '");
}

std::string zsh(std::span<const Verb> verbs, const std::string& pages) {
  std::string names, cases;
  for (const auto& verb : verbs) {
    names += fmt::format("    {}\n", quoted(verb.name + ":" + zsh_text(verb.about)));
    cases += fmt::format("    {}) _arguments", verb.name);
    for (const auto& option : verb.options)
      for (const auto& name : option.all_names())
        if (!option.argument) cases += " \\\n      " + zsh_option(option, name);
    cases += fmt::format(" \\\n      {} ;;\n", zsh_arguments(verb));
  }
  return fmt::format(
      "#compdef gpufathom\n# zsh completion, made by `gpufathom help completion zsh`\n"
      "_gpufathom() {{\n  local -a verbs=(\n{0}    'help:help of a verb'\n  )\n"
      "  if (( CURRENT == 2 )); then _describe verb verbs; _files; return; fi\n"
      "  local verb=$words[2]\n"
      "  (( ${{verbs[(I)$verb:*]}} )) || verb=analyze  # of a file alone\n"
      "  shift words; (( CURRENT-- ))\n  case $verb in\n"
      "    help) if (( CURRENT == 2 )); then compadd -- {1} {2}; else compadd -- {3}; fi ;;\n"
      "{4}  esac\n}}\n_gpufathom \"$@\"\n",
      names, names_of(verbs), pages, kShells, cases);
}

}  // namespace

std::string completion_script(std::string_view shell, std::span<const Verb> verbs,
                              std::span<const std::string_view> pages) {
  const std::string other_pages = fmt::format("{}", fmt::join(pages, " "));
  if (shell == "bash") return bash(verbs, other_pages);
  if (shell == "zsh") return zsh(verbs, other_pages);
  if (shell == "fish") return fish(verbs, other_pages);
  return {};
}

}  // namespace gf::cli
