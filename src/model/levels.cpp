#include "model/levels.h"

#include "model/metrics.h"

namespace gf {

namespace {

using namespace chip_sets;

struct Source {
  std::string_view metric;
  MetricSource source;
  ChipSet chips;
  std::string_view expression;
};

#define GF_METRIC(...)
#define GF_INPUT(metric, source, chips, expression) \
  Source{metric, MetricSource::source, chips, expression},
#define GF_FORMULA(metric, chips, expression) \
  Source{metric, MetricSource::report, chips, expression},
constexpr Source kSources[] = {
#include "model/metrics.def"
};
#undef GF_METRIC
#undef GF_INPUT

constexpr std::optional<KernelLevel> kernel_level(std::string_view id) {
  for (std::size_t level = 0; level < kKernelLevels; ++level)
    if (id_of(static_cast<KernelLevel>(level)) == id) return static_cast<KernelLevel>(level);
  return std::nullopt;
}

constexpr bool is_formula(const Source& source) {
  const auto level = kernel_level(source.metric);
  return source.source == MetricSource::report && level && *level != KernelLevel::tensor_flops &&
         *level != KernelLevel::matrix_issue;
}
constexpr std::size_t kFormulaCount =
    static_cast<std::size_t>(std::ranges::count_if(kSources, is_formula));

constexpr bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

/// The sum that `text` begins with, without its brackets.
constexpr std::string_view take_sum(std::string_view& text) {
  const bool bracket = take(text, "(");
  const auto end = bracket ? text.find(')') : std::min(text.find(" / "), text.find(" * "));
  const auto sum = text.substr(0, end);
  text.remove_prefix(std::min(sum.size() + (bracket ? 1 : 0), text.size()));
  return sum;
}

/// Counters joined by " + ", or what is worked out for each kernel.
constexpr bool is_sum(std::string_view text) {
  if (text == "peak bytes") return true;
  for (auto at = text.find(' '); at != text.npos; at = text.find(' ', at + 3))
    if (text.substr(at, 3) != " + ") return false;
  return !text.empty();
}

constexpr LevelFormula parse(const Source& source) {
  LevelFormula formula{
      *kernel_level(source.metric), source.chips, {}, {}, 1, {}, source.expression};
  std::string_view rest = source.expression;
  if (take(rest, "1/4 * ")) formula.factor = 0.25;
  if (take(rest, "32 * ")) formula.factor = 32;
  formula.numerator = take_sum(rest);
  if (take(rest, " / 100")) formula.factor = 0.01;
  if (take(rest, " / ")) formula.denominator = take_sum(rest);
  if (!is_sum(formula.numerator)) throw "no sum of counters";
  if (!formula.denominator.empty() && !is_sum(formula.denominator)) throw "no sum of counters";
  if (take(rest, " * ")) formula.times = rest;
  if (!formula.times.empty() && formula.times != "sm.active"_metric) throw "not a formula";
  if (formula.times.empty() && !rest.empty()) throw "not a formula";
  return formula;
}

constexpr auto kFormulas = [] {
  std::array<LevelFormula, kFormulaCount> formulas{};
  std::size_t count = 0;
  for (const Source& source : kSources)
    if (is_formula(source)) formulas[count++] = parse(source);
  return formulas;
}();

}  // namespace

std::span<const LevelFormula> level_formulas() { return kFormulas; }

}  // namespace gf
