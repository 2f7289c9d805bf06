#include "import/kineto/patterns.h"

#include <algorithm>
#include <bit>

#include "import/kineto/numbers.h"

namespace gf::kineto {

namespace {

// Limit on what hostile files can make this remember.
constexpr std::size_t kMostPatterns = 8192;
constexpr std::size_t kMostSteps = 1 << 16;
constexpr std::ptrdiff_t kLongest = 4096;  // bytes of an event

constexpr std::size_t kContexts = 1 << 16;  // a power of two

/// The last events as a number, of which each moves those before it so many bits: some thirty say
/// where in the program one is, four what mostly comes.
constexpr int kMany = 2, kFew = 16;

std::uint64_t and_then(std::uint64_t before, int bits, std::uint16_t pattern) {
  return before << bits ^ pattern * 0x9e3779b97f4a7c15u;
}

std::size_t place_of(std::uint64_t context) {
  return context * 0x9e3779b97f4a7c15u >> (64 - std::countr_zero(kContexts));
}

/// True if a value is left out of the pattern. Names of what takes no time are always the same.
bool moves(const Event::Moving& value, const Event& event) {
  return value.field == Field::name ? event.has(Field::dur) : begins_number(*value.from);
}

void take_parts(const char* at, const char* end, const Event& event, EventPattern& pattern) {
  pattern.parts.clear();
  pattern.moving_fields = 0;
  pattern.bytes.clear();
  auto add = [&](const char* to, Field field) {
    pattern.parts.push_back({static_cast<std::uint32_t>(to - at), field});
    if (field != Field::count)
      pattern.moving_fields |= std::uint64_t{1} << static_cast<unsigned>(field);
    pattern.bytes.append(at, to);
  };
  for (std::size_t i = 0; i < event.moving_count; ++i) {
    if (!moves(event.moving[i], event)) continue;
    add(event.moving[i].from, event.moving[i].field);
    at = event.moving[i].to;
  }
  add(end, Field::count);
  pattern.bytes.append(kPadding, '\0');
}

/// Takes the constant members of the event at `at`, in the pattern's own bytes, which stay there.
void take_constants(const char* at, const Event& event, EventPattern& pattern) {
  const char* const own = pattern.bytes.data();
  pattern.constants.reserve(
      1 + static_cast<std::size_t>(std::popcount(event.present & ~pattern.moving_fields)));
  pattern.constants.push_back({own, 0, Token::Kind::scalar});
  for (std::size_t i = 0; i < kFields; ++i) {
    const auto field = static_cast<Field>(i);
    if (!event.has(field)) continue;
    const Token& token = event[field];
    auto from = token.data - at;
    bool moved = false;
    for (std::size_t value = 0; value < event.moving_count; ++value) {
      const auto& each = event.moving[value];
      if (!moves(each, event) || each.from > token.data) continue;
      moved |= each.from == token.data;
      from -= each.to - each.from;
    }
    if (moved) continue;
    pattern.constant_of[i] = static_cast<std::uint8_t>(pattern.constants.size());
    pattern.constants.push_back({own + from, token.size, token.kind});
  }
}

}  // namespace

const Token& Event::constant(Field field) const {
  GF_ASSERT(has(field) && pattern);
  static constexpr char kNothing[8]{};
  static constexpr Token kNone{kNothing, 0, Token::Kind::scalar};
  return pattern ? pattern->constant(field) : kNone;
}

Patterns::Patterns()
    : by_bytes_(2 * kMostPatterns), by_many_(kContexts), by_few_(kContexts), steps_(1) {
  steps_.reserve(kMostSteps);  // of which pages that stay untouched cost nothing
}

inline void Patterns::go_on(std::uint16_t number) {
  many_ = and_then(many_, kMany, number);
  few_ = and_then(few_, kFew, number);
}

const char* Patterns::read(const char* at, const char* end, Event& event) {
  const std::uint32_t next_step = steps_[at_].next;
  const bool borrowed = steps_[at_].borrowed;
  const Step& expected = steps_[next_step];
  if (!expected.pattern) return nullptr;
  const char* const next = read_by_pattern(*expected.pattern, expected.name.text, at, end, event);
  if (!next) return nullptr;
  if (borrowed && steps_.size() < kMostSteps) {
    enter(*expected.pattern);
    if (event.name_known) steps_[at_].name = expected.name;
  } else {
    go_on(expected.pattern->number);
    at_ = next_step;
  }
  Step& here = steps_[at_];
  event.name_guess = &here.name;
  if (const Step& following = steps_[here.next]; following.pattern) following.fetch();
  ++found_;
  return next;
}

void Patterns::learn(const char* at, const char* end, Event& event) {
  event.pattern = nullptr;
  if (!trusted_) return;
  if (patterns_.size() == kMostPatterns || steps_.size() == kMostSteps || learns_in_vain())
    forget();
  if (event.moving_count == 0 || event.moving_count > Event::kMostMoving || end - at > kLongest) {
    at_ = 0;
    return;
  }
  event.pattern = &place(at, end, event);
  enter(*event.pattern);
  event.name_guess = &steps_[at_].name;
}

/// To the step of these events, a new one where there is none.
void Patterns::enter(EventPattern& pattern) {
  go_on(pattern.number);
  std::uint32_t& step = by_many_[place_of(many_)];
  std::uint32_t& like = by_few_[place_of(few_)];
  if (steps_[step].pattern != &pattern) {
    step = static_cast<std::uint32_t>(steps_.size());
    steps_.push_back({&pattern, {}, steps_[like].next, true});
  }
  like = step;
  steps_[at_].next = step;
  steps_[at_].borrowed = false;
  at_ = step;
}

/// The pattern of an event: the one that is there, or a new one.
EventPattern& Patterns::place(const char* at, const char* end, const Event& event) {
  take_parts(at, end, event, made_);
  made_.hash = hash_text(made_.bytes);
  std::size_t slot = made_.hash;
  for (;; ++slot) {
    const std::uint16_t number = by_bytes_[slot % by_bytes_.size()];
    if (number == 0) break;
    EventPattern& other = patterns_[number - 1u];
    if (other.hash == made_.hash && other.parts == made_.parts && other.bytes == made_.bytes)
      return other;
  }
  EventPattern& added = patterns_.emplace_back(made_);
  take_constants(at, event, added);
  added.number = static_cast<std::uint16_t>(patterns_.size());
  added.present = event.present;
  added.category = event.category;
  by_bytes_[slot % by_bytes_.size()] = added.number;
  return added;
}

/// Hundreds of patterns of which hardly one came again: this trace does not repeat.
bool Patterns::learns_in_vain() const {
  constexpr std::size_t kTried = 512, kOneIn = 16;
  return patterns_.size() >= kTried && found_ < patterns_.size() / kOneIn;
}

/// A program with more of them than this is no program that repeats itself, unless most of it did.
void Patterns::forget() {
  trusted_ = found_ > 8 * kMostPatterns;
  found_ = 0;
  patterns_.clear();
  steps_.assign(1, {});
  at_ = 0;
  std::ranges::fill(by_bytes_, 0);
  std::ranges::fill(by_many_, 0);
  std::ranges::fill(by_few_, 0);
}

}  // namespace gf::kineto
