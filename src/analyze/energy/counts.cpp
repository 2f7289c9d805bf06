#include "analyze/energy/counts.h"

#include <algorithm>
#include <charconv>

#include "analyze/energy/model.h"
#include "core/trim.h"

namespace gf {

namespace {

struct Term {
  double factor = 1;
  std::string_view counter;
};

std::vector<Term> terms_of(std::string_view expression) {
  std::vector<Term> terms;
  while (!expression.empty()) {
    const auto plus = expression.find(" + ");
    std::string_view part = trimmed(expression.substr(0, plus));
    Term term;
    if (const auto times = part.find(" * "); times != std::string_view::npos) {
      const auto factor = trimmed(part.substr(0, times));
      std::from_chars(factor.data(), factor.data() + factor.size(), term.factor);
      part = trimmed(part.substr(times + 3));
    }
    term.counter = part;
    terms.push_back(term);
    if (plus == std::string_view::npos) {
      expression = std::string_view{};
    } else {
      expression = expression.substr(plus + 3);
    }
  }
  return terms;
}

}  // namespace

std::optional<double> evaluate_counters(
    std::string_view expression, const std::map<std::string, double, std::less<>>& counters) {
  while (!expression.empty()) {
    const auto bar = expression.find(" | ");
    std::optional<double> sum = 0;
    for (const auto& term : terms_of(expression.substr(0, bar))) {
      const auto at = counters.find(term.counter);
      if (at == counters.end()) {
        sum.reset();
        break;
      }
      *sum += term.factor * at->second;
    }
    if (sum) return sum;
    if (bar == std::string_view::npos) {
      expression = std::string_view{};
    } else {
      expression = expression.substr(bar + 3);
    }
  }
  return std::nullopt;
}

std::vector<std::map<std::string, double, std::less<>>> counters_by_kernel(const Capture& report) {
  std::vector<std::map<std::string, double, std::less<>>> all(report.report_kernels.size());
  for (std::size_t i = 0; i < report.kernel_counters.size(); ++i) {
    const double value = report.kernel_counters.value[i];
    const auto kernel = report.kernel_counters.kernel[i];
    if (value == value && kernel < all.size())
      all[kernel].emplace(report.text(report.kernel_counters.metric[i]), value);
  }
  return all;
}

std::map<std::string, double> energy_counts(
    const std::map<std::string, double, std::less<>>& counters) {
  std::map<std::string, double> counts;
  for (const auto& feature : energy_features())
    if (const auto count = evaluate_counters(feature.counters, counters))
      counts[feature.id] = *count;
  return counts;
}

std::vector<std::string> energy_counter_names() {
  std::vector<std::string> names;
  for (const auto& feature : energy_features())
    for (const auto& term :
         terms_of(std::string_view(feature.counters)
                      .substr(0, std::string_view(feature.counters).find(" | "))))
      names.emplace_back(term.counter);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace gf
