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
  graph_requests,  // that the batch is filled up to
  tokens,
  prefills,
  prefill_tokens,
  decodes,
  decode_tokens,
  count
};
constexpr std::array<std::string_view, static_cast<std::size_t>(Field::count)> kFields{
    "number",   "requests",       "more_requests", "graph_requests", "tokens",
    "prefills", "prefill_tokens", "decodes",       "decode_tokens"};

struct EngineMark {
  std::string_view family, pattern;  // {field} stands for a number, {mode} for a word, {} for a
                                     // number that says nothing of the step's work, {more} for any
                                     // number of those, {keys} for KEY=NUMBER, of which one says
                                     // how many requests there are
  std::string_view mode = {};        // that the pattern says
  ModelPass pass = ModelPass::whole_step;
};
/// The first that fits counts.
constexpr EngineMark kMarks[] = {
    // SGLang: around each pass of each model
    {"step", "step[{mode} {keys}]", {}, ModelPass::target},
    {"step", "draft step[{mode} {keys}]", {}, ModelPass::draft},
    // vLLM: of prompts and of tokens alike sums of lengths, of what is cached, and of products
    {"execute_context",
     "execute_{}_context_{prefills}(sq{prefill_tokens}sk{}sqsq{}sqsk{})_generation_{decodes}"
     "(sq{decode_tokens}sk{}sqsq{}sqsk{})"},
    {"execute_context",
     "execute_context_{prefills}({prefill_tokens}{more})_generation_{decodes}"
     "({decode_tokens}{more})"},
    {"execute_new", "execute_new_{requests}_cached_{more_requests}"},
    // TensorRT-LLM
    {"_forward_step",
     "[Executor] _forward_step {number}: {prefills} ctx reqs, {prefill_tokens} ctx tokens, "
     "{decodes} gen reqs"},
    {"_forward_step", "[Executor] _forward_step {number}: {prefills} ctx reqs, {decodes} gen reqs"},
    {"_forward_step", "[Executor] _forward_step: {prefills} ctx reqs, {decodes} gen reqs"},
    // ATOM
    {"prefill, decode", "prefill[{keys}]", "EXTEND"},
    {"prefill, decode", "decode[{keys}]", "DECODE"},
};

struct Key {
  std::string_view text;
  Field field;
};
constexpr Key kKeys[] = {
    {"bs", Field::requests}, {"toks", Field::tokens},         {"tok", Field::tokens},
    {"c", Field::prefills},  {"c_sq", Field::prefill_tokens}, {"g", Field::decodes},
    {"p", Field::prefills},  {"g_sq", Field::decode_tokens},  {"d", Field::decodes},
};

struct Mode {
  std::string_view word;
  StepKind kind;
  bool draft = false;  // of the model that proposes
};
constexpr Mode kModes[] = {
    {"EXTEND", StepKind::prefill},
    {"PREFILL", StepKind::prefill},
    {"SPLIT_PREFILL", StepKind::prefill},
    {"DECODE", StepKind::decode},
    {"MIXED", StepKind::mixed},
    {"TARGET_VERIFY", StepKind::speculative},
    {"DRAFT_EXTEND", StepKind::speculative, true},
    {"DRAFT_EXTEND_V2", StepKind::speculative, true},
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

constexpr std::size_t kMostDigits = 18;
/// Requests or tokens of a step: what is beyond is no number of those, and not known.
constexpr std::int64_t kMostOfAStep = 1'000'000'000;

/// False for a text that is no number of at most 18 digits.
bool put(Read& fields, Field field, std::string_view digits) {
  if (digits.empty()) return false;
  std::int64_t number = 0;
  for (char letter : digits.substr(0, kMostDigits)) number = number * 10 + (letter - '0');
  const bool is_number = field == Field::number;
  if (is_number && digits.size() > kMostDigits) return false;
  if (is_number || (digits.size() <= kMostDigits && number <= kMostOfAStep))
    fields.numbers[static_cast<std::size_t>(field)] = number;
  return true;
}

/// KEY=NUMBER or KEY=NUMBER/NUMBER, with spaces between them; others say nothing. False where none
/// is of the requests.
bool take_keys(std::string_view text, Read& fields) {
  bool requests = false;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const auto sign = std::min(word.find('='), word.size());
    const auto* known = std::ranges::find(kKeys, word.substr(0, sign), &Key::text);
    if (known == std::end(kKeys)) continue;
    requests = requests || known->field == Field::requests;
    auto value = word.substr(std::min(word.size(), sign + 1));
    const auto digits = take_while(value, is_numeral);
    if (!value.empty() && value.front() == '/' && known->field == Field::requests) {
      value.remove_prefix(1);
      put(fields, Field::graph_requests, take_while(value, is_numeral));
    }
    if (value.empty()) put(fields, known->field, digits);
  }
  return requests;
}

/// The values of the pattern's fields in the name; empty where it does not fit.
std::optional<Read> read(std::string_view pattern, std::string_view name) {
  Read fields;
  while (!pattern.empty()) {
    const auto literal = pattern.substr(0, pattern.find('{'));
    if (!name.starts_with(literal)) return std::nullopt;
    name.remove_prefix(literal.size());
    pattern.remove_prefix(literal.size());
    if (pattern.empty()) break;
    const auto field = pattern.substr(1, pattern.find('}') - 1);
    pattern.remove_prefix(field.size() + 2);
    if (field == "keys") {
      const auto end = name.rfind(pattern.front());
      if (end == name.npos || !take_keys(name.substr(0, end), fields)) return std::nullopt;
      name.remove_prefix(end);
    } else if (field == "more") {
      while (name.size() > 1 && name.front() == '_' && is_numeral(name[1])) {
        name.remove_prefix(1);
        take_while(name, is_numeral);
      }
    } else if (field == "mode") {
      fields.mode = take_while(name, is_of_word);
      if (fields.mode.empty()) return std::nullopt;
    } else {
      const auto digits = take_while(name, is_numeral);
      const auto known = std::ranges::find(kFields, field);
      const auto place = static_cast<Field>(known - kFields.begin());
      if (digits.empty() || (known != kFields.end() && !put(fields, place, digits)))
        return std::nullopt;
    }
  }
  if (!name.empty()) return std::nullopt;
  return fields;
}

std::optional<std::int64_t> sum(std::optional<std::int64_t> left,
                                std::optional<std::int64_t> right) {
  if (!left || !right) return std::nullopt;
  return *left + *right;
}

const Mode* mode_of(const Read& fields) {
  const auto* mode = std::ranges::find(kModes, fields.mode, &Mode::word);
  return mode == std::end(kModes) ? nullptr : mode;
}

/// True if the requests that decode have more tokens than one each: a draft's.
bool has_drafts(std::optional<std::int64_t> tokens, std::optional<std::int64_t> requests) {
  return tokens && requests && *tokens > *requests;
}

StepKind kind_of(const Read& fields, std::optional<std::int64_t> requests) {
  if (requests.value_or(1) == 0) return StepKind::unknown;  // waits for other ranks
  const auto prefills = fields[Field::prefills], decodes = fields[Field::decodes];
  const auto tokens = fields[Field::decode_tokens];
  if (!fields.mode.empty()) {
    const Mode* mode = mode_of(fields);
    if (!mode) return StepKind::unknown;
    if (mode->kind == StepKind::mixed && decodes && *decodes == 0) return StepKind::prefill;
    if (mode->kind != StepKind::decode) return mode->kind;
    if (prefills.value_or(0) > 0) return StepKind::mixed;
    return has_drafts(tokens ? tokens : fields[Field::tokens], requests) ? StepKind::speculative
                                                                         : StepKind::decode;
  }
  if (!prefills || !decodes) return StepKind::unknown;
  if (*decodes == 0) return StepKind::prefill;
  if (*prefills > 0) return StepKind::mixed;
  return has_drafts(tokens, decodes) ? StepKind::speculative : StepKind::decode;
}

EngineWork work_of(const EngineMark& mark, const Read& fields) {
  EngineWork work;
  work.requests = fields[Field::requests];
  if (const auto more = fields[Field::more_requests]) work.requests = sum(work.requests, more);
  if (!work.requests) work.requests = sum(fields[Field::prefills], fields[Field::decodes]);
  work.kind = kind_of(fields, work.requests);
  work.pass = mark.pass;
  if (const Mode* mode = mode_of(fields); mode && mode->draft) work.pass = ModelPass::draft;
  const auto of_prompts = fields[Field::prefill_tokens], of_others = fields[Field::decode_tokens];
  work.tokens = fields[Field::tokens];
  if (!work.tokens && work.kind == StepKind::prefill) work.tokens = of_prompts;
  if (!work.tokens && (work.kind == StepKind::decode || work.kind == StepKind::speculative))
    work.tokens = of_others;
  if (!work.tokens) work.tokens = sum(of_prompts, of_others);
  work.decodes = fields[Field::decodes];
  // A prompt that is not at its end gives no token, and a draft's may be refused.
  if (work.kind == StepKind::decode) {
    work.decodes = work.generated = work.requests;
    if (!work.tokens) work.tokens = work.requests;
  }
  if (work.kind == StepKind::prefill) work.decodes = 0;
  if (work.kind == StepKind::speculative && !work.decodes) work.decodes = work.requests;
  if (work.kind == StepKind::decode) work.run_tokens = fields[Field::graph_requests];
  return work;
}

}  // namespace

std::optional<StepName> parse_engine_mark(std::string_view name) {
  if (name.empty()) return std::nullopt;
  for (const auto& mark : kMarks) {
    if (mark.pattern.front() != name.front()) continue;  // most names are no marks
    if (auto fields = read(mark.pattern, name)) {
      if (fields->mode.empty()) fields->mode = mark.mode;
      return StepName{mark.family, (*fields)[Field::number], work_of(mark, *fields)};
    }
  }
  return std::nullopt;
}

}  // namespace gf
