#include "cli/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace gf::cli {

namespace {

/// With what the man macros read otherwise.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\\' || letter == '-') out += '\\';
    out += letter;
  }
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

/// "-o" and "--output" of "-o,--output".
std::vector<std::string> names_of(const Option& option) {
  const auto comma = option.names.find(',');
  if (comma == std::string::npos) return {option.names};
  return {option.names.substr(0, comma), option.names.substr(comma + 1)};
}

std::string man_option(const Option& option) {
  std::string head = option.value;
  if (!option.argument) {
    head = fmt::format("{}", fmt::join(names_of(option), ", "));
    if (!option.flag()) head += " " + option.value;
  }
  return fmt::format(".TP\n.B {}\n{}\n", escaped(head), escaped(option.help));
}

std::string words_of(const Verb& verb) {
  std::string out = "--help";
  for (const auto& option : verb.options)
    if (!option.argument) out += fmt::format(" {}", fmt::join(names_of(option), " "));
  return out;
}

/// Quotes of a shell's single-quoted word.
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

std::string bash_values(const Verb& verb) {
  std::string out;
  for (const auto& option : verb.options) {
    if (option.argument || option.flag()) continue;
    const std::string pattern =
        fmt::format("{}", fmt::join(names_of(option), fmt::format("|{}:", verb.name)));
    std::string answer = "-f";
    if (!option.choices.empty()) answer = fmt::format("-W '{}'", fmt::join(option.choices, " "));
    out += fmt::format("    {}:{}) COMPREPLY=($(compgen {} -- \"$word\")); return ;;\n", verb.name,
                       pattern, answer);
  }
  return out;
}

constexpr const char* kBash =
    R"(# bash completion of gpufathom, made by `gpufathom help completion bash`
_gpufathom() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local verb=${{COMP_WORDS[1]}}
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$word") $(compgen -f -- "$word"))
    return
  fi
  case $verb:$before in
{}  esac
  case $word in
    -*) case $verb in
{}      esac ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _gpufathom gpufathom
)";

std::string bash(std::span<const Verb> verbs) {
  std::string names = "help", values, options;
  for (const auto& verb : verbs) {
    names += " " + verb.name;
    values += bash_values(verb);
    options += fmt::format("      {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")) ;;\n", verb.name,
                           words_of(verb));
  }
  return fmt::format(kBash, names, values, options);
}

std::string fish(std::span<const Verb> verbs) {
  std::string out = "# fish completion of gpufathom, made by `gpufathom help completion fish`\n";
  for (const auto& verb : verbs) {
    out += fmt::format("complete -c gpufathom -n __fish_use_subcommand -a {} -d {}\n", verb.name,
                       quoted(verb.about));
    for (const auto& option : verb.options) {
      if (option.argument) continue;
      out += fmt::format("complete -c gpufathom -n '__fish_seen_subcommand_from {}'", verb.name);
      for (const auto& name : names_of(option)) {
        if (name.starts_with("--"))
          out += " -l " + name.substr(2);
        else
          out += " -s " + name.substr(1);
      }
      if (!option.flag()) out += " -r";
      if (!option.choices.empty()) out += fmt::format(" -fa '{}'", fmt::join(option.choices, " "));
      out += fmt::format(" -d {}\n", quoted(option.help));
    }
  }
  return out;
}

/// What zsh reads in a specification between brackets.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') out += '\\';
    out += letter;
  }
  return out;
}

std::string zsh_option(const Option& option, const std::string& name) {
  std::string value;
  if (!option.flag()) value = fmt::format(":{}:", zsh_text(option.value));
  if (!option.choices.empty())
    value += fmt::format("({})", fmt::join(option.choices, " "));
  else if (!option.flag())
    value += "_files";
  return quoted(fmt::format("{}[{}]{}", name, zsh_text(option.help), value));
}

std::string zsh(std::span<const Verb> verbs) {
  std::string names, cases;
  for (const auto& verb : verbs) {
    names += fmt::format("    {}\n", quoted(verb.name + ":" + zsh_text(verb.about)));
    cases += fmt::format("    {}) _arguments", verb.name);
    for (const auto& option : verb.options)
      for (const auto& name : names_of(option))
        if (!option.argument) cases += " \\\n      " + zsh_option(option, name);
    cases += " \\\n      '*:file:_files' ;;\n";
  }
  return fmt::format(
      "#compdef gpufathom\n# zsh completion, made by `gpufathom help completion zsh`\n"
      "_gpufathom() {{\n  local -a verbs=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then _describe verb verbs; _files; return; fi\n"
      "  local verb=$words[2]\n  shift words; (( CURRENT-- ))\n  case $verb in\n{}  esac\n}}\n"
      "_gpufathom \"$@\"\n",
      names, cases);
}

}  // namespace

std::string man_page(std::span<const Verb> verbs) {
  std::string out =
      ".TH GPUFATHOM 1\n.SH NAME\ngpufathom \\- how deep is the GPU really used\n"
      ".SH SYNOPSIS\n.B gpufathom\n.I VERB\n.RI [ OPTIONS ]\n.br\n.B gpufathom\n.I FILE\n"
      ".SH DESCRIPTION\nReads what profilers wrote, or records by itself, and answers how deep a "
      "program used its GPU, from the framework runtime down to tensor\\-core issue slots and "
      "joules. A file alone is analysed; \\- is standard input.\n.SH VERBS\n";
  for (const auto& verb : verbs) {
    out += fmt::format(".SS {}\n{}.\n", escaped(verb.name), escaped(verb.about));
    for (const auto& option : verb.options) out += man_option(option);
  }
  return out +
         ".SH EXIT STATUS\n0 when the answer is whole, 1 for an input that cannot be read or is "
         "not whole, or a broken rule of compare \\-\\-fail\\-on, 2 for wrong usage, 3 when a "
         "verdict is refused because a capture is incomplete, 4 when a rule is undecided.\n"
         ".SH ENVIRONMENT\n.TP\n.B GPUFATHOM_PAGER, PAGER\nshows "
         "answers that are longer than the terminal; cat for none\n.TP\n.B NO_COLOR\nno colours\n";
}

std::string completion_script(const std::string& shell, std::span<const Verb> verbs) {
  if (shell == "bash") return bash(verbs);
  if (shell == "zsh") return zsh(verbs);
  if (shell == "fish") return fish(verbs);
  return {};
}

}  // namespace gf::cli
