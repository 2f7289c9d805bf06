// The command line as data: each verb's name, options and action. The parser, the help, the man
// page and the shells' completions are made from it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/enums.h"
#include "session/answer.h"

namespace gf::cli {

/// Puts a value into what an option belongs to; gives what is wrong with it, empty when nothing is.
/// Lists grow by it.
std::string set_value(const std::string& text, std::string& out);
std::string set_value(const std::string& text, double& out);
std::string set_value(const std::string& text, int& out);
std::string set_value(const std::string& text, unsigned& out);
std::string set_value(const std::string& text, std::int64_t& out);
std::string set_value(const std::string& text, std::size_t& out);
std::string set_value(const std::string& text, std::vector<std::string>& out);
std::string set_value(const std::string& text, std::vector<std::int64_t>& out);
template <class T>
std::string set_value(const std::string& text, std::optional<T>& out) {
  return set_value(text, out.emplace());
}

struct Option {
  enum class File { none, input, output, path };

  std::string names;  // "-o,--output"; of an argument what stands for it, "FILE"
  std::string value;  // what stands for the value in the help; empty: a flag
  std::string help;
  std::function<std::string(const std::string&)> set;
  bool argument = false;    // by its place, not by a name
  bool many = false;        // several values
  bool one_a_time = false;  // of several values, one after each time that the option is named
  bool required = false;
  char separator = 0;  // between values in one word
  std::size_t at_least = 1;
  std::vector<std::string> choices;      // the only values, if any
  std::vector<std::string> suggestions;  // some of the values, for completion
  char list_of_suggestions = 0;          // separates several of them in one word
  std::optional<double> least, most;
  bool above_least = false;          // the least itself is not allowed
  bool is_size = false;              // 64GiB, 10M
  std::vector<std::string> needs;    // other options: without one of them this one means nothing
  std::vector<std::string> without;  // other options: beside one of them this one means nothing
  File file = File::none;  // is read, is written, or is a folder or the beginning of names

  bool flag() const { return value.empty(); }
  /// "--output" of "-o,--output".
  std::string long_name() const { return names.substr(names.find(',') + 1); }
  /// "-o" and "--output" of it.
  std::vector<std::string> all_names() const;

  Option& must() {
    required = true;
    return *this;
  }
  Option& of(std::vector<std::string> all) {
    choices = std::move(all);
    return *this;
  }
  /// `by`: separates several of them in one word.
  Option& suggest(std::vector<std::string> some, char by = 0) {
    suggestions = std::move(some);
    list_of_suggestions = by;
    return *this;
  }
  Option& from(double low, double high) {
    least = low;
    most = high;
    return *this;
  }
  Option& not_negative() {
    least = 0;
    return *this;
  }
  Option& positive() {
    least = 0;
    above_least = true;
    return *this;
  }
  Option& each_time() {
    one_a_time = true;
    return *this;
  }
  Option& separated_by(char by) {
    separator = by;
    return *this;
  }
  Option& with(std::string other) {
    needs.push_back(std::move(other));
    return *this;
  }
  Option& not_with(std::vector<std::string> others) {
    without = std::move(others);
    return *this;
  }
  Option& size() {
    is_size = true;
    return *this;
  }
  Option& input() {
    file = File::input;
    return *this;
  }
  Option& output() {
    file = File::output;
    return *this;
  }
  Option& path() {
    file = File::path;
    return *this;
  }
  Option& count_at_least(std::size_t number) {
    at_least = number;
    return *this;
  }
};

struct Verb {
  std::string name, about;
  std::vector<Option> options;
  /// The error in the combination of options, once they are set; empty if there is none.
  std::function<std::string()> wrong = [] { return std::string(); };
  std::function<int()> run;  // gives the exit code

  Option& flag(std::string names, std::string help, std::function<void()> given) {
    return add(std::move(names), {}, std::move(help), [given](const std::string&) {
      given();
      return std::string();
    });
  }
  Option& flag(std::string names, bool& out, std::string help) {
    return flag(std::move(names), std::move(help), [&out] { out = true; });
  }
  template <class T>
  Option& option(std::string names, T& out, std::string value, std::string help) {
    auto& added = add(std::move(names), std::move(value), std::move(help),
                      [&out](const std::string& text) { return set_value(text, out); });
    added.many =
        std::is_same_v<T, std::vector<std::string>> || std::is_same_v<T, std::vector<std::int64_t>>;
    return added;
  }
  template <class T>
  Option& argument(std::string shown, T& out, std::string help) {
    auto& added = option(shown, out, shown, std::move(help));
    added.argument = true;
    return added;
  }

 private:
  Option& add(std::string names, std::string value, std::string help,
              std::function<std::string(const std::string&)> set) {
    auto& added = options.emplace_back();
    added.names = std::move(names);
    added.value = std::move(value);
    added.help = std::move(help);
    added.set = std::move(set);
    return added;
  }
};

/// Sets a value of the option; otherwise gives the error.
std::string take_value(const Option& option, const std::string& text);

struct Parsed {
  bool wants_help = false;
  std::string complaint;                     // what is wrong, empty when nothing is
  std::vector<std::string> inputs, outputs;  // files that were named
};

/// `words`: what follows the verb's name.
Parsed parse(const Verb& verb, const std::vector<std::string>& words);

// Options that mean the same for every verb that reads a capture.

/// The files, and --zone, --max-bytes and --threads.
void add_input_options(Verb& verb, InputOptions& options);
/// --graphs.
Option& add_graphs_option(Verb& verb, std::vector<std::string>& graphs);
/// --ranks.
void add_peers_option(Verb& verb, std::vector<std::string>& peers);
/// --max-bytes and --threads.
void add_limit_options(Verb& verb, std::uint64_t& max_bytes, unsigned& threads);

/// Adds --window; a text that can mean no window is wrong usage.
void add_window_option(Verb& verb, std::string& window,
                       std::string help =
                           "span to analyze: auto (default: the steps, or all if there are none), "
                           "all, steps, stable, step:N or START:END, such as 10ms:25ms");

/// All values of a closed list, as a user writes them.
template <NamedEnum E>
std::vector<std::string> names_of_all() {
  return {EnumNames<E>::names.begin(), EnumNames<E>::names.end()};
}

/// The chips that have counters.
std::vector<std::string> chip_names();

/// Adds --devices; a text that can mean no devices is wrong usage.
void add_devices_option(Verb& verb, std::string& devices);

}  // namespace gf::cli
