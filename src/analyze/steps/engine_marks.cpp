#include "analyze/steps/engine_marks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace gf {

namespace {

/// The numbers that a mark may hold.
enum class Field : std::uint8_t {
  number,
  requests,
  more_requests,
  tokens,
  prefills,
  prefill_tokens,
  decodes,
  decode_tokens,
  count
};
constexpr std::array<std::string_view, static_cast<std::size_t>(Field::count)> kFields{
    "number",   "requests",       "more_requests", "tokens",
    "prefills", "prefill_tokens", "decodes",       "decode_tokens"};

struct EngineMark {
  std::string_view family, pattern;  // {field} stands for a number, {mode} for a word, {} for a
                                     // number that says nothing of the step's work
};
/// The first that fits counts.
constexpr EngineMark kMarks[] = {
    // SGLang
    {"step", "step[{mode} bs={requests} toks={tokens}]"},
    {"step", "step[{mode} bs={requests}]"},
    // vLLM: of prompts and of tokens alike sums of lengths, of what is cached, and of products
    {"execute_context",
     "execute_{}_context_{prefills}(sq{prefill_tokens}sk{}sqsq{}sqsk{})_generation_{decodes}"
     "(sq{decode_tokens}sk{}sqsq{}sqsk{})"},
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

struct Mode {
  std::string_view word;
  StepKind kind;
};
constexpr Mode kModes[] = {
    {"EXTEND", StepKind::prefill},
    {"PREFILL", StepKind::prefill},
    {"SPLIT_PREFILL", StepKind::prefill},
    {"DECODE", StepKind::decode},
    {"MIXED", StepKind::mixed},
    {"TARGET_VERIFY", StepKind::speculative},
    {"DRAFT_EXTEND", StepKind::speculative},
    {"DRAFT_EXTEND_V2", StepKind::speculative},
    {"IDLE", StepKind::unknown},  // waits for other ranks
};

struct Read {
  std::array<std::optional<std::int64_t>, kFields.size()> numbers;
  std::string_view mode;

  std::optional<std::int64_t> operator[](Field field) const {
    return numbers[static_cast<std::size_t>(field)];
  }
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

/// The values of the pattern's fields in the name; empty where it does not fit.
std::optional<Read> read(std::string_view pattern, std::string_view name) {
  constexpr std::size_t kMostDigits = 18;
  Read fields;
  while (!pattern.empty()) {
    const auto literal = pattern.substr(0, pattern.find('{'));
    if (!name.starts_with(literal)) return std::nullopt;
    name.remove_prefix(literal.size());
    pattern.remove_prefix(literal.size());
    if (pattern.empty()) break;
    const auto field = pattern.substr(1, pattern.find('}') - 1);
    pattern.remove_prefix(field.size() + 2);
    const bool is_mode = field == "mode";
    const auto value = take_while(name, is_mode ? is_of_word : is_numeral);
    if (value.empty() || (!is_mode && value.size() > kMostDigits)) return std::nullopt;
    if (is_mode) {
      fields.mode = value;
      continue;
    }
    const auto known = std::ranges::find(kFields, field);
    if (known == kFields.end()) continue;
    std::int64_t number = 0;
    for (char letter : value) number = number * 10 + (letter - '0');
    fields.numbers[static_cast<std::size_t>(known - kFields.begin())] = number;
  }
  if (!name.empty()) return std::nullopt;
  return fields;
}

std::optional<std::int64_t> sum(std::optional<std::int64_t> left,
                                std::optional<std::int64_t> right) {
  if (!left || !right) return std::nullopt;
  return *left + *right;
}

StepKind kind_of(const Read& fields) {
  if (const auto* mode = std::ranges::find(kModes, fields.mode, &Mode::word);
      mode != std::end(kModes))
    return mode->kind;
  const auto prefills = fields[Field::prefills], decodes = fields[Field::decodes];
  if (!prefills || !decodes || (*prefills == 0 && *decodes == 0)) return StepKind::unknown;
  if (*decodes == 0) return StepKind::prefill;
  if (*prefills > 0) return StepKind::mixed;
  // Each request has one new token; more are a draft's.
  const bool draft = fields[Field::decode_tokens].value_or(0) > *decodes;
  return draft ? StepKind::speculative : StepKind::decode;
}

EngineWork work_of(const Read& fields) {
  EngineWork work;
  work.kind = kind_of(fields);
  work.tokens = fields[Field::tokens];
  if (!work.tokens) work.tokens = sum(fields[Field::prefill_tokens], fields[Field::decode_tokens]);
  work.requests = fields[Field::requests];
  if (const auto more = fields[Field::more_requests]) work.requests = sum(work.requests, more);
  if (!work.requests) work.requests = sum(fields[Field::prefills], fields[Field::decodes]);
  work.decodes = fields[Field::decodes];
  // A prompt that is not at its end gives no token, and a draft's may be refused.
  if (work.kind == StepKind::decode) work.decodes = work.generated = work.requests;
  if (work.kind == StepKind::prefill) work.decodes = 0;
  if (work.kind == StepKind::speculative && !work.decodes) work.decodes = work.requests;
  return work;
}

}  // namespace

std::optional<StepName> parse_engine_mark(std::string_view name) {
  if (name.empty()) return std::nullopt;
  for (const auto& mark : kMarks) {
    if (mark.pattern.front() != name.front()) continue;  // most names are no marks
    if (const auto fields = read(mark.pattern, name))
      return StepName{mark.family, (*fields)[Field::number], work_of(*fields)};
  }
  // SGLang's marks with fields that this list does not know.
  if (name.starts_with("step[") && name.ends_with("]"))
    return StepName{name.substr(0, 4), std::nullopt, EngineWork{}};
  return std::nullopt;
}

}  // namespace gf
