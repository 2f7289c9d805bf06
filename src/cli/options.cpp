#include "cli/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>

#include "analyze/chosen_devices.h"
#include "analyze/window.h"
#include "core/nearest.h"
#include "core/text.h"
#include "import/telemetry/timestamps.h"
#include "model/chips.h"

namespace gf::cli {

namespace {

template <class T>
std::string set_number(const std::string& text, T& out, const char* wanted) {
  T value{};
  const char* last = text.data() + text.size();
  const auto [end, code] = std::from_chars(text.data(), last, value);
  bool good = code == std::errc() && end == last;
  if constexpr (std::is_floating_point_v<T>) good = good && std::isfinite(value);
  if (!good) return fmt::format("'{}' is not {}", text, wanted);
  out = value;  // not the 2 of "2x"
  return {};
}

/// The number that a text such as 64GiB or 10M stands for, in digits; the text itself when it is
/// none.
std::string bytes_of(const std::string& text) {
  double number = 0;
  const char* last = text.data() + text.size();
  const auto [end, code] = std::from_chars(text.data(), last, number);
  if (code != std::errc()) return text;
  std::string unit = lower_case({end, last});
  if (unit.ends_with('b')) unit.pop_back();
  double thousand = unit.ends_with('i') ? 1024 : 1000;
  if (unit.ends_with('i')) unit.pop_back();
  constexpr std::string_view kPrefixes = "kmgtp";
  if (unit.size() > 1) return text;
  if (!unit.empty()) {
    const auto power = kPrefixes.find(unit[0]);
    if (power == std::string_view::npos) return text;
    number *= std::pow(thousand, static_cast<double>(power + 1));
  }
  if (number < 0 || number >= 9.2e18) return text;
  return fmt::format("{:.0f}", number);
}

std::string range_of(const Option& option) {
  if (option.most) return fmt::format("a number from {:g} to {:g}", *option.least, *option.most);
  if (option.above_least) return fmt::format("a number above {:g}", *option.least);
  return fmt::format("a number of {:g} or more", *option.least);
}

bool in_range(const Option& option, const std::string& text) {
  double number = 0;
  if (!set_value(text, number).empty()) return false;
  if (option.above_least ? number <= *option.least : number < *option.least) return false;
  return !option.most || number <= *option.most;
}

}  // namespace

std::vector<std::string> Option::all_names() const {
  const auto comma = names.find(',');
  if (comma == std::string::npos) return {names};
  return {names.substr(0, comma), names.substr(comma + 1)};
}

std::string set_value(const std::string& text, std::string& out) {
  out = text;
  return {};
}
std::string set_value(const std::string& text, double& out) {
  return set_number(text, out, "a number");
}
std::string set_value(const std::string& text, int& out) {
  return set_number(text, out, "a whole number");
}
std::string set_value(const std::string& text, unsigned& out) {
  return set_number(text, out, "a whole number of 0 or more");
}
std::string set_value(const std::string& text, std::int64_t& out) {
  return set_number(text, out, "a whole number");
}
std::string set_value(const std::string& text, std::size_t& out) {
  return set_number(text, out, "a whole number of 0 or more");
}
std::string set_value(const std::string& text, std::vector<std::string>& out) {
  out.push_back(text);
  return {};
}
std::string set_value(const std::string& text, std::vector<std::int64_t>& out) {
  return set_value(text, out.emplace_back());
}

std::string take_value(const Option& option, const std::string& text) {
  if (!option.choices.empty() &&
      std::find(option.choices.begin(), option.choices.end(), text) == option.choices.end()) {
    return fmt::format("'{}' is not one of {}{}", text, fmt::join(option.choices, ", "),
                       did_you_mean(text, option.choices));
  }
  if (option.least && !in_range(option, text))
    return fmt::format("'{}' is not {}", text, range_of(option));
  return option.set(option.is_size ? bytes_of(text) : text);
}

namespace {

using Values = std::vector<std::string>;

std::string shown(const Option& option) {
  return option.argument ? option.value : option.long_name();
}

/// Takes every value; throws what is wrong with one, as CLI11 wants it.
void take(const Option& option, const Values& values) {
  for (const auto& text : values)
    if (const auto wrong = take_value(option, text); !wrong.empty())
      throw CLI::ValidationError(shown(option), wrong);
}

void add(CLI::App& app, const Option& option, std::map<std::string, CLI::Option*>& added) {
  CLI::Option* made = nullptr;
  std::string name = option.argument ? "argument" + std::to_string(added.size()) : option.names;
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
  return fmt::format("unknown option '{}'{}", asked, did_you_mean(asked, names));
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

/// The error in options that mean nothing together, or one without the other; empty: there is none.
std::string wrong_beside(const Option& option, const std::map<std::string, CLI::Option*>& added) {
  const auto given = [&](const std::string& name) { return added.at(name)->count() > 0; };
  const std::string name = shown(option);
  if (!given(name)) return {};
  if (!option.needs.empty() && std::ranges::none_of(option.needs, given))
    return fmt::format("{} requires {}", name, fmt::join(option.needs, " or "));
  for (const auto& other : option.without)
    if (given(other)) return fmt::format("{} cannot be used with {}", name, other);
  return {};
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
    if (auto wrong = wrong_beside(option, added); !wrong.empty()) return complaint(wrong);
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

namespace {

const std::vector<std::string> kWindowWords{"auto", "all", "steps", "stable"};
constexpr const char* kForms = "auto, all, steps, stable, step:N or START:END, such as 1.5ms:20ms";

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char letter) { return std::isdigit(letter); });
}

/// The error in a window, before any capture is read; empty if there is none.
std::string window_complaint(const std::string& text) {
  const std::string no_window = fmt::format("'{}' is not {}", text, kForms);
  if (text.starts_with("step:"))
    return is_number(std::string_view(text).substr(5)) ? std::string() : no_window;
  const auto colon = text.find(':');
  if (colon == std::string::npos) {
    if (std::ranges::find(kWindowWords, text) != kWindowWords.end()) return {};
    return no_window + did_you_mean(text, kWindowWords);
  }
  const auto start = parse_span_time(text.substr(0, colon));
  const auto end = parse_span_time(text.substr(colon + 1));
  const bool open_start = colon == 0, open_end = colon + 1 == text.size();
  if ((!start && !open_start) || (!end && !open_end)) return no_window;
  if (!open_start && !open_end && *start >= *end)
    return fmt::format("'{}' is empty: START must come before END", text);
  return {};
}

}  // namespace

void add_input_options(Verb& verb, InputOptions& options) {
  verb.argument("FILE", options.trace, "trace or capture file").must().input();
  verb.option("--counters", options.counters, "FILE",
              "counter report of the same program: .ncu-rep, or CSV of ncu")
      .input();
  add_graphs_option(verb, options.graphs);
  verb.option("--power", options.power, "FILE",
              "power log of the same time span: CSV of nvidia-smi or NVML")
      .input();
  auto& zone = verb.option("--zone", options.zone, "ZONE",
                           "time zone of a log in local time, such as +01:00 (default UTC)");
  zone.set = [set = zone.set](const std::string& text) {
    return telemetry::parse_zone(text) ? set(text)
                                       : "'" + text + "' is not a zone such as +01:00 or -0530";
  };
  add_limit_options(verb, options.max_bytes, options.threads);
}

Option& add_graphs_option(Verb& verb, std::vector<std::string>& graphs) {
  return verb
      .option("--graphs", graphs, "FILE",
              "trace of the same program that captures its CUDA graphs or runs without them; gives "
              "graph kernels their operators (repeatable)")
      .each_time()
      .input();
}

void add_peers_option(Verb& verb, std::vector<std::string>& peers) {
  verb.option("--ranks", peers, "FILE",
              "captures of the job's other ranks, or their folder; separates waiting for them from "
              "work")
      .input();
}

void add_limit_options(Verb& verb, std::uint64_t& max_bytes, unsigned& threads) {
  verb.option("--max-bytes", max_bytes, "SIZE",
              "stop if an input decompresses to more (default: 64GiB)")
      .size();
  verb.option("--threads", threads, "N", "threads that read and analyze (default: all)");
}

void add_window_option(Verb& verb, std::string& window, std::string help) {
  auto& added = verb.option("--window", window, "W", std::move(help)).suggest(kWindowWords);
  added.set = [set = added.set](const std::string& text) {
    const auto wrong = window_complaint(text);
    return wrong.empty() ? set(text) : wrong;
  };
}

std::vector<std::string> chip_names() {
  std::vector<std::string> names;
  for (const auto& chip : chips()) names.emplace_back(chip.name);
  return names;
}

void add_devices_option(Verb& verb, std::string& devices) {
  auto& added = verb.option("--devices", devices, "D",
                            "GPUs to analyze: all, or numbers such as 0,2 (default: those with "
                            "work; the others are listed)")
                    .suggest({"all"});
  added.set = [set = added.set](const std::string& text) {
    if (text == "all" || device_numbers(text)) return set(text);
    return fmt::format("'{}' is not all, or numbers such as 0,2", text);
  };
}

}  // namespace gf::cli
