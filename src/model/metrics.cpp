#include "model/metrics.h"

#include <algorithm>
#include <array>
#include <optional>

namespace gf {

namespace {

using namespace chip_sets;

#define GF_METRIC(id, unit, level, openmetrics, label, short_label, definition) \
  {id, unit, MetricLevel::level, openmetrics, label, short_label, definition},
#define GF_INPUT(...)
constexpr Metric kMetrics[] = {
#include "model/metrics.def"
};
#undef GF_METRIC
#undef GF_INPUT

#define GF_METRIC(...)
#define GF_INPUT(metric, source, chips, expression) \
  {metric, MetricSource::source, chips, expression},
#define GF_PM(metric, rank, sets, chips, expression) \
  {metric, MetricSource::pm, chips, expression, rank, sets},
#define GF_DCGM(metric, expression, help) \
  {metric, MetricSource::dcgm, kAll, expression, 0, 0, help},
constexpr MetricInput kInputs[] = {
#include "model/metrics.def"
};
#undef GF_INPUT

#define GF_INPUT(...)
#define GF_COLUMN(metric, log, factor, names) {metric, LogKind::log, factor, names},
constexpr CatalogueColumn kColumns[] = {
#include "model/metrics.def"
};
#undef GF_METRIC
#undef GF_INPUT

constexpr std::string_view take_word(std::string_view& text) {
  const auto end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

constexpr std::optional<int> whole_number(std::string_view word) {
  int number = 0;
  for (const char digit : word) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + (digit - '0');
  }
  return number;
}

constexpr std::optional<MetricTerm> parse_term(std::string_view expression) {
  MetricTerm term;
  term.counter = take_word(expression);
  if (const auto number = whole_number(term.counter)) {
    term.number = *number;
    term.counter = take_word(expression);
  }
  while (!expression.empty()) {
    const std::string_view sign = take_word(expression), operand = take_word(expression);
    const auto number = whole_number(operand);
    if (sign == "/" && number)
      term.factor /= *number;
    else if (sign == "*" && number)
      term.factor *= *number;
    else if (sign == "*" && operand == "duration")
      term.rate = true;
    else if (sign == "*" && term.times.empty())
      term.times = operand;
    else
      return std::nullopt;
  }
  return term;
}

constexpr bool is_executed(MetricSource source) {
  return source == MetricSource::pm || source == MetricSource::gpm ||
         source == MetricSource::dcgm || source == MetricSource::solved;
}
static_assert(std::ranges::all_of(kInputs, [](const MetricInput& input) {
  return !is_executed(input.source) || parse_term(input.expression);
}));

}  // namespace

MetricTerm term_of(const MetricInput& input) {
  return parse_term(input.expression).value_or(MetricTerm{});
}

std::string_view name_of(MetricLevel level) {
  static constexpr std::array<std::string_view, kMetricLevels> names{
      "gpu", "sm", "issue", "tensor", "pipe", "memory", "link", "runtime", "energy", "monitor"};
  return names[static_cast<std::size_t>(level)];
}

std::string_view name_of(MetricSource source) {
  static constexpr std::array<std::string_view, kMetricSources> names{
      "trace", "report", "pm", "gpm", "nvml", "dcgm", "solved", "model"};
  return names[static_cast<std::size_t>(source)];
}

std::string_view name_of(LogKind log) {
  switch (log) {
    case LogKind::smi_csv:
      return "nvidia-smi --query-gpu and logs made with NVML";
    case LogKind::smi_dmon:
      return "nvidia-smi dmon";
    case LogKind::dcgmi:
      return "dcgmi dmon";
    case LogKind::nsys:
      return "Nsight Systems";
  }
  return {};
}

std::span<const Metric> metrics() { return kMetrics; }
std::span<const MetricInput> metric_inputs() { return kInputs; }
std::span<const CatalogueColumn> log_columns() { return kColumns; }

const MetricInput* find_input(std::string_view metric, MetricSource source) {
  for (const MetricInput& input : kInputs)
    if (input.metric == metric && input.source == source) return &input;
  return nullptr;
}

const Metric* find_metric(std::string_view id) {
  for (const Metric& metric : kMetrics)
    if (metric.id == id) return &metric;
  return nullptr;
}

}  // namespace gf
