#include "analyze/steps/engine_marks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace gf {

namespace {

struct EngineMark {
  std::string_view family, pattern;  // {field} stands for a number, {mode} for a word
};
/// The first that fits counts.
constexpr EngineMark kMarks[] = {
    // SGLang
    {"step", "step[{mode} bs={requests} toks={tokens}]"},
    {"step", "step[{mode} bs={requests}]"},
    // vLLM
    {"execute_context",
     "execute_context_{prefills}({prefill_tokens})_generation_{decodes}({decode_tokens})"},
    {"execute_new", "execute_new_{requests}_cached_{more_requests}"},
    // TensorRT-LLM
    {"_forward_step",
     "[Executor] _forward_step {number}: {prefills} ctx reqs, {prefill_tokens} ctx tokens, "
     "{decodes} gen reqs"},
    {"_forward_step", "[Executor] _forward_step {number}: {prefills} ctx reqs, {decodes} gen reqs"},
    {"_forward_step", "[Executor] _forward_step: {prefills} ctx reqs, {decodes} gen reqs"},
};

bool is_numeral(char letter) { return letter >= '0' && letter <= '9'; }
bool is_of_word(char letter) {
  return (letter >= 'A' && letter <= 'Z') || letter == '_' || is_numeral(letter);
}

template <class Holds>
std::string_view take_while(std::string_view& text, Holds holds) {
  const auto end = std::find_if_not(text.begin(), text.end(), holds);
  const auto taken = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(taken.size());
  return taken;
}

/// Whether the pattern fits the name, and the number of the step where it has one.
struct Fit {
  bool fits = false;
  std::optional<std::int64_t> number;
};
Fit fit(std::string_view pattern, std::string_view name) {
  constexpr std::size_t kMostDigits = 18;
  Fit found;
  while (!pattern.empty()) {
    const auto literal = pattern.substr(0, pattern.find('{'));
    if (!name.starts_with(literal)) return {};
    name.remove_prefix(literal.size());
    pattern.remove_prefix(literal.size());
    if (pattern.empty()) break;
    const auto field = pattern.substr(1, pattern.find('}') - 1);
    pattern.remove_prefix(field.size() + 2);
    const bool is_mode = field == "mode";
    const auto value = take_while(name, is_mode ? is_of_word : is_numeral);
    if (value.empty() || (!is_mode && value.size() > kMostDigits)) return {};
    if (field != "number") continue;
    found.number = 0;
    for (char letter : value) *found.number = *found.number * 10 + (letter - '0');
  }
  found.fits = name.empty();
  return found;
}

}  // namespace

std::optional<StepName> parse_engine_mark(std::string_view name) {
  if (name.empty()) return std::nullopt;
  for (const auto& mark : kMarks) {
    if (mark.pattern.front() != name.front()) continue;  // most names are no marks
    if (const Fit found = fit(mark.pattern, name); found.fits)
      return StepName{mark.family, found.number};
  }
  // Of SGLang, with what this list does not know.
  if (name.starts_with("step[") && name.ends_with("]"))
    return StepName{name.substr(0, 4), std::nullopt};
  return std::nullopt;
}

}  // namespace gf
