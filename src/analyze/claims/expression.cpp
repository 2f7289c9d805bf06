#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <utility>

#include "analyze/claims/claims.h"
#include "core/text.h"

namespace gf {

namespace {

Measured operator+(const Measured& one, const Measured& other) {
  return {one.value + other.value, one.least + other.least, one.most + other.most};
}
Measured operator-(const Measured& one, const Measured& other) {
  return {one.value - other.value, one.least - other.most, one.most - other.least};
}
Measured operator*(const Measured& one, const Measured& other) {
  const auto [least, most] = std::minmax({one.least * other.least, one.least * other.most,
                                          one.most * other.least, one.most * other.most});
  return {one.value * other.value, least, most};
}

/// Recursive descent; nothing where a column is missing or a divisor is 0. The expressions are
/// those of claims.def, so that a wrong one is a fault of this program.
class Evaluation {
 public:
  Evaluation(std::string_view text, const FactRow& row, std::string& missing)
      : text_(text), row_(row), missing_(missing) {}

  std::optional<Measured> whole() {
    const auto value = choice();
    if (at_ != text_.size()) missing_ = "expression";
    if (!missing_.empty()) return {};
    return value;
  }

 private:
  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ == text_.size() ? 0 : text_[at_];
  }
  bool take(char letter) {
    if (next() != letter) return false;
    ++at_;
    return true;
  }
  std::optional<Measured> choice() {
    const std::string outside = std::exchange(missing_, {});
    auto value = sum();
    while (take('|')) {
      const std::string lacked = std::exchange(missing_, {});
      const auto other = sum();
      if (!value) value = other;
      missing_ = value ? std::string() : lacked;
    }
    if (!outside.empty()) missing_ = outside;
    return value;
  }
  std::optional<Measured> sum() {
    auto value = product();
    while (next() == '+' || next() == '-') {
      const bool minus = text_[at_++] == '-';
      const auto other = product();
      if (value && other) value = minus ? *value - *other : *value + *other;
      if (!other) value.reset();
    }
    return value;
  }
  std::optional<Measured> product() {
    auto value = factor();
    while (next() == '*' || next() == '/') {
      const bool over = text_[at_++] == '/';
      const auto other = factor();
      if (over && other && other->value == 0) {
        value.reset();
        if (missing_.empty()) missing_ = "divisor above 0";
      }
      if (value && other) value = over ? *value / *other : *value * *other;
      if (!other) value.reset();
    }
    return value;
  }
  std::optional<Measured> factor() {
    if (take('(')) {
      const auto value = choice();
      if (!take(')')) missing_ = "expression";
      return value;
    }
    const char first = next();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  text_[at_] == '_' || text_[at_] == '.' || text_[at_] == ':'))
      ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (std::isdigit(static_cast<unsigned char>(first))) {
      double number = 0;
      std::from_chars(word.data(), word.data() + word.size(), number);
      return number;
    }
    const auto found = row_.numbers.find(word);
    if (found != row_.numbers.end()) return found->second;
    if (missing_.empty()) missing_ = word.empty() ? "expression" : word;
    return {};
  }

  std::string_view text_;
  const FactRow& row_;
  std::string& missing_;
  std::size_t at_ = 0;
};

/// The text before `by`, which goes from `rest` together with it.
std::string_view split_off(std::string_view& rest, char by) {
  const std::size_t end = std::min(rest.find(by), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return trimmed(part);
}

/// "number>=1": false where the row has no such number.
bool is_at_least(std::string_view value, std::string_view name, const FactRow& row) {
  const auto number = row.numbers.find(name);
  double wanted = 0;
  std::from_chars(value.data(), value.data() + value.size(), wanted);
  return number != row.numbers.end() && number->second.value >= wanted;
}

bool is_one_of(std::string_view values, std::string_view name, const FactRow& row) {
  const auto number = row.numbers.find(name);
  const std::string_view own = row.word(name);
  while (true) {
    const bool last = values.find('|') == std::string_view::npos;
    const std::string_view value = split_off(values, '|');
    double wanted = 0;
    const auto end = std::from_chars(value.data(), value.data() + value.size(), wanted).ptr;
    const bool numeric = !value.empty() && end == value.data() + value.size();
    if (numeric && number != row.numbers.end() && number->second.value == wanted) return true;
    if (number == row.numbers.end() && value == own) return true;
    if (last) return false;
  }
}

}  // namespace

Measured operator/(const Measured& one, const Measured& other) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const double value = one.value / other.value;
  if (other.least <= 0 && other.most >= 0) return {value, -kNone, kNone};
  const Measured all = one * Measured(1 / other.value, 1 / other.most, 1 / other.least);
  return {value, all.least, all.most};
}

std::optional<Measured> evaluate(std::string_view expression, const FactRow& row,
                                 std::string& missing) {
  missing.clear();
  return Evaluation(expression, row, missing).whole();
}

bool matches(std::string_view conditions, const FactRow& row) {
  while (!conditions.empty()) {
    std::string_view condition = split_off(conditions, ',');
    std::string_view name = split_off(condition, '=');
    if (name.ends_with('>')) {
      name.remove_suffix(1);
      if (!is_at_least(condition, name, row)) return false;
      continue;
    }
    const bool negated = name.ends_with('!');
    if (negated) name.remove_suffix(1);
    if (is_one_of(condition, name, row) == negated) return false;
  }
  return true;
}

}  // namespace gf
